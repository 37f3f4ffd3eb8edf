"""Frontmatter: YAML between ``---`` lines or TOML between ``+++`` lines at a text's start.

What a text's start means:

=====================================================  ==========================================
closed block with a mapping (or nothing) in it          fields, body after it
closed block that is invalid or not a mapping           the block is kept under ``frontmatter_raw``,
                                                        body after it, ``FRONTMATTER_INVALID``
the same, but a blank line follows the opening ``---``  text between two rules: all of it is body,
                                                        ``FRONTMATTER_AS_TEXT``
opening line without a closing one                      all of it is body, ``FRONTMATTER_UNCLOSED``
anything else, also a line of four or more dashes       all of it is body
=====================================================  ==========================================
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pincite.documents.block_values import BlockRefused, read_toml, read_yaml
from pincite.documents.model import JSON, Notice

FRONTMATTER_INVALID = "FRONTMATTER_INVALID"
FRONTMATTER_UNCLOSED = "FRONTMATTER_UNCLOSED"
FRONTMATTER_AS_TEXT = "FRONTMATTER_AS_TEXT"
FRONTMATTER_DUPLICATE_KEY = "FRONTMATTER_DUPLICATE_KEY"

RAW_KEY = "frontmatter_raw"

_OPEN = re.compile(r"\ufeff?(?:[ \t]*+\r?\n)*+(---|\+\+\+)[ \t]*\r?(?:\n|\Z)")
_CLOSE = {
    "---": re.compile(r"^(?:---|\.\.\.)[ \t]*\r?(?:\n|\Z)", re.MULTILINE),
    "+++": re.compile(r"^\+\+\+[ \t]*\r?(?:\n|\Z)", re.MULTILINE),
}
_COMMA = re.compile(r"[,，]")


@dataclass(frozen=True)
class Split:
    """A text taken apart; ``fields`` are JSON values, ``body`` is the rest as it was."""

    body: str
    fields: dict[str, JSON]
    warnings: tuple[Notice, ...] = ()


@dataclass(frozen=True)
class Known:
    """The fields that Pincite knows by name; all others are in ``rest``.

    ``doc_id`` is ``None`` where the field is absent and ``""`` where it is there but blank.
    ``title``, ``category`` and ``summary`` are ``""`` where there is none.
    """

    doc_id: str | None
    title: str
    category: str
    summary: str
    keywords: tuple[str, ...]
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    rest: dict[str, JSON]


def split_frontmatter(text: str) -> Split:
    """Take the frontmatter off a text; never raises and never loses body text.

    A byte order mark and blank lines may stand before the opening line.
    """
    opening = _OPEN.match(text)
    if opening is None:
        return Split(text, {})
    fence = opening[1]
    closing = _CLOSE[fence].search(text, opening.end())
    if closing is None:
        message = f"The opening {fence!r} line has no closing one; all of the text is body."
        return Split(text, {}, (Notice(FRONTMATTER_UNCLOSED, message),))
    block = text[opening.end() : closing.start()]
    try:
        fields, duplicates = read_yaml(block) if fence == "---" else (read_toml(block), [])
    except BlockRefused as reason:
        return _refused(text, block, text[closing.end() :], fence, reason)
    return Split(text[closing.end() :], fields, tuple(map(_duplicate, duplicates)))


def _refused(text: str, block: str, body: str, fence: str, reason: BlockRefused) -> Split:
    first, newline, _ = block.partition("\n")
    if fence == "---" and newline and not first.strip():
        message = "The text starts with a rule, not with frontmatter; all of it is body."
        return Split(text, {}, (Notice(FRONTMATTER_AS_TEXT, message),))
    message = f"The frontmatter is {reason}; it is kept as {RAW_KEY!r}. Correct it in the file."
    return Split(body, {RAW_KEY: block}, (Notice(FRONTMATTER_INVALID, message),))


def _duplicate(key: str) -> Notice:
    message = f"The frontmatter holds {key!r} twice; the last one counts."
    return Notice(FRONTMATTER_DUPLICATE_KEY, message)


def known_fields(fields: dict[str, JSON]) -> Known:
    """Pick the known fields, in any letter case, out of frontmatter.

    Of two spellings of one field the first with a usable value counts and the other stays in
    ``rest``. ``summary`` falls back to ``description``, ``category`` to the first of a list or of
    ``categories``. ``tags`` and ``keywords`` may be lists or comma separated text, and may stand
    in ``taxonomies`` too. ``kb_scope`` is never taken: an isolation label is the caller's.
    """
    left = dict(fields)
    taxonomies = _taxonomies(left)
    return Known(
        doc_id=_take_doc_id(left),
        title=_take_text(left, "title"),
        category=_category(left, taxonomies),
        summary=_take_text(left, "summary") or _take_text(left, "description"),
        keywords=_take_words(left, taxonomies, "keywords"),
        tags=_take_words(left, taxonomies, "tags"),
        aliases=_unique(_pop_words(left, "aliases", split=False)),
        rest=_with_taxonomies(left, taxonomies),
    )


def _matching(fields: dict[str, JSON], name: str) -> Iterator[str]:
    return (key for key in list(fields) if key.lower() == name)


def _take_doc_id(left: dict[str, JSON]) -> str | None:
    key = next(_matching(left, "doc_id"), None)
    if key is None:
        return None
    value = left.pop(key)
    # Not made one line: what is odd in an identity is refused, not mended.
    return _scalar_text(value).strip(" ") if _line(value) else ""


def _take_text(left: dict[str, JSON], name: str) -> str:
    for key in _matching(left, name):
        text = _line(left[key])
        if text or left[key] in (None, ""):
            del left[key]
        if text:
            return text
    return ""


def _category(left: dict[str, JSON], taxonomies: dict[str, JSON]) -> str:
    named = _take_text(left, "category")
    if named:
        return named
    places = ((left, "category"), (left, "categories"), (taxonomies, "categories"))
    lists = (_words(place[key]) for place, name in places for key in _matching(place, name))
    return next((words[0] for words in lists if words), "")


def _take_words(left: dict[str, JSON], taxonomies: dict[str, JSON], name: str) -> tuple[str, ...]:
    return _unique([*_pop_words(left, name), *_pop_words(taxonomies, name)])


def _pop_words(fields: dict[str, JSON], name: str, split: bool = True) -> list[str]:
    for key in _matching(fields, name):
        words = _words(fields[key], split)
        if words is not None:
            del fields[key]
            return words
    return []


def _words(value: JSON, split: bool = True) -> list[str] | None:
    """Lines of text out of a list or a text; ``None`` for a value of another shape."""
    if isinstance(value, str) and split:
        value = list(_COMMA.split(value))
    items = value if isinstance(value, list) else [value]
    if any(isinstance(item, list | dict) for item in items):
        return None
    return [line for line in map(_line, items) if line]


def _line(value: JSON) -> str:
    """A scalar as one line of text, whitespace collapsed; ``""`` for anything else."""
    return " ".join(_scalar_text(value).split())


def _scalar_text(value: JSON) -> str:
    if value is None or isinstance(value, list | dict):
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _unique(words: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))


def _taxonomies(left: dict[str, JSON]) -> dict[str, JSON]:
    value = left.get("taxonomies")
    return dict(value) if isinstance(value, dict) else {}


def _with_taxonomies(left: dict[str, JSON], taxonomies: dict[str, JSON]) -> dict[str, JSON]:
    if not isinstance(left.get("taxonomies"), dict):
        return left
    rest = {key: value for key, value in left.items() if key != "taxonomies"}
    return {**rest, "taxonomies": taxonomies} if taxonomies else rest
