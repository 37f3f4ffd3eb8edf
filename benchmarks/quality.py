"""Quality of the lookup on public sets: every mode, and what the evidence status is worth.

python benchmarks/quality.py --data FOLDER [--results FILE] [--work FOLDER] [--only SET...]
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from answerability import judge_all
from asking import ask_all
from measured import Measured
from quality_home import open_home, tell
from quality_report import report
from sets import SETS, QualitySet, load_set
from ways import WAYS

# Their questions have one paragraph each as answer, and their paragraphs an article.
JUDGED = ("xquad-zh", "xquad-en")


async def measure_set(quality_set: QualitySet, place: Path, embedder: str) -> Measured:
    """Ingest the set and ask all its questions in every way."""
    async with open_home(quality_set, place, embedder) as home:
        answers = {way.title: await ask_all(home, way) for way in WAYS}
        judged = await judge_all(home) if quality_set.name in JUDGED else {}
        return Measured(quality_set, home.chunks, home.ingest_s, answers, judged)


@contextmanager
def work_folder(given: Path | None) -> Iterator[Path]:
    """The folder that is kept, or one that is gone afterwards."""
    if given is not None:
        given.mkdir(parents=True, exist_ok=True)
        yield given.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="pincite-quality-") as name:
        yield Path(name)


def arguments() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the sets")
    parser.add_argument("--results", type=Path, help="write the report to this file")
    parser.add_argument("--work", type=Path, help="keep homes and embedding caches here")
    parser.add_argument("--only", nargs="+", choices=SETS, default=SETS, metavar="SET",
                        help=f"of {', '.join(SETS)}")  # fmt: skip
    parser.add_argument("--embedder", default="local", help="provider of the embedder")
    return parser.parse_args()


def main() -> None:
    """Measure every set and print the report."""
    given = arguments()
    with work_folder(given.work) as work:
        measured = []
        for name in given.only:
            tell(f"{name}: ingest")
            quality_set = load_set(name, given.data)
            measured.append(asyncio.run(measure_set(quality_set, work / name, given.embedder)))
    text = report(measured, given.embedder)
    print(text, end="")
    if given.results:
        given.results.parent.mkdir(parents=True, exist_ok=True)
        given.results.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
