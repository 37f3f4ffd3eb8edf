import httpx
import pytest

from pincite.embedding.retrying import Transient
from pincite.errors import RerankerRefused
from pincite.retrieval.rerank.http_errors import VERDICTS, check_status, translate


def names(kind: type[Exception]) -> set[str]:
    return {kind.__name__}.union(*(names(child) for child in kind.__subclasses__()))


def test_every_error_of_the_vendor_has_a_verdict() -> None:
    own = {name for name in names(httpx.HTTPError) if hasattr(httpx, name)}
    assert own == set(VERDICTS)


def test_what_the_vendor_says_is_left_out() -> None:
    error = translate(httpx.UnsupportedProtocol("http://user:hunter2@host"))
    assert isinstance(error, RerankerRefused)
    assert "hunter2" not in str(error)


@pytest.mark.parametrize("status", [301, 307, 400, 401, 402, 404, 410, 413, 418, 422, 424, 451])
def test_a_refusal_is_no_matter_of_waiting(status) -> None:
    with pytest.raises(RerankerRefused, match=f"HTTP {status}"):
        check_status(httpx.Response(status))


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
def test_overload_may_pass(status) -> None:
    with pytest.raises(Transient) as caught:
        check_status(httpx.Response(status, headers={"retry-after": "2"}))
    assert (caught.value.reason, caught.value.retry_after_s) == (f"HTTP {status}", 2.0)


@pytest.mark.parametrize("status", [201, 202, 204, 206])
def test_a_success_without_the_answer_is_none(status) -> None:
    with pytest.raises(RerankerRefused):
        check_status(httpx.Response(status))
