"""Hosts are compared in one form; rules of trust fit whole labels of a domain."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.corpora.registry import make_corpus
from pincite.corpora.web_domains import DomainTrust, clean_host, registrable_domain
from pincite.errors import ConfigInvalid
from pincite.settings.load import load_settings
from pincite.settings.model import TrustRule


def trust(rules: dict[str, float], default: float = 0.5) -> DomainTrust:
    return DomainTrust([TrustRule(domain=d, weight=w) for d, w in rules.items()], default)


@pytest.mark.parametrize(
    ("host", "wanted"),
    [
        ("Example.ORG", "example.org"),
        ("example.org.", "example.org"),
        ("localhost", "localhost"),
        ("a_b.example.org", "a_b.example.org"),
        ("München.de", "xn--mnchen-3ya.de"),
        ("XN--MNCHEN-3YA.de", "xn--mnchen-3ya.de"),
        ("faß.de", "xn--fa-hia.de"),
        ("例子。测试", "xn--fsqu00a.xn--0zwm56d"),
        ("１.2.3.4", "1.2.3.4"),
        ("192.0.2.1", "192.0.2.1"),
        ("[2001:DB8:0::1]", "2001:db8::1"),
    ],
)
def test_host_has_one_form(host: str, wanted: str) -> None:
    assert clean_host(host) == wanted


@pytest.mark.parametrize(
    "host",
    ["", ".", "..", ".example.org", "example.org..", "a..b", "-a.org", "a-.org", "a b.org",
     "*.example.org", "example.org/x", "https://example.org", "example.org:80", "1.2.3", "1.2.3.04",
     "0x7f.1", "256.1.1.1", "[::g]", "[::1%eth0]", "\u200b.org", "a\u0338.\u0338b"],
)  # fmt: skip
def test_what_is_no_host_has_none(host: str) -> None:
    assert clean_host(host) is None


@given(st.text(max_size=20))
def test_form_of_a_host_is_its_own_form(text: str) -> None:
    host = clean_host(text)
    if host is not None and ":" not in host:
        assert clean_host(host) == host
        assert host.isascii()
        assert host == host.lower()


@pytest.mark.parametrize(
    ("domain", "wanted"),
    [
        ("www.example.org", "example.org"),
        ("news.example.co.uk", "example.co.uk"),
        ("ann.github.io", "ann.github.io"),
        ("xn--bcher-kva.xn--55qx5d.cn", "xn--bcher-kva.xn--55qx5d.cn"),
        ("co.uk", ""),
        ("localhost", ""),
        ("192.0.2.1", ""),
        ("2001:db8::1", ""),
    ],
)
def test_registrable_domain_follows_the_public_suffix_list(domain: str, wanted: str) -> None:
    assert registrable_domain(domain) == wanted


@pytest.mark.parametrize(
    ("domain", "wanted"),
    [
        ("example.org", 0.9),
        ("www.example.org", 0.9),
        ("bad.example.org", 0.1),
        ("very.bad.example.org", 0.1),
        ("notexample.org", 0.5),
        ("example.org.evil.test", 0.5),
        ("org", 0.5),
        ("bbc.co.uk", 0.7),
        ("co.uk", 0.7),
        ("notco.uk", 0.5),
        ("xn--mnchen-3ya.de", 0.8),
        ("192.0.2.1", 0.5),
        ("2001:db8::1", 0.5),
        ("", 0.5),
    ],
)
def test_longest_rule_on_label_boundaries_counts(domain: str, wanted: float) -> None:
    rules = {"Example.org.": 0.9, "bad.example.org": 0.1, "co.uk": 0.7, "münchen.de": 0.8}
    assert trust(rules).of(domain) == wanted


LABELS = st.text(string.ascii_lowercase + string.digits, min_size=1, max_size=8).filter(
    lambda label: not label.isdigit() and not label.startswith("0x")
)


@given(st.lists(LABELS, min_size=1, max_size=3), st.lists(LABELS, max_size=3), LABELS)
def test_rule_fits_its_domain_and_what_is_below_and_nothing_else(rule, below, prefix) -> None:
    name = ".".join(rule)
    trusted = trust({name: 1.0}, default=0.0)
    assert trusted.of(".".join([*below, *rule])) == 1.0
    assert trusted.of(f"{prefix}{name}") == 0.0
    assert trusted.of(f"{name}.{prefix}x") == float(f"{name}.{prefix}x".endswith(f".{name}"))


@pytest.mark.parametrize(
    "domain",
    ["https://example.org", "*.example.org", ".example.org", "example.org/a", "exa mple", "1.2.3.4",
     "4", "[::1]", "example.org:443"],
)  # fmt: skip
def test_rule_that_is_no_domain_name_is_refused_when_the_corpus_is_made(domain: str) -> None:
    settings = load_settings({"web.trust": [{"domain": domain, "weight": 1}]}, environment={})
    with pytest.raises(ConfigInvalid, match=r"web\.trust") as caught:
        make_corpus("web", settings)
    assert repr(domain) in str(caught.value)


def test_two_rules_for_one_domain_are_refused() -> None:
    with pytest.raises(ConfigInvalid, match=r"two rules for 'example\.org'"):
        trust({"example.org": 1.0, "EXAMPLE.org.": 0.0})
