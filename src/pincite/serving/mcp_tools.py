"""The tools that agents call over MCP: written once, served over stdio and over HTTP."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)
from pydantic import BaseModel

from pincite import __version__
from pincite.errors import EvidenceAmbiguous, EvidenceNotFound, PinciteError, ScopeRequired
from pincite.serving.mcp_calls import Caller, Tools
from pincite.serving.mcp_schemas import (
    INSTRUCTIONS,
    Arguments,
    CheckArguments,
    Checked,
    CiteArguments,
    Cited,
    Found,
    LookupArguments,
    RememberArguments,
    Remembered,
    checked_arguments,
    input_schema,
    output_schema,
)
from pincite.serving.service import Service

logger = logging.getLogger(__name__)

FAILED = "FAILED"
# What a model can do about an error, where the advice of a command line does not help it.
_ADVICE = {
    EvidenceNotFound.code: "Copy a document_id that lookup_knowledge returned, letter for letter.",
    EvidenceAmbiguous.code: "Call lookup_knowledge again; cite then knows which one you mean.",
}


@dataclass(frozen=True)
class _Spec:
    """One tool: ``run`` takes the tools, who calls, and arguments of the kind ``takes``."""

    name: str
    description: str
    takes: type[Arguments]
    gives: type[BaseModel]
    annotations: ToolAnnotations
    run: Callable[..., Awaitable[dict[str, Any]]]

    def shown(self) -> Tool:
        return Tool(
            name=self.name,
            description=self.description,
            input_schema=input_schema(self.takes),
            output_schema=output_schema(self.gives),
            annotations=self.annotations,
        )


def _reads(title: str) -> ToolAnnotations:
    return ToolAnnotations(title=title, read_only_hint=True, open_world_hint=False)


_SPECS = (
    _Spec(
        "lookup_knowledge",
        "Find passages that support an answer. Use it before you state anything that the "
        "documents, the memory of this user or fetched web pages may say, and again for each new "
        "question. Put the document_id of a passage in square brackets after the sentence that it "
        "supports. evidenceStatus tells whether the passages are enough: SUFFICIENT, WEAK (say "
        "that you are not sure) or NONE (say that nothing was found).",
        LookupArguments,
        Found,
        _reads("Look up knowledge"),
        Tools.lookup_knowledge,
    ),
    _Spec(
        "cite",
        "Get exactly the text behind a document_id, as you were given it, with its source and "
        "place. Use it to quote word for word, or to learn whether a passage still stands: state "
        "is current, superseded (then current holds the text now) or erased.",
        CiteArguments,
        Cited,
        _reads("Resolve a citation"),
        Tools.cite,
    ),
    _Spec(
        "check_citations",
        "Check the document_ids in an answer before you send it. Take out or correct those under "
        "unknown: no recent lookup of this connection returned them.",
        CheckArguments,
        Checked,
        _reads("Check citations"),
        Tools.check_citations,
    ),
    _Spec(
        "remember",
        "Keep something about this user for later conversations: a rule to heed, a preference, a "
        "fact, or something still to be done. Use it when the user asks you to, or tells "
        "something that will matter again. lookup_knowledge finds it afterwards. The same id, or "
        "the same words without one, replaces what was kept.",
        RememberArguments,
        Remembered,
        # A given id overwrites what it named; doing it twice changes nothing more.
        ToolAnnotations(
            title="Remember",
            read_only_hint=False,
            destructive_hint=True,
            idempotent_hint=True,
            open_world_hint=False,
        ),
        Tools.remember,
    ),
)
_BY_NAME = {spec.name: spec for spec in _SPECS}

CallerOf = Callable[[ServerRequestContext[Any, Any]], Caller]


async def _at_once() -> None:
    """Nothing has to be waited for."""


def make_server(
    service: Service, caller_of: CallerOf, ready: Callable[[], Awaitable[None]] = _at_once
) -> Server[Any]:
    """The MCP server of these tools.

    Args:
        service: What they work with.
        caller_of: Who calls, by the request's context.
        ready: Awaited before each call.
    """
    tools = Tools(service)

    async def list_tools(_: Any, __: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[spec.shown() for spec in _SPECS])

    async def call_tool(
        context: ServerRequestContext[Any, Any], params: CallToolRequestParams
    ) -> CallToolResult:
        spec = _BY_NAME.get(params.name)
        if spec is None:
            known = ", ".join(_BY_NAME)
            raise MCPError(INVALID_PARAMS, f"There is no such tool. There are: {known}.")
        await ready()
        return await _called(tools, spec, caller_of(context), params.arguments or {})

    return Server(
        "pincite",
        title="Pincite",
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        # There is none by name: no argument travels in a header.
        get_tool_input_schema=lambda name: None,
    )


async def _called(
    tools: Tools, spec: _Spec, caller: Caller, arguments: Mapping[str, Any]
) -> CallToolResult:
    """The answer of a tool; whatever goes wrong is an error that the model can read."""
    try:
        given = checked_arguments(spec.takes, spec.name, arguments)
        return _answer(await spec.run(tools, caller, given))
    except PinciteError as error:
        logger.info("tool %s: %s", spec.name, error.code)
        return _failed(error, caller)
    except Exception as error:
        name = type(error).__name__
        logger.error("tool %s failed: %s", spec.name, name)
        logger.debug("tool %s failed", spec.name, exc_info=True)
        return _failed(PinciteError(f"Something unexpected happened ({name})."), caller)


def _answer(value: dict[str, Any]) -> CallToolResult:
    """The value as structured content, and as JSON for clients that know only text."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return CallToolResult(
        content=[TextContent(text=text)],
        structured_content=value,
        is_error=value.get("state") == FAILED,
    )


def _failed(error: PinciteError, caller: Caller) -> CallToolResult:
    message, next_step = caller.explain(error)
    advice = caller.advice if isinstance(error, ScopeRequired) else _ADVICE.get(error.code)
    text = f"{error.code}: {message} {advice or next_step}"
    return CallToolResult(content=[TextContent(text=text)], is_error=True)
