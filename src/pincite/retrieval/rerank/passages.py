"""What a model reads of a passage."""

from __future__ import annotations

from pincite.documents.headings import SEPARATOR
from pincite.retrieval.rerank.port import Passage

# A chunk of the default size has a quarter of it; one of a foreign collection may have any size.
MAX_CHARS = 8_000
# Some endpoints refuse a whole request for one empty text.
NOTHING = "-"


def readable(passage: Passage) -> str:
    """Title and heading path, a blank line, the text; at most ``MAX_CHARS`` characters.

    A chunk from the middle of a document rarely says what the document is about. The label is
    left out where the text begins with it.
    """
    label = label_of(passage)
    begins_with_it = passage.text.lstrip("# \n").startswith(label)
    whole = passage.text if begins_with_it else f"{label}\n\n{passage.text}"
    return whole[:MAX_CHARS].strip() or NOTHING


def label_of(passage: Passage) -> str:
    """``"Title > Heading > Below it"``, the title once; ``""`` where there is neither."""
    title, heading = passage.title.strip(), passage.heading.strip()
    if heading == title or heading.startswith(title + SEPARATOR):
        return heading
    return SEPARATOR.join(part for part in (title, heading) if part)
