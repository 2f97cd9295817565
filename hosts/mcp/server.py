"""The server over standard input and output: every refusal is a tool error that a model can read.

Both revisions of the protocol are the SDK's. What is open when the client goes is closed: unclaimed
verdicts as `unused`, dispatches as `unknown`.
Source: SPEC G4; MCP 2025-11-25 and 2026-07-28.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import anyio
import anyio.to_thread
import msgspec
import structlog

from pmcl.bus import background_tasks
from pmcl.contracts import PmclError
from pmcl.hosts.client import Host
from pmcl.hosts.config import HostConfig
from pmcl.hosts.desk import Desk, object_schema, problem_of, read_asked
from pmcl.hosts.mcp.verbs import VERBS, Asker, Verb

if TYPE_CHECKING:  # it takes a second or two to import
    from mcp.server.lowlevel import Server
    from mcp_types import CallToolResult, Tool

__all__ = ["serve_mcp"]

log = structlog.get_logger()

_TICK_S: Final = 0.5
_CLOSE_S: Final = 5.0
_INSTRUCTIONS: Final = (
    "Before each tool call with an effect: check_tool. Held: do not run it; revise, or tell the "
    "user why. Passed: dispatch with the same arguments, run the tool once, then outcome."
)


async def serve_mcp(config: HostConfig, cwd: Path) -> None:
    """Serve one client until it closes standard input.

    Raises:
        RefusedError, HostError, LedgerError: the host cannot begin.
    """
    async with background_tasks() as tasks:
        tasks.start_soon(anyio.to_thread.run_sync, _load)  # beside the connection
        async with Host.connect(config) as host:
            desk = Desk(host)
            tasks.start_soon(_expire, desk)
            try:
                await anyio.to_thread.run_sync(_load)
                await _serve(Asker(desk, config, cwd))
            finally:
                with anyio.move_on_after(_CLOSE_S, shield=True):
                    await desk.close()


def _load() -> None:
    import mcp.server.lowlevel
    import mcp.server.stdio  # noqa: F401 - only loaded


async def _expire(desk: Desk) -> None:
    while True:
        await anyio.sleep(_TICK_S)
        await desk.expire()


async def _serve(asker: Asker) -> None:
    from mcp.server.stdio import stdio_server

    server = _server(asker)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def _server(asker: Asker) -> "Server[Any]":
    from importlib.metadata import version

    from mcp.server.lowlevel import Server
    from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult

    tools = [_tool(verb) for verb in VERBS]
    verbs = {verb.name: verb for verb in VERBS}

    async def list_tools(_: object, __: object) -> ListToolsResult:
        return ListToolsResult(tools=tools)

    async def call_tool(_: object, params: CallToolRequestParams) -> CallToolResult:
        verb = verbs.get(params.name)
        if verb is None:
            return _result({"code": "unknown_tool", "limit": ", ".join(verbs)}, is_error=True)
        return await _called(asker, verb, params.arguments or {})

    return Server(
        "pmcl",
        version=version("pmcl"),
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _tool(verb: Verb) -> "Tool":
    from mcp_types import Tool, ToolAnnotations

    return Tool(
        name=verb.name,
        description=verb.told,
        input_schema=object_schema(verb.asks),
        annotations=ToolAnnotations(
            read_only_hint=verb.reads_only, destructive_hint=False, open_world_hint=False
        ),
    )


async def _called(asker: Asker, verb: Verb, arguments: dict[str, Any]) -> "CallToolResult":
    try:
        asked = read_asked(arguments, verb.asks)
        answer = await verb.handle(asker, asked)
    except PmclError as error:
        log.info("mcp.refused", verb=verb.name, error=type(error).__name__)
        return _result(msgspec.to_builtins(problem_of(error)), is_error=True)
    told = msgspec.to_builtins(answer)
    return _result({name: value for name, value in told.items() if value is not None})


def _result(told: dict[str, Any], *, is_error: bool = False) -> "CallToolResult":
    from mcp_types import CallToolResult, TextContent

    text = TextContent(type="text", text=msgspec.json.encode(told).decode())
    return CallToolResult(content=[text], structured_content=told, is_error=is_error)
