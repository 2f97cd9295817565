"""`pmcl hook`: the hook's process by hand, and its place in agents' settings."""

from pathlib import Path
from typing import Any

from pmcl.hosts.hooks import (
    Agent,
    HookPaths,
    SettingsChange,
    agent_named,
    client,
    plan_install,
    plan_uninstall,
    write_settings,
)
from pmcl.ops.console import console
from pmcl.ops.known_hosts import find_credentials, find_host
from pmcl.ops.settings import Settings

__all__ = ["answer_event", "install_hook", "show_change", "uninstall_hook"]


def answer_event(settings: Settings, agent: str, host: str | None) -> int:
    """Answer the event on standard input as an installed hook does; return the exit code.

    Raises:
        HostNotFoundError: none, or more than one, goes by the name.
    """
    credentials = find_credentials(settings, host)
    return client.main([agent, str(credentials), str(_gateway(settings))])


def install_hook(
    settings: Settings, agent: str, host: str | None, project: Path | None, *, dry_run: bool
) -> dict[str, Any]:
    """Install the hook of a host whose files can be used; return what changed.

    Raises:
        ContractError: there is no such agent.
        HostNotFoundError, KeyringError, ProfileError: the host cannot be used.
        SettingsError: the settings file is none, or cannot be written; it stays as it was.
    """
    known = agent_named(agent)
    credentials = find_credentials(settings, host).absolute()
    find_host(settings, str(credentials))
    paths = HookPaths(credentials=credentials, gateway=_gateway(settings))
    change = plan_install(known, project, paths)
    return _made(known, change, dry_run=dry_run, advice=known.advice)


def uninstall_hook(agent: str, project: Path | None, *, dry_run: bool) -> dict[str, Any]:
    """Take the hook out again; return what changed. Raises as `install_hook`."""
    known = agent_named(agent)
    return _made(known, plan_uninstall(known, project), dry_run=dry_run, advice="")


def _made(agent: Agent, change: SettingsChange, *, dry_run: bool, advice: str) -> dict[str, Any]:
    done = change.is_needed and not dry_run
    if done:
        write_settings(change)
    kept = done and change.before is not None and not change.removes
    return {
        "agent": agent.name,
        "settings": str(change.path),
        "changed": done,
        "removed": done and change.removes,
        "backup": str(change.backup) if kept else None,
        "diff": change.diff,
        "advice": advice,
    }


def show_change(report: dict[str, Any]) -> None:
    """Print what was changed, or would be, for people."""
    if not report["diff"]:
        console.print(f"{report['settings']}: nothing to change", soft_wrap=True)
    elif report["changed"]:
        what = "removed" if report["removed"] else "changed"
        console.print(f"{report['agent']}: {what} {report['settings']}", soft_wrap=True)
    else:
        console.print(report["diff"].rstrip(), soft_wrap=True, markup=False)
    if report["backup"] is not None:
        console.print(f"what it was: {report['backup']}", soft_wrap=True)
    if report["changed"] and report["advice"]:
        console.print(report["advice"], markup=False)


def _gateway(settings: Settings) -> Path:
    return settings.state_dir.absolute() / "gateway.json"
