"""From a page as fetched to its text: the article is kept, the page around it is not."""

from __future__ import annotations

import logging
import socket
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pincite.corpora.web_pages import page_text

ENGLISH = """<!DOCTYPE html>
<html lang="en"><head><title>Night trains return | Rail News</title>
<style>.lead { color: #c00 }</style>
<script>var tracker = "secret-script";</script>
<script type="application/ld+json">{"@type": "NewsArticle", "headline": "ld-json"}</script></head>
<body><header><nav><ul><li><a href="/">Home</a></li><li><a href="/jobs">Jobs</a></li></ul></nav>
</header><div id="cookie-banner">We use cookies. <button>Accept all</button></div>
<main><article><h1>Night trains return</h1>
<p>The operator announced that night trains between Vienna and Brussels will run three times a
week from December, after a break of two years.</p>
<h2>Tickets</h2>
<p>A seat costs from 49 euros, a <b>couchette</b> from 89 euros. See <a
href="/fares">fares</a>. Set <code>max_file_bytes</code> if 3 &lt; 4.</p>
<ul><li>Seat: 49 euros</li><li>Couchette: 89 euros</li></ul>
<table><tr><th>Day</th><th>Departure</th></tr><tr><td>Monday</td><td>19:44</td></tr></table>
<pre><code>if a &lt; b:
    print("b")</code></pre>
</article></main>
<aside><h3>Most read</h3><a href="/islands">Ten islands</a></aside>
<footer>Copyright Rail News. Imprint. Privacy.</footer></body></html>"""

CHINESE = """<html><head><meta charset="gbk"><title>高铁</title></head><body>
<div class="nav"><a href="/">首页</a> <a href="/n">新闻</a> <a href="/s">体育</a></div>
<div class="article"><h1>新线路开通</h1>
<p>记者从铁路部门获悉，新的高速铁路将于下月开通运营，全程运行时间缩短至两小时。</p>
<p>票价方面，二等座票价为一百五十元，一等座票价为二百四十元，学生可以享受优惠。</p></div>
<div class="footer">版权所有 京ICP备000000号</div></body></html>"""

NO_ARTICLE = """<html><body><form><label>Station <input name="q"></label>
<select><option>Vienna</option><option>Brussels</option></select></form></body></html>"""


def test_article_is_kept_as_markdown() -> None:
    assert page_text(ENGLISH) == (
        "# Night trains return\n\n"
        "The operator announced that night trains between Vienna and Brussels will run three "
        "times a week from December, after a break of two years.\n\n"
        "## Tickets\n\n"
        "A seat costs from 49 euros, a **couchette** from 89 euros. See fares. "
        "Set `max_file_bytes` if 3 < 4.\n\n"
        "- Seat: 49 euros\n- Couchette: 89 euros\n\n"
        "| Day | Departure |\n| --- | --- |\n| Monday | 19:44 |\n\n"
        '```\nif a < b:\n    print("b")\n```'
    )


@pytest.mark.parametrize(
    "around", ["Home", "cookies", "Ten islands", "Imprint", "script", "ld-json"]
)
def test_page_around_the_article_is_gone(around: str) -> None:
    assert around in ENGLISH
    assert around not in page_text(ENGLISH)


def test_short_chinese_page_comes_without_its_menu() -> None:
    text = page_text(CHINESE)
    assert "全程运行时间缩短至两小时。" in text
    assert "学生可以享受优惠。" in text
    assert "首页" not in text
    assert "ICP" not in text


def test_page_without_an_article_gives_what_is_visible() -> None:
    text = page_text(NO_ARTICLE)
    assert "Station" in text


@pytest.mark.parametrize(
    "broken",
    [
        "<p>Night trains <b>return in December<p>Tickets cost 49 euros</div></table>",
        "<html><body><div><p>Night trains return in December<td>Tickets cost 49 euros",
        "<html><body <p>>Night trains return in December<p>Tickets cost 49 euros<",
        "<html>Night trains return in December\0<p>Tickets cost 49 euros</html></html><html>",
    ],
)
def test_broken_html_gives_its_words(broken: str) -> None:
    text = page_text(broken)
    assert "in December" in text
    assert "Tickets cost 49 euros" in text
    assert "<p>" not in text
    assert "\0" not in text


def test_part_of_a_page_is_read_like_one() -> None:
    assert page_text("<p>One.</p><p>Two.</p>") == "One.\n\nTwo."


def test_page_of_scripts_alone_holds_no_text() -> None:
    assert page_text("<html><body><div id=app></div><script>start()</script></body></html>") == ""
    assert page_text("<html></html>") == ""


@pytest.mark.parametrize(
    "text",
    [
        "if a < b and c > d",
        "Map<K, V> m;\n\n    indented",
        "Use <p> and </p> for it.",
        "100 % & more",
    ],
)
def test_text_stays_as_it_is(text: str) -> None:
    assert page_text(text) == text


def test_text_is_cleaned_as_any_kept_text() -> None:
    assert page_text("\r\n\ufeffone\r\ntwo\0\r") == "one\ntwo\ufffd"


WORDS = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=8)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(WORDS, min_size=3, max_size=12), min_size=1, max_size=6), WORDS)
def test_no_script_or_style_ever_becomes_text(paragraphs, word) -> None:
    secret = f"zz{word}zz"
    body = "".join(
        f"<p>{' '.join(words)}</p><script>{secret}</script><style>{secret}</style>"
        for words in paragraphs
    )
    text = page_text(f"<html><body><script>{secret}</script>{body}</body></html>")
    assert secret not in text
    assert text == page_text(f"<html><body><script>{secret}</script>{body}</body></html>")


@pytest.mark.parametrize(
    "page",
    ["<html>" + "<div>" * 60_000 + "x", "<html>" + "<div>" * 40_000 + "</p>" * 40_000,
     "<html>" + "<u>x<p>" * 40_000, "<html>" + "<br>" * 200_000, "<" * 1_000_000, "<!--" * 300_000,
     "<html><body " + 'a="' * 300_000, "~~~\n" * 200_000],
    ids=["deep", "crossed", "unclosed", "many", "signs", "comments", "attributes", "fences"],
)  # fmt: skip
def test_page_of_a_machine_is_done_with_in_moments(page: str) -> None:
    started = time.perf_counter()
    page_text(page)
    # The parsers need minutes for the first ones; the bound is wide, for busy machines.
    assert time.perf_counter() - started < 20


def test_same_page_gives_the_same_text_whatever_came_between() -> None:
    before = page_text(ENGLISH)
    for _ in range(5):
        page_text(CHINESE)
        page_text(ENGLISH.replace("Vienna", "Prague"))
    assert page_text(ENGLISH) == before


def test_nothing_is_fetched_and_no_text_of_a_page_is_logged(monkeypatch, caplog) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError("a connection was asked for")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    caplog.set_level(logging.DEBUG)
    linked = ENGLISH.replace("<body>", '<body><iframe src="https://example.org/x"></iframe>')
    odd = linked.replace("</article>", "<odd>Brussels is named once more</odd></article>")
    for page in (linked, CHINESE, NO_ARTICLE, odd):
        page_text(page)
    assert "Brussels" not in caplog.text
    assert "铁路" not in caplog.text
