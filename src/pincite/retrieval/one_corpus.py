"""The lookup in one corpus: hints, attempts, rules; up to the document cap."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import pyarrow as pa

from pincite.embedding.port import Vectors
from pincite.errors import FullTextUnsupported, ServiceError
from pincite.retrieval.fences import (
    Embedded,
    Hinted,
    adjusted,
    compared,
    embedded,
    hinted,
    searched,
)
from pincite.retrieval.hints import Hints
from pincite.retrieval.parts import Pinned
from pincite.retrieval.request import LookupRequest
from pincite.retrieval.result import NO_RERANK, Rerank
from pincite.retrieval.search import (
    RETRY,
    Lines,
    Question,
    Tried,
    better,
    failed,
    fallback_reason,
    first_attempt,
    lines_of,
    question_of,
    tried,
)
from pincite.retrieval.steps import LookupSteps
from pincite.retrieval.trace import Deadline, Stopwatch, Trace
from pincite.schemas.candidates import CANDIDATES
from pincite.store.port import Mode


@dataclass(frozen=True)
class Selected:
    """What one corpus has to offer: ``schemas.candidates``, best first, capped per document.

    ``pool`` are all candidates over the threshold, as they were found. The legacy path pins
    nothing, asks no question of a store and has no lines.
    """

    corpus: str
    candidates: pa.Table
    pool: pa.Table
    question: Question | None
    lines: Lines | None
    pinned: Pinned | None
    rerank: Rerank


class CorpusLookup:
    """One lookup in one corpus; what happens on the way is in ``trace``, also when it fails."""

    def __init__(
        self,
        request: LookupRequest,
        pinned: Pinned | None,
        steps: LookupSteps,
        deadline: Deadline,
    ) -> None:
        self.trace = Trace(request.corpus)
        self._request = request
        self._pinned = pinned
        self._steps = steps
        self._deadline = deadline

    async def run(self) -> Selected:
        """Search and apply the rules.

        Raises:
            ServiceError: There is no way to search.
            RequestInvalid: The embedder refuses the query.
        """
        pinned = self._pinned
        if pinned is None:
            corpus, nothing = self._request.corpus, CANDIDATES.empty()
            self.trace.degrade("lookup", "corpus_empty", f"Corpus {corpus!r} holds nothing yet.")
            return Selected(corpus, nothing, nothing, None, None, None, NO_RERANK)
        lines = lines_of(self._request, pinned.profile)
        question, chosen = await self._search(pinned, lines)
        found = await self._current(pinned, chosen.candidates)
        pool = await self.trace.apply(
            "threshold", lambda table: self._steps.threshold(table, lines.threshold), found
        )
        candidates, rerank = await self._rerank(pool)
        candidates = await self._rules(candidates)
        return Selected(pinned.corpus, candidates, pool, question, lines, pinned, rerank)

    async def _search(self, pinned: Pinned, lines: Lines) -> tuple[Question, Tried]:
        """The attempts; full text answers where there is no vector, and the other way round."""
        text = self._request.text
        # Both at once; what they did is written down in one order.
        hints, given = await asyncio.gather(self._hints(), self._wished_vector(pinned, text))
        self._note_hints(hints)
        vector, error = self._note_vector(given)
        question = question_of(self._request, text, hints.hints, vector)
        try:
            return question, await self._attempts(pinned, question, lines)
        except FullTextUnsupported:
            if error is not None:
                raise error from None
        # Lexical search was wished, and the collection has no full text.
        self.trace.degrade("search", "lexical_unsupported", "This collection has no full text.")
        vector, error = self._note_vector(await self._vector(pinned, text))
        if error is not None:
            raise error
        question = question_of(self._request, text, hints.hints, vector)
        return question, await self._attempts(pinned, question, lines)

    async def _hints(self) -> Hinted:
        # Rows with an owner give no hints: words of one user must not reach another.
        if self._request.scope_ids() or self._pinned is None or self._pinned.generation is None:
            return Hinted(Hints())
        return await hinted(self._steps.hint(self._request, self._deadline), self._deadline)

    def _note_hints(self, found: Hinted) -> None:
        hints = found.hints
        if found.code is not None:
            self.trace.degrade("l0", found.code, f"No hints: {found.why}.")
        self.trace.stage("l0", len(hints.matched), len(hints.expansion), found.latency_ms)

    async def _wished_vector(self, pinned: Pinned, text: str) -> Embedded | None:
        if self._request.mode is Mode.LEXICAL:
            return None
        return await self._vector(pinned, text)

    async def _vector(self, pinned: Pinned, text: str) -> Embedded:
        return await embedded(self._steps.embed(pinned, text, self._deadline), self._deadline)

    def _note_vector(self, given: Embedded | None) -> tuple[Vectors | None, ServiceError | None]:
        if given is None:
            return None, None
        if given.error is not None:
            code = given.error.code.lower()
            self.trace.degrade("embed", code, "Full text answers without a vector.")
        self.trace.stage("embed", 1, int(given.error is None), given.latency_ms)
        return given.vector, given.error

    async def _attempts(self, pinned: Pinned, question: Question, lines: Lines) -> Tried:
        first = await self._attempt(pinned, question, first_attempt(question), lines)
        reason = fallback_reason(first)
        if reason is None:
            return self._selected(first, first)
        self.trace.fallback_reason = reason
        retry = await self._attempt(pinned, question, RETRY, lines)
        return self._selected(first, better(first, retry))

    async def _attempt(self, pinned: Pinned, question: Question, name: str, lines: Lines) -> Tried:
        watch = Stopwatch()
        corpus = self._request.corpus
        work = self._steps.search(pinned, self._request, question, name, self._deadline)
        try:
            found = await searched(work, self._deadline)
            one = tried(name, corpus, question, found, lines, watch.ms)
        except FullTextUnsupported:
            raise
        except ServiceError as error:
            one = failed(name, corpus, question, error, watch.ms)
        self._note(one, question)
        return one

    def _note(self, one: Tried, question: Question) -> None:
        record = one.record
        self.trace.attempts.append(record)
        self.trace.stage("search", record.hit_count, len(one.candidates), record.latency_ms)
        if one.error is not None:
            self.trace.degrade("search", one.error.code.lower(), f"{record.name} failed.")
        for failure in one.found.failures if one.found else ():
            code = failure.error.code.lower()
            if isinstance(failure.error, FullTextUnsupported):
                code = f"{question.mode.value}_unsupported"
                self.trace.degrade("search", code, "This collection has no full text.")
                continue
            self.trace.degrade("search", code, f"The {failure.mode.value} leg failed.")

    def _selected(self, first: Tried, chosen: Tried) -> Tried:
        if chosen.error is not None:
            # Both failed, or the only one: what failed first says most about why.
            raise first.error or chosen.error
        self.trace.selected_attempt = chosen.record.name
        return chosen

    async def _current(self, pinned: Pinned, candidates: pa.Table) -> pa.Table:
        try:
            return await self.trace.apply(
                "current",
                lambda table: compared(self._steps.current(pinned, table), self._deadline),
                candidates,
            )
        except ServiceError as error:
            self.trace.degrade("current", error.code.lower(), "Versions were not compared.")
            return candidates

    async def _rerank(self, candidates: pa.Table) -> tuple[pa.Table, Rerank]:
        watch = Stopwatch()
        done = await self._steps.rerank(self._request, candidates, self._deadline)
        self.trace.stage("rerank", len(candidates), len(done.candidates), watch.ms)
        if done.record.fallback_reason is not None and len(candidates):
            self.trace.degrade("rerank", done.record.fallback_reason, "The order is kept.")
        return done.candidates, done.record

    async def _rules(self, candidates: pa.Table) -> pa.Table:
        per_document = self._request.max_chunks_per_document
        table = await self._adjusted(candidates)
        kept = await self.trace.apply("sort", self._steps.order, table)
        kept = await self.trace.apply("merge", self._steps.merge, kept)
        return await self.trace.apply(
            "document_cap", lambda table: self._steps.cap(table, per_document), kept
        )

    async def _adjusted(self, candidates: pa.Table) -> pa.Table:
        watch = Stopwatch()
        table = candidates
        try:
            work = self._steps.adjust(self._request.corpus, candidates)
            table = await adjusted(work, candidates, self._deadline)
        except Exception as error:
            name = type(error).__name__
            self.trace.degrade("adjust", "adjust_failed", f"Sorted by search alone ({name}).")
        self.trace.stage("adjust", len(candidates), len(table), watch.ms)
        return table
