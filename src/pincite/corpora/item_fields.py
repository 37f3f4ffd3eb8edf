"""What the items of memory and web share: clean text, times with a zone, identities by hash."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, TypeVar

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, ValidationError

from pincite.documents.assemble import kept_text
from pincite.errors import ItemInvalid

# Hex digits of a hash in an identity: 160 bits.
ID_DIGITS = 40
SUFFIXES = frozenset({".jsonl", ".ndjson"})

Model = TypeVar("Model", bound=BaseModel)


def _spelled_out(value: object) -> object:
    # A number would be taken for seconds or milliseconds by its size.
    if value is not None and not isinstance(value, str | datetime):
        raise ValueError("a time is text in ISO 8601 with its zone, such as 2030-01-31T12:00:00Z")
    return value


Time = Annotated[AwareDatetime, BeforeValidator(_spelled_out)]
"""A point in time; naive ones are refused, for nobody knows when they are."""


class Input(BaseModel):
    """What a client sends of one item; unknown fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


def checked(model: type[Model], value: Mapping[str, Any]) -> Model:
    """The value as the model; its text is not repeated in an error.

    Raises:
        ItemInvalid: A field is missing, unknown or not what it must be.
    """
    try:
        return model.model_validate(value)
    except ValidationError as exc:
        first = exc.errors(include_url=False, include_input=False)[0]
        field = ".".join(map(str, first["loc"])) or "the item"
        message = first["msg"].removeprefix("Value error, ")
        raise ItemInvalid(f"{field}: {message}.") from exc


def clean_text(text: str) -> str:
    """The text as it is kept: line ends LF, no NUL, nothing blank around it."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    return kept_text(lines).strip()


def require_encodable(name: str, text: str) -> str:
    """The text, unchanged.

    Raises:
        ItemInvalid: UTF-8 cannot hold it.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as exc:
        raise ItemInvalid(f"{name} is not valid Unicode.") from exc
    return text


def epoch_ms(time: datetime | None) -> int:
    """Epoch milliseconds, UTC; 0 where no time is given."""
    return 0 if time is None else int(time.timestamp() * 1000)


def hashed_id(prefix: str, parts: Sequence[str]) -> str:
    """A document id of these parts in order; no two lists of parts share one."""
    data = json.dumps(list(parts), ensure_ascii=False).encode("utf-8")
    return f"{prefix}-{hashlib.sha256(data).hexdigest()[:ID_DIGITS]}"


def canonical_json(value: Mapping[str, Any]) -> str:
    """JSON with sorted keys, characters as they are."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
