"""The tools over streamable HTTP, as official clients of both kinds of the protocol see them."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import MCPError

from pincite.settings import Settings, load_settings
from pincite.testing.mcp_kit import (
    MODES,
    Served,
    error,
    excerpts,
    mcp_over_http,
    owner,
    talk,
    value,
    write_folder,
)

SNAPSHOT = Path(__file__).with_name("mcp_tools.json")
UPDATE = "PINCITE_TEST_UPDATE_SNAPSHOTS"
PARIS = "notes/paris.md#chunk-0"
DOCUMENTS = {
    "paris.md": "---\ntitle: Paris\n---\n# Paris\n\nThe capital of France is Paris.\n",
    "água.md": "# Água 水\n\n水在一百度沸腾。A água ferve a 100 °C. 🫖\n",
}


def settings_of(folder: Path, **more: Any) -> Settings:
    given = {
        "home": folder / "home",
        "embedder.provider": "hash",
        "store.uri": f"memory://{folder}",
        "lookup.corpora": ["docs", "memory"],
        # No busy machine makes a lookup degrade.
        "rag.retrieve.timeout-ms": 20_000,
        "memory.write-timeout-ms": 20_000,
        **more,
    }
    return load_settings(given, folder=folder, environment={})


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server that asks for no token."""
    folder = tmp_path_factory.mktemp("mcp")
    settings = settings_of(folder)
    write_folder(settings, folder / "notes", DOCUMENTS)
    with mcp_over_http(settings) as served:
        yield served


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def call(served: Served, tool: str, mode: str = MODES[0], ids: Any = None, **arguments: Any) -> Any:
    """One call over a connection of its own."""

    async def work() -> Any:
        async with served.client(ids=ids, mode=mode) as client:
            return await client.call_tool(tool, arguments)

    return talk(work)


def test_a_server_says_who_it_is_and_how_to_cite(served: Served) -> None:
    async def work() -> Any:
        async with served.client() as client:
            return client.server_info, client.instructions, client.server_capabilities

    info, instructions, capabilities = talk(work)
    assert info.name == "pincite"
    assert "document_id" in instructions
    assert "square brackets" in instructions
    assert (capabilities.tools, capabilities.resources, capabilities.prompts)[1:] == (None, None)


def test_tools_are_as_recorded(served: Served, mode: str) -> None:
    async def work() -> Any:
        async with served.client(mode=mode) as client:
            return (await client.list_tools()).tools

    shown = [one.model_dump(by_alias=True, exclude_none=True) for one in talk(work)]
    if os.environ.get(UPDATE):
        SNAPSHOT.write_text(json.dumps(shown, indent=2, ensure_ascii=False) + "\n", "utf-8")
    assert shown == json.loads(SNAPSHOT.read_text("utf-8")), f"if meant, run with {UPDATE}=1"


def test_no_tool_takes_a_scope_id() -> None:
    tools = {one["name"]: one["inputSchema"] for one in json.loads(SNAPSHOT.read_text("utf-8"))}
    assert sorted(tools) == ["check_citations", "cite", "lookup_knowledge", "remember"]
    assert list(tools["lookup_knowledge"]["properties"]) == ["query"]
    assert tools["lookup_knowledge"]["properties"]["query"]["type"] == "string"
    for schema in tools.values():
        assert schema["additionalProperties"] is False
        assert not [name for name in schema["properties"] if name.endswith("_id") and
                    name != "document_id"]  # fmt: skip


def test_a_conversation_looks_up_cites_and_checks(served: Served, mode: str) -> None:
    async def work() -> None:
        async with served.client(mode=mode, ids=owner("cites", conversation=mode)) as client:
            found = value(await client.call_tool("lookup_knowledge", {"query": "France capital"}))
            assert found["evidenceStatus"] == "SUFFICIENT"
            # Nobody has stored anything in this home before the first one does.
            assert set(found["degradations"]) <= {"corpus_empty"}
            first = found["results"][0]
            assert first["document_id"] == PARIS
            assert set(first) == {
                "document_id", "corpus", "source", "title", "excerpt", "score", "hit_reasons",
                "content_sha256",
            }  # fmt: skip
            cited = value(await client.call_tool("cite", {"document_id": PARIS}))
            assert cited["text"] == first["excerpt"]
            assert cited["state"] == "current"
            answer = f"It is Paris [{PARIS}], and more [notes/made-up.md#chunk-9]."
            checked = value(await client.call_tool("check_citations", {"text": answer}))
            assert checked["valid"] == [PARIS]
            assert checked["unknown"] == ["notes/made-up.md#chunk-9"]
            assert PARIS not in checked["unused"]

    talk(work)


def test_what_is_remembered_is_found_at_once_and_replaced_by_its_id(
    served: Served, mode: str
) -> None:
    ids = owner(f"remembers-{mode}")

    async def work() -> None:
        async with served.client(mode=mode, ids=ids) as client:
            given = {"id": "drink", "text": "Prefers jasmine tea.", "memory_type": "preference"}
            kept = value(await client.call_tool("remember", given))
            assert (kept["id"], kept["state"], kept["code"]) == ("drink", "INDEXED", None)
            found = value(await client.call_tool("lookup_knowledge", {"query": "jasmine tea"}))
            assert "Prefers jasmine tea." in excerpts(found)
            given = {"id": "drink", "text": "Prefers strong jasmine coffee.", "confidence": 0.5}
            assert value(await client.call_tool("remember", given))["state"] == "INDEXED"
            found = value(await client.call_tool("lookup_knowledge", {"query": "jasmine"}))
            assert "Prefers strong jasmine coffee." in excerpts(found)
            assert "Prefers jasmine tea." not in excerpts(found)

    talk(work)


def test_what_had_expired_is_not_kept(served: Served) -> None:
    kept = value(
        call(served, "remember", ids=owner("u-9"), text="Old.", ttl_at="2001-01-01T00:00:00Z")
    )
    assert kept["state"] == "EXPIRED"


def test_unicode_goes_there_and_back(served: Served, mode: str) -> None:
    ids = owner("用户-ü", conversation=f"разговор-{mode}")

    async def work() -> None:
        async with served.client(mode=mode, ids=ids) as client:
            found = value(await client.call_tool("lookup_knowledge", {"query": "água 沸腾"}))
            first = next(one for one in found["results"] if one["corpus"] == "docs")
            assert first["document_id"] == "notes/água.md#chunk-0"
            assert "🫖" in first["excerpt"]
            text = "喜欢绿茶 🍵 и хлеб"
            assert value(await client.call_tool("remember", {"text": text}))["state"] == "INDEXED"
            found = value(await client.call_tool("lookup_knowledge", {"query": "喜欢绿茶"}))
            assert text in excerpts(found)

    talk(work)


@pytest.mark.parametrize(
    ("tool", "arguments", "code", "says"),
    [
        ("lookup_knowledge", {}, "REQUEST_INVALID", "needs 'query'"),
        ("lookup_knowledge", {"query": 7}, "REQUEST_INVALID", "'query' of lookup_knowledge"),
        ("lookup_knowledge", {"query": " \n"}, "REQUEST_INVALID", "blank"),
        ("lookup_knowledge", {"query": "x" * 8_001}, "REQUEST_INVALID", "8001 characters"),
        ("lookup_knowledge", {"query": "x", "user_id": "u"}, "REQUEST_INVALID", "no 'user_id'"),
        ("lookup_knowledge", {"query": "x", "corpus": "web"}, "REQUEST_INVALID", "no 'corpus'"),
        ("cite", {"document_id": "no/such.md#chunk-0"}, "EVIDENCE_NOT_FOUND", "Copy a document_id"),
        ("cite", {"document_id": "x" * 2_001}, "REQUEST_INVALID", "2000 characters"),
        ("cite", {"document_id": "x", "sha256": "0"}, "REQUEST_INVALID", "no 'sha256'"),
        ("check_citations", {"text": None}, "REQUEST_INVALID", "'text' of check_citations"),
        ("remember", {"text": "x", "user_id": "other"}, "REQUEST_INVALID", "no 'user_id'"),
        ("remember", {"text": " "}, "ITEM_INVALID", "blank"),
        ("remember", {"text": "x", "ttl_at": "2030-01-01T00:00:00"}, "ITEM_INVALID", "ttl_at"),
        ("remember", {"text": "x", "confidence": 2}, "REQUEST_INVALID", "'confidence'"),
        ("remember", {"text": "x", "memory_type": "rumour"}, "REQUEST_INVALID", "'memory_type'"),
        ("remember", {"text": "x", "id": "y" * 300}, "SCOPE_INVALID", "'id'"),
    ],
)
def test_a_wrong_call_is_told_what_to_do(
    served: Served, tool: str, arguments: dict[str, Any], code: str, says: str
) -> None:
    told = error(call(served, tool, ids=owner("u-wrong"), **arguments))
    assert told.startswith(f"{code}: ")
    assert says in told
    assert len(told) < 500


def test_a_query_of_exactly_the_limit_is_answered(served: Served) -> None:
    assert "results" in value(call(served, "lookup_knowledge", query="france " * 1_000 + "x" * 999))


def test_an_unknown_tool_is_an_error_of_the_protocol(served: Served, mode: str) -> None:
    async def work() -> None:
        async with served.client(mode=mode) as client:
            with pytest.raises(MCPError, match="There is no such tool"):
                await client.call_tool("drop_everything", {})

    talk(work)


def test_a_client_that_asks_which_protocol_is_spoken_gets_the_newest(served: Served) -> None:
    async def work() -> Any:
        async with served.client(mode="auto") as client:
            found = value(await client.call_tool("lookup_knowledge", {"query": "France"}))
            return client.protocol_version, found["results"][0]["document_id"]

    assert talk(work) == (MODES[1], PARIS)


def test_a_very_long_answer_is_checked(served: Served) -> None:
    long = "Nothing is cited here, 什么都没有。\n" * 20_000
    text = f"{long}[notes/made-up.md#chunk-1]"
    checked = value(call(served, "check_citations", text=text))
    assert checked["unknown"] == ["notes/made-up.md#chunk-1"]


def test_without_ids_a_lookup_answers_from_the_rest_and_says_so(served: Served, mode: str) -> None:
    found = value(call(served, "lookup_knowledge", mode, query="capital of France"))
    assert found["results"][0]["document_id"] == PARIS
    assert found["degradations"] == ["scope_required"]


def test_without_ids_nothing_is_remembered(served: Served, mode: str) -> None:
    told = error(call(served, "remember", mode, text="Likes tea."))
    assert told.startswith("SCOPE_REQUIRED: Corpus 'memory' needs 'user_id'")
    assert "X-Pincite-User-Id" in told


@pytest.mark.parametrize("bad", ["", "\u3000", "x" * 257])
def test_an_id_that_is_blank_or_too_long_is_never_no_filter(served: Served, bad: str) -> None:
    for tool, arguments in (("remember", {"text": "x"}), ("lookup_knowledge", {"query": "x"})):
        told = error(call(served, tool, ids=owner(bad), **arguments))
        assert told.startswith("SCOPE_INVALID: ")


def test_a_server_of_memory_alone_needs_ids(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, **{"lookup.corpora": ["memory"]})
    with mcp_over_http(settings) as served:
        told = error(call(served, "lookup_knowledge", query="anything"))
        assert told.startswith("SCOPE_REQUIRED: ")
        assert "X-Pincite-User-Id" in told


def test_a_quote_is_the_text_that_was_given_also_after_an_edit(tmp_path: Path, mode: str) -> None:
    settings = settings_of(tmp_path)
    write_folder(settings, tmp_path / "notes", {"door.md": "The door is green.\n"})
    key = "notes/door.md#chunk-0"

    async def work(served: Served) -> None:
        async with served.client(mode=mode) as reader, served.client(ids=owner("other")) as other:
            value(await reader.call_tool("lookup_knowledge", {"query": "door"}))
            document = {"door.md": "The door is red now.\n"}
            await asyncio.to_thread(write_folder, settings, tmp_path / "notes", document)
            seen = value(await reader.call_tool("cite", {"document_id": key}))
            assert (seen["text"], seen["state"]) == ("The door is green.", "superseded")
            assert seen["current"]["text"] == "The door is red now."
            now = value(await other.call_tool("cite", {"document_id": key}))
            assert (now["text"], now["state"]) == ("The door is red now.", "current")
            value(await reader.call_tool("lookup_knowledge", {"query": "door red"}))
            seen = value(await reader.call_tool("cite", {"document_id": key}))
            assert (seen["text"], seen["state"]) == ("The door is red now.", "current")

    with mcp_over_http(settings) as served:
        talk(lambda: work(served))
