"""Kept texts: each document version's text, content-addressed, in a folder or object store."""

from __future__ import annotations

import os
import re
import uuid
from typing import Any

from pincite.errors import ConfigInvalid, ExtraMissing, TextCorrupt, TextNotFound, TextsUnreachable
from pincite.identity import bytes_sha256

_DIGEST = re.compile(r"[0-9a-f]{64}")

# Stores whose single put shows the whole object or nothing; elsewhere a move does that.
_ATOMIC_PUT = frozenset(
    {"memory", "s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "oss", "oci"}
)


class KeptTexts:
    """Texts by the SHA-256 of their UTF-8 bytes.

    A digest either shows its whole text or nothing: a text is written under another name and
    moved into place. What ``put`` has returned survives the end of the process.

    Args:
        url: A local folder or any URL that fsspec knows, such as ``s3://bucket/texts``.
    """

    def __init__(self, url: str) -> None:
        self._fs: Any
        self._fs, root = _file_system(url)
        self._root = str(root).rstrip("/")
        names = self._fs.protocol
        protocols = {names} if isinstance(names, str) else set(names)
        self._local = "file" in protocols
        self._atomic = bool(protocols & _ATOMIC_PUT)

    def of(self, corpus: str) -> KeptTexts:
        """The texts of a corpus: all of them lie here."""
        return self

    def put(self, text: str) -> str:
        """Keep the text and return its digest; nothing is written where it is already whole.

        Raises:
            TextsUnreachable: It could not be written.
        """
        data = text.encode("utf-8")
        digest = bytes_sha256(data)
        path = self._path(digest)
        try:
            if self._size(path) != len(data):
                self._write(path, data)
        except OSError as exc:
            raise _unreachable("written", digest) from exc
        return digest

    def get(self, digest: str) -> str:
        """The text with this digest.

        Raises:
            TextNotFound: Nothing is kept under the digest.
            TextCorrupt: What is kept does not have the digest.
            TextsUnreachable: It could not be read.
        """
        try:
            data = self._read(self._known(digest))
        except FileNotFoundError as exc:
            raise TextNotFound(f"No text is kept under {digest!r}.", digest=digest) from exc
        except OSError as exc:
            raise _unreachable("read", digest) from exc
        if bytes_sha256(data) != digest:
            raise TextCorrupt(f"The text kept under {digest!r} has changed.", digest=digest)
        return data.decode("utf-8")

    def has(self, digest: str) -> bool:
        """Whether something is kept under the digest; its content is not read."""
        try:
            return bool(_DIGEST.fullmatch(digest)) and self._size(self._path(digest)) is not None
        except OSError as exc:
            raise _unreachable("looked up", digest) from exc

    def delete(self, digest: str) -> None:
        """Forget the text; a digest under which nothing is kept is left as it is.

        Raises:
            TextsUnreachable: It could not be deleted.
        """
        if not _DIGEST.fullmatch(digest):
            return
        try:
            os.unlink(self._path(digest)) if self._local else self._fs.rm_file(self._path(digest))
        except FileNotFoundError:
            return
        except OSError as exc:
            raise _unreachable("deleted", digest) from exc

    def _path(self, digest: str) -> str:
        return f"{self._root}/{digest[:2]}/{digest}"

    def _known(self, digest: str) -> str:
        if not _DIGEST.fullmatch(digest):
            raise TextNotFound(f"{digest!r} is not a digest.", digest=digest)
        return self._path(digest)

    def _size(self, path: str) -> int | None:
        try:
            return os.stat(path).st_size if self._local else int(self._fs.size(path))
        except FileNotFoundError:
            return None

    def _read(self, path: str) -> bytes:
        if not self._local:
            return bytes(self._fs.cat_file(path))
        with open(path, "rb") as file:
            return file.read()

    def _write(self, path: str, data: bytes) -> None:
        if self._atomic:
            self._fs.pipe_file(path, data)
            return
        temporary = f"{path}.{uuid.uuid4().hex}.tmp"
        if self._local:
            _write_local(temporary, data)
            os.replace(temporary, path)
            return
        self._fs.makedirs(path.rpartition("/")[0], exist_ok=True)
        self._fs.pipe_file(temporary, data)
        self._fs.mv(temporary, path)


def _file_system(url: str) -> tuple[Any, str]:
    from fsspec.core import url_to_fs

    try:
        fs, root = url_to_fs(os.path.expanduser(url))
    except ValueError as exc:
        protocol = url.partition("://")[0]
        raise ConfigInvalid(f"[texts] url names an unknown protocol {protocol!r}.") from exc
    except ImportError as exc:
        protocol = url.partition("://")[0]
        raise ExtraMissing(
            f"[texts] url of protocol {protocol!r} needs a package that is not installed.",
            "Install the fsspec package of that protocol (s3fs, gcsfs, adlfs …).",
        ) from exc
    return fs, str(root)


def _write_local(path: str, data: bytes) -> None:
    try:
        file = open(path, "xb")  # noqa: SIM115
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        file = open(path, "xb")  # noqa: SIM115
    with file:
        file.write(data)


def _unreachable(what: str, digest: str) -> TextsUnreachable:
    return TextsUnreachable(f"The text {digest!r} could not be {what}.", digest=digest)
