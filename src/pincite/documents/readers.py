"""Which reader reads which file, and the one call that reads a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec

from pincite.documents.assemble import assemble
from pincite.documents.model import FoundFile, Parsed, ReadResult
from pincite.errors import DocumentRejected, ExtraMissing, ReadFailed

Reader = Callable[[bytes, FoundFile], Parsed]


@dataclass(frozen=True)
class _Format:
    module: str
    needs: tuple[str, ...] = ()
    extra: str = ""

    def missing(self) -> str:
        """The first module that is not installed, ``""`` when all are."""
        return next((name for name in self.needs if find_spec(name) is None), "")


_MARKDOWN = _Format("pincite.documents.markdown")
_PLAIN = _Format("pincite.documents.plain")
_HTML = _Format("pincite.documents.html")


def _office(needs: str) -> _Format:
    return _Format("pincite.documents.office", ("markitdown", needs), "formats")


_FORMATS: dict[str, _Format] = {
    ".md": _MARKDOWN,
    ".mdx": _MARKDOWN,
    ".markdown": _MARKDOWN,
    ".txt": _PLAIN,
    ".html": _HTML,
    ".htm": _HTML,
    ".pdf": _office("pdfplumber"),
    ".docx": _office("mammoth"),
    ".pptx": _office("pptx"),
    ".xlsx": _office("openpyxl"),
}


def supported_suffixes() -> frozenset[str]:
    """Suffixes, in lower case with the dot, whose reader is installed."""
    return frozenset(suffix for suffix, form in _FORMATS.items() if not form.missing())


def reader_for(suffix: str) -> Reader:
    """The reader of a suffix (lower case, with the dot).

    Raises:
        DocumentRejected: No reader reads this type.
        ExtraMissing: Its reader needs an extra that is not installed.
    """
    form = _FORMATS.get(suffix)
    if form is None:
        raise DocumentRejected(
            f"Files of type {suffix!r} are not read.", "Convert the file, or leave it out."
        )
    if missing := form.missing():
        raise ExtraMissing(
            f"Files of type {suffix!r} need {missing!r}, which is not installed.",
            f"Install it: pip install 'pincite[{form.extra}]'.",
            extra=form.extra,
        )
    reader: Reader = import_module(form.module).read
    return reader


def read_document(file: FoundFile) -> ReadResult:
    """Read one file.

    ``doc_id`` defaults to the file's ``source``, ``title`` to the first heading, then to the
    file's stem.

    Raises:
        DocumentError: This file cannot become a document: ``ENCODING_UNSUPPORTED``,
            ``READ_FAILED`` (also where the format's extra is missing) or ``DOCUMENT_REJECTED``.
    """
    try:
        read = reader_for(file.path.suffix.lower())
    except ExtraMissing as exc:
        raise ReadFailed(exc.message, exc.next_step, source=file.source) from exc
    try:
        data = file.path.read_bytes()
    except OSError as exc:
        kind = type(exc).__name__
        raise ReadFailed(
            f"{file.source!r} could not be read ({kind}).", source=file.source
        ) from exc
    return assemble(file, data, read(data, file))
