"""What an agent's event says, the same for every agent.

A key is equal for the two events of one call: the agent's id of it, or what it consists of where
the agent gives it none.
"""

from typing import Any

import msgspec

from pmcl.hosts.adapter import ToolCall

__all__ = [
    "AfterTool",
    "BeforeTool",
    "Event",
    "Ignored",
    "Key",
    "Said",
    "SessionEnded",
    "Started",
    "TurnEnded",
]

Key = tuple[str, ...]


class BeforeTool(msgspec.Struct, frozen=True, kw_only=True):
    """A tool is about to run.

    Attributes:
        subagent: whether a subagent calls it, which the end of the main agent's turn does not end.
    """

    session: str
    key: Key
    call: ToolCall
    subagent: bool = False


class AfterTool(msgspec.Struct, frozen=True, kw_only=True):
    """A tool has run.

    Attributes:
        event: the event's own name.
        output: all that the model would read of it.
        response: the same as the agent holds it.
        failure: a short code when the tool failed, `None` when it did not.
    """

    event: str
    session: str
    key: Key
    call: ToolCall
    output: str
    response: Any = None
    failure: str | None = None


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """The user has said something.

    Attributes:
        files: the text of files that the agent has added to it; nobody's word.
    """

    session: str
    text: str
    files: str = ""


class Started(msgspec.Struct, frozen=True, kw_only=True):
    """A session has begun, or goes on."""

    session: str


class TurnEnded(msgspec.Struct, frozen=True, kw_only=True):
    """The agent has answered; what a subagent does may go on.

    Attributes:
        turn_id: the agent's; `None` when it has none.
    """

    session: str
    turn_id: str | None = None


class SessionEnded(msgspec.Struct, frozen=True, kw_only=True):
    """Nothing of the session goes on."""

    session: str


class Ignored(msgspec.Struct, frozen=True, kw_only=True):
    """Nothing that the sidecar needs to know."""


Event = BeforeTool | AfterTool | Said | Started | TurnEnded | SessionEnded | Ignored
