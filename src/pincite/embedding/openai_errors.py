"""What each exception of the ``openai`` package means to Pincite: one table."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pincite.embedding.retrying import Transient, retry_after_s
from pincite.errors import EmbedderRefused, EmbeddingInvalid, EmbeddingRejected

if TYPE_CHECKING:
    from openai import APIError

TOO_LARGE = 413
TIMED_OUT = 408
# A refused parameter is a matter of the configuration, not of the texts.
CONFIGURED_PARAMETERS = frozenset({"model", "dimensions", "encoding_format", "user"})
# Quota that is used up comes back with the next bill, not with the next second.
FINAL_LIMITS = frozenset({"insufficient_quota", "billing_hard_limit_reached"})


def translate(error: APIError) -> Exception:
    """The Pincite error, or ``Transient`` where trying again may help.

    The vendor's own message is left out: it may quote the texts or the key.
    """
    for kind in type(error).__mro__:
        if kind.__name__ in VERDICTS:
            return VERDICTS[kind.__name__](error)
    return _refused(error)


def status_of(error: APIError) -> int | None:
    """HTTP status of the response, if there was one."""
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) else None


def _what(error: APIError) -> str:
    status = status_of(error)
    return type(error).__name__ if status is None else f"HTTP {status}"


def _transient(error: APIError) -> Exception:
    response = getattr(error, "response", None)
    return Transient(_what(error), None if response is None else retry_after_s(response.headers))


def _limited(error: APIError) -> Exception:
    return _refused(error) if error.code in FINAL_LIMITS else _transient(error)


def _refused(error: APIError) -> Exception:
    return EmbedderRefused(
        f"The embedding endpoint refuses the request ({_what(error)}).", status=status_of(error)
    )


def _rejected(error: APIError) -> Exception:
    if error.param in CONFIGURED_PARAMETERS:
        return EmbedderRefused(
            f"The embedding endpoint refuses the parameter {error.param!r} ({_what(error)}).",
            status=status_of(error),
        )
    return EmbeddingRejected(
        f"The embedding endpoint refuses the text ({_what(error)}).", status=status_of(error)
    )


def _invalid(error: APIError) -> Exception:
    return EmbeddingInvalid("The embedding endpoint answers in another format.")


def _by_status(error: APIError) -> Exception:
    status = status_of(error)
    if status == TIMED_OUT:
        return _transient(error)
    return _rejected(error) if status == TOO_LARGE else _refused(error)


VERDICTS: dict[str, Callable[[APIError], Exception]] = {
    "APIError": _refused,
    "APIConnectionError": _transient,
    "APITimeoutError": _transient,
    "APIResponseValidationError": _invalid,
    "APIStatusError": _by_status,
    "BadRequestError": _rejected,
    "UnprocessableEntityError": _rejected,
    "AuthenticationError": _refused,
    "OAuthError": _refused,
    "PermissionDeniedError": _refused,
    "NotFoundError": _refused,
    "ConflictError": _transient,
    "RateLimitError": _limited,
    "InternalServerError": _transient,
}
