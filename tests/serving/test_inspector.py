"""The inspector's pages over HTTP, from the real server."""

from __future__ import annotations

import asyncio
import re
import sqlite3
import time
from base64 import b64encode
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from selectolax.lexbor import LexborHTMLParser

from pincite.errors import StoreUnreachable
from pincite.identity import text_sha256
from pincite.serving.access import Gatekeeper
from pincite.serving.inspector.citation import web_address
from pincite.serving.inspector.routes import inspector_router
from pincite.serving.service import Service
from pincite.settings import Settings
from pincite.testing.faults import Instead
from pincite.testing.http_server import http_server
from pincite.testing.inspector_site import (
    CHINESE,
    HOSTILE,
    LEASES,
    PREFERENCE,
    Site,
    inspector_site,
    pages,
)
from pincite.testing.memory_items import OWNER
from pincite.wiring import Workspace

QUESTION = "Who renews leases with a heartbeat?"
ALL_READ = "the-token-of-everybody"
BOUND = "the-token-of-somebody"
TOKENS = [
    {"name": "all", "token": ALL_READ, "corpora": ["docs", "memory", "web"]},
    {"name": "bound", "token": BOUND, "corpora": ["docs", "memory"], **OWNER, "user_id": "u-2"},
]
STRANGER = {**OWNER, "user_id": "u-2"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with inspector_site(tmp_path_factory.mktemp("site")) as site:
        yield site


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The same with tokens."""
    with inspector_site(tmp_path_factory.mktemp("guarded"), **{"serve.tokens": TOKENS}) as site:
        yield site


@pytest.fixture
def client(site: Site) -> Iterator[httpx.Client]:
    with site.server.client() as client:
        yield client


def tree(response: httpx.Response) -> LexborHTMLParser:
    return LexborHTMLParser(response.text)


def words(response: httpx.Response) -> str:
    """What a person reads, in one line."""
    body = tree(response).css_first("body")
    assert body is not None
    return " ".join(body.text(separator=" ").split())


def first_link(response: httpx.Response) -> str:
    link = tree(response).css_first("article h3 a")
    assert link is not None
    return str(link.attributes["href"])


def texts(response: httpx.Response, selector: str) -> list[str]:
    return [node.text() for node in tree(response).css(selector)]


def lines(response: httpx.Response, selector: str) -> list[str]:
    """What a person reads of each element, in one line."""
    found = tree(response).css(selector)
    return [" ".join(node.text(separator=" ").split()) for node in found]


def basic(token: str, name: str = "anybody") -> dict[str, str]:
    return {"Authorization": "Basic " + b64encode(f"{name}:{token}".encode()).decode()}


def test_blank_page_has_the_form_and_no_answer(client: httpx.Client) -> None:
    page = client.get("/")
    assert page.status_code == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert texts(page, "h1") == ["Ask"]
    assert texts(page, "h2") == []
    assert [box.attributes["value"] for box in tree(page).css("[type=checkbox]")] == [
        "docs", "memory", "web",
    ]  # fmt: skip


def test_nothing_but_its_own_styles_and_icon_may_load(client: httpx.Client) -> None:
    page = client.get("/")
    assert page.headers["content-security-policy"] == (
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    )
    assert page.headers["cache-control"] == "no-store"
    assert page.headers["referrer-policy"] == "no-referrer"
    assert re.findall(r"<script|<style|style=|\son[a-z]+=|https?://", page.text) == []


def test_assets_are_kept_by_browsers_and_named_by_their_content(client: httpx.Client) -> None:
    named = re.findall(r'href="(/inspector/[^"]+)"', client.get("/").text)
    assert [path.partition("?")[0] for path in named] == [
        "/inspector/icon.svg", "/inspector/style.css",
    ]  # fmt: skip
    for path, kind in zip(named, ("image/svg+xml", "text/css"), strict=True):
        found = client.get(path)
        assert found.headers["content-type"].startswith(kind)
        assert "immutable" in found.headers["cache-control"]
        assert path.endswith(text_sha256(found.text)[:12])


@pytest.mark.parametrize("path", ["/inspector/routes.py", "/inspector/..%2Froutes.py"])
def test_no_other_file_is_served(client: httpx.Client, path: str) -> None:
    assert client.get(path).status_code == 404


def test_answer_shows_blocks_with_every_score(client: httpx.Client, site: Site) -> None:
    page = client.get(site.ask(QUESTION))
    first = tree(page).css_first("article")
    assert first is not None
    shown = " ".join(first.text(separator=" ").split())
    assert "notes/leases.md" in shown
    assert "notes/leases.md#chunk-0" in shown
    assert texts(page, "article:first-child .scores dt")[:8] == [
        "score", "dense", "lexical", "fused", "rerank", "trust", "source rank", "tokens",
    ]  # fmt: skip
    assert re.search(r"dense [0-9.]+ lexical [0-9.]+ fused 0\.\d+ rerank \S+ trust – ", shown)
    assert "Searched as " + QUESTION in words(page)


def test_excerpt_is_the_passage_letter_by_letter(client: httpx.Client, site: Site) -> None:
    page = client.get(site.ask(QUESTION))
    assert texts(page, "article .text")[0] == f"# Leases\n\n{LEASES}"
    assert texts(page, "article:first-child .text mark")[:3] == ["Leases", "lease", "heartbeat"]


def test_pairs_of_chinese_characters_are_marked(client: httpx.Client, site: Site) -> None:
    page = client.get(site.ask("差旅报销要多少天？"))
    assert CHINESE in texts(page, "article .text")[0]
    marked = texts(page, "li:first-child article .text mark")
    assert "差旅报销" in marked
    assert not {"要", "天"}.issubset(marked)


def test_hostile_text_is_only_text(client: httpx.Client, site: Site) -> None:
    page = client.get(site.ask('hostile passage "><script>x</script>'))
    assert HOSTILE in texts(page, "article .text")
    assert tree(page).css("script, img, h1:nth-of-type(2), b") == []
    field = tree(page).css_first("#q")
    assert field is not None
    assert field.attributes["value"] == 'hostile passage "><script>x</script>'


def test_funnel_shows_attempts_stages_and_what_fell_out(client: httpx.Client, site: Site) -> None:
    page = client.get(site.ask("granite document line"))
    shown = words(page)
    assert "UNFILTERED_VECTOR used" in shown
    assert 'filter kb_scope not in ["rag-eval"]' in shown
    stages = lines(page, ".stages tbody th")
    assert [name.split()[0] for name in stages][-3:] == ["document_cap", "return_n", "pack"]
    fallen = lines(page, "details table tbody tr")
    assert len(fallen) > 10
    way = re.compile(r"#chunk-\d+ notes/.+? (document_cap|return_n) \1 [0-9.–-]+$")
    assert all(way.search(row) for row in fallen), fallen


def test_fallback_is_told_with_its_reason(client: httpx.Client, site: Site) -> None:
    shown = words(client.get(site.ask(QUESTION, category="no-such-category")))
    assert "filtered_vector_no_evidence" in shown
    assert " FILTERED_VECTOR " in shown
    assert "UNFILTERED_VECTOR_RETRY used" in shown


def test_degradations_are_told_in_words_with_their_codes(client: httpx.Client, site: Site) -> None:
    shown = words(client.get(site.ask(QUESTION, corpus="docs") + "&corpus=web&session_id=s-1"))
    assert "The answer does without Corpus 'web' holds nothing yet. corpus_empty" in shown


def test_several_corpora_are_asked_together(client: httpx.Client, site: Site) -> None:
    page = client.get(site.ask("Lisbon airport leases", corpus="docs", **OWNER) + "&corpus=memory")
    sources = texts(page, "article > p.soft")
    assert {source.partition(" ")[0] for source in sources} == {"docs", "memory"}
    assert PREFERENCE in texts(page, "article .text")


def test_missing_scope_keeps_the_form_and_says_what_to_do(client: httpx.Client, site: Site) -> None:
    page = client.get(site.ask("airport", corpus="memory", user_id="u-1"))
    assert page.status_code == 422
    assert texts(page, "[role=alert] h2") == ["SCOPE_REQUIRED"]
    assert "Fill in the ids" in words(page)
    assert tree(page).css_first("#user_id[value='u-1']") is not None
    assert tree(page).css_first("details[open]") is not None


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("q=%20", "REQUEST_INVALID"),
        ("q=a&kb_scope=%20", "SCOPE_INVALID"),
        ("q=a&corpus=nothing", "REQUEST_INVALID"),
        ("q=" + "a" * 8_001, "REQUEST_INVALID"),
        ("q=a&corpus=web&session_id=" + "s" * 500, "SCOPE_INVALID"),
        ("q=a&kbScope=tenant", "REQUEST_INVALID"),
    ],
)  # fmt: skip
def test_wrong_requests_are_pages_with_their_code(
    client: httpx.Client, query: str, code: str
) -> None:
    page = client.get(f"/?{query}")
    assert page.status_code == 422
    assert texts(page, "[role=alert] code") == [code]


def test_ids_of_headers_are_in_force_and_not_contradicted(client: httpx.Client, site: Site) -> None:
    headers = {f"X-Pincite-{n.replace('_', '-')}": v for n, v in OWNER.items()}
    page = client.get(site.ask("airport", corpus="memory"), headers=headers)
    assert texts(page, "article .text") == [PREFERENCE]
    assert "u-1" not in first_link(page)
    other = client.get(site.ask("airport", corpus="memory", user_id="u-2"), headers=headers)
    assert texts(other, "[role=alert] code") == ["REQUEST_INVALID"]


def test_citation_marks_the_span_in_its_source_text(client: httpx.Client, site: Site) -> None:
    page = client.get(first_link(client.get(site.ask("granite document line 0"))))
    assert page.status_code == 200
    (place,), (mark,) = texts(page, ".source"), texts(page, "mark")
    kept = pages()["granite.md"].strip()
    assert place in kept
    assert mark in place
    assert len(place) > len(mark)
    shown = words(page)
    assert text_sha256(mark) in shown
    assert text_sha256(kept) in shown
    assert "current The key names this text today." in shown
    assert "unchanged the source still says the same" in shown


def test_more_of_the_source_can_be_shown(client: httpx.Client, site: Site) -> None:
    page = client.get(first_link(client.get(site.ask("granite document line 0"))))
    sizes = []
    while wider := tree(page).css_first('a[href*="around="]'):
        sizes.append(len(texts(page, ".source")[0]))
        page = client.get(str(wider.attributes["href"]))
    assert texts(page, ".source") == [pages()["granite.md"].strip()]
    assert sizes == sorted(sizes)
    assert len(sizes) >= 2


def test_unknown_key_shows_its_code_and_nothing_else(client: httpx.Client) -> None:
    page = client.get("/evidence/notes%2Fnone.md%23chunk-0")
    assert page.status_code == 404
    assert texts(page, "main h1") == ["EVIDENCE_NOT_FOUND"]
    assert tree(page).css("mark, .source, dl") == []


def test_foreign_key_is_as_unknown_as_one_that_never_was(client: httpx.Client, site: Site) -> None:
    own = client.get(site.ask("airport", corpus="memory", **OWNER))
    path = first_link(own)
    assert PREFERENCE in words(client.get(path))
    foreign = client.get(path.replace("user_id=u-1", "user_id=u-2"))
    never = client.get(re.sub(r"(/evidence/)[^?]+", r"\1memory%3Anever%23chunk-0", path))
    assert foreign.status_code == never.status_code == 404
    assert PREFERENCE not in foreign.text
    assert _without_key(foreign) == _without_key(never)


def _without_key(page: httpx.Response) -> str:
    return re.sub(r"under .*? in corpus.*?\.", "", words(page)).strip()


def test_key_may_hold_any_character(client: httpx.Client) -> None:
    for key in ("a%0Ab%23chunk-0", "%2E%2E%2F%2E%2E%23chunk-0", "%3Cb%3E%22%23chunk-0", "%FF"):
        page = client.get(f"/evidence/{key}")
        assert (page.status_code, texts(page, "h1")) == (404, ["EVIDENCE_NOT_FOUND"])


def test_superseded_evidence_shows_both_texts(client: httpx.Client, site: Site) -> None:
    old = "# Tides\n\nThe moon raises the tides."
    site.write("tides.md", old)
    path = first_link(client.get(site.ask("moon tides")))
    site.write("tides.md", old.replace("moon", "sun and the moon"))
    page = client.get(path)
    assert texts(page, ".badge") == ["superseded"]
    assert texts(page, ".source") == [old, old.replace("moon", "sun and the moon")]
    assert texts(page, "mark") == [old]
    (site.notes / "tides.md").unlink()
    site.home.ingest(site.notes)
    gone = client.get(path)
    assert texts(gone, ".source") == [old]
    assert "Nothing: the document has no such passage any more" in words(gone)
    assert "missing the source is gone" in words(gone)


def test_erased_evidence_has_no_text(tmp_path: Path) -> None:
    with inspector_site(tmp_path) as site, site.server.client() as client:
        path = first_link(client.get(site.ask(QUESTION)))
        with sqlite3.connect(site.home.settings.home / "catalog.sqlite") as database:
            database.execute("UPDATE ledger SET erased_at = 1")
        database.close()
        page = client.get(path)
    assert texts(page, ".badge") == ["erased"]
    assert "lease" not in words(page).replace("leases.md", "").replace("Leases", "")
    assert tree(page).css("mark, .source") == []


def test_source_on_the_web_is_a_link_and_no_other_scheme_is() -> None:
    assert web_address("https://example.org/a?b=1") == "https://example.org/a?b=1"
    for source in ("javascript:alert(1)", "notes/a.md", "https:", "//example.org", "http://[", ""):
        assert web_address(source) is None


def test_without_a_token_a_browser_is_asked_for_one(guarded: Site) -> None:
    with guarded.server.client() as client:
        for path in ("/", "/?q=leases", "/evidence/a%23chunk-0", "/figures"):
            page = client.get(path)
            assert page.status_code == 401
            assert page.headers["www-authenticate"] == 'Basic realm="pincite", charset="UTF-8"'
            assert texts(page, "main h1") == ["TOKEN_REQUIRED"]
        assert client.get("/", headers=basic("not-a-known-token")).status_code == 401
        assert client.get("/", headers=basic(ALL_READ)).status_code == 200
        assert client.get("/", headers={"Authorization": f"Bearer {ALL_READ}"}).status_code == 200


def test_bound_token_sees_its_own_corpora_and_ids_only(guarded: Site) -> None:
    with guarded.server.client(headers=basic(BOUND)) as client:
        form = client.get("/")
        assert [box.attributes["value"] for box in tree(form).css("[type=checkbox]")] == [
            "docs", "memory",
        ]  # fmt: skip
        assert tree(form).css("#user_id, #session_id") == []
        assert "User id: bound by your token." in words(form)
        page = client.get(guarded.ask("airport", corpus="memory"))
        assert page.status_code == 200
        assert PREFERENCE not in page.text
        other = client.get(guarded.ask("airport", corpus="memory", user_id="u-1"))
        assert (other.status_code, texts(other, "[role=alert] code")) == (403, ["ACCESS_DENIED"])


def test_figures_are_not_for_a_token_of_one_tenant(guarded: Site) -> None:
    with guarded.server.client() as client:
        bound = client.get("/figures", headers=basic(BOUND))
        assert (bound.status_code, texts(bound, "h1")) == (403, ["ACCESS_DENIED"])
        assert "Figures" not in texts(client.get("/", headers=basic(BOUND)), "nav a")
        assert client.get("/figures", headers=basic(ALL_READ)).status_code == 200


def test_figures_count_what_was_asked(tmp_path: Path) -> None:
    with inspector_site(tmp_path) as site, site.server.client() as client:
        assert "No lookup in this period." in words(client.get("/figures"))
        for question in (QUESTION, QUESTION, "granite"):
            client.get(site.ask(question))
        client.get(site.ask("airport", corpus="memory", **OWNER))
        page = client.get("/figures?period=all")
    assert texts(page, "h2") == ["docs", "memory"]
    shown = words(page)
    assert re.search(r"docs lookups 3 hit rate 100\.0% degraded 0\.0% cache hits 33\.3%", shown)
    assert "SUFFICIENT 3 (100.0%) WEAK 0 (0.0%) NONE 0 (0.0%)" in shown
    rows = [row.split()[0] for row in lines(page, "section:nth-of-type(1) .stages tbody th")]
    assert rows[:4] == ["whole", "l0", "embed", "search"]
    assert "0 PENDING , 1 INDEXED , 0 FAILED" in shown
    widths = [float(str(r.attributes["width"])) for r in tree(page).css(".bar rect")]
    assert max(widths) == 100.0
    assert all(0 <= width <= 100 for width in widths)


def test_figures_show_the_shadow_difference(tmp_path: Path) -> None:
    with (
        inspector_site(tmp_path, **{"memory.rag.rollout": "shadow"}) as site,
        site.server.client() as client,
    ):
        client.get(site.ask("airport", corpus="memory", **OWNER))
        deadline = time.monotonic() + 20
        while "Core and legacy path" not in (shown := words(client.get("/figures"))):
            assert time.monotonic() < deadline, shown
            time.sleep(0.05)
    assert re.search(r"on both paths 1 overlap@\d+ 1\.000 rank correlation – core failed 0", shown)


def test_unknown_period_is_refused(client: httpx.Client) -> None:
    page = client.get("/figures?period=century")
    assert (page.status_code, texts(page, "h1")) == (422, ["REQUEST_INVALID"])


def test_store_out_of_reach_is_a_coded_page_without_its_address(tmp_path: Path) -> None:
    async def gone(*_: Any, **__: Any) -> Any:
        raise StoreUnreachable("The store at 'http://secret.invalid:19530' does not answer.")

    def without_store(workspace: Workspace) -> None:
        workspace.store = Instead(workspace.store, search=gone)

    with inspector_site(tmp_path) as site:
        settings: Settings = site.home.settings
        with http_server(settings, without_store) as broken, broken.client() as client:
            page = client.get("/", params={"q": QUESTION})
    assert page.status_code == 503
    assert texts(page, "[role=alert] code") == ["STORE_UNREACHABLE"]
    assert "secret.invalid" not in unescape(page.text)
    assert texts(page, "h1") == ["Ask"]


def test_links_stay_below_the_path_where_the_app_is_mounted(site: Site) -> None:
    assert site.server.workspace is not None
    workspace = site.server.workspace
    inner, outer = FastAPI(), FastAPI()
    inner.include_router(inspector_router(Service(workspace), Gatekeeper(()), workspace))
    outer.mount("/kb", inner)

    async def get() -> httpx.Response:
        transport = httpx.ASGITransport(outer)
        async with httpx.AsyncClient(transport=transport, base_url="http://kb.test") as client:
            return await client.get("/kb/")

    page = asyncio.run(get())
    assert page.status_code == 200
    paths = re.findall(r'(?:href|action)="(/[^"]*)"', page.text)
    assert len(paths) >= 5
    assert all(path.startswith("/kb/") for path in paths)


def test_unexpected_failure_is_a_page_that_tells_nothing(site: Site) -> None:
    class Broken:
        is_open = True

        def principal(self, token: str | None) -> Any:
            raise RuntimeError("internal detail")

    assert site.server.workspace is not None
    app = FastAPI()
    workspace = site.server.workspace
    app.include_router(inspector_router(Service(workspace), Broken(), workspace))  # type: ignore[arg-type]

    async def get() -> httpx.Response:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://kb.test") as client:
            return await client.get("/")

    page = asyncio.run(get())
    assert (page.status_code, texts(page, "h1")) == (500, ["INTERNAL"])
    assert "internal detail" not in page.text
