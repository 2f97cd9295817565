"""The sidecar's side of the hook: no tool runs that did not pass, no output is read unrecorded.

It only ever objects. Between the two events of a call its claim is open, so that a call whose end
nobody tells of is known as such.
Source: SPEC A7, C8, C9, G3.
"""

from typing import Any, Final

import anyio
import anyio.to_thread
import structlog
from ulid_transform import ulid_now

from pmcl.contracts import ContractError, PmclError, parse_strict
from pmcl.hosts.adapter import BY_PROMPT, Mediator, ToolCall
from pmcl.hosts.client import Host
from pmcl.hosts.clock import now_s
from pmcl.hosts.hooks.agent import CANARY_SESSION, Agent
from pmcl.hosts.hooks.agents import agent_named
from pmcl.hosts.hooks.answers import GO_ON, HookAnswer, told
from pmcl.hosts.hooks.events import (
    AfterTool,
    BeforeTool,
    Event,
    Ignored,
    Said,
    SessionEnded,
    Started,
    TurnEnded,
)
from pmcl.hosts.hooks.open_calls import OpenCall, OpenCalls

__all__ = ["HookService"]

log = structlog.get_logger()

_ANSWER_S: Final = 4.0
"""Below the 5 s of the process that waits for the answer."""
_RECORD_S: Final = 3.0
_UNHELD: Final = "PMCL: this call only tried the hook; it was not run, and nothing held it."
_NO_LEASE: Final = (
    "PMCL checks every tool call of this session. Its sidecar is out of reach now: only local "
    "inspections will run until it is back."
)


class HookService:
    """The events of agents that work under one connected host."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._mediator = Mediator(host, BY_PROMPT)
        self._open = OpenCalls()

    @property
    def open_calls(self) -> int:
        """How many calls may be running."""
        return len(self._open)

    async def handle(self, agent: str, event: bytes) -> HookAnswer:
        """Return what the agent is told, within some 4 s; what cannot be judged is blocked."""
        await self.lose_old()
        value: dict[str, Any] = {}
        try:
            known = agent_named(agent)
        except ContractError as error:
            return told(str(error), blocks=True)
        try:
            value = await anyio.to_thread.run_sync(_object, event)
            read = await anyio.to_thread.run_sync(known.read, value)
            with anyio.fail_after(_ANSWER_S):
                return await self._answer(known, read)
        except (PmclError, TimeoutError) as error:
            name, response = value.get("hook_event_name"), value.get("tool_response")
            return _failed(known, name, response, error)

    async def lose_old(self) -> None:
        """Record as unknown what has been open for longer than anything may run."""
        await self._open.lose_old()

    async def close(self) -> None:
        """Record as unknown what is open."""
        await self._open.lose_all()

    async def _answer(self, agent: Agent, event: Event) -> HookAnswer:
        match event:
            case BeforeTool():
                return await self._before(agent, event)
            case AfterTool():
                return await self._after(agent, event)
            case Said():
                await self._said(agent, event)
            case Started():
                return GO_ON if self._has_lease() else agent.inform(_NO_LEASE)
            case TurnEnded():
                await self._open.lose_session(event.session, subagents=False)
                await self._host.complete(event.turn_id or ulid_now())
            case SessionEnded():
                await self._open.lose_session(event.session, subagents=True)
            case Ignored():
                pass
        return GO_ON

    async def _before(self, agent: Agent, event: BeforeTool) -> HookAnswer:
        """Object, or claim the verdict and keep it open."""
        canary = event.session == CANARY_SESSION
        mediated = await self._mediator.check(event.call, canary=canary)
        if not mediated.may_run:
            return agent.deny(mediated.told)
        if canary:
            return agent.deny(_UNHELD)
        dispatch = self._mediator.dispatch(mediated)
        try:
            run = await dispatch.__aenter__()
        except PmclError as error:
            return agent.deny(f"PMCL: this call was not run. {error}")
        call = OpenCall(
            session=event.session,
            mediated=mediated,
            dispatch=dispatch,
            run=run,
            began_s=now_s(),
            subagent=event.subagent,
        )
        self._open.add(event.key, call)
        return GO_ON

    async def _after(self, agent: Agent, event: AfterTool) -> HookAnswer:
        """Record the output before the model reads it, and what came of the call."""
        opened, answer = self._open.take(event.key), GO_ON
        mediated, ends = (None, None) if opened is None else (opened.mediated, opened.dispatch)
        try:
            if opened is not None:
                opened.note(event.failure)
            with anyio.fail_after(_RECORD_S):
                await self._mediator.record(event.call, event.output, mediated=mediated, ends=ends)
        except (PmclError, TimeoutError) as error:
            answer = _failed(agent, event.event, event.response, error)
        finally:
            if opened is not None:
                with anyio.CancelScope(shield=True):
                    await opened.leave()
        return answer

    async def _said(self, agent: Agent, event: Said) -> None:
        if event.files:
            files = ToolCall(server=agent.name, name="referenced_files", arguments={})
            await self._mediator.record(files, event.files, trust="document")
        await self._mediator.said(event.text, f"{agent.name}/prompt")

    def _has_lease(self) -> bool:
        try:
            return self._host.generation is not None
        except PmclError:
            return False


def _object(event: bytes) -> dict[str, Any]:
    value = parse_strict(event)
    if not isinstance(value, dict):
        raise ContractError("$", type(value).__name__, "an object")
    return value


def _failed(agent: Agent, event: object, response: object, error: Exception) -> HookAnswer:
    """Return what blocks the event, if it is one of a tool."""
    log.warning("hook.failed", agent=agent.name, error=type(error).__name__)
    reason = str(error) or f"no answer within {_ANSWER_S:g} s"
    if event == agent.after_tool:
        return agent.withhold(response, f"PMCL withholds the output: {reason}")
    return told(reason, blocks=event not in agent.never_blocked)
