"""Which corpora there are."""

from __future__ import annotations

from collections.abc import Callable

from pincite.corpora.docs import DocsCorpus
from pincite.corpora.port import CorpusAdapter
from pincite.errors import RequestInvalid

_CORPORA: dict[str, Callable[[], CorpusAdapter]] = {DocsCorpus.name: DocsCorpus}


def corpus_names() -> tuple[str, ...]:
    """Names of all corpora, sorted."""
    return tuple(sorted(_CORPORA))


def corpus_adapter(name: str) -> CorpusAdapter:
    """The adapter of a corpus.

    Raises:
        RequestInvalid: There is no such corpus.
    """
    if name not in _CORPORA:
        raise RequestInvalid(
            f"There is no corpus {name!r}.", f"Use one of: {', '.join(corpus_names())}."
        )
    return _CORPORA[name]()
