"""A served home with something of everything that the inspector shows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pincite.testing.homes import Home
from pincite.testing.http_server import ThreadServer, http_server
from pincite.testing.memory_items import item

HOSTILE = (
    "Hostile passage: <script>document.title = 'taken'</script> </mark></div><h1>Owned</h1> "
    '"double" \'single\' &amp; &lt;b&gt; <img src="https://attacker.invalid/x.png" '
    "onerror='document.title=1'> {{ 7 * 7 }} end."
)
HOSTILE_TITLE = "<b>Hostile</b> \"title\" </title><script>document.title='taken'</script>"
CHINESE = "差旅报销需要在出差结束后十天内提交申请，并附上全部发票。"
HEBREW = "הדו״ח השנתי מוגש בחודש מרס."
PREFERENCE = "Prefers flights from Lisbon airport."
LEASES = (
    "A lease is held by one writer.\n\n"
    "  Its heartbeat renews leases, and a fencing token is checked with each stamp.\t(Twice.)"
)
_LONG = "\n".join(f"Line {n} of the long document speaks of granite." for n in range(400))


def pages() -> dict[str, str]:
    """Documents by file name."""
    return {
        "leases.md": f"---\ntitle: Leases\ncategory: operations\n---\n# Leases\n\n{LEASES}\n",
        "hostile.md": f"---\ntitle: {json.dumps(HOSTILE_TITLE)}\n---\n{HOSTILE}\n",
        "差旅 指南.md": f"---\ntitle: 差旅指南\n---\n# 差旅指南\n\n{CHINESE}\n",
        "hebrew.md": f"# דו״ח\n\n{HEBREW}\n",
        "granite.md": f"# Granite\n\n{_LONG}\n",
    }


class Site:
    """The home, its folder of documents, and the server over it."""

    def __init__(self, home: Home, notes: Path, server: ThreadServer) -> None:
        self.home = home
        self.notes = notes
        self.server = server
        self.url = server.url

    def ask(self, question: str, **given: str) -> str:
        """The address of an answer."""
        more = "".join(f"&{name}={quote(value, safe='')}" for name, value in given.items())
        return f"{self.url}/?q={quote(question, safe='')}{more}"

    def write(self, name: str, text: str) -> None:
        """Change a document and ingest it."""
        (self.notes / name).write_text(text, "utf-8", newline="")
        self.home.ingest(self.notes)


@contextmanager
def inspector_site(folder: Path, **settings: Any) -> Iterator[Site]:
    """Serve a home with documents in several scripts and one memory item, on the real server."""
    notes = folder / "notes"
    notes.mkdir()
    for name, text in pages().items():
        (notes / name).write_text(text, "utf-8", newline="")
    home = Home(folder, **settings)
    home.ingest(notes)
    home.write("memory", item(PREFERENCE, memory_type="preference"))
    with http_server(home.settings) as server:
        yield Site(home, notes, server)
