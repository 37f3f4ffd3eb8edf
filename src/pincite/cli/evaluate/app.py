"""Which commands ``pincite eval`` has."""

from __future__ import annotations

import typer

from pincite.cli.evaluate import add, benchmark, calibrate, diff, run, schema, seed, snapshot

app = typer.Typer(
    name="eval",
    help="Golden cases: ask them, judge the answers, and turn red when retrieval gets worse.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command("seed")(seed.seed)
app.command("run")(run.run)
app.command("snapshot")(snapshot.snapshot)
app.command("diff")(diff.diff)
app.command("add")(add.add)
app.command("calibrate")(calibrate.calibrate)
app.command("benchmark")(benchmark.benchmark)
app.command("schema")(schema.schema)
