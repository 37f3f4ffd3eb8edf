"""What each exception of the ``openai`` package means to a reranker: one table."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pincite.embedding.openai_errors import FINAL_LIMITS, status_of
from pincite.embedding.retrying import Transient, retry_after_s
from pincite.errors import RerankerRefused, RerankingInvalid
from pincite.retrieval.rerank.calling import TIMED_OUT
from pincite.retrieval.rerank.http_errors import PASSING

if TYPE_CHECKING:
    from openai import APIError


def translate(error: APIError) -> Exception:
    """The Pincite error, or ``Transient`` where trying again may help.

    The vendor's own message is left out: it may quote the passages or the key.
    """
    for kind in type(error).__mro__:
        if kind.__name__ in VERDICTS:
            return VERDICTS[kind.__name__](error)
    return _refused(error)


def _what(error: APIError) -> str:
    status = status_of(error)
    return type(error).__name__ if status is None else f"HTTP {status}"


def _timed_out(error: APIError) -> Exception:
    return Transient(TIMED_OUT)


def _passing(error: APIError) -> Exception:
    response = getattr(error, "response", None)
    return Transient(_what(error), None if response is None else retry_after_s(response.headers))


def _refused(error: APIError) -> Exception:
    return RerankerRefused(
        f"The reranker refuses the request ({_what(error)}).", status=status_of(error)
    )


def _limited(error: APIError) -> Exception:
    return _refused(error) if error.code in FINAL_LIMITS else _passing(error)


def _by_status(error: APIError) -> Exception:
    return _passing(error) if status_of(error) in PASSING else _refused(error)


def _invalid(error: APIError) -> Exception:
    return RerankingInvalid("The reranker answers in another format.")


VERDICTS: dict[str, Callable[[APIError], Exception]] = {
    "APIError": _refused,
    "APIConnectionError": _passing,
    "APITimeoutError": _timed_out,
    "APIResponseValidationError": _invalid,
    "APIStatusError": _by_status,
    "BadRequestError": _refused,
    "UnprocessableEntityError": _refused,
    "AuthenticationError": _refused,
    "OAuthError": _refused,
    "PermissionDeniedError": _refused,
    "NotFoundError": _refused,
    "ConflictError": _passing,
    "RateLimitError": _limited,
    "InternalServerError": _passing,
}
