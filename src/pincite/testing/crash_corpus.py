"""Two versions of a small folder that differ in every way in which documents change."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest
from pathlib import Path

OLD = "old"
NEW = "new"
# An embedder that refuses texts with this word stands for one that refuses some.
REFUSED_WORD = "unembeddable"
SOURCE = "pages"
UNTOUCHED = "03-kept.md"
# Names of the pages that are searchable in both versions, and so all the time between them.
_KINDS = ("edited", "shrunk", "kept", "grown", "retitled")
LASTING = (*(f"{kind}.md" for kind in _KINDS), "07-refused.md", "12-broken.md")

_ABSENT = None
_BROKEN = "!"
_UNWRITABLE = ("refused", "broken")
_WORDS = 20

# Each letter is one paragraph, about one chunk, and names its wording; "x" is one that the
# embedder refuses. Every kind of change is there in both directions, mixed over the batches.
_PAGES: Mapping[str, tuple[str | None, str | None]] = {
    "01-edited": ("a", "b"),
    "02-shrunk": ("aaaaaa", "aa"),
    "03-kept": ("aa", "aa"),
    "04-grown": ("a", "aaaa"),
    "05-removed": ("aaa", _ABSENT),
    "06-edited": ("aaa", "aba"),
    "07-refused": ("aa", "ax"),
    "08-added": (_ABSENT, "aaa"),
    "09-shrunk": ("aaaa", "b"),
    "10-emptied": ("aa", ""),
    "11-kept": ("a", "a"),
    "12-broken": ("aa", _BROKEN),
    "13-grown": ("aa", "bbbbb"),
    "14-edited": ("aaaaa", "bbbbb"),
    "15-refused": ("ax", "aa"),
    "16-removed": ("a", _ABSENT),
    "17-filled": ("", "aa"),
    "18-shrunk": ("aaa", "ab"),
    "19-kept": ("aaaa", "aaaa"),
    "20-added": (_ABSENT, "a"),
    "21-broken": (_BROKEN, "aa"),
    "22-grown": ("ab", "aba"),
    "23-edited": ("aa", "ba"),
    "24-retitled": ("aa", "aa"),
    "25-edited": ("a", "b"),
    "26-edited": ("abab", "baba"),
}


def write_version(folder: Path, version: str, serial: int) -> None:
    """Make the folder hold exactly this version, ``OLD`` or ``NEW``.

    Paragraphs that the other version does not have are worded by ``serial``, so that a folder
    that goes to and fro never says again what it has said before. Pages that cannot be written
    stay out of this: what is searchable of them depends on the past.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, (old, new) in _PAGES.items():
        path = folder / f"{name}.md"
        wording, other = (old, new) if version == OLD else (new, old)
        if wording is None:
            path.unlink(missing_ok=True)
        else:
            path.write_bytes(_page(name, version, _letters(name, wording, other or "", serial)))


def _letters(name: str, wording: str, other: str, serial: int) -> list[str]:
    """The paragraphs' wordings; the serial number makes new ones of those that changed."""
    if wording == _BROKEN or name.endswith(_UNWRITABLE):
        return list(wording)
    same = [there == here for there, here in zip_longest(wording, other)]
    return [
        letter if unchanged else f"{letter}{serial}"
        for letter, unchanged in zip(wording, same, strict=False)
    ]


def _page(name: str, version: str, letters: list[str]) -> bytes:
    if letters == [_BROKEN]:
        return b"# Latin-1\n\nNeither UTF-8 nor marked: caf\xe9.\n"
    edition = version if name.endswith("retitled") else "only"
    head = f"---\ntitle: {name} in its {edition} edition\n---\n"
    parts = [_paragraph(name, number, letter) for number, letter in enumerate(letters)]
    return (head + "\n\n".join(parts) + "\n").encode()


def _paragraph(name: str, number: int, letter: str) -> str:
    stem = f"{name.replace('-', '')}p{number}{letter}"
    words = [f"{stem}w{word}" for word in range(_WORDS)]
    return " ".join([*words, *([REFUSED_WORD] if letter == "x" else [])]) + "."
