"""PDF, Word, PowerPoint and Excel files, through MarkItDown (extra ``formats``)."""

from __future__ import annotations

import io
import zipfile
from importlib.metadata import version
from typing import Any

from pincite.documents.block_values import clean
from pincite.documents.headings import first_heading
from pincite.documents.model import FoundFile, Notice, Parsed
from pincite.errors import ReadFailed

NO_TEXT = "NO_TEXT"

# A file of some megabytes must not become gigabytes in memory.
MAX_UNPACKED_BYTES = 512 * 1024 * 1024

_CONVERTERS = {
    ".docx": "DocxConverter",
    ".pdf": "PdfConverter",
    ".pptx": "PptxConverter",
    ".xlsx": "XlsxConverter",
}
# Only these carry real headings: a sheet's name or a number sign on a page is no title.
_WITH_HEADINGS = frozenset({".docx", ".pptx"})


def read(data: bytes, file: FoundFile) -> Parsed:
    """The file's text as Markdown; a file without text is an empty document with ``NO_TEXT``.

    Raises:
        ReadFailed: The file is broken, encrypted, or unpacks to too much.
    """
    suffix = file.path.suffix.lower()
    text = _normal(_convert(data, suffix, file.source))
    message = f"{file.source!r} holds no text; a scanned page needs text recognition first."
    return Parsed(
        text=text,
        fields={},
        title=first_heading(text) if suffix in _WITH_HEADINGS else "",
        reader=f"markitdown/{version('markitdown')}",
        notices=() if text.strip() else (Notice(NO_TEXT, message, file.source),),
    )


def _convert(data: bytes, suffix: str, source: str) -> str:
    try:
        if suffix != ".pdf":
            _check_size(data, source)
        return str(_run(data, suffix))
    except ReadFailed:
        raise
    # The parsers below raise whatever a broken file makes them stumble over.
    except Exception as exc:
        kind = type(exc).__name__
        raise ReadFailed(f"{source!r} could not be read as {suffix} ({kind}).") from exc


def _normal(text: str) -> str:
    return clean(text.replace("\0", "").replace("\r\n", "\n").replace("\r", "\n"))


def _check_size(data: bytes, source: str) -> None:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        total = sum(info.file_size for info in archive.infolist())
    if total > MAX_UNPACKED_BYTES:
        raise ReadFailed(f"{source!r} unpacks to {total} bytes, more than {MAX_UNPACKED_BYTES}.")


def _run(data: bytes, suffix: str) -> Any:
    from markitdown import StreamInfo, converters

    converter = getattr(converters, _CONVERTERS[suffix])()
    return converter.convert(io.BytesIO(data), StreamInfo(extension=suffix)).markdown
