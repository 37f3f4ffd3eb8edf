"""Two versions of a small folder that differ in every way in which documents change."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

OLD = "old"
NEW = "new"
# An embedder that refuses texts with this word stands for one that refuses some.
REFUSED_WORD = "unembeddable"
SOURCE = "pages"
UNTOUCHED = "03-kept.md"

_ABSENT = None
_BROKEN = "!"
_WORDS = 24

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


def write_version(folder: Path, version: str) -> None:
    """Make the folder hold exactly this version, ``OLD`` or ``NEW``."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, wordings in _PAGES.items():
        path = folder / f"{name}.md"
        wording = wordings[version == NEW]
        if wording is None:
            path.unlink(missing_ok=True)
        else:
            path.write_bytes(_page(name, wording, version))


def _page(name: str, wording: str, version: str) -> bytes:
    if wording == _BROKEN:
        return b"# Latin-1\n\nNeither UTF-8 nor marked: caf\xe9.\n"
    edition = version if name.endswith("retitled") else "only"
    head = f"---\ntitle: {name} in its {edition} edition\n---\n"
    parts = [_paragraph(name, number, letter) for number, letter in enumerate(wording)]
    return (head + "\n\n".join(parts) + "\n").encode()


def _paragraph(name: str, number: int, letter: str) -> str:
    stem = name.replace("-", "")
    words = [f"{stem}{number}{letter}{word}" for word in range(_WORDS)]
    return " ".join([*words, *([REFUSED_WORD] if letter == "x" else [])]) + "."
