"""HTML is told from text that only looks a little like it."""

from __future__ import annotations

import pytest

from pincite.corpora.web_markup import document_start, is_html, nesting

README = """<p align="center"><img src="logo.png"></p>

# Trains

A library that finds trains. It reads timetables and answers questions about them.
"""
TUTORIAL = """# Paragraphs

```html
<div><p>A paragraph of an example page, with some words in it.</p></div>
```

Write `<p>` before it and `</p>` behind.
"""


@pytest.mark.parametrize(
    "text",
    [
        "<!DOCTYPE html><title>x</title>",
        "\ufeff\n <!-- saved --> <!doctype HTML>\n<html>",
        '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body/></html>',
        "<html lang=en><p>x",
        "<BODY>text",
        "<p>One.</p><p>Two.</p>",
        "<p>One.<p>Two.",
        '<div class="a"><p>Cut off in the mid',
        "<article>\n<h2>Title</h2>Text</article>",
        "<span>All of it.</span>",
        "<ul><li>one<li>two</ul>",
        "Intro: <p>One long paragraph of a page.</p><p>And another one.</p>",
    ],
)
def test_html_is_recognised(text: str) -> None:
    assert is_html(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "No sign of it.",
        "if a < b and c > d: return a <c> d",
        "List<String> names = new ArrayList<>();",
        "#include <vector>\nstd::map<int, std::vector<a>> b;",
        "Ann <ann@example.org> wrote: 1 <2> 3",
        "<ann@example.org>",
        "<3 trains <-> planes",
        "<b> or not to be",
        "Use <p> and </p>, or <div> and </div>, to part the text of a page.",
        "A word <b>in bold</b> and one <i>in italics</i>, in the midst of a text.",
        "<?xml version='1.0'?><rss><channel><title>x</title></channel></rss>",
        "&lt;p&gt;escaped&lt;/p&gt;",
        README,
        TUTORIAL,
    ],
)
def test_text_with_signs_of_html_is_text(text: str) -> None:
    assert not is_html(text)


def test_document_begins_after_what_stands_before_it() -> None:
    text = "\ufeff <!-- a --> <html>"
    assert document_start(text) == text.index("<html>")
    assert document_start("<htmlx>") is None


def test_nesting_counts_what_must_be_closed() -> None:
    assert nesting("<div><b>x</b><b>y</b></div><div></div>") == 2
    assert nesting("<p>x<p>y<li>z<br><br>") == 0
    assert nesting("<div>" * 700) == 700
    assert nesting("<script>" + "'<div>'," * 700 + "</script><p>x</p>") == 1
