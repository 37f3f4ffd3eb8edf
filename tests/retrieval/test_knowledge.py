"""The port to what is known, over every layout and store."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from pincite.errors import ConfigInvalid, FullTextUnsupported, StoreRejected
from pincite.identity import text_sha256
from pincite.retrieval.knowledge import (
    KnowledgeSearchPort,
    KnowledgeSearchRequest,
    search_port,
)
from pincite.store.capabilities import MEMORY
from pincite.store.memory import MemoryStore
from pincite.store.milvus import MilvusStore
from pincite.store.port import CollectionSpec, Mode
from pincite.store.registry import Store
from pincite.testing.foreign_layouts import ForeignRow, write_foreign
from pincite.testing.knowledge_suite import (
    Bench,
    KnowledgeSuite,
    Passage,
    dense,
    lexical,
    written,
)
from pincite.testing.store_kit import DIM, row, table, unit

SCOPES = ("user_id", "session_id")
_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def lite_folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("knowledge") / "store.db")


@pytest.fixture(params=["lite", "server"])
def uri(request: pytest.FixtureRequest, lite_folder: str) -> str:
    if request.param == "lite":
        return lite_folder
    address: str = request.getfixturevalue("milvus_server_uri")
    return address


def native_row(passage: Passage) -> dict[str, Any]:
    """The native row of a passage; what it does not say has the value that means absent."""
    absent = {"source": "", "title": "", "heading": "", "doc_version": -1}
    made = row(passage.doc_id, passage.chunk_index, content=passage.text)
    return made | absent | {"embedding": unit(passage.angle)} | passage.values


class NativeBench:
    """Writes passages into native collections of one store."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.made: list[str] = []

    async def write(self, passages: Sequence[Passage]) -> str:
        name = f"knowledge_{next(_numbers)}"
        self.made.append(name)
        await self.store.create(name, CollectionSpec(DIM, SCOPES, ("sensitivity_level",)))
        await self.store.upsert(name, table(*map(native_row, passages)))
        return name


def native(store: Store) -> Iterator[Bench]:
    with asyncio.Runner() as runner:
        port = search_port("native", store)
        # What the store can do is known after its first call.
        runner.run(store.exists("nothing"))
        native_bench = NativeBench(store)
        yield Bench(port, native_bench.write, runner.run, store.capabilities.full_text)
        runner.run(_end(store, native_bench.made))


class TestNativeInMemory(KnowledgeSuite):
    @pytest.fixture
    def bench(self) -> Iterator[Bench]:
        yield from native(MemoryStore())


class TestNativeWithoutFullText(KnowledgeSuite):
    @pytest.fixture
    def bench(self) -> Iterator[Bench]:
        yield from native(MemoryStore(full_text=False))


class TestNativeOnMilvus(KnowledgeSuite):
    @pytest.fixture
    def bench(self, uri: str) -> Iterator[Bench]:
        yield from native(MilvusStore(uri))


def camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


def foreign_row(passage: Passage, spell: Callable[[str], str]) -> ForeignRow:
    """The row of another program: what it does not say is not in the metadata."""
    values = {"doc_id": passage.doc_id, "chunk_index": passage.chunk_index, **passage.values}
    metadata = {spell(name): value for name, value in values.items()}
    return ForeignRow(passage.text, unit(passage.angle), metadata)


def foreign(uri: str, layout: str, spell: Callable[[str], str]) -> Iterator[Bench]:
    store = MilvusStore(uri)
    made: list[str] = []

    async def write(passages: Sequence[Passage]) -> str:
        name = f"knowledge_{next(_numbers)}"
        made.append(name)
        rows = [foreign_row(passage, spell) for passage in passages]
        await asyncio.to_thread(write_foreign, uri, layout, name, rows)
        return name

    with asyncio.Runner() as runner:
        yield Bench(search_port(layout, store), write, runner.run, full_text=False)
        runner.run(_end(store, made))


async def _end(store: Store, collections: Sequence[str]) -> None:
    for name in collections:
        await store.drop(name)
    await store.close()


class TestSpring(KnowledgeSuite):
    @pytest.fixture
    def bench(self, uri: str) -> Iterator[Bench]:
        yield from foreign(uri, "spring", camel)


class TestSdk(KnowledgeSuite):
    @pytest.fixture
    def bench(self, uri: str) -> Iterator[Bench]:
        yield from foreign(uri, "sdk", str)


LAYOUTS = ("spring", "sdk")


class Reader:
    """Reads what ``write_foreign`` wrote, on one store."""

    def __init__(self, uri: str, layout: str) -> None:
        self.uri, self.layout = uri, layout

    def read(
        self, rows: Sequence[ForeignRow], request: KnowledgeSearchRequest, **options: Any
    ) -> list[Any]:
        name = f"knowledge_{next(_numbers)}"
        write_foreign(self.uri, self.layout, name, rows, **options)

        async def search() -> list[Any]:
            store = MilvusStore(self.uri)
            try:
                port = search_port(self.layout, store)
                await _until_visible(port, name, rows)
                return await port.search(name, request)
            finally:
                await _end(store, [name])

        return asyncio.run(search())


async def _until_visible(
    port: KnowledgeSearchPort, collection: str, rows: Sequence[ForeignRow]
) -> None:
    some = min(len(rows), 50)
    request = KnowledgeSearchRequest(Mode.DENSE, some, np.asarray(rows[0].vector, np.float32))
    for _ in range(50):
        if len(await port.search(collection, request)) == some:
            return
        await asyncio.sleep(0.1)
    raise AssertionError("The rows did not become searchable in 5 s.")


@pytest.fixture(params=LAYOUTS)
def reader(request: pytest.FixtureRequest, uri: str) -> Reader:
    return Reader(uri, request.param)


@pytest.mark.parametrize(
    ("metadata", "identity"),
    [
        ({"docId": "d", "chunkIndex": 4}, ("d", 4)),
        ({"doc_id": "d", "chunk_index": 0}, ("d", 0)),
        ({"docId": "camel", "doc_id": "snake", "chunkIndex": 1}, ("snake", 1)),
        ({"docId": "d", "doc_id": 5, "chunkIndex": 1, "chunk_index": "1"}, ("d", 1)),
        ({"docId": 7, "chunkIndex": True}, (None, None)),
        ({"docId": ["d"], "chunkIndex": 1.5}, (None, None)),
        ({"docId": "", "chunkIndex": -1}, (None, None)),
        ({"docId": None, "chunkIndex": None}, (None, None)),
        ({"docId": "d", "chunkIndex": 2.0}, ("d", None)),
        ({}, (None, None)),
    ],
)
def test_identity_comes_from_the_metadata_or_is_absent(
    lite_folder: str, metadata: dict[str, Any], identity: tuple[str | None, int | None]
) -> None:
    for layout in LAYOUTS:
        row = ForeignRow("Text.", unit(0), metadata, key="a-key")
        (hit,) = Reader(lite_folder, layout).read([row], dense())
        assert (hit.doc_id, hit.chunk_index) == identity
        assert hit.vector_id == "a-key"
        assert hit.metadata == metadata
        assert hit.content_sha256 == text_sha256("Text.")


def test_labels_of_any_kind_never_widen_what_is_seen(reader: Reader) -> None:
    labels: list[dict[str, Any]] = [
        {"kbScope": "team"},
        {"kb_scope": "team"},
        {"kb_scope": "rag-eval"},
        {"kbScope": "rag-eval"},
        {"kb_scope": "team", "kbScope": "rag-eval"},
        {"kb_scope": "other", "kbScope": "team"},
        {"kb_scope": None},
        {"kb_scope": 1},
        {"kb_scope": ["team"]},
        {"kb_scope": ""},
        {},
    ]
    rows = [ForeignRow("t", unit(0), each, key=f"{n:02}") for n, each in enumerate(labels)]

    def seen(**values: Any) -> list[int]:
        return sorted(int(hit.vector_id) for hit in reader.read(rows, dense(**values)))

    assert seen(kb_scope="team", exclude_scopes=("rag-eval",)) == [0, 1, 4]
    assert seen(exclude_scopes=("rag-eval",)) == [0, 1, 5, 6, 7, 8, 9, 10]
    assert seen(kb_scope="1") == []


def test_what_belongs_to_somebody_is_seen_by_its_owner_only(reader: Reader) -> None:
    owners: list[dict[str, Any]] = [
        {},
        {"user_id": "u1"},
        {"userId": "u1"},
        {"userId": "u2"},
        {"userId": 5},
        {"sessionId": "s"},
        {"user_id": "u1", "assistant_id": "a"},
        {"userId": None},
    ]
    rows = [ForeignRow("t", unit(0), each, key=f"{n:02}") for n, each in enumerate(owners)]

    def seen(**ids: str) -> list[int]:
        request = dense(scope_ids=ids, without_owner=not ids)
        return sorted(int(hit.vector_id) for hit in reader.read(rows, request))

    # Stores differ on whether a key that says null is there; neither shows what has an owner.
    assert seen() in ([0], [0, 7])
    assert seen(user_id="u1") == [1, 2, 6]
    assert seen(user_id="u1", assistant_id="a") == [6]
    assert seen(session_id="s") == [5]


@pytest.mark.parametrize("metric", ["COSINE", "IP", "L2"])
def test_every_metric_gives_the_cosine(reader: Reader, metric: str) -> None:
    angles = [0.0, 0.4, 1.2, 3.0]
    rows = [ForeignRow("t", unit(angle), key=f"k{n}") for n, angle in enumerate(angles)]
    hits = reader.read(rows, dense(), metric=metric)
    assert [hit.vector_id for hit in hits] == ["k0", "k1", "k2", "k3"]
    assert [hit.similarity for hit in hits] == pytest.approx(np.cos(angles), abs=1e-5)


def test_vectors_that_are_not_of_length_1_keep_the_order_of_the_store(reader: Reader) -> None:
    rows = [ForeignRow("t", [n + 1.0, *[0.0] * (DIM - 1)], key=f"k{n}") for n in range(4)]
    hits = reader.read(rows, dense(), metric="IP")
    assert [hit.vector_id for hit in hits] == ["k3", "k2", "k1", "k0"]
    assert [hit.similarity for hit in hits] == [1.0] * 4


def test_integer_keys_are_read_as_text(reader: Reader) -> None:
    rows = [ForeignRow("t", unit(n / 10), key=2**62 + n) for n in range(3)]
    hits = reader.read(rows, dense(2))
    assert [hit.vector_id for hit in hits] == [str(2**62), str(2**62 + 1)]


def test_full_text_is_refused(reader: Reader) -> None:
    with pytest.raises(FullTextUnsupported, match="another program"):
        reader.read([ForeignRow("word", unit(0))], lexical("word"))


def test_the_nearest_of_many_rows_are_found(uri: str) -> None:
    """Spring AI's index looks into few of its lists unless it is told otherwise."""
    vectors = np.random.default_rng(3).normal(size=(3_000, 64)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = [ForeignRow("t", each.tolist(), key=str(n)) for n, each in enumerate(vectors)]
    request = KnowledgeSearchRequest(Mode.DENSE, 20, vectors[0] + vectors[1])
    hits = Reader(uri, "spring").read(rows, request, flush=True)
    exact = np.argsort(-(vectors @ (vectors[0] + vectors[1])))[:20]
    assert len({hit.vector_id for hit in hits} & set(map(str, exact))) >= 16


def test_a_collection_of_another_layout_is_told(lite_folder: str) -> None:
    async def work() -> None:
        store = MilvusStore(lite_folder)
        collection = await NativeBench(store).write([Passage("d", 0)])
        with pytest.raises(StoreRejected, match="no column 'id'"):
            await search_port("sdk", store).search(collection, dense())
        await _end(store, [collection])

    asyncio.run(work())


def test_there_are_three_layouts() -> None:
    with pytest.raises(ConfigInvalid, match="'native', 'spring', 'sdk'"):
        search_port("langchain", MemoryStore())


def test_the_nearest_that_live_come_back_however_many_nearer_ones_have_expired(
    uri: str,
) -> None:
    passages = [
        Passage("d", n, angle=n / 100, values={"expires_at": 0 if n >= 20 else 500})
        for n in range(25)
    ]
    for bench in native(MilvusStore(uri)):
        hits = written(bench, passages)(dense(top_k=5, alive_at=1_000))
        assert [hit.chunk_index for hit in hits] == [20, 21, 22, 23, 24]


def test_native_metadata_comes_back_as_an_object() -> None:
    passages = [Passage("d", 0, values={"metadata": json.dumps({"a": [1, "é"]})})]
    for bench in native(MemoryStore()):
        (hit,) = written(bench, passages)(dense())
        assert hit.metadata == {"a": [1, "é"]}


def test_terms_come_along_where_the_collection_has_them(lite_path: str) -> None:
    async def work() -> None:
        store = MilvusStore(lite_path)
        collection = await NativeBench(store).write([Passage("d", 0)])
        hits = await search_port("native", store).search(collection, dense())
        assert [hit.terms for hit in hits] == ["passag"]
        await store.close()

    asyncio.run(work())


def test_a_native_collection_without_terms_is_searched_by_vector() -> None:
    store = MemoryStore(full_text=False)
    for bench in native(store):
        ask = written(bench, [Passage("d", 0)])
        # The same collection in a store that has learnt full text meanwhile.
        store._capabilities = MEMORY
        assert [(hit.doc_id, hit.terms) for _ in range(2) for hit in ask(dense())] == [
            ("d", "")
        ] * 2
        with pytest.raises(FullTextUnsupported):
            ask(lexical("passage"))
