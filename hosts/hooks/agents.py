"""The agents that the hook knows, by the name that its address and its commands have."""

from functools import reduce
from typing import Final

from pmcl.contracts import ContractError
from pmcl.hosts.hooks.agent import Agent
from pmcl.hosts.hooks.claude_code import CLAUDE_CODE
from pmcl.hosts.hooks.codex import CODEX
from pmcl.hosts.hooks.gemini import GEMINI
from pmcl.judgement import EffectRules

__all__ = ["AGENTS", "agent_named", "built_in_rules"]

AGENTS: Final = {agent.name: agent for agent in (CLAUDE_CODE, CODEX, GEMINI)}


def agent_named(name: str) -> Agent:
    """Return an agent.

    Raises:
        ContractError: there is none of this name.
    """
    agent = AGENTS.get(name)
    if agent is None:
        raise ContractError("agent", name, ", ".join(AGENTS))
    return agent


def built_in_rules() -> EffectRules:
    """Return what the agents' built-in tools do whose names do not tell; an operator's win."""
    return reduce(EffectRules.merged, (agent.rules for agent in AGENTS.values()), EffectRules())
