"""Who asks, and what that opens: tokens, rights, corpora and the ids that bind them."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pincite.errors import AccessDenied, TokenRequired
from pincite.scopes import CORPORA, OWNER_IDS
from pincite.settings.model import McpSettings, TokenSettings

READ = "read"
WRITE = "write"
_BEARER = "bearer "


@dataclass(frozen=True)
class Principal:
    """Somebody who asks.

    ``ids`` are the scope ids that are fixed for them; a request may name the others, never other
    values of these. ``kb_scope == ""`` leaves it to the settings and the request.
    """

    name: str
    corpora: tuple[str, ...] = CORPORA
    rights: tuple[str, ...] = (READ, WRITE)
    kb_scope: str = ""
    ids: Mapping[str, str] = field(default_factory=dict)

    def require(self, right: str, corpora: Sequence[str]) -> None:
        """Whether they may do this in all of these corpora.

        Raises:
            AccessDenied: They may not.
        """
        if right not in self.rights:
            raise AccessDenied(f"This token does not give the right to {right}.")
        closed = [name for name in corpora if name not in self.corpora]
        if closed:
            raise AccessDenied(f"This token does not open corpus {closed[0]!r}.")

    def scope_ids(self, given: Mapping[str, str | None]) -> dict[str, str | None]:
        """Every scope id in force: the fixed ones, else what the request names.

        Raises:
            AccessDenied: The request names another value of a fixed one.
        """
        found: dict[str, str | None] = {}
        for name in OWNER_IDS:
            fixed, named = self.ids.get(name), given.get(name)
            if fixed is not None and named is not None and named != fixed:
                raise AccessDenied(f"This token is bound to another {name}.")
            found[name] = fixed if fixed is not None else named
        return found

    def scope(self, given: str | None) -> str | None:
        """The ``kb_scope`` in force.

        Raises:
            AccessDenied: The request names another one than theirs.
        """
        if self.kb_scope and given is not None and given != self.kb_scope:
            raise AccessDenied("This token is bound to another kb_scope.")
        return self.kb_scope or given


ANYBODY = Principal("anybody")


def principal_of_token(token: TokenSettings) -> Principal:
    """Whom a configured token stands for."""
    ids = {name: value for name in OWNER_IDS if (value := getattr(token, name))}
    return Principal(token.name, token.corpora, token.rights, token.kb_scope, ids)


def principal_of_stdio(settings: McpSettings) -> Principal:
    """Whom an MCP connection over stdio stands for: whoever configured it."""
    ids = {name: value for name in OWNER_IDS if (value := getattr(settings, name))}
    return Principal("stdio", ids=ids)


class Gatekeeper:
    """Tells a principal by the bearer token; without any token configured, it is anybody."""

    def __init__(self, tokens: Sequence[TokenSettings]) -> None:
        self._known = [
            (_digest(one.token.get_secret_value()), principal_of_token(one)) for one in tokens
        ]

    @property
    def is_open(self) -> bool:
        """Whether nobody needs a token."""
        return not self._known

    def principal(self, token: str | None) -> Principal:
        """Whom the token stands for; compared in constant time, whichever it is.

        Raises:
            TokenRequired: There is none, or it is unknown.
        """
        if self.is_open:
            return ANYBODY
        given, found = _digest(token or ""), None
        for digest, principal in self._known:
            if hmac.compare_digest(given, digest):
                found = principal
        if found is None or token is None:
            raise TokenRequired("The request brings no token that is known here.")
        return found


def bearer_token(authorization: str | None) -> str | None:
    """The token of an ``Authorization`` header (RFC 6750), ``None`` where it holds none."""
    if authorization is None or not authorization.lower().startswith(_BEARER):
        return None
    return authorization[len(_BEARER) :].strip() or None


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
