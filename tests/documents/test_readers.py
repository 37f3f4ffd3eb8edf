import io
import os
import zipfile
from pathlib import Path

import pytest

from pincite.documents import office, readers
from pincite.documents.discovery import discover
from pincite.documents.model import Document, FoundFile, ReadResult
from pincite.documents.readers import read_document, reader_for, supported_suffixes
from pincite.errors import (
    DocumentError,
    DocumentRejected,
    EncodingUnsupported,
    ExtraMissing,
    ReadFailed,
)


def read(folder: Path, name: str, data: bytes | str) -> ReadResult:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return read_document(FoundFile(path, f"docs/{name}", path.stat().st_size))


def document(folder: Path, name: str, data: bytes | str) -> Document:
    result = read(folder, name, data)
    assert result.warnings == ()
    return result.document


def test_all_families_are_supported_with_the_extra() -> None:
    assert supported_suffixes() == {
        ".md", ".mdx", ".markdown", ".txt", ".html", ".htm", ".pdf", ".docx", ".pptx", ".xlsx"
    }  # fmt: skip


def test_without_the_extra_its_suffixes_are_absent_and_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    find_spec = readers.find_spec
    monkeypatch.setattr(readers, "find_spec", lambda n: None if n == "markitdown" else find_spec(n))
    assert supported_suffixes() == {".md", ".mdx", ".markdown", ".txt", ".html", ".htm"}
    with pytest.raises(ExtraMissing, match=r"pincite\[formats\]"):
        reader_for(".pdf")
    with pytest.raises(ReadFailed, match=r"pincite\[formats\]"):
        read(tmp_path, "a.pdf", b"%PDF-")


@pytest.mark.parametrize("name", ["a.md", "a.MD", "a.mdx", "a.markdown"])
def test_markdown_body_is_kept_verbatim_without_frontmatter(tmp_path: Path, name: str) -> None:
    made = document(
        tmp_path, name, "\ufeff---\r\ntitle: T\r\n---\r\n\r\n# H\r\n\r\n* a\\_b  \r\n c\r\n"
    )
    assert made.text == "# H\n\n* a\\_b  \n c"
    assert (made.title, made.reader, made.doc_id) == ("T", "markdown/1", f"docs/{name}")


def test_markdown_title_falls_back_to_the_first_heading(tmp_path: Path) -> None:
    assert document(tmp_path, "a.md", "text\n\n## Sub\n\n# Main\n").title == "Sub"
    assert document(tmp_path, "a.md", "```\n# code\n```\n").title == "a"


def test_odd_frontmatter_is_told_with_the_source(tmp_path: Path) -> None:
    result = read(tmp_path, "a.md", "---\na: b: c\n---\nBody")
    assert [(w.code, w.source) for w in result.warnings] == [("FRONTMATTER_INVALID", "docs/a.md")]
    assert result.document.text == "Body"
    assert result.document.metadata == '{"frontmatter_raw": "a: b: c\\n"}'


def test_plain_text_has_no_frontmatter_and_no_headings(tmp_path: Path) -> None:
    made = document(tmp_path, "notes.txt", "---\na: b\n---\n# x\n")
    assert made.text == "---\na: b\n---\n# x"
    assert (made.title, made.reader) == ("notes", "text/1")


@pytest.mark.parametrize("name", ["a.md", "a.txt", "a.html"])
def test_empty_file_is_an_empty_document(tmp_path: Path, name: str) -> None:
    assert document(tmp_path, name, b"").text == ""


@pytest.mark.parametrize("name", ["a.md", "a.txt", "a.html"])
def test_other_encodings_fail_with_a_code(tmp_path: Path, name: str) -> None:
    with pytest.raises(EncodingUnsupported, match=f"docs/{name}"):
        read(tmp_path, name, "café".encode("latin-1"))


def test_vanished_file_fails_with_a_code(tmp_path: Path) -> None:
    with pytest.raises(ReadFailed, match="FileNotFoundError"):
        read_document(FoundFile(tmp_path / "gone.md", "docs/gone.md", 1))


def test_unknown_type_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(DocumentRejected, match=r"\.xyz"):
        read(tmp_path, "a.xyz", b"")


HTML = """<!doctype html><html><head><title> Page &amp; title </title>
<meta name="Description" content="About it"><meta name=keywords content="one, two">
<meta property="og:title" content="Social"><style>p {}</style><script>var head = 1</script></head>
<body><nav><a href=/>Home</a></nav><h1>Heading</h1><p>First <b>bold</b> max_file_bytes
<p>Second<ul><li>a<li>b</ul><pre><code># not a heading
x = 1</code></pre><table><tr><th>k</th></tr><tr><td>v</td></tr></table>
<img alt="Logo" src="data:image/png;base64,AAAA"><!-- hidden --><script>var body = 1</script>
</body></html>"""


def test_html_body_becomes_markdown(tmp_path: Path) -> None:
    made = document(tmp_path, "a.html", HTML)
    assert made.text.startswith(
        "# Heading\n\nFirst **bold** max_file_bytes\n\nSecond\n\n- a\n- b\n"
    )
    assert "```\n# not a heading\nx = 1\n```" in made.text
    assert "| k |\n| --- |\n| v |" in made.text


def test_html_head_is_metadata_and_never_body(tmp_path: Path) -> None:
    made = document(tmp_path, "a.html", HTML)
    assert (made.title, made.summary) == ("Page & title", "About it")
    assert made.keywords == ("one", "two")
    hidden = ("Page &", "About it", "Social", "var", "p {}", "Home", "hidden", "base64")
    assert not [word for word in hidden if word in made.text]


def test_html_without_a_closed_head_keeps_its_body(tmp_path: Path) -> None:
    made = document(tmp_path, "a.htm", "<html><head><title>T</title><body><p>Text")
    assert (made.title, made.text) == ("T", "Text")


def test_html_title_falls_back_to_the_first_heading(tmp_path: Path) -> None:
    assert document(tmp_path, "a.html", "<h2>Sub</h2><p>x").title == "Sub"


def test_deeply_nested_html_fails_with_a_code_or_is_read(tmp_path: Path) -> None:
    with pytest.raises(ReadFailed, match="nests"):
        read(tmp_path, "a.html", "<div>" * 5_000 + "x")


def pdf(text: str) -> bytes:
    stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode() if text else b""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R"
        b" /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    data, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    trailer = b"trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % len(data)
    return data + b"xref\n0 6\n0000000000 65535 f \n" + table + trailer


def docx(heading: str, text: str) -> bytes:
    word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    package = "http://schemas.openxmlformats.org/package/2006"
    office_rel = (
        "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
    )
    types = "application/vnd.openxmlformats-"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types"><Default Extension="xml"'
        f' ContentType="{types}officedocument.wordprocessingml.document.main+xml"/>'
        '<Default Extension="rels"'
        f' ContentType="{types}package.relationships+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1"'
        f' Type="{office_rel}" Target="word/document.xml"/></Relationships>',
        "word/document.xml": f'<w:document xmlns:w="{word}"><w:body><w:p><w:pPr><w:pStyle'
        f' w:val="Heading1"/></w:pPr><w:r><w:t>{heading}</w:t></w:r></w:p>'
        f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:body></w:document>",
        "word/styles.xml": f'<w:styles xmlns:w="{word}"><w:style w:type="paragraph"'
        ' w:styleId="Heading1"><w:name w:val="heading 1"/></w:style></w:styles>',
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, body in parts.items():
            archive.writestr(name, body)
    return buffer.getvalue()


def test_pdf_text_is_read(tmp_path: Path) -> None:
    made = document(tmp_path, "a.pdf", pdf("Hello from a page"))
    assert made.text == "Hello from a page"
    assert made.title == "a"
    assert made.reader.startswith("markitdown/")


def test_pdf_without_text_is_an_empty_document_with_a_warning(tmp_path: Path) -> None:
    result = read(tmp_path, "scan.pdf", pdf(""))
    assert result.document.text == ""
    assert [w.code for w in result.warnings] == [office.NO_TEXT]


def test_word_headings_and_text_are_read(tmp_path: Path) -> None:
    made = document(tmp_path, "a.docx", docx("The heading", "Some text"))
    assert (made.title, made.text) == ("The heading", "# The heading\n\nSome text")


def test_slides_are_read(tmp_path: Path) -> None:
    from pptx import Presentation

    slides = Presentation()
    slide = slides.slides.add_slide(slides.slide_layouts[1])
    slide.shapes.title.text = "Slide title"
    slide.placeholders[1].text = "A point"
    slides.save(tmp_path / "made.pptx")
    made = document(tmp_path, "a.pptx", (tmp_path / "made.pptx").read_bytes())
    assert made.title == "Slide title"
    assert "A point" in made.text


def test_sheets_are_read(tmp_path: Path) -> None:
    from openpyxl import Workbook

    book = Workbook()
    book.active.append(["name", "value"])
    book.active.append(["answer", 42])
    book.save(tmp_path / "made.xlsx")
    made = document(tmp_path, "table.xlsx", (tmp_path / "made.xlsx").read_bytes())
    assert "| answer | 42 |" in made.text
    assert made.title == "table"


@pytest.mark.parametrize("suffix", [".pdf", ".docx", ".pptx", ".xlsx"])
@pytest.mark.parametrize("data", [b"", b"not such a file", b"PK\x03\x04broken"])
def test_broken_office_file_fails_with_a_code(tmp_path: Path, suffix: str, data: bytes) -> None:
    with pytest.raises(ReadFailed, match=f"docs/a{suffix}"):
        read(tmp_path, f"a{suffix}", data)


def test_archive_that_unpacks_to_too_much_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(office, "MAX_UNPACKED_BYTES", 100)
    with pytest.raises(ReadFailed, match="unpacks to"):
        read(tmp_path, "a.docx", docx("h", "t"))


DATA = Path(os.environ.get("PINCITE_TEST_DATA", Path(__file__).parents[3] / "shared/data"))


@pytest.mark.skipif(not DATA.is_dir(), reason=f"needs the real data folder {DATA}")
def test_every_real_page_is_a_document_or_a_coded_failure() -> None:
    seen = 0
    for folder in sorted((DATA / "docs").iterdir()):
        found = discover(folder, folder, folder.name, 10_000_000, supported_suffixes())
        for file in found.files:
            seen += 1
            try:
                text = read_document(file).document.text
            except DocumentError as exc:
                assert exc.code  # noqa: PT017
                continue
            assert not text.startswith(("---\n", "+++\n", "\ufeff", "\n"))
            assert not set("\r\0") & set(text)
    assert seen > 0
