"""``pincite eval …``: one module a command."""
