import asyncio
import email.utils
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pincite.embedding.retrying import RetryPolicy, Transient, retry_after_s, with_retries

POLICY = RetryPolicy(attempts=3, first_wait_s=0.001, longest_wait_s=0.002, longest_asked_s=0.01)


class Flaky:
    def __init__(self, failures: int, error: Exception | None = None) -> None:
        self.failures = failures
        self.error = error or Transient("busy")
        self.left: list[float | None] = []

    async def __call__(self, left_s: float | None) -> str:
        self.left.append(left_s)
        if len(self.left) <= self.failures:
            raise self.error
        return "done"


def test_a_call_is_repeated_until_it_succeeds() -> None:
    call = Flaky(2)
    assert asyncio.run(with_retries(call, POLICY)) == "done"
    assert call.left == [None, None, None]


def test_a_repetition_is_logged_with_its_reason(caplog: pytest.LogCaptureFixture) -> None:
    asyncio.run(with_retries(Flaky(1), POLICY))
    (record,) = caplog.records
    assert (record.__dict__["reason"], record.__dict__["attempt"]) == ("busy", 1)


def test_the_last_failure_is_raised_when_attempts_run_out() -> None:
    call = Flaky(9)
    with pytest.raises(Transient, match="busy"):
        asyncio.run(with_retries(call, POLICY))
    assert len(call.left) == 3


def test_any_other_error_is_raised_at_once() -> None:
    call = Flaky(9, KeyError("x"))
    with pytest.raises(KeyError):
        asyncio.run(with_retries(call, POLICY))
    assert len(call.left) == 1


def test_attempts_are_told_how_much_time_is_left() -> None:
    call = Flaky(2)
    asyncio.run(with_retries(call, POLICY, timeout_s=5.0))
    assert all(left is not None and 0 < left <= 5.0 for left in call.left)
    assert call.left == sorted(call.left, reverse=True)


def test_no_wait_is_begun_that_misses_the_deadline() -> None:
    call = Flaky(9)
    slow = RetryPolicy(attempts=9, first_wait_s=10.0)
    started = time.monotonic()
    with pytest.raises(Transient):
        asyncio.run(with_retries(call, slow, timeout_s=0.5))
    assert time.monotonic() - started < 0.5
    assert len(call.left) == 1


@given(st.integers(1, 200), st.none() | st.floats(0, 1e9))
@settings(max_examples=60, deadline=None)
def test_waits_are_bounded(attempt: int, asked: float | None) -> None:
    policy = RetryPolicy()
    wait = policy.wait_s(attempt, asked)
    limit = policy.longest_wait_s if asked is None else 1.1 * min(asked, policy.longest_asked_s)
    assert 0 <= wait <= limit


def test_waits_grow() -> None:
    policy = RetryPolicy()
    assert policy.wait_s(1, None) <= 0.5 <= policy.wait_s(3, None) <= 2.0 <= policy.wait_s(5, None)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "later"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_in_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_s(headers) == seconds


def test_retry_after_may_be_a_date() -> None:
    date = email.utils.formatdate(time.time() + 100, usegmt=True)
    asked = retry_after_s({"retry-after": date})
    assert asked is not None
    assert 95 < asked <= 100


@given(st.text(max_size=30))
@settings(max_examples=60, deadline=None)
def test_any_retry_after_is_survived(value: str) -> None:
    asked = retry_after_s({"retry-after": value})
    assert asked is None or asked >= 0
