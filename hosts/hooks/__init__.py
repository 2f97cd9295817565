"""Hooks of coding agents: before a tool, after it, and around a session."""

from pmcl.hosts.hooks import client
from pmcl.hosts.hooks.agent import Agent
from pmcl.hosts.hooks.agents import AGENTS, agent_named, built_in_rules
from pmcl.hosts.hooks.answers import HookAnswer
from pmcl.hosts.hooks.claude_code_tools import DEFINITIONS as CLAUDE_CODE_TOOLS
from pmcl.hosts.hooks.command import HookPaths, SettingsError, paths_in
from pmcl.hosts.hooks.installing import (
    SettingsChange,
    installed,
    plan_install,
    plan_uninstall,
    write_settings,
)
from pmcl.hosts.hooks.service import HookService
from pmcl.hosts.hooks.switches import switched_off

__all__ = [
    "AGENTS",
    "CLAUDE_CODE_TOOLS",
    "Agent",
    "HookAnswer",
    "HookPaths",
    "HookService",
    "SettingsChange",
    "SettingsError",
    "agent_named",
    "built_in_rules",
    "client",
    "installed",
    "paths_in",
    "plan_install",
    "plan_uninstall",
    "switched_off",
    "write_settings",
]
