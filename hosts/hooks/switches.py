"""What in an agent's own settings keeps every hook from running, without a word."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pmcl.hosts.hooks.agent import Agent
from pmcl.hosts.hooks.installing import read_settings

__all__ = ["switched_off"]


def switched_off(agent: Agent, project: Path | None) -> list[str]:
    """Return where the agent's hooks are switched off, as `file: member`.

    Raises:
        SettingsError: the settings cannot be read.
    """
    path = agent.settings(project)
    if agent.name == "codex":
        found = _codex(_toml(path.with_name("config.toml")))
        path = path.with_name("config.toml")
    else:
        settings = read_settings(agent, project)
        found = _claude_code(settings) if agent.name == "claude-code" else _gemini(agent, settings)
    return [f"{path}: {member}" for member in found]


def _claude_code(settings: dict[str, Any]) -> Iterator[str]:
    if settings.get("disableAllHooks") is True:
        yield "disableAllHooks"


def _codex(config: dict[str, Any]) -> Iterator[str]:
    features = config.get("features")
    for name in ("hooks", "codex_hooks"):
        if isinstance(features, dict) and features.get(name) is False:
            yield f"features.{name}"


def _gemini(agent: Agent, settings: dict[str, Any]) -> Iterator[str]:
    config = settings.get("hooksConfig")
    if not isinstance(config, dict):
        return
    if config.get("enabled") is False:
        yield "hooksConfig.enabled"
    named = {each.members["name"] for each in agent.registrations}
    disabled = config.get("disabled")
    if isinstance(disabled, list):
        yield from (f"hooksConfig.disabled: {name}" for name in disabled if name in named)


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text())
    except (OSError, ValueError):
        return {}  # Codex says itself what it cannot read
