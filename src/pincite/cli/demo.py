"""``pincite demo``."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pincite.cli.output import say

if TYPE_CHECKING:
    from pincite.settings import Settings

QUESTIONS = (
    "What does an evidence key look like, and what does it resolve to?",
    "What happens to a document when its embedding fails?",
    "How do I use an OpenAI-compatible embedding endpoint?",
)


def demo() -> int:
    """Ingest this project's own manual into a fresh home and answer three questions."""
    import pincite
    from pincite.cli.ingest import print_receipt, run_ingest
    from pincite.settings import load_settings
    from pincite.writing.request import IngestRequest

    home = load_settings().home / "demo"
    shutil.rmtree(home, ignore_errors=True)
    settings = load_settings({"home": home}, folder=home, environment=_without_pincite(os.environ))
    manual = Path(pincite.__file__).parent / "manual"
    say(f"Ingesting the manual into {_shown(home)} …")
    receipt = run_ingest(
        settings, IngestRequest((str(manual.resolve()),), source="manual"), direct=False
    )
    print_receipt(receipt)
    confirmed = [_ask(settings, question) for question in QUESTIONS]
    say(f"\n{sum(confirmed)} of {len(QUESTIONS)} citations confirmed by `pincite cite`.")
    command = f"{_shown(Path(sys.argv[0]))} --home {_shown(home)}"
    say("\nTry it yourself:")
    say(f"  {command} lookup 'your question'")
    say("See the flow run in the Prefect UI:")
    say(f"  {command} up      then open")
    say(f"  http://127.0.0.1:4200/runs/flow-run/{receipt.flow_run_id}")
    return 0 if receipt.ok and all(confirmed) else 1


def _without_pincite(environment: Any) -> dict[str, str]:
    """The demo shows the defaults, whatever this machine's settings say."""
    return {name: value for name, value in environment.items() if not name.startswith("PINCITE_")}


def _shown(path: Path) -> str:
    """The path as one would type it here."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def _ask(settings: Settings, question: str) -> bool:
    """Answer one question with its best passage; true where the citation gives the same text."""
    import asyncio

    from pincite.cli.lookup import run_lookup
    from pincite.cli.result import excerpt
    from pincite.cli.runner import run
    from pincite.retrieval.citation import cite

    results = run_lookup(settings, question, return_n=1)["results"]
    say(f"\nQ: {question}")
    if not results:
        say("   no evidence")
        return False
    best = results[0]
    key, digest = best["document_id"], best["content_sha256"]
    found = run(settings, lambda w: asyncio.to_thread(cite, key, w.catalog, w.texts, sha256=digest))
    say(excerpt(best["excerpt"]))
    same = found.text == best["excerpt"] and found.state == "current"
    verdict = "same text" if same else "OTHER TEXT"
    say(f"   [{key}]  {best['score']:.3f}  cite: {found.state}, {verdict}")
    return same
