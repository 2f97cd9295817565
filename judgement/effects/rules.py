"""An operator's word about a tool replaces what the tool seems to do, never what a host claims.

Source: SPEC C3.
"""

from typing import Annotated, Any, Literal

import msgspec

from pmcl.contracts import CheckpointRequest, Effect, Key, Reversibility
from pmcl.judgement.effects.dispatch import inner_calls

__all__ = ["Content", "EffectRules", "ToolRule"]

Content = Literal["shell", "sql", "code", "url", "method", "tool", "data"]
"""What an argument holds; `data` is read as none of the others."""


class ToolRule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an operator says of one tool.

    Attributes:
        effect: replaces the classification, also where that is riskier.
        reversibility: replaces the effect's usual one.
        arguments: what each argument holds, where its name does not tell.
    """

    effect: Effect | None = None
    reversibility: Reversibility | None = None
    arguments: dict[str, Content] = {}


class EffectRules(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An operator's rules.

    Attributes:
        tools: `server/name` to what is said of that tool.
    """

    tools: Annotated[dict[Key, ToolRule], msgspec.Meta(max_length=4096)] = {}

    def about(self, request: CheckpointRequest) -> "EffectRules":
        """Return the rules that can play a part in classifying the request."""
        if not self.tools:
            return self
        server, name = request.tool.server, request.tool.name
        named = [f"{server}/{name}"]
        waiting: list[Any] = [request.arguments]
        while waiting:  # a call hidden in a call is ruled as well
            for call in inner_calls(waiting.pop()):
                named.append(f"{call.server or server}/{call.name}")
                waiting.append(call.arguments)
        return EffectRules(tools={key: self.tools[key] for key in named if key in self.tools})

    def merged(self, other: "EffectRules") -> "EffectRules":
        """Return the rules of both."""
        return EffectRules(tools=self.tools | other.tools)

    def of(self, server: str, name: str) -> ToolRule | None:
        """Return what is said of a tool; `None` for nothing."""
        return self.tools.get(f"{server}/{name}")
