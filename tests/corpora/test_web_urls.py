"""One form for every spelling of an address, and another one for every other page."""

from __future__ import annotations

import string
from urllib.parse import quote

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from pincite.corpora.web_urls import MAX_URL_CHARS, read_url
from pincite.errors import ItemInvalid

PAGE = "https://example.org/news?id=1&page=2"


def canonical(url: str) -> str:
    return read_url(url).canonical


@pytest.mark.parametrize(
    "spelling",
    [
        "HTTPS://EXAMPLE.org/news?id=1&page=2",
        "https://example.org:443/news?id=1&page=2",
        "https://example.org:0443/news?id=1&page=2",
        "https://example.org:/news?id=1&page=2",
        "https://example.org./news?id=1&page=2",
        "https://user:secret@example.org/news?id=1&page=2",
        "https://example.org/news?page=2&id=1",
        "https://example.org/news?id=1&page=2#top",
        "https://example.org/news?id=1&page=2#utm_source=x",
        "https://example.org/news?utm_source=a&id=1&UTM_Campaign=b&page=2",
        "https://example.org/news?gclid=1&id=1&fbclid=2&page=2&msclkid=3",
        "https://example.org/news?id=1&&page=2&",
        "https://example.org/%6Eews?id=1&%70age=2",
        "https://example.org/old/../news?id=1&page=2",
        "https://example.org/./news?id=1&page=2",
        "  https://example.org/news?id=1&page=2  ",
    ],
)
def test_spellings_of_one_page_are_one_address(spelling: str) -> None:
    assert canonical(spelling) == PAGE


@pytest.mark.parametrize(
    "other",
    [
        "http://example.org/news?id=1&page=2",
        "https://example.org:8443/news?id=1&page=2",
        "https://www.example.org/news?id=1&page=2",
        "https://example.org/news/?id=1&page=2",
        "https://example.org/News?id=1&page=2",
        "https://example.org/news?id=2&page=2",
        "https://example.org/news?id=1&page=3",
        "https://example.org/news?id=1",
        "https://example.org/news?id=1&page=2&q=",
        "https://example.org/news?id=1&page=2&source=rss",
        "https://example.org/news?id=1&page=2&keyword=cat",
        "https://example.org/news?id=1&page=2&ref=5",
        "https://example.org/news?id=1&page=2&url=https%3A%2F%2Fother.example%2F",
    ],
)
def test_other_pages_stay_other_addresses(other: str) -> None:
    assert canonical(other) != PAGE


def test_empty_path_is_the_root() -> None:
    assert (
        canonical("https://example.org")
        == canonical("https://example.org/?#")
        == ("https://example.org/")
    )


def test_escapes_are_compared_by_what_they_mean() -> None:
    assert canonical("https://example.org/%7eann/%c3%a4?q=%c3%a4") == canonical(
        "https://example.org/~ann/ä?q=ä"
    )
    assert canonical("https://example.org/a%2fb") == "https://example.org/a%2Fb"
    assert canonical("https://example.org/a%2Fb") != canonical("https://example.org/a/b")


def test_stray_percent_is_a_percent_sign() -> None:
    assert canonical("https://example.org/100%?%%32%35") == "https://example.org/100%25?%2525"


def test_parameters_of_one_name_keep_their_order() -> None:
    assert canonical("https://example.org/?b=1&a=2&a=1") == "https://example.org/?a=2&a=1&b=1"


def test_user_and_password_are_in_no_form_of_the_address() -> None:
    address = read_url("https://ann:p%40ss@example.org/a#b")
    assert address.given == "https://example.org/a#b"
    assert address.canonical == "https://example.org/a"


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.org",
        "//example.org/",
        "ftp://example.org/",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "https:///news",
        "https://@/",
        "https://example..org/",
        "https://-example.org/",
        "https://exa mple.org/",
        "https://example.org:99999/",
        "https://example.org:" + "9" * 4_000,
        "https://example.org:8a/",
        "https://example.org:٣/",
        "https://good.example\\@example.org/",
        "https:\\\\example.org\\",
        "https://example.org/a\nb",
        "https://example.org/a\0b",
        "https://[::1/",
        "https://[::1%25eth0]/",
        "https://[::1]x/",
        "https://2130706433/",
        "https://℀.example/",
        "https://" + "a" * 64 + ".example/",
        "https://" + "a." * 127 + "example/",
        "https://example.org/" + "a" * MAX_URL_CHARS,
        "https://example.org/" + "ä" * (MAX_URL_CHARS // 6),
    ],
)
def test_what_is_no_web_address_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(ItemInvalid) as caught:
        read_url(url)
    assert len(url) < 12 or url not in str(caught.value)


def test_password_is_not_in_the_error() -> None:
    with pytest.raises(ItemInvalid) as caught:
        read_url("https://ann:hunter2@exa mple.org/")
    assert "hunter2" not in str(caught.value)


HOSTS = st.sampled_from(
    ["example.org", "EXAMPLE.org.", "münchen.example", "192.0.2.1", "[2001:db8::1]", "a_b.co.uk"]
)
TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12)


@st.composite
def urls(draw: st.DrawFn) -> str:
    user = draw(st.sampled_from(["", "ann@", "ann:pw@"]))
    port = draw(st.sampled_from(["", ":", ":80", ":443", ":8080"]))
    path = "".join(f"/{part}" for part in draw(st.lists(TEXT | st.just(".."), max_size=4)))
    query = "&".join(draw(st.lists(TEXT | st.just("utm_source=x"), max_size=4)))
    scheme = draw(st.sampled_from(["http", "HTTPS"]))
    return f"{scheme}://{user}{draw(HOSTS)}{port}{path}?{query}#{draw(TEXT)}"


@given(urls())
@example("http://example.org/%%32%35/%2e%2E/..//?%&&=")
@example("http://example.org//..//a/..")
def test_canonical_form_is_its_own_canonical_form(url: str) -> None:
    try:
        address = read_url(url)
    except ItemInvalid:
        # A question mark, a hash or an at sign in a part made another address of it.
        assume(False)
        return
    again = read_url(address.canonical)
    assert again == type(again)(address.canonical, address.canonical, address.domain)
    assert address.canonical.isascii()
    assert "#" not in address.canonical
    assert "@" not in address.given.split("/")[2]


@given(urls())
def test_address_as_given_leads_to_the_same_canonical_form(url: str) -> None:
    try:
        address = read_url(url)
    except ItemInvalid:
        assume(False)
        return
    assert read_url(address.given) == address


NAMES = st.text(string.ascii_lowercase, min_size=1, max_size=6).filter(lambda name: name != "utm")
PAIRS = st.dictionaries(NAMES, TEXT.map(lambda text: quote(text, safe="")), max_size=5)


@given(PAIRS, st.randoms(use_true_random=False), st.lists(st.sampled_from(["gclid", "utm_x"])))
def test_order_and_tracking_of_parameters_do_not_matter(pairs, random, tracking) -> None:
    plain = [f"{name}={value}" for name, value in pairs.items()]
    mixed = [*plain, *(f"{name}=1" for name in tracking)]
    random.shuffle(mixed)
    base = "https://example.org/a"
    assert canonical(f"{base}?{'&'.join(mixed)}") == canonical(f"{base}?{'&'.join(plain)}")


@given(PAIRS, PAIRS)
def test_other_parameters_are_another_page(one, other) -> None:
    assume(one != other)
    queries = ["&".join(f"{n}={v}" for n, v in pairs.items()) for pairs in (one, other)]
    assert canonical(f"https://example.org/?{queries[0]}") != canonical(
        f"https://example.org/?{queries[1]}"
    )


@given(st.text(max_size=40))
def test_any_text_is_an_address_or_refused(text: str) -> None:
    for url in (text, f"https://{text}", f"https://example.org/{text}"):
        try:
            url.encode()
            read_url(url)
        except (ItemInvalid, UnicodeEncodeError):
            continue
