"""Hosts and domains: how they are written, and how far they are trusted."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from pincite.errors import ConfigInvalid
from pincite.settings.model import TrustRule

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

MAX_DOMAIN_CHARS = 253
# The underscore is none of a host name, yet the web has hosts with one.
_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")


def clean_host(host: str) -> str | None:
    """The host as it is compared, ``None`` where it is no valid one.

    Lower case, without a dot at its end; names of other scripts in Punycode, as browsers ask for
    them (UTS 46, then IDNA 2008). An IPv6 address comes in brackets and is returned without. What
    ends in a number is an IPv4 address of four numbers or nothing (URL Standard, section 3.5).
    """
    if host.startswith("["):
        return _ipv6(host[1:-1])
    name = _ascii(host)
    if name is None:
        return None
    name = name.removesuffix(".")
    labels = name.split(".")
    if _NUMBER.fullmatch(labels[-1]):
        return _ipv4(name)
    valid = len(name) <= MAX_DOMAIN_CHARS and all(map(_LABEL.fullmatch, labels))
    return name if valid else None


def is_ip(host: str) -> bool:
    """Whether a host that ``clean_host`` gave is an address and no name."""
    return ":" in host or host.rpartition(".")[2].isdigit()


def registrable_domain(domain: str) -> str:
    """The part that somebody registered, by the public suffix list; ``""`` where nobody did.

    Addresses, names of one label and public suffixes themselves are registered by nobody.
    """
    return "" if is_ip(domain) else _suffixes().privatesuffix(domain) or ""


class DomainTrust:
    """How far a domain is trusted: by the longest rule whose labels end its name.

    Raises:
        ConfigInvalid: A rule is no domain name, or two are for one.
    """

    def __init__(self, rules: Iterable[TrustRule], default: float) -> None:
        self._default = default
        self._weights: dict[str, float] = {}
        for rule in rules:
            name = _rule_name(rule.domain)
            if name in self._weights:
                raise ConfigInvalid(
                    f"Setting 'web.trust' has two rules for {name!r}.", "Keep one of them."
                )
            self._weights[name] = rule.weight

    def of(self, domain: str) -> float:
        """The trust in a domain that ``clean_host`` gave, in [0, 1]."""
        labels = domain.split(".")
        names = (".".join(labels[start:]) for start in range(len(labels)))
        return next((self._weights[one] for one in names if one in self._weights), self._default)


def _rule_name(domain: str) -> str:
    name = clean_host(domain.strip())
    if name is None or is_ip(name):
        raise ConfigInvalid(
            f"Setting 'web.trust' has a rule for {domain!r}, which is no domain name.",
            "Give a name such as 'example.org', without scheme, port, path or '*'.",
        )
    return name


def _ascii(host: str) -> str | None:
    if host.isascii():
        return host.lower()
    import idna

    try:
        return idna.encode(host, uts46=True).decode("ascii")
    except idna.IDNAError:
        return None


def _ipv4(text: str) -> str | None:
    try:
        return str(ipaddress.IPv4Address(text))
    except ValueError:
        return None


def _ipv6(text: str) -> str | None:
    try:
        # A zone names an interface of one machine.
        return None if "%" in text else ipaddress.IPv6Address(text).compressed
    except ValueError:
        return None


@cache
def _suffixes() -> PublicSuffixList:
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList()
