"""The write pipeline when a step fails: the old version stays whole, the others go on."""

from __future__ import annotations

import asyncio
import dataclasses

import numpy as np
import pyarrow as pa
import pytest

from pincite.catalog.documents import Documents
from pincite.embedding.cached import CachedEmbedder, PassageResult
from pincite.errors import CorpusBusy, EmbeddingRejected, LeaseLost, StoreUnreachable
from pincite.schemas.notices import NOTICES, failure
from pincite.schemas.rows import rows_contract
from pincite.writing.ingest import ingest
from pincite.writing.pipeline import write
from pincite.writing.request import IngestRequest
from pincite.writing.steps import DIRECT
from pincite.writing.tables import without
from pincite.writing.target import open_target


def replaced(**steps):
    """The plain steps with some write steps replaced."""
    plain = DIRECT
    return dataclasses.replace(plain, write=dataclasses.replace(plain.write, **steps))


def with_vectors(rows, doc_id, value):
    """The rows with every vector of one document set to ``value``."""
    vectors = np.stack([np.asarray(v) for v in rows["embedding"].to_pylist()]).astype(np.float32)
    for at, owner in enumerate(rows["doc_id"].to_pylist()):
        if owner == doc_id:
            vectors[at] = value
    dim = vectors.shape[1]
    flat = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), dim)
    at = rows.schema.get_field_index("embedding")
    return rows_contract(dim).conform(rows.set_column(at, "embedding", flat))


def edit(folder, *names):
    for name in names:
        (folder / name).write_text(f"# {name}\n\nAnother text of {name}.\n", "utf-8")


def test_document_with_a_bad_vector_is_quarantined_whole(home, folder):
    home.ingest(folder)
    before = home.rows()
    edit(folder, "ant.md", "bee.md")

    async def embed(target, chunks):
        found = await DIRECT.write.embed(target, chunks)
        return found._replace(rows=with_vectors(found.rows, "notes/ant.md", 0.0))

    receipt = home.ingest(folder, steps=replaced(embed=embed))
    assert [entry["code"] for entry in receipt.failures] == ["IDENTITY_REJECTED"]
    assert "vector_finite_and_not_zero" in receipt.failures[0]["message"]
    assert receipt.chunks["quarantined"] == 1
    assert home.rows()["notes/ant.md#chunk-0"] == before["notes/ant.md#chunk-0"]
    assert "Another" in home.rows()["notes/bee.md#chunk-0"]["content"]
    assert home.verified()
    assert home.ingest(folder).documents["updated"] == 1
    assert home.verified()


def test_rows_that_do_not_arrive_leave_the_document_open_and_the_next_run_mends_it(home, folder):
    home.ingest(folder)
    edit(folder, "ant.md", "bee.md")

    async def upsert(target, rows):
        arrived = rows.filter(pa.compute.not_equal(rows["doc_id"], "notes/ant.md"))
        return await DIRECT.write.upsert(target, arrived)

    async def restore(target):
        found = await DIRECT.write.restore(target)
        return found._replace(documents=found.documents.slice(0, 0))

    receipt = home.ingest(folder, steps=replaced(upsert=upsert, restore=restore))
    assert [entry["code"] for entry in receipt.failures] == ["WRITE_UNCONFIRMED"]
    assert "RECOVERED" not in [entry["code"] for entry in receipt.warnings]
    assert home.ingest(folder).documents["updated"] == 1
    assert "Another" in home.rows()["notes/ant.md#chunk-0"]["content"]
    assert home.verified()


def test_document_that_fails_again_at_the_end_of_the_run_is_not_called_whole(home, folder):
    async def upsert(target, rows):
        return 0

    receipt = home.ingest(folder, steps=replaced(upsert=upsert))
    assert {entry["code"] for entry in receipt.failures} == {"WRITE_UNCONFIRMED"}
    assert {entry["code"] for entry in receipt.warnings} == {"ROLLED_BACK"}
    assert receipt.documents["failed"] == 3
    assert home.verified()


def test_unconfirmed_write_is_tried_again_at_the_end_of_the_run(home, folder):
    lost = iter([True])

    async def upsert(target, rows):
        if next(lost, False):
            return 0
        return await DIRECT.write.upsert(target, rows)

    home.ingest(folder, steps=replaced(upsert=upsert))
    assert len(home.documents()) == 3
    assert home.verified()


def test_store_failing_for_good_ends_the_run_and_the_next_one_mends_it(home, folder):
    home.ingest(folder)
    edit(folder, "ant.md")

    async def upsert(target, rows):
        raise StoreUnreachable("The store is away.")

    with pytest.raises(StoreUnreachable):
        home.ingest(folder, steps=replaced(upsert=upsert))
    assert home.ingest(folder).documents["updated"] == 1
    assert home.verified()


def test_reverted_file_is_written_again_after_a_half_done_write(home, folder):
    original = (folder / "ant.md").read_text("utf-8")
    home.ingest(folder)
    edit(folder, "ant.md")

    async def stamp(target, drafts, rows, stale):
        raise StoreUnreachable("Stopped before the stamp.")

    with pytest.raises(StoreUnreachable):
        home.ingest(folder, steps=replaced(stamp=stamp))
    (folder / "ant.md").write_text(original, "utf-8")
    assert home.ingest(folder).documents["updated"] == 1
    assert home.rows()["notes/ant.md#chunk-0"]["content"] == original.strip()
    assert home.verified()


def test_half_done_write_is_restored_when_its_source_is_not_read_again(home, folder, tmp_path):
    home.ingest(folder)
    edit(folder, "ant.md")

    async def stamp(target, drafts, rows, stale):
        raise StoreUnreachable("Stopped before the stamp.")

    with pytest.raises(StoreUnreachable):
        home.ingest(folder, steps=replaced(stamp=stamp))
    other = tmp_path / "other"
    other.mkdir()
    (other / "x.md").write_text("X.\n", "utf-8")
    receipt = home.ingest(other)
    assert [entry["code"] for entry in receipt.warnings] == ["RECOVERED"]
    assert "Another" in home.rows()["notes/ant.md#chunk-0"]["content"]
    assert home.verified()


def refusing(text):
    """An embed step that refuses every chunk that holds ``text``."""

    async def embed(target, chunks):
        found = await DIRECT.write.embed(target, chunks)
        error = EmbeddingRejected("The embedder refuses this text.")
        rows = chunks.select(["doc_id", "source", "content"]).to_pylist()
        bad = {row["doc_id"]: row["source"] for row in rows if text in row["content"]}
        notices = NOTICES.from_rows(failure(d, source, error) for d, source in bad.items())
        return found._replace(rows=without(found.rows, bad), notices=notices)

    return replaced(embed=embed)


async def stopped(*_):
    raise StoreUnreachable("Stopped here.")


def test_half_written_version_is_taken_back_when_the_next_one_cannot_be_embedded(home, folder):
    home.ingest(folder)
    before = home.rows()
    edit(folder, "ant.md")
    with pytest.raises(StoreUnreachable):
        home.ingest(folder, steps=replaced(stamp=stopped))
    (folder / "ant.md").write_text("Poison.\n", "utf-8")
    receipt = home.ingest(folder, steps=refusing("Poison"))
    assert [entry["code"] for entry in receipt.failures] == ["EMBEDDING_REJECTED"]
    assert [entry["code"] for entry in receipt.warnings] == ["ROLLED_BACK"]
    assert contents(home.rows()) == contents(before)
    assert home.verified()


def test_half_done_removal_is_taken_back_when_the_file_returns_and_cannot_be_embedded(home, folder):
    home.ingest(folder)
    before = home.rows()
    (folder / "ant.md").unlink()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Documents, "stamp_removed", _store_gone)
        with pytest.raises(StoreUnreachable):
            home.ingest(folder)
    assert "notes/ant.md" not in home.documents()
    (folder / "ant.md").write_text("Poison.\n", "utf-8")
    home.ingest(folder, steps=refusing("Poison"))
    assert contents(home.rows()) == contents(before)
    assert home.verified()


def _store_gone(*_):
    raise StoreUnreachable("Stopped after the delete.")


def contents(rows):
    return {key: row["content"] for key, row in rows.items()}


def test_document_whose_chunks_are_all_refused_is_one_failure_that_names_a_chunk(home, folder):
    async def embed_passages(self, texts, **_):
        error = EmbeddingRejected("The embedder refuses this text.")
        vectors = np.full((len(texts), 384), np.nan, np.float32)
        return PassageResult(vectors, dict.fromkeys(range(len(texts)), error), 0, 0, 0)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CachedEmbedder, "embed_passages", embed_passages)
        receipt = home.ingest(folder)
    ids = [entry["doc_id"] for entry in receipt.failures]
    assert ids == ["notes/ant.md", "notes/bee.md", "notes/cat.md"]
    assert "'notes/ant.md#chunk-0'" in receipt.failures[0]["message"]


def test_half_done_removal_is_finished_by_the_next_run(home, folder):
    home.ingest(folder)
    (folder / "cat.md").unlink()

    async def remove(target, doc_ids):
        from pincite.wiring import current_workspace

        current_workspace().catalog.journal.open_removals(target.writer, doc_ids)
        raise StoreUnreachable("Stopped before the delete.")

    with pytest.raises(StoreUnreachable):
        home.ingest(folder, steps=replaced(remove=remove))
    assert "notes/cat.md" in home.documents()
    home.ingest(folder)
    assert "notes/cat.md" not in home.documents()
    assert home.verified()


def test_second_writer_ends_at_once(home, folder):
    async def work(workspace):
        async with open_target(workspace, "docs"):
            with pytest.raises(CorpusBusy, match="lease ends"):
                await ingest(IngestRequest((str(folder),)), DIRECT)

    home.run(work)
    assert home.ingest(folder).documents["added"] == 3


def test_writer_that_lost_its_lease_stamps_nothing(make_home, folder):
    home = make_home(**{"lease.ttl-ms": 200})

    async def stamp(target, drafts, rows, stale):
        from pincite.wiring import current_workspace

        catalog = current_workspace().catalog
        catalog.leases.release(target.writer)
        catalog.leases.acquire("docs", target.generation, "somebody else", 200)
        return await DIRECT.write.stamp(target, drafts, rows, stale)

    with pytest.raises(LeaseLost):
        home.ingest(folder, steps=replaced(stamp=stamp))
    import time

    time.sleep(0.3)
    assert home.ingest(folder).documents["added"] == 3
    assert home.verified()


def test_lease_is_kept_while_a_step_takes_longer_than_its_time_to_live(make_home, folder):
    home = make_home(**{"lease.ttl-ms": 300})

    async def embed(target, chunks):
        await asyncio.sleep(0.8)
        return await DIRECT.write.embed(target, chunks)

    assert home.ingest(folder, steps=replaced(embed=embed)).documents["added"] == 3


def test_broken_cache_is_told_once_and_costs_only_time(make_home, folder):
    home = make_home(**{"rag.ingest.batch-documents": 1})
    cache = home.settings.cache_path
    cache.parent.mkdir(parents=True)
    cache.mkdir()
    receipt = home.ingest(folder)
    assert [entry["code"] for entry in receipt.warnings] == ["EMBEDDING_CACHE_UNAVAILABLE"]
    assert receipt.documents["added"] == 3


def test_batches_in_flight_are_bounded(home):
    running, most = 0, 0

    async def chunk(documents):
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        running -= 1
        raise StoreUnreachable("Enough.")

    async def batches():
        for _ in range(10):
            yield pa.table({"doc_id": []})

    async def work(_):
        steps = replaced(chunk=chunk).write
        with pytest.raises(StoreUnreachable):
            async for _written in write(steps, None, batches(), in_flight=3):
                pass

    home.run(work)
    assert 1 <= most <= 3
