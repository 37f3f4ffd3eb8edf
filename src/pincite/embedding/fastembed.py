"""ONNX and static models through the ``fastembed`` package (an extra)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from pincite.embedding.config import EmbedderConfig
from pincite.embedding.port import Action, EmbedderInfo, ScoreProfile, Vectors, VectorSpace
from pincite.embedding.tokens import counter_of
from pincite.embedding.vectors import unit
from pincite.errors import ConfigInvalid, EmbedderUnreachable, EmbeddingRejected, ExtraMissing

DEFAULT_MODEL = "BAAI/bge-small-en-v1.5"
BATCH = 16
# <s> and </s>, or [CLS] and [SEP].
SPECIAL_TOKENS = 2


class FastEmbedEmbedder:
    """Loads the model when it is built: from ``model_dir``, else by download.

    With ``offline`` nothing is downloaded. ``fastembed`` puts no prefix before a text, so a model
    that was trained with one needs ``passage_prefix`` and ``query_prefix`` in the configuration.
    A passage that is longer than the model reads is refused instead of being cut off.

    Raises:
        ExtraMissing: ``fastembed`` is not installed.
        ConfigInvalid: The model is unknown or has another dimension.
        EmbedderUnreachable: The model's files are neither in the cache nor to be had.
    """

    def __init__(self, config: EmbedderConfig) -> None:
        self._model = _load(config)
        tokenizer = self._model.model.tokenizer
        self._count = counter_of(tokenizer)
        self._info = _info(config, self._model, _window(tokenizer), self._count_prefix(config))
        self._turn = threading.Lock()

    @property
    def info(self) -> EmbedderInfo:
        """Vectors are brought to unit length here."""
        return self._info

    async def embed(
        self, texts: Sequence[str], action: Action, timeout_s: float | None = None
    ) -> Vectors:
        """``(n, dim) float32`` of unit length, computed in a thread.

        Raises:
            EmbeddingRejected: A passage is longer than ``info.max_tokens``.
            EmbedderUnreachable: Not done within ``timeout_s``.
        """
        if not texts:
            return np.empty((0, self._info.dim), np.float32)
        try:
            async with asyncio.timeout(timeout_s):
                return await asyncio.to_thread(self._run, list(texts), action)
        except TimeoutError as exc:
            raise EmbedderUnreachable(
                f"The embedder did not finish within {timeout_s!r} s.",
                "Give it more time, or embed fewer texts at once.",
            ) from exc

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Exact tokens of each text, without prefix and special tokens."""
        return self._count(texts)

    async def close(self) -> None:
        """Nothing to free before the model itself goes."""

    def _run(self, texts: list[str], action: Action) -> Vectors:
        space = self._info.space
        if action != "search":
            self._refuse_long(texts)
        prefix = space.query_prefix if action == "search" else space.passage_prefix
        encode = self._model.query_embed if action == "search" else self._model.passage_embed
        with self._turn:
            rows = list(encode([prefix + text for text in texts]))
        return unit(np.stack(rows))

    def _refuse_long(self, texts: list[str]) -> None:
        longest = max(self._count(texts))
        if longest > self._info.max_tokens:
            raise EmbeddingRejected(
                f"A text has {longest} tokens, the model takes {self._info.max_tokens}.",
                "Set a smaller rag.ingest.chunk-size and ingest again.",
                tokens=longest,
                max_tokens=self._info.max_tokens,
            )

    def _count_prefix(self, config: EmbedderConfig) -> int:
        return max(self._count([config.passage_prefix or "", config.query_prefix or ""]))


def _load(config: EmbedderConfig) -> Any:
    if find_spec("fastembed") is None:
        raise ExtraMissing(
            "The embedder 'fastembed' needs the package 'fastembed', which is not installed.",
            "Install it: pip install 'pincite[fastembed]'.",
        )
    from fastembed import TextEmbedding

    model = config.model or DEFAULT_MODEL
    known = {entry["model"].lower() for entry in TextEmbedding.list_supported_models()}
    if model.lower() not in known:
        raise ConfigInvalid(
            f"fastembed has no model {model!r}.",
            "Set [embedder] model to one of TextEmbedding.list_supported_models().",
        )
    try:
        return TextEmbedding(model, local_files_only=config.offline, **_place(config.model_dir))
    except Exception as exc:  # downloads and ONNX fail with many types that share no base
        raise EmbedderUnreachable(
            f"The files of the model {model!r} could not be loaded.",
            "Download them once with a network, or set [embedder] model-dir to where they are.",
        ) from exc


def _place(folder: Path | None) -> dict[str, str]:
    """Where the files are: in the folder itself, or in the cache of downloads that it is."""
    if folder is None:
        return {}
    is_model = (folder / "tokenizer.json").exists()
    return {"specific_model_path" if is_model else "cache_dir": str(folder)}


def _window(tokenizer: Any) -> int | None:
    truncation = tokenizer.truncation
    return None if truncation is None else int(truncation["max_length"])


def _info(config: EmbedderConfig, model: Any, window: int | None, prefix: int) -> EmbedderInfo:
    dim = int(model.embedding_size)
    if config.dim not in (None, dim):
        raise ConfigInvalid(f"[embedder] dim is {config.dim!r}, the model has {dim}.")
    room = None if window is None else window - SPECIAL_TOKENS - prefix
    limits = [limit for limit in (config.max_tokens, room) if limit is not None]
    return EmbedderInfo(
        space=VectorSpace(
            provider="fastembed",
            model=config.model or DEFAULT_MODEL,
            revision=config.revision,
            dim=dim,
            passage_prefix=config.passage_prefix or "",
            query_prefix=config.query_prefix or "",
        ),
        max_tokens=min(limits, default=512),
        profile=ScoreProfile(),
        batch_size=config.batch_size or BATCH,
        max_batch_tokens=config.max_batch_tokens,
    )
