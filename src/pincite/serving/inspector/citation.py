"""What a page shows of a citation: the text, marked in the text that it is from."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from pincite.retrieval.citation import ERASED, Citation
from pincite.serving.inspector.form import Cited, evidence_path
from pincite.serving.inspector.surroundings import MOST, USUAL, Around, around

_MORE = 4


@dataclass(frozen=True)
class CitedText:
    """A citation; ``place`` is ``None`` where the text is erased.

    ``wider`` is the path of the same page with more of the text, ``None`` where there is no more.
    ``link`` is the address of a source on the web.
    """

    citation: Citation
    place: Around | None
    wider: str | None
    link: str | None


def cited_text(citation: Citation, kept: str, cited: Cited) -> CitedText:
    """The citation with what stands around it in the kept text."""
    if citation.state == ERASED:
        return CitedText(citation, None, None, None)
    width = min(cited.around if cited.around is not None else USUAL, MOST)
    place = around(kept, citation.char_start, citation.char_end, width)
    is_cut = bool(place.left_before or place.left_after) and width < MOST
    wider = _wider(citation, cited, width) if is_cut else None
    return CitedText(citation, place, wider, web_address(citation.source))


def _wider(citation: Citation, cited: Cited, width: int) -> str:
    return evidence_path(
        citation.evidence_key,
        corpus=citation.corpus,
        asked=cited,
        sha256=citation.content_sha256,
        around=min(MOST, max(USUAL, _MORE * width)),
    )


def web_address(source: str) -> str | None:
    """The source, where a browser may follow it; no other scheme is ever a link."""
    try:
        parts = urlsplit(source)
    except ValueError:
        return None
    return source if parts.scheme in ("http", "https") and parts.netloc else None
