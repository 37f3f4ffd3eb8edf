"""Addresses of web pages: one form for all spellings of an address, and the domain in it.

The rules are those of RFC 3986, section 6.2, and of a list of parameters that only say where a
reader came from. courlan cleans addresses too, but for crawlers: it takes ``keyword``, ``source``
and ``uid`` for tracking and cuts an address out of a parameter, so that different pages would
become one document.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import SplitResult, unquote_plus, urlsplit

from pincite.corpora.web_domains import clean_host
from pincite.errors import ItemInvalid

MAX_URL_CHARS = 4_096
_DEFAULT_PORTS = {"http": 80, "https": 443}
_MAX_PORT = 65_535

# Names that mean a click, a campaign or a mailing, and nothing else, on every site.
_TRACKING = frozenset(
    {
        "__hsfp", "__hssc", "__hstc", "_branch_match_id", "_ga", "_gl", "_hsenc", "_hsmi",
        "_kx", "_openstat", "at_campaign", "at_medium", "dclid", "dm_i", "epik",
        "fb_action_ids", "fb_action_types", "fb_ref", "fb_source", "fbclid",
        "gad_campaignid", "gad_source", "gbraid", "gclid", "gclsrc", "guce_referrer",
        "guce_referrer_sig", "hsa_acc", "hsa_ad", "hsa_cam", "hsa_grp", "hsa_kw", "hsa_mt",
        "hsa_net", "hsa_src", "hsa_tgt", "hsa_ver", "hsctatracking", "igsh", "igshid",
        "irclickid", "irgwc", "li_fat_id", "mc_cid", "mc_eid", "mkt_tok", "ml_subscriber",
        "ml_subscriber_hash", "msclkid", "oly_anon_id", "oly_enc_id", "pk_campaign",
        "pk_content", "pk_kwd", "pk_medium", "pk_source", "rb_clickid", "rdt_cid",
        "s_kwcid", "sccid", "srsltid", "ttclid", "twclid", "vero_conv", "vero_id", "wbraid",
        "wickedid", "wt.mc_id", "yclid", "ymclid", "ysclid",
    }
)  # fmt: skip
_TRACKING_FAMILIES = ("utm_", "mtm_", "matomo_", "piwik_")

_BREAKS = re.compile(r"[\x00-\x1f\x7f]")
_HOST_AND_PORT = re.compile(r"(\[[^\[\]]*\]|[^\[\]:]*)(?::([0-9]*))?")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_ENCODED = re.compile(r"%([0-9A-Fa-f]{2})|[^A-Za-z0-9\-._~!$&'()*+,;=:@/?]")


@dataclass(frozen=True)
class Address:
    """One page's address.

    Attributes:
        given: As it came, without user and password.
        canonical: The same text for every spelling of the address; ASCII.
        domain: The host as ``clean_host`` gives it.
    """

    given: str
    canonical: str
    domain: str


def read_url(url: str) -> Address:
    """The address; it is not repeated in an error, because it may hold a password.

    Raises:
        ItemInvalid: It is no http or https address with a valid host, or it is too long.
    """
    text = url.strip()
    if _BREAKS.search(text):
        raise ItemInvalid("url holds control characters.")
    parts = _split(text)
    host, port = _host_and_port(parts)
    scheme = parts.scheme.lower()
    shown = f"[{host}]" if ":" in host else host
    place = shown if port in (None, _DEFAULT_PORTS[scheme]) else f"{shown}:{port}"
    query = _query(parts.query)
    canonical = f"{scheme}://{place}{_path(parts.path)}{'?' if query else ''}{query}"
    if max(len(text), len(canonical)) > MAX_URL_CHARS:
        raise ItemInvalid(f"url is longer than {MAX_URL_CHARS} characters, escapes included.")
    return Address(_without_user(text, parts.netloc), canonical, host)


def _split(text: str) -> SplitResult:
    try:
        parts = urlsplit(text)
    except ValueError as exc:
        raise ItemInvalid("url is no valid address.") from exc
    if parts.scheme.lower() not in _DEFAULT_PORTS:
        raise ItemInvalid("url is no http or https address.")
    return parts


def _host_and_port(parts: SplitResult) -> tuple[str, int | None]:
    found = _HOST_AND_PORT.fullmatch(parts.netloc.rpartition("@")[2])
    # Browsers read a backslash as a slash: another host than the one behind it.
    host = clean_host(found[1]) if found and "\\" not in parts.netloc else None
    if found is None or host is None:
        raise ItemInvalid("url has no valid host.")
    # Longer ones are out of range, and int() takes no number of thousands of digits.
    digits = (found[2] or "").lstrip("0")[:6]
    port = int(digits or 0) if found[2] else None
    if port is not None and port > _MAX_PORT:
        raise ItemInvalid("url has no valid port.")
    return host, port


def _without_user(text: str, netloc: str) -> str:
    start = text.index("//") + 2
    user = netloc.rpartition("@")[0]
    return text[:start] + text[start + len(user) + 1 :] if "@" in netloc else text


def _path(path: str) -> str:
    """The path with equal escapes, without ``.`` and ``..``; ``/`` where there is none."""
    kept: list[str] = []
    parts = _escaped(path).split("/")[1:]
    for part in parts:
        if part == "..":
            del kept[-1:]
        elif part != ".":
            kept.append(part)
    if parts and parts[-1] in (".", ".."):
        kept.append("")
    return "/" + "/".join(kept)


def _query(query: str) -> str:
    """Parameters by name, without those that only track; of one name in the order they came."""
    named = [(_name(part), part) for part in _escaped(query).split("&") if part]
    kept = [(name, part) for name, part in named if not _tracks(name)]
    return "&".join(part for _, part in sorted(kept, key=lambda one: one[0]))


def _name(part: str) -> str:
    return part.partition("=")[0]


def _tracks(name: str) -> bool:
    plain = unquote_plus(name).lower()
    return plain in _TRACKING or plain.startswith(_TRACKING_FAMILIES)


def _escaped(text: str) -> str:
    """Each character in its one form: bare where it may be, else escaped with capital digits."""
    return _ENCODED.sub(_one_form, text)


def _one_form(found: re.Match[str]) -> str:
    if found[1] is None:
        return "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8"))
    char = chr(int(found[1], 16))
    return char if char in _UNRESERVED else f"%{found[1].upper()}"
