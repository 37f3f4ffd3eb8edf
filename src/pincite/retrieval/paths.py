"""One lookup in one corpus, on the path that its roll-out says; the other path is its fallback."""

from __future__ import annotations

from pincite.errors import PinciteError, ServiceError
from pincite.retrieval.fences import by_legacy, pinned
from pincite.retrieval.legacy import LEGACY
from pincite.retrieval.one_corpus import CorpusLookup, Selected
from pincite.retrieval.parts import Pinned
from pincite.retrieval.request import LookupRequest
from pincite.retrieval.result import NO_RERANK
from pincite.retrieval.rollout import Route
from pincite.retrieval.search import EVIDENCE, FAILED, NO_EVIDENCE
from pincite.retrieval.shadow import difference
from pincite.retrieval.steps import LookupSteps
from pincite.retrieval.trace import Attempt, Deadline, Stopwatch, Trace

CORE_FAILED = "core_failed"
LEGACY_FAILED = "legacy_failed"


class PathLookup:
    """Answers by the core, by the legacy path, or by that with the core beside it.

    ``pin`` is what is live in the corpus, the error in its place, or ``None`` for nothing; the
    legacy path asks for none. What happens on the way is in ``trace``, also when it fails.
    """

    def __init__(
        self,
        request: LookupRequest,
        path: Route,
        pin: Pinned | PinciteError | None,
        steps: LookupSteps,
        deadline: Deadline,
    ) -> None:
        self.trace = Trace(request.corpus)
        self._request = request
        self._path = path
        self._pin = pin
        self._steps = steps
        self._deadline = deadline

    async def run(self) -> Selected:
        """What the corpus has to offer.

        Raises:
            ServiceError: There is no way to search.
            UsageError: The embedder refuses the query, or the generation's is not at hand.
        """
        if self._path is Route.CORE:
            return await self._by_core()
        try:
            return await (self._shadowed() if self._path is Route.SHADOW else self._by_legacy())
        except ServiceError as error:
            self.trace.degrade("search", LEGACY_FAILED, f"The core answered ({error.code}).")
            self.trace.fallback_reason = LEGACY_FAILED
        self._pin = await pinned(self._steps.pin(self._request.corpus), self._deadline)
        return await self._core(self._pin)

    async def _by_core(self) -> Selected:
        try:
            if isinstance(self._pin, PinciteError):
                raise self._pin
            return await self._core(self._pin)
        except PinciteError as error:
            if not self._steps.has_legacy(self._request.corpus):
                raise
            code = error.code.lower()
            self.trace.degrade("search", code, "The core failed; the legacy path answered.")
            self.trace.fallback_reason = CORE_FAILED
            try:
                return await self._by_legacy()
            except ServiceError:
                raise error from None

    async def _core(self, pin: Pinned | None) -> Selected:
        core = CorpusLookup(self._request, pin, self._steps, self._deadline)
        try:
            return await core.run()
        finally:
            self.trace.add(core.trace)

    async def _by_legacy(self) -> Selected:
        watch = Stopwatch()
        corpus = self._request.corpus
        try:
            found = await by_legacy(self._steps.legacy(self._request), self._deadline)
        except ServiceError:
            failed = Attempt(LEGACY, corpus, LEGACY.lower(), "", 0, None, watch.ms, FAILED)
            self.trace.attempts.append(failed)
            raise
        count = len(found)
        outcome = EVIDENCE if count else NO_EVIDENCE
        self.trace.attempts.append(
            Attempt(LEGACY, corpus, LEGACY.lower(), "", count, None, watch.ms, outcome)
        )
        self.trace.selected_attempt = LEGACY
        self.trace.stage("search", count, count, watch.ms)
        per_document = self._request.max_chunks_per_document
        kept = await self.trace.apply("sort", self._steps.order, found)
        kept = await self.trace.apply("merge", self._steps.merge, kept)
        kept = await self.trace.apply(
            "document_cap", lambda table: self._steps.cap(table, per_document), kept
        )
        return Selected(corpus, kept, found, None, None, None, NO_RERANK)

    async def _shadowed(self) -> Selected:
        watch = Stopwatch()
        selected = await self._by_legacy()
        self._steps.start(self._compare(selected, watch.ms))
        return selected

    async def _compare(self, legacy: Selected, legacy_ms: int) -> None:
        """Run the core as it would have been run, and record how its answer differs."""
        watch = Stopwatch()
        deadline = Deadline(self._request.timeout_ms)
        core: Selected | PinciteError
        try:
            pin = await pinned(self._steps.pin(self._request.corpus), deadline)
            core = await CorpusLookup(self._request, pin, self._steps, deadline).run()
        except PinciteError as error:
            core = error
        n = self._request.return_n
        await self._steps.note_shadow(difference(legacy, core, n, legacy_ms, watch.ms))
