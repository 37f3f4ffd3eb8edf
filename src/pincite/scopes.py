"""Scopes: labels and ids that bound what a reader may see. Unset never means "no filter" here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pincite.errors import ScopeInvalid, ScopeRequired

MAX_SCOPE_BYTES = 256
# Documents that evaluation asks about.
EVALUATION_SCOPE = "rag-eval"
DEFAULT_EXCLUDED = (EVALUATION_SCOPE,)

CORPORA = ("docs", "memory", "web")

ALL = {"memory": ("user_id", "assistant_id", "conversation_id")}
ANY = {"web": ("session_id", "query_id")}
# A row that carries one of these belongs to somebody.
OWNER_IDS = (*ALL["memory"], *ANY["web"])
# Corpora whose rows expire.
EXPIRING = frozenset({"memory", "web"})
# Corpora whose rows have a sensitivity level.
LEVELLED = frozenset({"memory"})


def check_scope(name: str, value: str) -> str:
    """The value, unchanged: ``*``, ``%`` and ``null`` are values like any other.

    Raises:
        ScopeInvalid: It is blank, longer than 256 bytes of UTF-8, or no valid Unicode.
    """
    if not value.strip():
        raise ScopeInvalid(f"Scope {name!r} is blank.")
    try:
        size = len(value.encode("utf-8"))
    except UnicodeEncodeError as exc:
        raise ScopeInvalid(f"Scope {name!r} is not valid Unicode.") from exc
    if size > MAX_SCOPE_BYTES:
        raise ScopeInvalid(f"Scope {name!r} has {size} bytes, at most {MAX_SCOPE_BYTES} may be.")
    return value


def pick_kb_scope(configured: str, given: str | None) -> str:
    """The scope in force: what the caller gives, else the setting; ``""`` = none.

    Raises:
        ScopeInvalid: The caller gives a blank one, which must not widen what is seen.
    """
    chosen = configured if given is None else check_scope("kb_scope", given)
    return check_scope("kb_scope", chosen) if chosen else ""


def scope_columns(corpus: str) -> tuple[str, ...]:
    """The ids that a row of the corpus carries; none for ``docs``."""
    return ALL.get(corpus, ()) + ANY.get(corpus, ())


def level_columns(corpus: str) -> tuple[str, ...]:
    """The numbers that a row of the corpus carries besides."""
    return ("sensitivity_level",) if corpus in LEVELLED else ()


def corpus_scopes(corpus: str, ids: Mapping[str, str | None]) -> dict[str, str]:
    """The scope columns that bind a lookup in this corpus, with their values.

    Raises:
        ScopeRequired: The corpus needs an id that is not given.
        ScopeInvalid: A given id is blank or too long.
    """
    given = {
        name: check_scope(name, value)
        for name in scope_columns(corpus)
        if (value := ids.get(name)) is not None
    }
    missing = [name for name in ALL.get(corpus, ()) if name not in given]
    if missing:
        raise ScopeRequired(f"Corpus {corpus!r} needs {', '.join(map(repr, missing))}.")
    if corpus in ANY and not given:
        raise ScopeRequired(f"Corpus {corpus!r} needs one of {', '.join(map(repr, ANY[corpus]))}.")
    return given


def label_visible(label: str, kb_scope: str, exclude_scopes: Sequence[str]) -> bool:
    """Whether something labelled ``label`` is seen: what a search's filter says in a store."""
    if kb_scope:
        return label == kb_scope
    return not label or label not in exclude_scopes


def owner_visible(owner: Mapping[str, str], corpus: str, ids: Mapping[str, str | None]) -> bool:
    """Whether something that belongs to ``owner`` is seen by a reader who gives these ids.

    The reader must give every id that the corpus needs; each one given must be the owner's.
    """
    try:
        wanted = corpus_scopes(corpus, ids)
    except (ScopeRequired, ScopeInvalid):
        return False
    return all(owner.get(name, "") == value for name, value in wanted.items())
