"""Which corpora there are."""

from __future__ import annotations

from collections.abc import Callable

from pincite.corpora.docs import DocsCorpus
from pincite.corpora.memory import MemoryCorpus
from pincite.corpora.port import CorpusAdapter
from pincite.corpora.web import WebCorpus
from pincite.errors import RequestInvalid
from pincite.settings.model import Settings

_CORPORA: dict[str, Callable[[Settings], CorpusAdapter]] = {
    "docs": lambda settings: DocsCorpus(),
    "memory": lambda settings: MemoryCorpus(),
    "web": lambda settings: WebCorpus(settings.web),
}


def corpus_names() -> tuple[str, ...]:
    """Names of all corpora, sorted."""
    return tuple(sorted(_CORPORA))


def require_corpus(name: str) -> str:
    """The name, if there is such a corpus.

    Raises:
        RequestInvalid: There is none.
    """
    if name not in _CORPORA:
        raise RequestInvalid(
            f"There is no corpus {name!r}.", f"Use one of: {', '.join(corpus_names())}."
        )
    return name


def make_corpus(name: str, settings: Settings) -> CorpusAdapter:
    """The adapter of a corpus.

    Raises:
        RequestInvalid: There is no such corpus.
    """
    return _CORPORA[require_corpus(name)](settings)
