"""`pmcl hook`: what a coding agent's events are answered, and where that is installed."""

import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from pmcl.ops.commands.groups import File, Json, StateDir, hook_app, settings_of
from pmcl.ops.console import console, print_json, shown_whole

Agent = Annotated[
    Literal["claude-code", "codex", "gemini"], Parameter(name="--agent", help="Whose settings.")
]
Project = Annotated[File | None, Parameter(help="Its folder; default: the settings of the user.")]
DryRun = Annotated[bool, Parameter(negative=(), help="Show what would change, and change nothing.")]


@hook_app.command
def install(
    *,
    agent: Agent,
    host: str | None = None,
    project: Project = None,
    dry_run: DryRun = False,
    state_dir: StateDir = None,
    json: Json = False,
) -> None:
    """Put the hook into an agent's settings; everything else there stays as it is.

    Args:
        agent: The agent.
        host: The host that it works under: its name, or scope/name; default: the only one.
        project: The project's folder.
        dry_run: Show what would change.
        state_dir: Keys, ledger and the embedded server's store.
        json: One line of JSON.
    """
    from pmcl.ops.hooks import install_hook, show_change

    report = install_hook(settings_of(state_dir=state_dir), agent, host, project, dry_run=dry_run)
    print_json(report) if json else show_change(report)


@hook_app.command
def uninstall(
    *,
    agent: Agent,
    project: Project = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Take the hook out of an agent's settings, and nothing else.

    Args:
        agent: The agent.
        project: The project's folder.
        dry_run: Show what would change.
        json: One line of JSON.
    """
    from pmcl.ops.hooks import show_change, uninstall_hook

    report = uninstall_hook(agent, project, dry_run=dry_run)
    print_json(report) if json else show_change(report)


@hook_app.command(name="claude-code")
def claude_code(*, host: str | None = None, state_dir: StateDir = None) -> None:
    """Answer an event of Claude Code, as JSON on standard input."""
    _answer("claude-code", host, state_dir)


@hook_app.command
def codex(*, host: str | None = None, state_dir: StateDir = None) -> None:
    """Answer an event of Codex CLI, as JSON on standard input."""
    _answer("codex", host, state_dir)


@hook_app.command
def gemini(*, host: str | None = None, state_dir: StateDir = None) -> None:
    """Answer an event of Gemini CLI, as JSON on standard input."""
    _answer("gemini", host, state_dir)


def _answer(agent: str, host: str | None, state_dir: Path | None) -> None:
    from pmcl.contracts import PmclError
    from pmcl.ops.hooks import answer_event

    try:
        sys.exit(answer_event(settings_of(state_dir=state_dir), agent, host))
    except PmclError as error:
        console.stderr = True
        console.print(f"pmcl: blocked: {shown_whole(str(error))}", soft_wrap=True, markup=False)
        sys.exit(2)
