"""The frame of every page: templates, what may load, and the files that belong to them."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from typing import Any

import regex  # type: ignore[import-untyped]
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from pincite.evaluation.report.text import NOTHING, visible
from pincite.serving.access import Principal
from pincite.serving.inspector import words

# What ``visible`` escapes, but line ends and tabs, which a passage has in plenty.
_UNSEEN = regex.compile(r"[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}--[\n\r\t\u200c\u200d]]", regex.V1)
_PACKAGE = "pincite.serving.inspector"
ASSETS = {"style.css": "text/css; charset=utf-8", "icon.svg": "image/svg+xml"}
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
    # An address holds questions and ids: no other site is told of them.
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
# Its name holds what it says, so that it never has to be asked for again.
_ASSET_HEADERS = {**HEADERS, "Cache-Control": "max-age=31536000, immutable"}


def page(
    request: Request,
    template: str,
    status: int = 200,
    principal: Principal | None = None,
    **shown: Any,
) -> HTMLResponse:
    """A page of the inspector; ``principal`` decides which parts it links to."""
    text = (
        _environment()
        .get_template(template)
        .render(
            root=root_of(request),
            asset=asset_path,
            words=words,
            sees_figures=principal is not None and sees_figures(principal),
            **shown,
        )
    )
    # A lone surrogate of an address is no text that could be sent.
    body = text.encode("utf-8", "replace")
    return HTMLResponse(body, status, HEADERS)


def root_of(request: Request) -> str:
    """The path below which the app is served, without a slash at its end."""
    return str(request.scope.get("root_path", "")).rstrip("/")


def sees_figures(principal: Principal) -> bool:
    """Whether the figures are theirs to see: they count what all tenants did."""
    return not principal.kb_scope and not principal.ids


def asset(name: str) -> Response | None:
    """A file of the pages, ``None`` for another name."""
    if name not in ASSETS:
        return None
    return Response(_read(name), 200, _ASSET_HEADERS, ASSETS[name])


def asset_path(name: str) -> str:
    """Where a file of the pages is, below the root."""
    return f"/inspector/{name}?v={hashlib.sha256(_read(name)).hexdigest()[:12]}"


@cache
def _read(name: str) -> bytes:
    return files(_PACKAGE).joinpath("static", name).read_bytes()


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader(_PACKAGE),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        exact=exact, number=number, share=share, score=score, counted=counted, unseen=unseen
    )
    return environment


def _shown(value: Any) -> Any:
    """Whatever a page shows has nothing in it that acts; what is markup is ours."""
    return value if isinstance(value, Markup) or not isinstance(value, str) else visible(value)


def exact(text: str) -> Markup:
    """The text as it is, character by character, for what people copy and send again.

    A parser would turn a carriage return into a line end unless it is written as a reference.
    """
    return Markup(str(escape(text)).replace("\r", "&#13;"))


def unseen(text: str) -> int:
    """How many characters of a passage a reader does not see; line ends and tabs are seen."""
    return len(_UNSEEN.findall(text))


def number(value: int | None) -> str:
    """``12,345``; a dash for none."""
    return NOTHING if value is None else f"{value:,}"


def counted(value: int, noun: str) -> str:
    """``1 hit``, ``2 hits``."""
    return f"{value:,} {noun}" if value == 1 else f"{value:,} {noun}s"


def score(value: float | None) -> str:
    """Three decimals; a dash for none."""
    return NOTHING if value is None else f"{value:.3f}"


def share(value: float | None) -> str:
    """A share in [0, 1] as a percentage; a dash for none."""
    return NOTHING if value is None else f"{value:.1%}"
