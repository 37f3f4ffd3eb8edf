"""Candidates of a lookup on their way from search to evidence."""

import pyarrow as pa

from pincite.schemas.contract import Contract, Field

CANDIDATES = Contract(
    name="candidates",
    version=2,
    key=("corpus", "evidence_key"),
    fields=(
        Field("evidence_key", pa.string(), "<doc_id>#chunk-<n>, vector:<id> or rank:<n>"),
        Field("corpus", pa.string(), "corpus that was searched"),
        Field("generation", pa.int64(), "pinned generation, null on foreign layouts", True),
        Field("doc_id", pa.string(), "document, null where the row names none", True),
        Field("chunk_index", pa.int64(), "position in the document, from 0", True),
        Field("vector_id", pa.string(), "the store's key of the row", True),
        Field("doc_version", pa.int64(), "version of the document the row belongs to", True),
        Field("source", pa.string(), "location a person knows"),
        Field("title", pa.string(), "document title"),
        Field("heading", pa.string(), "heading path above the chunk's start"),
        Field("content", pa.large_string(), "the chunk's text"),
        Field("char_start", pa.int64(), "first character in the kept text", True),
        Field("char_end", pa.int64(), "one past the last character", True),
        Field("content_sha256", pa.string(), "hex SHA-256 of the whole chunk's UTF-8 bytes"),
        Field("kb_scope", pa.string(), "isolation label, '' = none"),
        Field("category", pa.string(), "coarse label, '' = none"),
        Field("original_rank", pa.int64(), "rank after the legs are fused, from 0"),
        Field("hit_reasons", pa.list_(pa.string()), "why it was found: dense, lexical, ..."),
        Field("priority", pa.int64(), "sorts before the score, higher first; 0 = like all others"),
        Field("score", pa.float64(), "the score that sorts, higher is better", True),
        Field("dense", pa.float64(), "cosine in [-1, 1]", True),
        Field("lexical", pa.float64(), "BM25, above 0", True),
        Field("fused", pa.float64(), "reciprocal rank fusion of the legs", True),
        Field("rerank", pa.float64(), "score on the reranker's own scale", True),
        Field("trust", pa.float64(), "web: how far the domain is trusted, in [0, 1]", True),
        Field("source_rank", pa.float64(), "web: what the search engine's rank is worth", True),
        Field("terms", pa.large_string(), "the row's terms for full text, '' = not at hand"),
        Field("metadata", pa.string(), "JSON object of a row of memory or web, '' = none"),
        Field("expires_at", pa.int64(), "epoch ms, UTC, from which it is gone; 0 = never"),
    ),
)
