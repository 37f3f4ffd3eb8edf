"""From what a fetcher brought of a page to its text: the article, without the page around it."""

from __future__ import annotations

import logging
import re
from configparser import ConfigParser
from functools import cache
from pathlib import Path

from pincite.corpora.item_fields import clean_text
from pincite.corpora.web_markup import document_start, is_html, nesting
from pincite.errors import ReadFailed

logger = logging.getLogger(__name__)

# Characters under which what was found counts as too little and the whole page is looked at. The
# library's own 250 is a long article's lead in Chinese, and such pages came with their menus.
LEAST_FOUND = 60
# Nobody writes pages beyond these; parsers take minutes for those of a machine.
MAX_TAGS = 100_000
MAX_NESTING = 500

# The library writes each piece of code as a block, one in a block as two.
_DOUBLE_BLOCK = re.compile(r"<pre>\s*<pre>(.*?)</pre>\s*</pre>", re.DOTALL)
_CODE_IN_LINE = re.compile(r"<pre>([^\n<]*)</pre>")


def page_text(content: str) -> str:
    """The text of a page or of what was taken from one; ``""`` where there is none.

    HTML becomes Markdown, as with files: its main content where there is such a thing, else all
    that is visible. Text stays as it is. Equal content gives equal text. HTML of more than
    ``MAX_TAGS`` tags, or nested deeper than ``MAX_NESTING``, is not read.
    """
    if not is_html(content):
        return clean_text(content)
    if content.count("<") > MAX_TAGS or nesting(content) > MAX_NESTING:
        return ""
    start = document_start(content)
    page = f"<html><body>{content}</body></html>" if start is None else content[start:]
    return clean_text(_as_markdown(_main_content(page)) or _as_markdown(page))


def _main_content(page: str) -> str:
    """The main content as simple HTML, ``""`` where none is found; nothing is fetched."""
    from trafilatura import extract

    try:
        found = extract(
            page,
            output_format="html",
            include_formatting=True,
            include_comments=False,
            config=_config(),
        )
    except Exception as error:
        # The library lets through whatever a parser makes of a broken page.
        logger.info("no main content of a page: %s", type(error).__name__)
        return ""
    return _CODE_IN_LINE.sub(r"<code>\1</code>", _DOUBLE_BLOCK.sub(r"<pre>\1</pre>", found or ""))


def _as_markdown(page: str) -> str:
    from pincite.documents.html import read
    from pincite.documents.model import FoundFile

    try:
        return read(page.encode("utf-8"), FoundFile(Path("page.html"), "page.html", 0)).text
    except ReadFailed:
        return ""


@cache
def _config() -> ConfigParser:
    from trafilatura.settings import use_config

    # Its loggers write what they read, from the level DEBUG on.
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL + 1)
    config = use_config()
    config.set("DEFAULT", "MIN_EXTRACTED_SIZE", str(LEAST_FOUND))
    return config
