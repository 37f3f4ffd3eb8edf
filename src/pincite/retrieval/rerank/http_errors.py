"""What each status and each exception of ``httpx`` means to Pincite: one table."""

from __future__ import annotations

from collections.abc import Callable

import httpx

from pincite.embedding.retrying import Transient, retry_after_s
from pincite.errors import RerankerRefused, RerankingInvalid
from pincite.retrieval.rerank.calling import TIMED_OUT

# Too early, too many, or the server timed out itself: the same request may do better later.
PASSING = frozenset({408, 409, 425, 429})
SERVER_ERROR = 500
OK = 200


def check_status(response: httpx.Response) -> None:
    """Return where the status is 200.

    Raises:
        Transient: The endpoint is overloaded or out of order.
        RerankerRefused: It refuses the request, sends it elsewhere, or answers without content.
    """
    status = response.status_code
    if status == OK:
        return
    if status in PASSING or status >= SERVER_ERROR:
        raise Transient(f"HTTP {status}", retry_after_s(response.headers))
    raise RerankerRefused(f"The reranker refuses the request (HTTP {status}).", status=status)


def translate(error: httpx.HTTPError) -> Exception:
    """The Pincite error, or ``Transient`` where trying again may help.

    The client's own message is left out: it may quote the address with its credentials.
    """
    for kind in type(error).__mro__:
        if kind.__name__ in VERDICTS:
            return VERDICTS[kind.__name__](error)
    return _refused(error)


def _timed_out(error: httpx.HTTPError) -> Exception:
    return Transient(TIMED_OUT)


def _passing(error: httpx.HTTPError) -> Exception:
    return Transient(type(error).__name__)


def _refused(error: httpx.HTTPError) -> Exception:
    return RerankerRefused(f"The reranker cannot be asked ({type(error).__name__}).")


def _invalid(error: httpx.HTTPError) -> Exception:
    return RerankingInvalid("The reranker's answer cannot be decoded.")


VERDICTS: dict[str, Callable[[httpx.HTTPError], Exception]] = {
    "HTTPError": _refused,
    "RequestError": _refused,
    "TransportError": _passing,
    "TimeoutException": _timed_out,
    "ConnectTimeout": _timed_out,
    "ReadTimeout": _timed_out,
    "WriteTimeout": _timed_out,
    "PoolTimeout": _timed_out,
    "NetworkError": _passing,
    "ConnectError": _passing,
    "ReadError": _passing,
    "WriteError": _passing,
    "CloseError": _passing,
    "ProtocolError": _passing,
    "LocalProtocolError": _refused,
    "RemoteProtocolError": _passing,
    "ProxyError": _passing,
    "UnsupportedProtocol": _refused,
    "DecodingError": _invalid,
    "TooManyRedirects": _refused,
    "HTTPStatusError": _refused,
}
