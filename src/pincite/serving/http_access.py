"""Who asks over HTTP: their token, the ids that their headers name, and their connection."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping

from pincite.scopes import OWNER_IDS
from pincite.serving.access import Gatekeeper, Principal, bearer_token

# ``X-Pincite-User-Id`` and so on, as HTTP spells them in lower case.
ID_HEADERS = {name: f"x-pincite-{name.replace('_', '-')}" for name in OWNER_IDS}
_BASIC = "basic "


def principal_of(headers: Mapping[str, str], gatekeeper: Gatekeeper) -> Principal:
    """Whom the request's ``Authorization`` stands for.

    A bearer token, or a token as the password of Basic authentication, which is what a browser
    can ask a person for.

    Raises:
        TokenRequired: A token is needed, and none that is known came.
    """
    given = headers.get("authorization")
    return gatekeeper.principal(bearer_token(given) or _password(given))


def _password(authorization: str | None) -> str | None:
    if authorization is None or not authorization.lower().startswith(_BASIC):
        return None
    try:
        decoded = base64.b64decode(authorization[len(_BASIC) :].strip(), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
    return decoded.partition(":")[2] or None


def ids_of(headers: Mapping[str, str]) -> dict[str, str | None]:
    """The scope ids that the headers name; UTF-8 in them is read as such."""
    return {name: _text(headers.get(header)) for name, header in ID_HEADERS.items()}


def _text(value: str | None) -> str | None:
    """Servers hand headers on as Latin-1; a client that sends UTF-8 means UTF-8."""
    if value is None:
        return None
    try:
        return value.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return value


def connection_of(principal: Principal, session: str) -> str:
    """The name of a connection in the lookup log; tells nothing of who it is."""
    return hashlib.sha256(f"{principal.name}\0{session}".encode()).hexdigest()[:32]
