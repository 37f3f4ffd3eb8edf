"""The inspector in a real headless Chromium."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pincite.testing.browser import Chromium, chromium, unavailable_reason
from pincite.testing.inspector_site import HEBREW, HOSTILE, LEASES, Site, inspector_site
from pincite.testing.memory_items import OWNER

if TYPE_CHECKING:
    from playwright.async_api import Page

QUESTION = "Who renews leases with a heartbeat?"
TOKEN = "the-token-of-everybody"
PHONE = {"width": 360, "height": 740}
EXCERPT = f"# Leases\n\n{LEASES}"

# Elements that reach past the window, which would be cut off or make it scroll sideways.
TOO_WIDE = """() => [...document.querySelectorAll('body *')].filter((one) => {
  const box = one.getBoundingClientRect();
  return box.width && (box.right > innerWidth + .5 || box.left < -.5)
    && !one.closest('.skip, thead, .hidden');
}).map((one) => one.outerHTML.slice(0, 80))"""

# Contrast (WCAG 2.2) of each text that is seen with what is painted behind it.
LOW_CONTRAST = """() => {
  const parse = (text) => {
    const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number);
    return {r, g, b, a};
  };
  const light = ({r, g, b}) => {
    const [x, y, z] = [r, g, b].map((v) => v / 255)
      .map((v) => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    return .2126 * x + .7152 * y + .0722 * z;
  };
  const behind = (one) => {
    for (let at = one; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.a === 1) return colour;
    }
    return {r: 255, g: 255, b: 255};
  };
  const low = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let texts = 0;
  while (walker.nextNode()) {
    const one = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !one.checkVisibility()) continue;
    texts += 1;
    const pair = [light(parse(getComputedStyle(one).color)), light(behind(one))];
    const ratio = (Math.max(...pair) + .05) / (Math.min(...pair) + .05);
    if (ratio < 4.5) low.push([walker.currentNode.data.trim().slice(0, 40), ratio]);
  }
  return {texts, low};
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    reason = unavailable_reason()
    if reason and os.environ.get("PINCITE_TEST_REQUIRE_SERVICES") != "1":
        pytest.skip(reason)
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with inspector_site(tmp_path_factory.mktemp("site")) as site:
        yield site


def addresses(site: Site) -> list[str]:
    """One of each kind of page."""
    return [
        f"{site.url}/",
        site.ask(QUESTION),
        site.ask("airport granite", corpus="memory", **OWNER) + "&corpus=docs",
        site.ask(QUESTION, category="no-such-category"),
        site.ask("hostile passage"),
        site.ask("w" * 300),
        site.ask("airport", corpus="memory"),
        f"{site.url}/evidence/notes%2Fleases.md%23chunk-0?corpus=docs",
        f"{site.url}/evidence/{'none' * 60}%23chunk-0",
        f"{site.url}/figures?period=all",
    ]


def test_search_and_citation_with_scripts_off(browser: Chromium, site: Site) -> None:
    async def scenario(page: Page) -> tuple[str, str, str]:
        await page.goto(site.url)
        await page.get_by_label("Question").fill(QUESTION)
        await page.get_by_role("button", name="Look up").click()
        first = page.get_by_role("article").first
        excerpt = await first.locator(".text").text_content()
        await first.get_by_role("link", name="Leases").click()
        await page.get_by_role("heading", name="In its source text").wait_for()
        cited = await page.locator("mark.cited").text_content()
        return str(excerpt), str(cited), page.url

    excerpt, cited, url = browser.visit(scenario, java_script_enabled=False)
    assert excerpt == cited == EXCERPT
    assert url.startswith(f"{site.url}/evidence/notes%2Fleases.md%23chunk-0?")


def test_fold_opens_and_memory_is_asked_with_scripts_off(browser: Chromium, site: Site) -> None:
    async def scenario(page: Page) -> list[str]:
        await page.goto(site.url)
        await page.get_by_label("memory").check()
        await page.get_by_text("Scope and category").click()
        for label in ("User id", "Assistant id", "Conversation id"):
            value = OWNER[label.lower().replace(" ", "_")]
            await page.get_by_label(label).fill(value)
        await page.get_by_label("Question").fill("Which airport?")
        await page.keyboard.press("Enter")
        await page.get_by_role("heading", name="How it was found").wait_for()
        return await page.get_by_role("article").locator(".text").all_text_contents()

    found = browser.visit(scenario, java_script_enabled=False)
    assert found == ["Prefers flights from Lisbon airport."]


def test_keyboard_alone_reaches_everything(browser: Chromium, site: Site) -> None:
    async def focused(page: Page) -> str:
        return str(
            await page.evaluate(
                "() => { const one = document.activeElement; "
                "return one.id || one.name || one.textContent.trim(); }"
            )
        )

    async def tab_to(page: Page, name: str) -> None:
        for _ in range(60):
            await page.keyboard.press("Tab")
            outline = await page.evaluate(
                "() => getComputedStyle(document.activeElement).outlineStyle"
            )
            assert outline != "none", await focused(page)
            if name in await focused(page):
                return
        raise AssertionError(f"{name} is not reached")

    async def scenario(page: Page) -> tuple[str, bool, str]:
        await page.goto(site.url)
        await page.keyboard.press("Tab")
        skip = await focused(page)
        await page.keyboard.press("Enter")
        # The link leads to the content: the next stop is the question.
        await page.keyboard.press("Tab")
        assert await focused(page) == "q"
        await page.keyboard.type(QUESTION)
        await page.keyboard.press("Enter")
        await page.get_by_role("heading", name="How it was found").wait_for()
        await tab_to(page, "candidates")
        await page.keyboard.press("Enter")
        opened = await page.locator("section details table").is_visible()
        await page.goto(page.url)
        await tab_to(page, "Leases")
        await page.keyboard.press("Enter")
        await page.get_by_role("heading", name="In its source text").wait_for()
        return skip, opened, page.url

    skip, opened, url = browser.visit(scenario)
    assert skip == "Skip to the content"
    assert opened
    assert "/evidence/notes%2Fleases.md%23chunk-0" in url


def test_skip_link_is_seen_when_focused(browser: Chromium, site: Site) -> None:
    async def scenario(page: Page) -> tuple[Any, Any]:
        await page.goto(site.url)
        link = page.get_by_role("link", name="Skip to the content")
        before = await link.bounding_box()
        await page.keyboard.press("Tab")
        return before, await link.bounding_box()

    before, after = browser.visit(scenario)
    assert before["x"] < 0 <= after["x"]


def test_nothing_is_wider_than_a_phone(browser: Chromium, site: Site) -> None:
    async def scenario(page: Page) -> dict[str, Any]:
        found = {}
        for address in addresses(site):
            await page.goto(address)
            await page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
            width = await page.evaluate("document.documentElement.scrollWidth")
            found[address] = (width, await page.evaluate(TOO_WIDE))
        return found

    found = browser.visit(scenario, viewport=PHONE)
    assert found == {address: (360, []) for address in addresses(site)}


def test_copying_a_passage_gives_exactly_the_passage(browser: Chromium, site: Site) -> None:
    copied = "(one) => { getSelection().selectAllChildren(one); return getSelection().toString(); }"

    async def scenario(page: Page) -> tuple[str, int, str]:
        await page.goto(site.ask(QUESTION))
        passage = page.get_by_role("group", name="Excerpt 1")
        marks = await passage.locator("mark").count()
        text = str(await passage.evaluate(copied))
        await page.goto(f"{site.url}/evidence/notes%2Fleases.md%23chunk-0")
        return text, marks, str(await page.locator("mark.cited").evaluate(copied))

    text, marks, cited = browser.visit(scenario)
    assert text == cited == EXCERPT
    assert marks >= 4


def test_hostile_text_is_shown_and_does_nothing(browser: Chromium, site: Site) -> None:
    async def scenario(page: Page) -> tuple[list[str], str, list[str]]:
        await page.goto(site.ask("hostile passage <script>document.title=1</script>"))
        texts = await page.get_by_role("article").locator(".text").all_text_contents()
        title = await page.title()
        await page.get_by_role("article").filter(has_text="attacker").get_by_role("link").click()
        headings = await page.get_by_role("heading", level=1).all_text_contents()
        return texts, title, [*headings, await page.title()]

    texts, title, after = browser.visit(scenario)
    assert HOSTILE in texts
    assert title == "hostile passage <script>document.title=1</script> · Pincite"
    heading, title = after
    assert heading.startswith("<b>Hostile</b>")
    assert title.startswith("<b>Hostile</b>")


def test_pages_ask_no_other_host_and_break_no_rule_of_their_policy(
    browser: Chromium, site: Site
) -> None:
    said: list[str] = []

    async def scenario(page: Page) -> None:
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        for address in addresses(site):
            await page.goto(address)

    browser.visit(scenario)
    assert len(browser.requests) > len(addresses(site))
    assert [url for url in browser.requests if not url.startswith(f"{site.url}/")] == []
    # A browser itself writes down which pages were errors.
    assert [line for line in said if "Failed to load resource: the server resp" not in line] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(browser: Chromium, site: Site, scheme: Any) -> None:
    async def scenario(page: Page) -> tuple[set[str], dict[str, Any]]:
        grounds, low = set(), {}
        for address in addresses(site):
            await page.goto(address)
            grounds.add(await page.evaluate("getComputedStyle(document.body).backgroundColor"))
            found = await page.evaluate(LOW_CONTRAST)
            assert found["texts"] > 5
            low[address] = found["low"]
        return grounds, low

    grounds, low = browser.visit(scenario, color_scheme=scheme)
    assert grounds == {{"light": "rgb(255, 255, 255)", "dark": "rgb(21, 24, 28)"}[scheme]}
    assert low == {address: [] for address in addresses(site)}


def test_right_to_left_text_runs_right_to_left(browser: Chromium, site: Site) -> None:
    async def scenario(page: Page) -> tuple[str, str, str]:
        await page.goto(site.ask("הדו״ח השנתי"))
        passage = page.get_by_role("group", name="Excerpt 1")
        direction = "(one) => getComputedStyle(one).direction"
        return (
            str(await passage.text_content()),
            await passage.evaluate(direction),
            await page.get_by_label("Question").evaluate(direction),
        )

    text, passage, field = browser.visit(scenario)
    assert HEBREW in text
    assert (passage, field) == ("rtl", "rtl")


def test_headings_are_in_order_and_every_field_has_a_label(browser: Chromium, site: Site) -> None:
    async def scenario(page: Page) -> list[tuple[str, list[int], int]]:
        found = []
        for address in addresses(site):
            await page.goto(address)
            levels = await page.evaluate(
                "[...document.querySelectorAll('h1,h2,h3,h4')].map((one) => +one.tagName[1])"
            )
            unnamed = await page.evaluate(
                "[...document.querySelectorAll('input')].filter((o) => !o.labels.length).length"
            )
            found.append((address, levels, unnamed))
        return found

    for address, levels, unnamed in browser.visit(scenario):
        assert unnamed == 0, address
        assert levels.count(1) == 1, address
        steps = zip([0, *levels], levels, strict=False)
        assert all(after <= before + 1 for before, after in steps), (address, levels)


def test_accessibility_tree_of_an_answer(browser: Chromium, site: Site) -> None:
    async def scenario(page: Page) -> None:
        from playwright.async_api import expect

        await page.goto(site.ask(QUESTION))
        await expect(page.locator("body")).to_match_aria_snapshot(
            """
            - link "Skip to the content"
            - banner:
              - link "Pincite"
              - navigation "Pages":
                - link "Ask"
                - link "Figures"
            - main:
              - heading "Ask" [level=1]
              - search:
                - text: Question
                - searchbox "Question": Who renews leases with a heartbeat?
                - button "Look up"
                - group /Corpora/:
                  - checkbox "docs"
                  - checkbox "memory"
                  - checkbox "web"
              - region /Evidence/:
                - heading /Evidence/ [level=2]
                - status: /5 blocks/
                - list:
                  - listitem:
                    - article /Leases/:
                      - heading /Leases/ [level=3]:
                        - link /Leases/
                      - group "Excerpt 1"
              - region "How it was found":
                - heading "How it was found" [level=2]
                - heading "Attempts" [level=3]
                - table
                - heading "Stages" [level=3]
                - table
                - heading "Dropped candidates" [level=3]
            """
        )

    browser.visit(scenario)


def test_accessibility_tree_of_figures(browser: Chromium, site: Site) -> None:
    async def scenario(page: Page) -> None:
        from playwright.async_api import expect

        await page.goto(site.ask(QUESTION))
        await page.goto(f"{site.url}/figures")
        await expect(page.get_by_role("main")).to_match_aria_snapshot(
            """
            - heading "Figures" [level=1]
            - navigation "Period":
              - link "24 hours"
              - link "7 days"
              - link "all that is kept"
            - region "docs":
              - heading "docs" [level=2]
              - heading "Evidence" [level=3]
              - img "Evidence status in docs"
              - heading "Latency" [level=3]
              - table "Latency per stage in docs":
                - rowgroup:
                  - row "Stage Lookups p50 p95 p99"
            """
        )

    browser.visit(scenario)


def test_a_browser_asks_for_the_token_and_uses_it(browser: Chromium, tmp_path: Path) -> None:
    token = {"name": "all", "token": TOKEN}

    async def scenario(page: Page) -> tuple[int, str]:
        answer = await page.goto(address)
        assert answer is not None
        return answer.status, str(await page.get_by_role("heading", level=1).text_content())

    with inspector_site(tmp_path, **{"serve.tokens": [token]}) as site:
        address = site.ask(QUESTION)
        known = {"username": "anybody", "password": TOKEN}
        assert browser.visit(scenario, http_credentials=known) == (200, "Ask")
        wrong = {"username": "anybody", "password": "another-token-than-that"}
        assert browser.visit(scenario, http_credentials=wrong) == (401, "TOKEN_REQUIRED")


def test_without_a_program_the_reason_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PINCITE_TEST_CHROMIUM", str(tmp_path / "none"))
    assert "is no program" in (unavailable_reason() or "")
    monkeypatch.delenv("PINCITE_TEST_CHROMIUM")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "no chromium is installed" in (unavailable_reason() or "")
