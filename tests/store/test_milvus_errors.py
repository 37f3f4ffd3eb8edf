from __future__ import annotations

import grpc
import pymilvus.exceptions
import pytest
from pymilvus.exceptions import ConnectionConfigException, ErrorCode, MilvusException

from pincite.errors import StoreLocked, StoreRejected, StoreUnreachable
from pincite.store.milvus_errors import BY_CLASS, BY_STATUS, mapped, vendor_code


def test_every_exception_class_of_pymilvus_is_in_the_table() -> None:
    there = {
        name
        for name, value in vars(pymilvus.exceptions).items()
        if isinstance(value, type) and issubclass(value, MilvusException)
    }
    assert there == set(BY_CLASS)


def test_every_status_in_the_table_is_one_of_grpc() -> None:
    assert set(BY_STATUS) <= {status.name for status in grpc.StatusCode}


@pytest.mark.parametrize(
    ("exc", "expected"),
    [
        (MilvusException(2, "Fail connecting to server on 127.0.0.1:1, illegal"), StoreUnreachable),
        (MilvusException(1, "[query] Retry timeout: 0.05s"), StoreUnreachable),
        (MilvusException(grpc.StatusCode.UNAVAILABLE, "gone"), StoreUnreachable),
        (MilvusException(ErrorCode.RATE_LIMIT, "too fast"), StoreUnreachable),
        (MilvusException(1, "should create connection first"), StoreUnreachable),
        (MilvusException(65535, "cannot parse expression"), StoreRejected),
        (MilvusException(100, "collection not found"), StoreRejected),
        (MilvusException(grpc.StatusCode.UNIMPLEMENTED, "no"), StoreRejected),
        (ConnectionConfigException(message="Open local milvus failed"), StoreLocked),
        (ConnectionConfigException(message="uri: x is illegal"), StoreRejected),
        (TimeoutError(), StoreUnreachable),
        (ConnectionResetError(), StoreUnreachable),
    ],
)
def test_a_vendor_exception_has_one_code(exc: Exception, expected: type) -> None:
    error = mapped(exc, "search 'c'", "http://localhost:1")
    assert type(error) is expected
    assert "search 'c'" in str(error)


def test_the_vendor_s_words_stay_out_of_the_message() -> None:
    error = mapped(MilvusException(65535, "expr: user_id == 'secret'"), "query 'c'", "u")
    assert "secret" not in str(error)
    assert "65535" in str(error)


def test_a_code_is_a_number_or_nothing() -> None:
    assert vendor_code(MilvusException(101, "")) == 101
    assert vendor_code(MilvusException(grpc.StatusCode.UNAVAILABLE, "")) is None
    assert vendor_code(ValueError()) is None
