"""A home with something in each corpus, and tokens that open parts of it, for tests over HTTP."""

from __future__ import annotations

import asyncio
import itertools
import json
import threading
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

from pincite.testing.faults import Instead
from pincite.testing.homes import Home
from pincite.testing.http_server import ThreadServer
from pincite.wiring import Workspace

PARIS = "notes/paris.md#chunk-0"
PARIS_TEXT = "# Paris\n\nThe capital of France is Paris."
DOCUMENTS = {
    "paris.md": f"---\ntitle: Paris\ncategory: cities\n---\n{PARIS_TEXT}\n",
    "água.md": "# Água 水\n\n水在一百度沸腾。A água ferve a 100 °C. 🫖\n",
}
EVERYTHING = {"corpora": ["docs", "memory", "web"], "rights": ["read", "write"]}
GATE_S = 30.0
_folders = itertools.count(1)


def owner(user: str) -> dict[str, str]:
    """The scope ids of somebody's memory."""
    return {"user_id": user, "assistant_id": "a-1", "conversation_id": "c-1"}


def token(name: str, **binding: Any) -> dict[str, Any]:
    """A token as the settings have it; its secret is ``secret_of(name)``."""
    return {"name": name, "token": secret_of(name), **binding}


def secret_of(name: str) -> str:
    """The secret of a token of ``token``."""
    return f"secret-of-{name}-0123456789"


def bearer(name: str) -> dict[str, str]:
    """The header that a holder of the token sends."""
    return {"Authorization": f"Bearer {secret_of(name)}"}


def id_headers(ids: Mapping[str, str]) -> dict[str, str]:
    """Scope ids as headers."""
    return {f"X-Pincite-{name.replace('_', '-')}": value for name, value in ids.items()}


def filled_home(folder: Path, **settings: Any) -> Home:
    """A home in the folder with the two documents of ``DOCUMENTS``, on the store in memory."""
    home = Home(folder / f"home-{next(_folders)}", **settings)
    notes = home.folder / "notes"
    notes.mkdir(parents=True)
    for name, text in DOCUMENTS.items():
        (notes / name).write_text(text, "utf-8")
    home.ingest(notes)
    return home


def cite_path(key: str) -> str:
    """The path of a citation."""
    return f"/v1/cite/{quote(key, safe='')}"


def problem(answer: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """The problem document of an answer, which is one of this status and code."""
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    document: dict[str, Any] = json.loads(answer.content)
    assert (answer.status_code, document["status"], document["code"]) == (status, status, code)
    assert set(document) == {"type", "title", "status", "detail", "code", "next"}
    assert document["type"] == "urn:pincite:error:" + code.lower().replace("_", "-")
    assert document["detail"]
    assert document["next"]
    return document


class Gate:
    """Holds searches up while it is closed; it stands open at first."""

    def __init__(self) -> None:
        self._free = threading.Event()
        self._free.set()
        self._reached = threading.Event()

    def before_searches(self, workspace: Workspace) -> None:
        """Stand before every search of the workspace's store."""
        real = workspace.store

        async def search(*arguments: Any) -> Any:
            self._reached.set()
            await asyncio.to_thread(self._free.wait, GATE_S)
            return await real.search(*arguments)

        workspace.store = Instead(real, search=search)

    def close(self) -> None:
        """Hold up what comes from now on."""
        self._reached.clear()
        self._free.clear()

    def open(self) -> None:
        """Let everything through."""
        self._free.set()

    def wait_for_one(self) -> None:
        """Until a search has come to the gate.

        Raises:
            TimeoutError: None does.
        """
        if not self._reached.wait(GATE_S):
            raise TimeoutError("no search came")


def asked_beside(server: ThreadServer, body: Mapping[str, Any]) -> Future[httpx.Response]:
    """A lookup that is asked in another thread."""
    asker = ThreadPoolExecutor(1)

    def ask() -> httpx.Response:
        with server.client() as client:
            return client.post("/v1/lookup", json=body)

    asked = asker.submit(ask)
    asker.shutdown(wait=False)
    return asked
