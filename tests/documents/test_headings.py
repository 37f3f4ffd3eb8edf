import pytest

from pincite.documents.headings import Heading, find_headings, first_heading, heading_paths


def found(text: str) -> list[tuple[int, int, str]]:
    return [(h.start, h.level, h.title) for h in find_headings(text)]


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("# A", "A"),
        ("#  A  ##  ", "A"),
        ("   # A", "A"),
        ("# A {#anchor}", "A"),
        ("# C#", "C#"),
        ("#\tA", "A"),
        ("# ##", ""),
        ("#", ""),
        ("# A\r", "A"),
    ],
)
def test_atx_heading_is_read_without_markup(line: str, title: str) -> None:
    assert found(line) == [(0, 1, title)]


@pytest.mark.parametrize("line", ["#A", "####### A", "    # A", "\t# A", "a # b", "\\# A"])
def test_other_number_signs_are_no_heading(line: str) -> None:
    assert found(line) == []


@pytest.mark.parametrize(("line", "level"), [("===", 1), ("---", 2), ("  -", 2), ("= ", 1)])
def test_setext_heading_starts_at_its_text(line: str, level: int) -> None:
    assert found(f"x\n\nTitle\n{line}\ny") == [(3, level, "Title")]


@pytest.mark.parametrize(
    "text",
    [
        "one\ntwo\n---",
        "\n---",
        "- item\n---",
        "> quote\n---",
        "| a |\n---",
        "    code\n---",
        "# A\n---",
        "```\nx\n```\n---",
        "---\n---",
    ],
)
def test_rule_below_something_else_is_no_setext_heading(text: str) -> None:
    assert [title for _, _, title in found(text)] in ([], ["A"])


def test_setext_may_follow_another_heading_at_once() -> None:
    assert found("# A\nB\n===") == [(0, 1, "A"), (4, 1, "B")]


@pytest.mark.parametrize(
    "fenced",
    [
        "```\n# x\n```",
        "~~~ sh\n# x\n```\n~~~~",
        "````\n```\n# x\n````",
        "   ```\n# x\n   ```",
        "```\nTitle\n===\n```",
    ],
)
def test_fenced_code_has_no_headings(fenced: str) -> None:
    assert [title for _, _, title in found(f"{fenced}\n# after")] == ["after"]


def test_unclosed_fence_runs_to_the_end() -> None:
    assert found("```\n# x\n\n# y") == []


def test_backticks_with_backticks_behind_open_no_fence() -> None:
    assert found("``` a`b\n# x") == [(8, 1, "x")]


def test_path_leads_down_through_the_levels() -> None:
    headings = find_headings("# A\n### B\n## C\n#\n## D\n")
    assert heading_paths(headings) == ["A", "A > B", "A > C", "", "D"]


def test_long_title_is_cut_in_the_path() -> None:
    assert heading_paths([Heading(0, 1, "x" * 500)]) == ["x" * 200]


def test_first_heading_skips_empty_ones() -> None:
    assert first_heading("text\n#\n## Real\n") == "Real"
    assert first_heading("no heading") == ""
