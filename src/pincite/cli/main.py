"""The application: global options, and errors as people and scripts see them."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from pathlib import Path
from typing import Annotated

import typer
from typer.exceptions import TyperException

from pincite import __version__
from pincite.cli import commands
from pincite.cli.output import (
    DONE,
    INTERRUPTED,
    WITH_FAILURES,
    WRONG_USAGE,
    exit_status,
    print_error,
)
from pincite.errors import PinciteError, RequestInvalid

app = typer.Typer(
    name="pincite",
    help="Keeps a RAG corpus citable: every passage carries a key that resolves to its exact text.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
commands.register(app)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _options(
    home: Annotated[
        Path | None, typer.Option(help="Folder of everything kept on this machine.")
    ] = None,
    debug: Annotated[bool, typer.Option(help="Show tracebacks and debug logs.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    if home is not None:
        os.environ["PINCITE_HOME"] = str(home.absolute())
    _set_up_logs(debug=debug)


def _set_up_logs(*, debug: bool) -> None:
    """Pincite's own log on stderr; what libraries log or deprecate says nothing at a terminal."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(levelname)s %(name)s %(message)s"))
    own = logging.getLogger("pincite")
    own.addHandler(handler)
    own.setLevel(logging.DEBUG if debug else logging.WARNING)
    if not debug:
        logging.getLogger().addHandler(logging.NullHandler())
        warnings.simplefilter("ignore")


def main() -> None:
    """Run the command line and exit with its status."""
    as_json, debug = "--json" in sys.argv, "--debug" in sys.argv
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        _require_unicode(sys.argv)
        sys.exit(app(standalone_mode=False) or DONE)
    except PinciteError as error:
        if debug:
            raise
        print_error(error, as_json=as_json)
        sys.exit(exit_status(error))
    except TyperException as error:
        message = error.format_message().strip().rstrip(".")
        if message:
            wrong = RequestInvalid(f"{message}.", "See `pincite --help`.")
            print_error(wrong, as_json=as_json)
        sys.exit(WRONG_USAGE)
    except BrokenPipeError:
        # Whoever read the output has enough of it; nothing more can be said there.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(DONE)
    except (typer.Abort, KeyboardInterrupt):
        sys.exit(INTERRUPTED)
    except Exception as error:
        if debug:
            raise
        what = f"{type(error).__name__}: {error}"
        print_error(PinciteError(f"Something unexpected happened ({what})."), as_json=as_json)
        sys.exit(WITH_FAILURES)


def _require_unicode(arguments: list[str]) -> None:
    for argument in arguments:
        try:
            argument.encode()
        except UnicodeEncodeError as exc:
            shown = argument.encode("utf-8", "backslashreplace").decode()
            raise RequestInvalid(f"The argument {shown!r} is not valid UTF-8.") from exc
