import pytest

from pincite.retrieval.rerank.passages import MAX_CHARS, label_of, readable
from pincite.retrieval.rerank.port import Passage


def passage(text: str, title: str = "", heading: str = "") -> Passage:
    return Passage(text, title, heading, None, None)


@pytest.mark.parametrize(
    ("title", "heading", "label"),
    [
        ("", "", ""),
        ("Leases", "", "Leases"),
        ("", "Leases > Expiry", "Leases > Expiry"),
        ("Leases", "Leases", "Leases"),
        ("Leases", "Leases > Expiry", "Leases > Expiry"),
        ("Guide", "Leases > Expiry", "Guide > Leases > Expiry"),
        ("Lease", "Leases > Expiry", "Lease > Leases > Expiry"),
        (" ", "\t", ""),
    ],
)
def test_the_label_names_title_and_heading_once(title, heading, label) -> None:
    assert label_of(passage("", title, heading)) == label


def test_a_text_from_the_middle_gets_its_label() -> None:
    assert readable(passage("It runs out.", "Leases")) == "Leases\n\nIt runs out."


@pytest.mark.parametrize("text", ["# Leases\n\nA lease.", "Leases\n======\n", "Leases are short."])
def test_a_text_that_begins_with_its_label_is_left_as_it_is(text) -> None:
    assert readable(passage(text, "Leases")) == text.strip()


def test_a_long_text_is_cut() -> None:
    shown = readable(passage("x" * 60_000, "Leases"))
    assert len(shown) == MAX_CHARS
    assert shown.startswith("Leases\n\nxxx")


@pytest.mark.parametrize("text", ["", " \n"])
def test_a_text_without_characters_is_not_sent_empty(text) -> None:
    assert readable(passage(text)) == "-"
