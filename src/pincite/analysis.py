"""Words of a text as full-text search compares them: one analysis for rows, queries and hints.

Text is NFKC-normalised and case-folded; words of scripts that part them by spaces lose their
English endings (Snowball, "Porter2") and English stop words; runs of Chinese, Japanese and Korean
characters become single characters and overlapping pairs, which needs no dictionary.

Pairs beat dictionary words on the sets of ``benchmarks/quality.py``: with single characters
beside them .968 nDCG@10 on XQuAD zh against .962; stemming and stop words lift SciFact from .666
to .689.
"""

from __future__ import annotations

import threading
import unicodedata
from collections.abc import Iterator

import regex  # type: ignore[import-untyped]
import Stemmer  # type: ignore[import-not-found]  # it has no stubs

# What this module returns is stored in rows: a change of it needs a new recipe.ROW_SCHEMA_VERSION.
_WORD = regex.compile(r"\w+")
# Scripts that part words by nothing, as members of a character class.
UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_RUN = regex.compile(rf"[{UNSPACED}]+")
# Function and question words: they carry no subject.
_ENGLISH = """a about an and are as at be been but by can could did do does for from had has have
how if in into is it its no not of on or should such than that the their then there these they this
to was were what when where which who whom why will with would"""
_CHINESE = """的 了 和 是 在 有 与 及 或 对 为 于 之 也 都 就 而 被 把 从 到 以 其 这 那 吗 呢 吧 啊
什么 哪些 哪个 怎么 如何 多少"""
_STOP = frozenset(_ENGLISH.split()) | frozenset(_CHINESE.split())
_local = threading.local()


def analyze(text: str) -> list[str]:
    """Terms of a text in order, repeated as often as they occur; each matches ``\\w+``."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return [term for word in _WORD.findall(folded) for term in _terms(word) if term not in _STOP]


def above_terms(title: str, heading: str) -> list[str]:
    """Terms of what stands above a text.

    A heading path often begins with the title; its terms are not repeated, for they would outweigh
    those of the text.
    """
    named = analyze(title)
    known = set(named)
    return [*named, *(term for term in analyze(heading) if term not in known)]


def _terms(word: str) -> Iterator[str]:
    """A word of a spaced script stemmed, runs of other scripts in characters and pairs."""
    if word.isascii():
        if word not in _STOP:
            yield _stem(word)
        return
    end = 0
    for run in _RUN.finditer(word):
        if run.start() > end:
            yield _stem(word[end : run.start()])
        characters = run[0]
        yield from characters
        yield from (characters[i : i + 2] for i in range(len(characters) - 1))
        end = run.end()
    if end < len(word):
        yield _stem(word[end:])


def _stem(word: str) -> str:
    # A stemmer keeps state while it works: one for each thread.
    stemmer = getattr(_local, "stemmer", None)
    if stemmer is None:
        stemmer = _local.stemmer = Stemmer.Stemmer("english")
    stem: str = stemmer.stemWord(word)
    return stem
