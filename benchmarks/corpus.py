"""A corpus of Markdown files of a given number of chunks, the same for the same number."""

from __future__ import annotations

import random
from pathlib import Path

CHUNKS_PER_FILE = 8
# Just under a window of 400 tokens less the overlap, as the hash embedder counts (bytes / 4).
CHUNK_CHARS = 1_270


def write_corpus(folder: Path, chunks: int, seed: int = 1) -> None:
    """Write files of about ``CHUNKS_PER_FILE`` chunks each."""
    words = _words(random.Random(seed))
    chooser = random.Random(seed + 1)
    folder.mkdir(parents=True)
    for number in range(-(-chunks // CHUNKS_PER_FILE)):
        paragraphs = [_paragraph(chooser, words) for _ in range(CHUNKS_PER_FILE)]
        text = f"# Page {number}\n\n" + "\n\n".join(paragraphs) + "\n"
        (folder / f"page-{number:06}.md").write_text(text, "utf-8")


def _words(chooser: random.Random) -> list[str]:
    letters = "abcdefghijklmnoprstuvw"
    return ["".join(chooser.choices(letters, k=chooser.randint(3, 10))) for _ in range(5_000)]


def _paragraph(chooser: random.Random, words: list[str]) -> str:
    parts: list[str] = []
    length = 0
    while length < CHUNK_CHARS:
        sentence = " ".join(chooser.choices(words, k=12)).capitalize() + "."
        parts.append(sentence)
        length += len(sentence) + 1
    return " ".join(parts)
