import asyncio
from pathlib import Path

import pytest

from pincite.errors import StoreRejected
from pincite.retrieval.pipeline import LookupParts
from pincite.retrieval.warm import warm_up
from pincite.testing.small_corpus import SmallCorpus


def _warm(folder: Path, corpus: str, *, create: bool = True) -> None:
    async def run() -> None:
        small = SmallCorpus(folder)
        if create:
            await small.create()
        parts = LookupParts(small.catalog, small.store, lambda recipe: small.embedder)
        await warm_up(corpus, parts)

    asyncio.run(run())


def test_the_live_collection_is_touched(tmp_path: Path) -> None:
    _warm(tmp_path, "docs")
    with pytest.raises(StoreRejected, match="pincite_docs_g1"):
        _warm(tmp_path, "docs", create=False)


def test_a_corpus_without_a_generation_has_nothing_to_warm(tmp_path: Path) -> None:
    _warm(tmp_path, "memos")
