"""Questions whose answer is not in the corpus: how often the lookup calls the evidence sufficient.

Each question of an XQuAD set is asked three times: of the whole corpus; with its own paragraph
left out and the other four of the article kept (hard); with its whole article left out (easy).
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from quality_home import Home, tell
from sets import Query
from ways import NO_HURRY_MS

from pincite.retrieval.evidence import SUFFICIENT
from pincite.retrieval.knowledge import (
    KnowledgeSearchHit,
    KnowledgeSearchPort,
    KnowledgeSearchRequest,
    search_port,
)
from pincite.retrieval.parts import LookupParts
from pincite.retrieval.pipeline import lookup_direct
from pincite.retrieval.request import request_from_settings
from pincite.retrieval.retriever import LegsRetriever
from pincite.settings.model import Settings
from pincite.store.port import Mode

CONDITIONS = ("full", "hard", "easy")
# As a user asks: the reranker is in use where the settings have it so by default.
RERANK = Settings().rag.reranker.enabled
SEED = 7
# More than the chunks of any article.
ROOM = 30


@dataclass(frozen=True)
class Judged:
    """What a lookup says of its evidence.

    ``score`` is the judgement behind the status, ``None`` where the engine has none; ``cosine``
    the best similarity of a block. Both are minus infinity where nothing was returned.
    """

    score: float | None
    cosine: float
    status: str


class LeavingOut:
    """A search port that does not see some documents.

    The store is asked for ``ROOM`` more rows, so that the recall width stays what it was. The
    weights of full text still count the rows left out.
    """

    def __init__(self, port: KnowledgeSearchPort) -> None:
        self._port = port
        self.doc_ids: frozenset[str] = frozenset()

    def filter_text(self, request: KnowledgeSearchRequest) -> str:
        """See ``KnowledgeSearchPort.filter_text``."""
        return self._port.filter_text(request)

    async def search(
        self, collection: str, request: KnowledgeSearchRequest
    ) -> list[KnowledgeSearchHit]:
        """The best ``top_k`` hits of the documents that it sees."""
        wider = replace(request, top_k=request.top_k + ROOM)
        hits = await self._port.search(collection, wider)
        kept = [hit for hit in hits if hit.doc_id not in self.doc_ids]
        if len(hits) - len(kept) > ROOM:
            raise ValueError(f"more than {ROOM} chunks are left out; raise ROOM")
        return kept[: request.top_k]


def reporting_groups(groups: Sequence[str]) -> frozenset[str]:
    """The half of the articles that figures are reported on; cuts are fitted on the others."""
    names = sorted(set(groups))
    random.Random(SEED).shuffle(names)
    return frozenset(names[len(names) // 2 :])


async def judge_all(home: Home) -> dict[str, list[Judged]]:
    """For each condition the judgements over the questions of the reporting articles."""
    port = LeavingOut(search_port("native", home.workspace.store))
    parts = replace(home.workspace.lookup_parts, retriever=LegsRetriever(port))
    questions = reporting_questions(home)
    judged: dict[str, list[Judged]] = {}
    for condition in CONDITIONS:
        judged[condition] = []
        for query in questions:
            port.doc_ids = left_out(home, query, condition)
            judged[condition].append(await _judge(home, parts, query))
        tell(f"{home.quality_set.title}: {condition} corpus, {len(questions)} judged")
    return judged


def reporting_questions(home: Home) -> list[Query]:
    """Those whose paragraph belongs to a reporting article."""
    groups = home.quality_set.groups
    wanted = reporting_groups(list(groups.values()))
    return [q for q in home.quality_set.queries if groups[next(iter(q.relevant))] in wanted]


def left_out(home: Home, query: Query, condition: str) -> frozenset[str]:
    """The documents that this question must do without."""
    own, groups = next(iter(query.relevant)), home.quality_set.groups
    if condition == "full":
        return frozenset()
    hidden = {own} if condition == "hard" else {p for p in groups if groups[p] == groups[own]}
    return frozenset(doc_id for doc_id, path in home.paths.items() if path in hidden)


async def _judge(home: Home, parts: LookupParts, query: Query) -> Judged:
    """A hybrid lookup with the default widths, cap, budget and reranker."""
    request = request_from_settings(
        home.workspace.settings,
        query.text,
        mode=Mode.HYBRID,
        rerank=RERANK,
        timeout_ms=NO_HURRY_MS,
    )
    result = await lookup_direct(request, parts)
    cosines = [b.candidate.dense for b in result.blocks if b.candidate.dense is not None]
    score = result.evidence_score if result.blocks else -math.inf
    return Judged(score, max(cosines, default=-math.inf), result.evidence_status)


def called_sufficient(judged: Sequence[Judged]) -> float:
    """Share of the lookups with the status ``SUFFICIENT``."""
    return sum(one.status == SUFFICIENT for one in judged) / len(judged)


def false_at(lost: float, answerable: Sequence[float], unanswerable: Sequence[float]) -> float:
    """Share of the unanswerable at or over the cut that loses at most ``lost`` of the answerable.

    Lost are those under the cut; the cut is the highest one that loses no more.
    """
    # Without the small number .05 of 20 questions would be none.
    allowed = math.floor(lost * len(answerable) + 1e-9)
    ordered = sorted(answerable)
    cut = ordered[allowed] if allowed < len(ordered) else math.inf
    return sum(value >= cut for value in unanswerable) / len(unanswerable)


def scores(judged: Sequence[Judged]) -> list[float] | None:
    """The judgements behind the statuses, ``None`` where the engine gives none."""
    values = [one.score for one in judged]
    known = [value for value in values if value is not None]
    return known if len(known) == len(values) else None
