import codecs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pincite.documents.decoding import NUL_REMOVED, decode
from pincite.errors import EncodingUnsupported


def test_bom_is_not_part_of_the_text() -> None:
    assert decode(codecs.BOM_UTF8 + "añ".encode(), "s/a.md").text == "añ"


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [(codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")],
)
def test_utf16_is_read_by_its_mark(mark: bytes, encoding: str) -> None:
    assert decode(mark + "中文 👍".encode(encoding), "s/a.md").text == "中文 👍"


def test_line_ends_become_lf() -> None:
    assert decode(b"a\r\nb\rc\n\r\nd", "s/a.md").text == "a\nb\nc\n\nd"


def test_nul_is_removed_with_a_warning() -> None:
    decoded = decode(b"a\0b\0", "s/a.md")
    assert decoded.text == "ab"
    assert [(w.code, w.source) for w in decoded.warnings] == [(NUL_REMOVED, "s/a.md")]


@pytest.mark.parametrize(
    "data",
    [
        "café".encode("latin-1"),
        "中文".encode("gb18030"),
        codecs.BOM_UTF16_LE + b"a",
        codecs.BOM_UTF16_LE + b"\x00\xd8",
        "\ud800".encode("utf-8", "surrogatepass"),
        codecs.BOM_UTF32_LE + "a".encode("utf-32-le"),
        codecs.BOM_UTF32_BE + "a".encode("utf-32-be"),
        b"\xff",
    ],
)
def test_other_bytes_are_refused_naming_the_file(data: bytes) -> None:
    with pytest.raises(EncodingUnsupported, match=r"s/odd\.md"):
        decode(data, "s/odd.md")


@given(st.binary(max_size=60))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_any_bytes_give_clean_text_or_a_coded_error(data: bytes) -> None:
    try:
        text = decode(data, "s/a").text
    except EncodingUnsupported:
        return
    text.encode("utf-8")
    assert "\r" not in text
    assert "\0" not in text
