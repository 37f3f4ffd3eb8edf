"""Retries, timeouts and cache policies of all tasks, named; used as ``@task(**STORE)``.

Nothing is cached or persisted: a cache key over a table would hash the table at every call, and
two equal calls of one flow run would run once, which would silently skip a retry branch. No task
has a tag: for each tagged run Prefect asks the server for a concurrency slot, up to two seconds.
"""

from __future__ import annotations

from typing import Any

from prefect import Task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State, TaskRun
from prefect.tasks import exponential_backoff

from pincite.errors import PinciteError
from pincite.retrieval.steps import LEFT_MS

RETRIES = 4
BACKOFF_S = 0.5
JITTER = 0.5
LOOKUP_TRY_MS = 200

PLAIN: dict[str, Any] = {
    "cache_policy": NO_CACHE,
    "persist_result": False,
    "cache_result_in_memory": False,
}


def is_retryable(task: Task[Any, Any], run: TaskRun, state: State[Any]) -> bool:
    """Only errors that say so are tried again; an unknown exception is not transient."""
    error = state.data
    return isinstance(error, PinciteError) and error.retryable


def is_retryable_in_time(task: Task[Any, Any], run: TaskRun, state: State[Any]) -> bool:
    """As ``is_retryable``, while the lookup's deadline leaves time for another try."""
    left_ms: int = getattr(state.data, "attributes", {}).get(LEFT_MS, LOOKUP_TRY_MS)
    return left_ms >= LOOKUP_TRY_MS and is_retryable(task, run, state)


_RETRIED: dict[str, Any] = {
    **PLAIN,
    "retries": RETRIES,
    "retry_delay_seconds": exponential_backoff(BACKOFF_S),
    "retry_jitter_factor": JITTER,
    "retry_condition_fn": is_retryable,
}

# Work of the processor alone; a second try would give the same.
CPU: dict[str, Any] = PLAIN
# Files of this machine.
FILES: dict[str, Any] = PLAIN
# The embedder's adapter retries HTTP calls itself: it alone can follow Retry-After.
EMBED: dict[str, Any] = PLAIN
STORE: dict[str, Any] = _RETRIED
CATALOG: dict[str, Any] = _RETRIED
# A person waits for a lookup: one more try at once, and none that the deadline would cut off.
LOOKUP: dict[str, Any] = {
    **PLAIN,
    "retries": 1,
    "retry_delay_seconds": 0.05,
    "retry_condition_fn": is_retryable_in_time,
}
