"""How a module of built-in tools says what they are."""

from typing import Any

from pmcl.contracts import ToolDefinition
from pmcl.judgement import EffectRules, ToolRule

__all__ = ["of_the_session", "tool"]


def tool(description: str, /, **parameters: str) -> ToolDefinition:
    """Return a definition, with the JSON type of each parameter."""
    properties: dict[str, Any] = {name: {"type": kind} for name, kind in parameters.items()}
    return ToolDefinition(
        description=description, parameters={"type": "object", "properties": properties}
    )


def of_the_session(agent: str, names: str) -> EffectRules:
    """Return rules for tools that touch nothing but the agent's session, or ask its user."""
    rule = ToolRule(effect="inspect_local", reversibility="reversible")
    return EffectRules(tools={f"{agent}/{name}": rule for name in names.split()})
