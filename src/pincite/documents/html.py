"""HTML files: the visible content as Markdown, the head as metadata."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from pincite.documents.block_values import clean
from pincite.documents.decoding import decode
from pincite.documents.headings import first_heading
from pincite.documents.model import JSON, FoundFile, Parsed
from pincite.errors import ReadFailed

# Never shown as text, or shown on every page of a site alike.
_DROPPED = (
    "base", "iframe", "link", "meta", "nav", "noscript", "object", "script", "style", "svg",
    "template", "title",
)  # fmt: skip
_KEPT_META = frozenset({"author", "description", "keywords"})


def read(data: bytes, file: FoundFile) -> Parsed:
    """Headings, lists, tables, links and code as Markdown.

    Fields are ``title`` and the metas ``description``, ``keywords`` and ``author``. The bytes are
    decoded as any text file; a charset that the page declares is not looked at.

    Raises:
        ReadFailed: Elements are nested too deeply.
    """
    decoded = decode(data, file.source)
    page = _parse(decoded.text)
    fields = _fields(page)
    try:
        text = _markdown(page)
    except RecursionError as exc:
        raise ReadFailed(f"{file.source!r} nests its elements too deeply.") from exc
    return Parsed(
        text=text,
        fields=fields,
        title=first_heading(text),
        reader=f"html/{version('markdownify')}",
        notices=decoded.warnings,
    )


def _parse(text: str) -> Any:
    from selectolax.lexbor import LexborHTMLParser

    return LexborHTMLParser(text)


def _fields(page: Any) -> dict[str, JSON]:
    fields: dict[str, JSON] = {}
    title = page.css_first("title")
    if title is not None and title.text().strip():
        fields["title"] = clean(title.text().strip())
    for meta in page.css("meta[name][content]"):
        name = (meta.attributes["name"] or "").strip().lower()
        if name in _KEPT_META and name not in fields:
            fields[name] = clean(meta.attributes["content"] or "")
    return fields


def _markdown(page: Any) -> str:
    from bs4 import BeautifulSoup
    from markdownify import ATX, MarkdownConverter

    for element in page.css(",".join(_DROPPED)):
        element.decompose()
    for image in page.css('img[src^="data:"]'):
        image.attrs["src"] = ""
    body = page.body.html if page.body is not None else ""
    # The text is evidence, not Markdown source: names such as max_file_bytes stay searchable.
    converter = MarkdownConverter(
        heading_style=ATX, bullets="-", escape_asterisks=False, escape_underscores=False
    )
    return str(converter.convert_soup(BeautifulSoup(body or "", "html.parser")))
