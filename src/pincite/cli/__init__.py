"""The command line; see ``pincite --help``."""

from pincite.cli.main import main

__all__ = ["main"]
