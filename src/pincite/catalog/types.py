"""Column types that mean the same on every database."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import Dialect, String, Text
from sqlalchemy.dialects.mysql import MEDIUMTEXT, VARBINARY
from sqlalchemy.types import TypeDecorator, TypeEngine

_MYSQL = ("mysql", "mariadb")
_BYTES_PER_CHARACTER = 4


class Exact(TypeDecorator[str]):
    """Text that equals only itself, and sorts by its UTF-8 bytes.

    The usual collations of MySQL and MariaDB call ``A`` and ``a``, ``é`` and ``e``, and a text
    with and without a space at its end equal; ids that differ so must stay two rows. Theirs is
    a binary column therefore. PostgreSQL tells them apart, but sorts by its locale.

    Args:
        length: Characters at most.
        octets: Bytes of UTF-8 at most, where the callers bound them; a key of several columns
            fits into an index of MySQL only so. Without: as many as the characters can have.
    """

    impl = String
    cache_ok = True

    def __init__(self, length: int, octets: int | None = None) -> None:
        super().__init__(length)
        self.length = length
        self.octets = octets or length * _BYTES_PER_CHARACTER

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        if dialect.name in _MYSQL:
            return dialect.type_descriptor(VARBINARY(self.octets))
        collation = "C" if dialect.name == "postgresql" else None
        return dialect.type_descriptor(String(self.length, collation=collation))

    # Called once for a statement; what follows would else be called for each value of each row.
    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Any] | None:
        return super().bind_processor(dialect) if dialect.name in _MYSQL else None

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any] | None:
        return super().result_processor(dialect, coltype) if dialect.name in _MYSQL else None

    def process_bind_param(self, value: str | None, dialect: Dialect) -> Any:
        encode = value is not None and dialect.name in _MYSQL
        return value.encode("utf-8") if encode and value is not None else value

    def process_result_value(self, value: Any, dialect: Dialect) -> str | None:
        return value.decode("utf-8") if isinstance(value, bytes) else value


def long_text() -> TypeEngine[str]:
    """Text without a practical bound; plain TEXT ends at 65,535 bytes on MySQL and MariaDB."""
    return Text().with_variant(MEDIUMTEXT(), *_MYSQL)
