"""What goes wrong between Pincite and Milvus, in the one table that gives it Pincite's codes."""

from __future__ import annotations

from importlib import import_module

from pincite.errors import PinciteError, ServiceError, StoreLocked, StoreRejected, StoreUnreachable

LITE_NOT_OPENED = "Open local milvus failed"
NOT_FOUND = 100
NOT_LOADED = 101
ALIAS_NOT_FOUND = 1600

# Every exception class of pymilvus; a test fails when a new one appears.
BY_CLASS: dict[str, type[ServiceError]] = {
    "AmbiguousIndexName": StoreRejected,
    "AutoIDException": StoreRejected,
    "CannotInferSchemaException": StoreRejected,
    "ClusteringKeyException": StoreRejected,
    "CollectionNotExistException": StoreRejected,
    "ConnectError": StoreUnreachable,
    "ConnectionConfigException": StoreRejected,
    "ConnectionNotExistException": StoreUnreachable,
    "DataNotMatchException": StoreRejected,
    "DataTypeNotMatchException": StoreRejected,
    "DataTypeNotSupportException": StoreRejected,
    "DescribeCollectionException": StoreRejected,
    "FieldTypeException": StoreRejected,
    "FieldsTypeException": StoreRejected,
    "FunctionsTypeException": StoreRejected,
    "IndexNotExistException": StoreRejected,
    "InvalidConsistencyLevel": StoreRejected,
    "MilvusException": StoreRejected,
    "MilvusUnavailableException": StoreUnreachable,
    "ParamError": StoreRejected,
    "PartitionAlreadyExistException": StoreRejected,
    "PartitionKeyException": StoreRejected,
    "PrimaryKeyException": StoreRejected,
    "SchemaMismatchRetryableException": StoreRejected,
    "SchemaNotReadyException": StoreRejected,
    "ServerVersionIncompatibleException": StoreRejected,
}

# Codes of the server (and of Milvus Lite) that say more than the class does.
BY_CODE: dict[int, tuple[type[ServiceError], str, str | None]] = {
    2: (StoreUnreachable, "cannot be reached", None),
    8: (StoreUnreachable, "limits the rate", "Try again in a moment."),
    NOT_FOUND: (StoreRejected, "does not know the collection", "Check the collection's name."),
    NOT_LOADED: (StoreRejected, "has not loaded the collection", "Load the collection."),
    800: (StoreRejected, "does not know the database", "Check [store] database."),
}

# gRPC status names, for calls that pymilvus does not wrap.
BY_STATUS: dict[str, type[ServiceError]] = {
    "CANCELLED": StoreUnreachable,
    "DEADLINE_EXCEEDED": StoreUnreachable,
    "RESOURCE_EXHAUSTED": StoreUnreachable,
    "UNAVAILABLE": StoreUnreachable,
}

_TIMED_OUT = ("Retry timeout", "Retry run out", "Fail connecting to server")
_CLOSED = "should create connection first"


def vendor_exceptions() -> tuple[type[Exception], ...]:
    """What a call to Milvus may raise and this table maps."""
    from pymilvus.exceptions import MilvusException

    # By name, since grpc ships neither types nor stubs.
    rpc_error: type[Exception] = import_module("grpc").RpcError
    return (MilvusException, rpc_error, TimeoutError, ConnectionError)


def mapped(exc: Exception, action: str, where: str) -> PinciteError:
    """The coded error for a vendor's exception.

    The vendor's own words stay out of it, since they quote filters and values; they remain on
    the exception's cause.
    """
    kind, saying, step = _verdict(exc)
    code = getattr(exc, "code", None)
    detail = f" ({type(exc).__name__}, code {code!r})" if isinstance(code, int) else ""
    return kind(f"The store at {where!r} {saying}: {action}{detail}.", step, action=action)


def vendor_code(exc: BaseException) -> int | None:
    """The store's own code of an exception, ``None`` where it has none."""
    code = getattr(exc, "code", None)
    return int(code) if isinstance(code, int) else None


def _verdict(exc: Exception) -> tuple[type[ServiceError], str, str | None]:
    message = str(getattr(exc, "message", ""))
    if isinstance(exc, TimeoutError) or any(mark in message for mark in _TIMED_OUT):
        return StoreUnreachable, "did not answer in time", None
    if LITE_NOT_OPENED in message:
        return StoreLocked, "is open in another process", None
    if isinstance(exc, ConnectionError) or _CLOSED in message:
        return StoreUnreachable, "is not connected", None
    code = vendor_code(exc)
    if code in BY_CODE:
        return BY_CODE[code]
    status = _status(exc)
    if status is not None:
        kind = BY_STATUS.get(status, StoreRejected)
        return kind, f"failed with {status}", None
    return BY_CLASS.get(type(exc).__name__, StoreRejected), "refused", None


def _status(exc: Exception) -> str | None:
    """The gRPC status name: of an RPC error itself, or where pymilvus keeps it as the code."""
    code = getattr(exc, "code", None)
    status = code() if callable(code) else code
    name = getattr(status, "name", None)
    return str(name) if name is not None and not isinstance(status, int) else None
