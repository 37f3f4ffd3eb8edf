"""A value that is read now and then, by a thread of its own: whoever asks never waits long."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from time import monotonic
from typing import Generic, TypeVar

logger = logging.getLogger(__name__)

T = TypeVar("T")


class Latest(Generic[T]):
    """What ``read`` gave last; one call of it runs at a time.

    Args:
        read: Blocks, and may fail or hang.
        ttl_s: How long a value is good, and how long a failure is not tried again.
        patience_s: How long ``get`` waits for a new one.
        clock: Seconds; another one only in tests.
    """

    def __init__(
        self,
        read: Callable[[], T],
        ttl_s: float,
        patience_s: float,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._read = read
        self._ttl_s = ttl_s
        self._patience_s = patience_s
        self._clock = clock
        self._lock = threading.Lock()
        self._reader: threading.Thread | None = None
        self._value: T | None = None
        self._good_until = float("-inf")

    def get(self) -> T | None:
        """The value, ``None`` when there is none that is good."""
        reader = self._started()
        if reader is not None:
            reader.join(self._patience_s)
        with self._lock:
            return self._value if self._clock() < self._good_until else None

    def _started(self) -> threading.Thread | None:
        """The thread that reads; begun where no value is good and none reads yet."""
        with self._lock:
            if self._reader is None and self._clock() >= self._good_until:
                # A process that ends does not wait for a database that hangs.
                self._reader = threading.Thread(target=self._renew, name="latest", daemon=True)
                self._reader.start()
            return self._reader

    def _renew(self) -> None:
        value: T | None = None
        try:
            value = self._read()
        except Exception as error:
            logger.warning("figures not read: %s", type(error).__name__)
        with self._lock:
            self._value, self._reader = value, None
            self._good_until = self._clock() + self._ttl_s
