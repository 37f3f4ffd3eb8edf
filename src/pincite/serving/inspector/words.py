"""What the codes of a lookup and of a citation mean, in words; the pages show both."""

from __future__ import annotations

EVIDENCE = {
    "SUFFICIENT": "enough to answer from",
    "WEAK": "found something, and it looks as if the answer is not in it",
    "NONE": "nothing was found",
}
OUTCOMES = {
    "evidence": "brought evidence",
    "low_quality": "brought weak evidence only",
    "no_evidence": "brought nothing that counts",
    "failed": "failed",
}
FALLBACKS = {
    "filtered_vector_no_evidence": "the search in the predicted category brought no evidence",
    "filtered_vector_low_quality": "the search in the predicted category brought weak evidence",
    "filtered_vector_failed": "the search in the predicted category failed",
    "core_failed": "the core failed, so the legacy path answered",
    "legacy_failed": "the legacy path failed, so the core answered",
}
STAGES = {
    "l0": "hints: phrases that matched, terms that were added",
    "embed": "the question as a vector",
    "search": "hits, and candidates after the legs are fused",
    "current": "leaves out rows of older versions",
    "threshold": "leaves out what is too far from the question",
    "rerank": "orders by the reranker",
    "adjust": "orders by the rules of the corpus",
    "sort": "puts the best first",
    "merge": "joins candidates with one key",
    "document_cap": "so many of one document at most",
    "blend": "ranks of several corpora in one",
    "return_n": "so many blocks at most",
    "pack": "fits the token budget, repeats no text",
}
DROPS = {
    "stale": "of an older version, or of a removed document",
    "below_threshold": "too far from the question",
    "duplicate": "shows nothing that is not shown already",
    "document_cap": "its document has as many blocks as it may",
    "return_n": "there are as many blocks as there may be",
    "budget": "does not fit the token budget",
}
REASONS = {
    "dense": "near in meaning",
    "lexical": "shares words",
    "category": "is in the category asked for",
    "l0_category": "is in the category that hints predict",
    "legacy": "found by the legacy path",
}
SCORES = {
    "dense": "cosine of question and passage",
    "lexical": "full text (BM25), or the share of words on the legacy path",
    "fused": "reciprocal ranks of the legs",
    "rerank": "the reranker's",
    "trust": "how far the domain is trusted",
    "source_rank": "what the rank that the search engine gave is worth, in [0, 1]",
}
STATES = {
    "current": "The key names this text today.",
    "superseded": "The document has changed since: the key no longer names this text.",
    "erased": "The text was erased. That it was there is all that is known.",
}
SOURCE_STATES = {
    "unchanged": "the source still says the same",
    "changed": "the source has other bytes now",
    "missing": "the source is gone",
    "unknown": "nobody here can look at the source",
}
IDS = {
    "user_id": "User id",
    "assistant_id": "Assistant id",
    "conversation_id": "Conversation id",
    "session_id": "Session id",
    "query_id": "Search id",
}
