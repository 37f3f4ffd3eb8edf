"""Pictures of a report: what they show, in numbers and as SVG that fits any page."""

from __future__ import annotations

import threading

import matplotlib
import pytest
from selectolax.lexbor import LexborHTMLParser

from pincite.evaluation.report.distributions import Bar, funnel_bars, rank_bars
from pincite.evaluation.report.document import compared, make_report
from pincite.evaluation.report.pictures import latency_picture, pictures
from pincite.evaluation.report.shape import ReportShape, read_shape
from pincite.testing.evaluation import block, dropped, golden_case, verdict
from pincite.testing.evaluation_reports import BACKUP, LEAVE, hostile_report, sample_report


def shape(k: int = 5) -> ReportShape:
    return read_shape(sample_report(k), "It")


def unmeasured() -> ReportShape:
    """Nothing expected, nothing observed."""
    report = make_report([verdict(golden_case("none", answerable=False), [])])
    return read_shape(compared(report), "It")


def test_ranks_are_of_every_expected_item() -> None:
    counts = {bar.label: bar.count for bar in rank_bars(shape())}
    assert counts == {"1": 4, "2": 1, "3": 0, "4": 0, "5": 0, "dropped": 2, "not found": 1}
    assert [bar.label for bar in rank_bars(shape(k=1))] == ["1", "> 1", "dropped", "not found"]
    assert len(rank_bars(shape(k=1_000))) == 12


def test_the_funnel_tells_after_which_stage_items_are_left() -> None:
    bars = funnel_bars(shape())
    assert [(bar.label, bar.count) for bar in bars] == [
        ("expected", 8),
        ("search", 7),
        ("current", 7),
        ("threshold", 7),
        ("merge", 7),
        ("document_cap", 6),
        ("return_n", 6),
        ("pack", 5),
        ("returned", 5),
    ]


@pytest.mark.parametrize("stage", ["search", "returned", "a later stage"])
def test_an_item_dropped_at_an_odd_stage_is_found_and_not_returned(stage: str) -> None:
    one = verdict(
        golden_case(expectedSources=[LEAVE]), [block(BACKUP)], [dropped(LEAVE, 0, "why", stage)]
    )
    bars = funnel_bars(read_shape(make_report([one]), "It"))
    assert (bars[1], bars[-1]) == (Bar("search", 1), Bar("returned", 0))


def test_pictures_say_in_words_what_they_show() -> None:
    ranks, funnel, latency = pictures(shape())
    assert ranks.text.startswith("Of 8 expected items: 4 at rank 1, 1 at rank 2, ")
    assert ranks.text.endswith("2 dropped, 1 not found.")
    assert funnel.text == (
        "8 expected items; 7 left after search, 6 left after document_cap, 5 left after pack."
    )
    assert (
        latency.text == "9 cases: half of them within 20 ms, 95 % within 45 ms, the longest 45 ms."
    )


def test_pictures_have_a_title_axes_with_units_and_a_text_alternative() -> None:
    labels = [("rank", "expected items"), ("after the stage",), ("latency (ms)",)]
    for picture, wanted in zip(pictures(shape()), labels, strict=True):
        tree = LexborHTMLParser(picture.svg or "")
        svg = tree.css_first("svg[role=img]")
        assert svg is not None
        named = (svg.attributes["aria-labelledby"] or "").split()
        assert [tree.css_first(f"#{one}").text() for one in named] == [picture.title, picture.text]
        assert set(wanted) <= {node.text().strip() for node in tree.css("text")}


def test_the_ids_of_pictures_are_unique_and_nothing_refers_outside() -> None:
    page = "".join(picture.svg or "" for picture in pictures(shape()))
    ids = [node.attributes["id"] for node in LexborHTMLParser(page).css("[id]")]
    assert sorted(set(ids)) == sorted(ids)
    assert len(ids) == 6
    for outside in ("href", "url(", "http", "<style", "<metadata", "<?xml", "<!DOCTYPE", "src="):
        assert outside not in page


def test_colours_are_the_pages_own() -> None:
    for picture in pictures(shape()):
        assert "currentColor" in (picture.svg or "")
        assert "var(--bar)" in (picture.svg or "")
        assert "#" not in (picture.svg or "")


def test_nothing_to_show_is_a_sentence_in_place_of_an_empty_picture() -> None:
    assert [picture.svg for picture in pictures(unmeasured())] == [None, None, None]
    texts = [picture.text for picture in pictures(unmeasured())]
    assert [text.endswith("nothing to show.") for text in texts] == [True, True, True]


def test_answers_that_took_no_time_can_be_drawn() -> None:
    still = sample_report()
    still["observed"]["latencyMs"] = dict.fromkeys(still["observed"]["latencyMs"], 0)
    assert latency_picture(read_shape(still, "It")).svg is not None


def test_foreign_text_is_in_no_picture() -> None:
    for picture in pictures(read_shape(hostile_report(), "It")):
        assert "alert" not in f"{picture.text}{picture.svg}"


def test_equal_reports_give_equal_pictures_and_settings_stay() -> None:
    before = dict(matplotlib.rcParams)
    with matplotlib.rc_context({"axes.linewidth": 9, "text.color": "red"}):
        odd = pictures(shape())
    assert odd == pictures(shape())
    assert dict(matplotlib.rcParams) == before


def test_pictures_can_be_made_in_several_threads() -> None:
    before, made = dict(matplotlib.rcParams), []
    work = [threading.Thread(target=lambda: made.append(pictures(shape()))) for _ in range(4)]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    assert made == [pictures(shape())] * 4
    assert dict(matplotlib.rcParams) == before
