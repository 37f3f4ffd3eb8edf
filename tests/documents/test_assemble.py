import json
from pathlib import Path

import pytest

from pincite.documents.assemble import TITLE_SHORTENED, assemble, kept_text
from pincite.documents.model import JSON, Document, FoundFile, Notice, Parsed
from pincite.errors import DocumentRejected
from pincite.identity import bytes_sha256, text_sha256
from pincite.schemas.documents import DOCUMENTS
from pincite.schemas.owner import NOBODY

FILE = FoundFile(Path("/x/guide/page one.md"), "docs/guide/page one.md", 4)


def made(fields: dict[str, JSON], title: str = "", text: str = "Body") -> Document:
    return assemble(FILE, b"data", Parsed(text, fields, title, "markdown/1")).document


def test_document_has_the_columns_of_its_table_without_scope_and_owner() -> None:
    assert set(Document.__dataclass_fields__) == set(DOCUMENTS.names) - {"kb_scope", *NOBODY}


def test_identity_and_digests_come_from_the_file() -> None:
    document = made({})
    assert document.doc_id == document.source == FILE.source
    assert document.source_name == "docs"
    assert document.text_digest == text_sha256("Body")
    assert document.raw_sha256 == bytes_sha256(b"data")
    assert (document.reader, document.metadata) == ("markdown/1", "{}")


def test_metadata_is_sorted_json_with_its_own_characters() -> None:
    document = made({"z": "é", "a": {"y": 1, "b": [None]}})
    assert document.metadata == '{"a": {"b": [null], "y": 1}, "z": "é"}'
    assert json.loads(document.metadata)["z"] == "é"


def test_title_is_the_frontmatters_else_the_readers_else_the_stem() -> None:
    assert made({"title": "F"}, "R").title == "F"
    assert made({}, "R").title == "R"
    assert made({}).title == "page one"


def test_long_title_is_shortened_between_characters_with_a_warning() -> None:
    result = assemble(FILE, b"", Parsed("", {"title": "中" * 400}, "", "markdown/1"))
    assert result.document.title == "中" * 333
    assert [w.code for w in result.warnings] == [TITLE_SHORTENED]


def test_doc_id_of_the_frontmatter_counts_in_nfc() -> None:
    assert made({"doc_id": "e\u0301"}).doc_id == "é"


@pytest.mark.parametrize(
    "doc_id",
    [
        "",
        " ",
        "a\x00b",
        "a\x7f",
        "a\u2028b",
        "a\nb",
        "a\t",
        "a\ufffdb",
        "x" * 501,
        "中" * 167,
        None,
        ["a"],
    ],
)
def test_unusable_doc_id_is_rejected_naming_the_file(doc_id: JSON) -> None:
    with pytest.raises(DocumentRejected, match=r"page one\.md"):
        made({"doc_id": doc_id})


@pytest.mark.parametrize(("given", "doc_id"), [(" a  b ", "a  b"), (7, "7"), (True, "true")])
def test_doc_id_is_kept_as_written_but_for_spaces_around(given: JSON, doc_id: str) -> None:
    assert made({"doc_id": given}).doc_id == doc_id


def test_doc_id_of_500_bytes_is_taken() -> None:
    assert made({"doc_id": "x" * 500}).doc_id == "x" * 500


def test_unusable_file_name_is_rejected_too() -> None:
    file = FoundFile(Path("/x/a\nb.md"), "docs/a\nb.md", 1)
    with pytest.raises(DocumentRejected):
        assemble(file, b"", Parsed("", {}, "", "markdown/1"))


def test_notices_get_the_files_source() -> None:
    parsed = Parsed("", {}, "", "markdown/1", (Notice("A", "a"), Notice("B", "b", "own")))
    sources = [warning.source for warning in assemble(FILE, b"", parsed).warnings]
    assert sources == [FILE.source, "own"]


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ("\n \n\t\nA\n\n", "A"),
        ("\n    code\n", "    code"),
        ("\ufeff\nA", "A"),
        ("\ufeffA", "A"),
        (" \n\u3000\n", ""),
        ("   ", ""),
        ("A\n\n\nB \u00a0", "A\n\n\nB"),
        ("", ""),
    ],
)
def test_kept_text_has_no_blank_lines_before_and_no_space_after(body: str, kept: str) -> None:
    assert kept_text(body) == kept
    assert kept_text(kept) == kept
