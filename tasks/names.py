"""Names of task runs that say how much a run works on."""

from __future__ import annotations

from collections.abc import Callable

from prefect.runtime import task_run


def counted(verb: str, parameter: str, noun: str) -> Callable[[], str]:
    """A ``task_run_name`` like ``embed 128 chunks``, from the rows of a table parameter."""

    def name() -> str:
        value = task_run.parameters[parameter]
        number = value.num_rows if hasattr(value, "num_rows") else len(value)
        return f"{verb} {number} {noun}"

    return name
