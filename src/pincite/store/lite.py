"""Milvus Lite in this process: one engine per folder, until the process ends."""

from __future__ import annotations

import threading
from pathlib import Path

from pincite.errors import StoreLocked, StoreRejected

# The engine keeps one server per folder, but two threads that open one folder at the same time
# get in each other's way.
_opening = threading.Lock()


def open_lite(folder: str) -> str:
    """Start or reuse this process's engine for the folder; returns its local address.

    Raises:
        StoreLocked: Another process has the folder open.
        StoreRejected: The folder cannot be opened for another reason.
    """
    from milvus_lite.server_manager import server_manager_instance

    path = Path(folder).absolute()
    _make_parent(path)
    with _opening:
        address = server_manager_instance.start_and_get_uri(str(path))
    if address is not None:
        return str(address)
    if _is_locked(path / "LOCK"):
        raise StoreLocked(f"Another process has the store {folder!r} open.", folder=folder)
    raise StoreRejected(
        f"Milvus Lite cannot open the folder {folder!r}.",
        "Check that it is a Milvus Lite folder that this user may write to.",
        folder=folder,
    )


def _make_parent(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise StoreRejected(
            f"The folder {str(path.parent)!r} for the store cannot be made.",
            "Check [store] uri and the rights on the folder above it.",
        ) from exc


def _is_locked(lock: Path) -> bool:
    try:
        import fcntl
    except ImportError:
        return lock.exists()
    try:
        with lock.open("r+") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False
