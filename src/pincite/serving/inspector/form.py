"""What a person asks, as the address says it, and the addresses of what belongs to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, urlencode

from starlette.datastructures import QueryParams

from pincite.errors import RequestInvalid
from pincite.scopes import CORPORA, OWNER_IDS, scope_columns
from pincite.serving.access import Principal

QUESTION = "q"
_SCOPED = ("kb_scope", *OWNER_IDS)
_ASKED = frozenset({QUESTION, "corpus", "category", *_SCOPED})
_CITED = frozenset({"corpus", "sha256", "around", *_SCOPED})


@dataclass(frozen=True)
class Asked:
    """A question with what bounds it; ``None`` = it was not asked yet, ``""`` = not given."""

    question: str | None = None
    corpora: tuple[str, ...] = ()
    kb_scope: str = ""
    category: str = ""
    ids: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_scoped(self) -> bool:
        """Whether anything of the form's fold is filled in."""
        return bool(self.kb_scope or self.category or self.ids)


@dataclass(frozen=True)
class Cited:
    """What a citation is asked with; ``around`` are characters on each side, ``None`` = usual."""

    corpus: str | None = None
    sha256: str | None = None
    kb_scope: str | None = None
    ids: Mapping[str, str] = field(default_factory=dict)
    around: int | None = None


def asked_of(given: QueryParams) -> Asked:
    """The question of an address; a field left empty is not given.

    Raises:
        RequestInvalid: It has a parameter that no question has.
    """
    _require_known(given, _ASKED)
    return Asked(
        question=given.get(QUESTION),
        corpora=tuple(name for name in given.getlist("corpus") if name),
        kb_scope=given.get("kb_scope", ""),
        category=given.get("category", ""),
        ids=_ids(given),
    )


def cited_of(given: QueryParams) -> Cited:
    """What the address of a citation says.

    Raises:
        RequestInvalid: It has a parameter that no citation has, or ``around`` is no number.
    """
    _require_known(given, _CITED)
    around = given.get("around") or None
    if around is not None and not (around.isascii() and around.isdecimal() and len(around) < 8):
        raise RequestInvalid(f"around is {around!r}, a whole number is wanted.")
    return Cited(
        corpus=given.get("corpus") or None,
        sha256=given.get("sha256") or None,
        kb_scope=given.get("kb_scope") or None,
        ids=_ids(given),
        around=None if around is None else int(around),
    )


def _require_known(given: QueryParams, known: frozenset[str]) -> None:
    """A misspelt scope must not widen what is seen in silence."""
    unknown = sorted(set(given) - known)
    if unknown:
        raise RequestInvalid(
            f"There is no parameter {unknown[0]!r}.", f"There are: {', '.join(sorted(known))}."
        )


def _ids(given: QueryParams) -> dict[str, str]:
    return {name: value for name in OWNER_IDS if (value := given.get(name))}


def ids_in_force(
    given: Mapping[str, str], headers: Mapping[str, str | None]
) -> dict[str, str | None]:
    """The ids of an address and of the request's headers together.

    Raises:
        RequestInvalid: They name two values of one.
    """
    named = {name: value for name, value in headers.items() if value is not None}
    other = [name for name, value in named.items() if given.get(name, value) != value]
    if other:
        raise RequestInvalid(f"The address and a header name two values of {other[0]!r}.")
    return {**given, **named}


def evidence_path(
    key: str,
    *,
    corpus: str,
    asked: Asked | Cited,
    sha256: str | None = None,
    around: int | None = None,
) -> str:
    """Where a key's citation is, below the root, within the scope of what was asked."""
    given = {
        "corpus": corpus,
        "sha256": sha256,
        "kb_scope": asked.kb_scope,
        **asked.ids,
        "around": around,
    }
    wanted = {name: value for name, value in given.items() if value}
    query = urlencode(wanted, errors="replace")
    return f"/evidence/{quote(key, safe='', errors='replace')}?{query}"


@dataclass(frozen=True)
class Offered:
    """What the form offers to somebody; ``bound`` are the ids that their token fixes."""

    corpora: tuple[str, ...]
    usual: tuple[str, ...]
    kb_scope: str
    ids: tuple[str, ...]
    bound: tuple[str, ...]
    max_chars: int


def offered(principal: Principal, usual: tuple[str, ...], max_chars: int) -> Offered:
    """The form of a principal: the corpora that they may read, and the ids that those need.

    Args:
        principal: Who looks at it.
        usual: Corpora that are asked when none is chosen.
        max_chars: The longest question.
    """
    corpora = tuple(name for name in CORPORA if name in principal.corpora)
    ids = [name for corpus in corpora for name in scope_columns(corpus)]
    return Offered(
        corpora=corpora,
        usual=tuple(name for name in usual if name in corpora) or usual,
        kb_scope=principal.kb_scope,
        ids=tuple(name for name in ids if name not in principal.ids),
        bound=tuple(name for name in ids if name in principal.ids),
        max_chars=max_chars,
    )
