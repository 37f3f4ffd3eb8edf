"""Every error that Pincite raises on purpose.

    PinciteError
    ├── UsageError             the request or the configuration is wrong
    │   ├── ConfigInvalid          CONFIG_INVALID
    │   ├── ExtraMissing           EXTRA_MISSING
    │   ├── RequestInvalid         REQUEST_INVALID
    │   ├── ScopeRequired          SCOPE_REQUIRED
    │   ├── ScopeInvalid           SCOPE_INVALID
    │   ├── ItemInvalid            ITEM_INVALID
    │   ├── TokenRequired          TOKEN_REQUIRED
    │   ├── AccessDenied           ACCESS_DENIED
    │   ├── BodyTooLarge           BODY_TOO_LARGE
    │   ├── RateLimited            RATE_LIMITED
    │   ├── CorpusBusy             CORPUS_BUSY
    │   ├── PruneRefused           PRUNE_REFUSED
    │   ├── EmbedderChanged        EMBEDDER_CHANGED
    │   ├── RecipeChanged          RECIPE_CHANGED
    │   ├── SourceConflict         SOURCE_CONFLICT
    │   ├── IdentityConflict       IDENTITY_CONFLICT
    │   ├── CollectionConflict     COLLECTION_CONFLICT
    │   ├── CasesInvalid           CASES_INVALID
    │   ├── FixtureContract        FIXTURE_CONTRACT
    │   ├── FixtureMismatch        FIXTURE_MISMATCH
    │   ├── ReportInvalid          REPORT_INVALID
    │   └── BenchmarkInvalid       BENCHMARK_INVALID
    ├── NotFound               what was asked for is not there
    │   ├── EvidenceNotFound       EVIDENCE_NOT_FOUND
    │   ├── EvidenceAmbiguous      EVIDENCE_AMBIGUOUS
    │   ├── EvidenceLost           EVIDENCE_LOST
    │   ├── TextNotFound           TEXT_NOT_FOUND
    │   ├── TextCorrupt            TEXT_CORRUPT
    │   ├── DocumentNotFound       DOCUMENT_NOT_FOUND
    │   ├── CorpusEmpty            CORPUS_EMPTY
    │   └── TraceNotFound          TRACE_NOT_FOUND
    ├── DocumentError          one document fails, the others go on
    │   ├── EncodingUnsupported    ENCODING_UNSUPPORTED
    │   ├── ReadFailed             READ_FAILED
    │   ├── DocumentRejected       DOCUMENT_REJECTED
    │   ├── EmbeddingRejected      EMBEDDING_REJECTED
    │   ├── IdentityRejected       IDENTITY_REJECTED
    │   ├── DocumentBusy           DOCUMENT_BUSY
    │   └── WriteUnconfirmed       WRITE_UNCONFIRMED
    ├── ServiceError           a needed service is out of reach or misbehaves
    │   ├── StoreLocked            STORE_LOCKED
    │   ├── StoreUnreachable       STORE_UNREACHABLE
    │   ├── StoreRejected          STORE_REJECTED
    │   ├── FullTextUnsupported    FULL_TEXT_UNSUPPORTED
    │   ├── CatalogUnreachable     CATALOG_UNREACHABLE
    │   ├── TextsUnreachable       TEXTS_UNREACHABLE
    │   ├── EmbedderUnreachable    EMBEDDER_UNREACHABLE
    │   ├── EmbedderRefused        EMBEDDER_REFUSED
    │   ├── EmbeddingInvalid       EMBEDDING_INVALID
    │   ├── RerankerTimeout        RERANKER_TIMEOUT
    │   ├── RerankerUnreachable    RERANKER_UNREACHABLE
    │   ├── RerankerRefused        RERANKER_REFUSED
    │   ├── RerankingInvalid       RERANKING_INVALID
    │   ├── OrchestratorUnreachable ORCHESTRATOR_UNREACHABLE
    │   ├── ServerBusy             SERVER_BUSY
    │   └── StackFailed            STACK_FAILED
    ├── LeaseLost              LEASE_LOST (another writer took over)
    ├── EvaluationFailed       EVALUATION_FAILED (golden cases fail, or retrieval got worse)
    └── ContractViolation      CONTRACT_VIOLATION (a stage broke its table's contract)

An error says what happened (``message``) and what to do next (``next_step``).
``retryable`` is true only where the same call may succeed a moment later.
"""

from __future__ import annotations

from typing import Any, ClassVar


class PinciteError(Exception):
    """Base of all Pincite errors.

    Args:
        message: What happened, one sentence, values quoted with ``!r``.
        next_step: What to do next, one sentence. Defaults to the class's advice.
        attributes: Values that belong to the error (ids, limits), kept as a dict.
    """

    code: ClassVar[str] = "INTERNAL"
    retryable: ClassVar[bool] = False
    advice: ClassVar[str] = "Run the command again with --debug and report the traceback."

    def __init__(self, message: str, next_step: str | None = None, **attributes: Any) -> None:
        super().__init__(message)
        self.message = message
        self.next_step = next_step or self.advice
        self.attributes = attributes

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.message, self.next_step, self.attributes)

    def __str__(self) -> str:
        return f"{self.code}: {self.message} {self.next_step}"

    def as_dict(self) -> dict[str, str]:
        """The JSON form ``{"code", "message", "next"}``."""
        return {"code": self.code, "message": self.message, "next": self.next_step}


def _rebuild(
    kind: type[PinciteError], message: str, next_step: str, attributes: dict[str, Any]
) -> PinciteError:
    return kind(message, next_step, **attributes)


class UsageError(PinciteError):
    """The request or the configuration is wrong; trying again does not help."""


class ConfigInvalid(UsageError):
    code = "CONFIG_INVALID"
    advice = "Correct pincite.toml, the environment or the option."


class ExtraMissing(UsageError):
    code = "EXTRA_MISSING"
    advice = "Install the named extra."


class RequestInvalid(UsageError):
    code = "REQUEST_INVALID"
    advice = "Correct the request."


class ScopeRequired(UsageError):
    code = "SCOPE_REQUIRED"
    advice = "Give every scope id that the corpus needs."


class ScopeInvalid(UsageError):
    code = "SCOPE_INVALID"
    advice = "Give a non-blank id of at most 256 bytes."


class ItemInvalid(UsageError):
    """An item of memory, or a web result, that says something it must not, or lacks something."""

    code = "ITEM_INVALID"
    advice = "Correct the item and send it again."


class TokenRequired(UsageError):
    """No bearer token came with the request, or none that is known."""

    code = "TOKEN_REQUIRED"
    advice = "Send the header `Authorization: Bearer TOKEN` with a token of [[serve.tokens]]."


class AccessDenied(UsageError):
    """The token does not open this."""

    code = "ACCESS_DENIED"
    advice = "Use a token with this corpus, right and scope."


class BodyTooLarge(UsageError):
    code = "BODY_TOO_LARGE"
    advice = "Send less at once; serve.max-body-bytes is the limit."


class RateLimited(UsageError):
    code = "RATE_LIMITED"
    advice = "Wait as long as Retry-After says, then ask again."


class CorpusBusy(UsageError):
    code = "CORPUS_BUSY"
    advice = "Wait for the other run to end; the lease of a killed run runs out by itself."


class PruneRefused(UsageError):
    code = "PRUNE_REFUSED"
    advice = "Check the folder; then pass --prune force to delete, or --prune never to keep them."


class EmbedderChanged(UsageError):
    code = "EMBEDDER_CHANGED"
    advice = "Set the embedder back, or ingest into a new home with the new one."


class RecipeChanged(UsageError):
    code = "RECIPE_CHANGED"
    advice = "Set the chunk settings back, or ingest into a new home with the new ones."


class SourceConflict(UsageError):
    code = "SOURCE_CONFLICT"
    advice = "Give this folder another name with --source."


class IdentityConflict(UsageError):
    code = "IDENTITY_CONFLICT"
    advice = "Give one of the two another doc_id, source or scope."


class CollectionConflict(UsageError):
    code = "COLLECTION_CONFLICT"
    advice = "Use another database of the store, or the catalogue that wrote the collection."


class CasesInvalid(UsageError):
    code = "CASES_INVALID"
    advice = "Correct the golden cases; `pincite eval schema` prints their JSON Schema."


class FixtureContract(UsageError):
    """A fixture is not the LookupResult of this version."""

    code = "FIXTURE_CONTRACT"
    advice = "Write the fixtures again with `pincite eval snapshot`."


class FixtureMismatch(UsageError):
    """A fixture is missing, or answers another question than its case asks."""

    code = "FIXTURE_MISMATCH"
    advice = "Write the fixtures again with `pincite eval snapshot`."


class ReportInvalid(UsageError):
    """No report of an evaluation, or two that do not compare."""

    code = "REPORT_INVALID"
    advice = "Make both reports with this version: pincite eval run."


class BenchmarkInvalid(UsageError):
    """A folder is not a benchmark in the BEIR layout."""

    code = "BENCHMARK_INVALID"
    advice = "Give a folder with corpus.jsonl, queries.jsonl and qrels.tsv."


class NotFound(PinciteError):
    """What was asked for is not there."""


class EvidenceNotFound(NotFound):
    code = "EVIDENCE_NOT_FOUND"
    advice = "Check the key, the corpus and the scope."


class EvidenceAmbiguous(NotFound):
    code = "EVIDENCE_AMBIGUOUS"
    advice = "Name the corpus with --corpus."


class EvidenceLost(NotFound):
    """The ledger knows the evidence, but its kept text is gone or is another text."""

    code = "EVIDENCE_LOST"
    advice = "Run `pincite verify`; restore the kept texts from a backup or ingest again."


class TextNotFound(NotFound):
    """No text is kept under the digest."""

    code = "TEXT_NOT_FOUND"
    advice = "Check [texts] url; ingest the document again if its text is lost."


class TextCorrupt(NotFound):
    """What is kept under the digest is another text."""

    code = "TEXT_CORRUPT"
    advice = "Restore the kept texts from a backup, or ingest the document again."


class DocumentNotFound(NotFound):
    code = "DOCUMENT_NOT_FOUND"
    advice = "List what is there with `pincite status`."


class CorpusEmpty(NotFound):
    code = "CORPUS_EMPTY"
    advice = "Ingest something first: pincite ingest PATH."


class TraceNotFound(NotFound):
    code = "TRACE_NOT_FOUND"
    advice = "Take the trace id from a LookupResult or the log; old lookups are not kept."


class DocumentError(PinciteError):
    """One document fails; the others of its batch go on."""


class EncodingUnsupported(DocumentError):
    code = "ENCODING_UNSUPPORTED"
    advice = "Save the file as UTF-8, or as UTF-16 with a byte order mark."


class ReadFailed(DocumentError):
    code = "READ_FAILED"
    advice = "Check that the file opens in its own program and may be read."


class DocumentRejected(DocumentError):
    code = "DOCUMENT_REJECTED"
    advice = "Correct the document's identity fields."


class EmbeddingRejected(DocumentError):
    code = "EMBEDDING_REJECTED"
    advice = "Look at the text of the named chunk; the embedder refuses it."


class IdentityRejected(DocumentError):
    code = "IDENTITY_REJECTED"
    advice = "See the quality result of the run for the failing rows."


class DocumentBusy(DocumentError):
    code = "DOCUMENT_BUSY"
    advice = "Run the command again when the other writer is done."


class WriteUnconfirmed(DocumentError):
    code = "WRITE_UNCONFIRMED"
    advice = "Run the ingest again; it starts with what is unconfirmed."


class ServiceError(PinciteError):
    """A needed service is out of reach or misbehaves."""

    retryable = True


class StoreLocked(ServiceError):
    code = "STORE_LOCKED"
    retryable = False
    advice = "Run `pincite up` in another terminal, so that commands share one store server."


class StoreUnreachable(ServiceError):
    code = "STORE_UNREACHABLE"
    advice = "Check [store] uri and that the Milvus server runs."


class StoreRejected(ServiceError):
    code = "STORE_REJECTED"
    retryable = False
    advice = "Look at the store's own log; the request itself is refused."


class FullTextUnsupported(ServiceError):
    """The collection has no full-text index: its store or its layout knows none, or it is old."""

    code = "FULL_TEXT_UNSUPPORTED"
    retryable = False
    advice = "Search by vector, or ingest into a new home on a store with full text."


class CatalogUnreachable(ServiceError):
    code = "CATALOG_UNREACHABLE"
    advice = "Check [catalog] url and that the database runs."


class TextsUnreachable(ServiceError):
    """The place of the kept texts cannot be read or written."""

    code = "TEXTS_UNREACHABLE"
    advice = "Check [texts] url, its permissions and the space left there."


class EmbedderUnreachable(ServiceError):
    code = "EMBEDDER_UNREACHABLE"
    advice = "Check [embedder] base-url and that the endpoint runs."


class EmbedderRefused(ServiceError):
    code = "EMBEDDER_REFUSED"
    retryable = False
    advice = "Check the API key, the model name and the base URL of the embedder."


class EmbeddingInvalid(ServiceError):
    code = "EMBEDDING_INVALID"
    retryable = False
    advice = "Check the embedder's model and dimension; what it returned cannot be used."


class RerankerTimeout(ServiceError):
    """Not retryable: the time that a lookup has for it is over."""

    code = "RERANKER_TIMEOUT"
    retryable = False
    advice = "Raise [rag.reranker] timeout-ms, or lower its top-k."


class RerankerUnreachable(ServiceError):
    """Not retryable: its adapter has tried again already, within the deadline."""

    code = "RERANKER_UNREACHABLE"
    retryable = False
    advice = "Check [rag.reranker] base-url, and that the endpoint runs and keeps up."


class RerankerRefused(ServiceError):
    code = "RERANKER_REFUSED"
    retryable = False
    advice = "Check the API key, the model name, the base URL and the api of [rag.reranker]."


class RerankingInvalid(ServiceError):
    code = "RERANKING_INVALID"
    retryable = False
    advice = "Check [rag.reranker] api and model; what the endpoint returned is no ranking."


class OrchestratorUnreachable(ServiceError):
    code = "ORCHESTRATOR_UNREACHABLE"
    retryable = False
    advice = "Start it with `pincite up`, or run without it: --direct."


class ServerBusy(ServiceError):
    """As many requests as may be are being worked on, or the server is stopping."""

    code = "SERVER_BUSY"
    advice = "Ask again in a moment."


class StackFailed(ServiceError):
    code = "STACK_FAILED"
    retryable = False
    advice = "Look at the log file named above."


class LeaseLost(PinciteError):
    """Another writer took over; nothing that this run did after that is stamped."""

    code = "LEASE_LOST"
    advice = "Let the other run finish, then run this one again."


class EvaluationFailed(PinciteError):
    """Golden cases fail, or retrieval is worse than in the accepted report."""

    code = "EVALUATION_FAILED"
    advice = "Read the report: it names each case, the stage and the reason."


class ContractViolation(PinciteError):
    """A table does not have the shape that its contract promises."""

    code = "CONTRACT_VIOLATION"
    advice = "This is a fault of the stage that made the table; report it."
