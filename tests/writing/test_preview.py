"""A dry run says what would change and changes nothing."""

from __future__ import annotations

from pincite.writing.preview import preview
from pincite.writing.request import IngestRequest


def ask(home, folder, **request):
    return home.run(lambda _: preview(IngestRequest((str(folder),), **request)))


def test_first_preview_counts_everything_as_added(home, folder):
    found = ask(home, folder)
    assert found.documents["added"] == 3
    assert (found.chunks, found.texts, found.cached) == (3, 3, 0)
    assert found.tokens > 0
    assert found.seconds is not None
    assert found.previews[0]["evidence_key"] == "notes/ant.md#chunk-0"


def test_preview_leaves_no_trace(home, folder):
    ask(home, folder)
    assert home.run(lambda w: _state(w)) == ([], {})


async def _state(workspace):
    generations = workspace.catalog.generations
    return generations.all(), generations.roots("docs")


def test_preview_matches_the_ingest_that_follows(home, folder):
    home.ingest(folder)
    (folder / "ant.md").write_text("Another ant.\n", "utf-8")
    (folder / "cat.md").unlink()
    (folder / "dog.md").write_text("A dog.\n", "utf-8")
    (folder / "bad.md").write_bytes(b"caf\xe9")
    (folder / "bee.md").write_text("---\ndoc_id: handbook\n---\nA bee.\n", "utf-8")
    (folder / "fox.md").write_text("---\ndoc_id: handbook\n---\nA fox.\n", "utf-8")
    found = ask(home, folder)
    receipt = home.ingest(folder)
    for name in ("added", "updated", "unchanged", "deleted", "failed"):
        assert found.documents[name] == receipt.documents[name], name
    assert found.texts == receipt.embeddings["computed"]
    assert found.tokens == receipt.embeddings["tokens"]


def test_preview_tells_that_pruning_would_be_refused(home, folder):
    for number in range(20):
        (folder / f"page-{number}.md").write_text(f"Page {number}.\n", "utf-8")
    home.ingest(folder)
    for path in folder.glob("page-*.md"):
        path.unlink()
    found = ask(home, folder)
    assert found.documents["deleted"] == 0
    assert [entry["code"] for entry in found.failures] == ["PRUNE_REFUSED"]
    assert ask(home, folder, prune="force").documents["deleted"] == 20


def test_cost_follows_the_configured_price(make_home, folder):
    found = ask(make_home(**{"embedder.price-per-million-tokens": 2.0}), folder)
    assert found.cost == found.tokens * 2e-6


def test_unchanged_corpus_needs_nothing(home, folder):
    home.ingest(folder)
    found = ask(home, folder)
    assert (found.chunks, found.texts, found.seconds) == (0, 0, 0.0)
