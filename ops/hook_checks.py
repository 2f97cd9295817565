"""What `pmcl doctor` looks at of the hooks: what stands in the settings, and whether it blocks.

The command that an agent would run is run as it stands, with a call that is always held, whatever
the host may do: its program is hidden from everybody, so an operator would have to approve it. It
is judged as a canary, so nothing of it is kept.
"""

import base64
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from pmcl.hosts.hooks import (
    AGENTS,
    Agent,
    HookPaths,
    SettingsError,
    client,
    installed,
    paths_in,
    switched_off,
)
from pmcl.ops.findings import Finding, fine, unknown, wrong
from pmcl.ops.settings import Settings

__all__ = ["check_hooks", "hooks_of"]

_MARKER: Final = "marker"
_CANARY: Final = f"echo {base64.b64encode(f'touch {_MARKER}'.encode()).decode()} | base64 -d | sh"
_CANARY_S: Final = 30.0
_HELD_FOR: Final = "plan.approval_required"


def check_hooks(settings: Settings, project: Path) -> Iterator[Finding]:
    """Yield what is to be said of every hook in the settings of the user and of a project."""
    none = True
    for agent in AGENTS.values():
        found: list[Path | None] = []
        for folder in (None, project):
            if folder is not None and agent.settings(folder) == agent.settings(None):
                continue
            try:
                hooks = installed(agent, folder)
            except SettingsError as error:
                none = False
                yield wrong(f"hooks.{agent.name}", str(error), "correct the file")
                continue
            if hooks:
                none = False
                found.append(folder)
                yield from _check_one(settings, agent, folder, hooks)
        if len(found) > 1:
            told = f"installed for the user and for {project}: each call is asked about twice"
            remedy = f"pmcl hook uninstall --agent {agent.name} --project {project}"
            yield wrong(f"hooks.{agent.name}", told, remedy)
    if none:
        remedy = "pmcl hook install --agent NAME, if one should be checked by its hook"
        yield unknown("hooks", "no agent has one", remedy)


def hooks_of(credentials: Path, project: Path) -> Iterator[str]:
    """Yield the command that takes out each hook of a host, the user's and those of a project.

    What cannot be read is passed over: the doctor tells of it.
    """
    for agent in AGENTS.values():
        for folder in (None, project):
            try:
                hooks = installed(agent, folder)
            except SettingsError:
                continue
            if any(paths_in(command).credentials == credentials for _, command in hooks):
                where = "" if folder is None else f" --project {folder}"
                yield f"pmcl hook uninstall --agent {agent.name}{where}"


def _check_one(
    settings: Settings, agent: Agent, project: Path | None, hooks: list[tuple[str, str]]
) -> Iterator[Finding]:
    name, path = f"hooks.{agent.name}", agent.settings(project)
    again = f"pmcl hook install --agent {agent.name}"
    again += "" if project is None else f" --project {project}"
    missing = [each.event for each in agent.registrations if each.event not in dict(hooks)]
    if missing:
        yield wrong(name, f"{path} has no hook for {', '.join(missing)}", again)
    for paths in {paths_in(command) for _, command in hooks}:
        yield from _check_paths(settings, name, paths, again)
    yield from _check_switches(agent, project)
    for event, command in hooks:
        # What another sidecar says of it tells nothing of this one.
        if event == _before(agent) and paths_in(command).gateway == _gateway(settings):
            yield _try(agent, path, command)


def _check_paths(settings: Settings, name: str, paths: HookPaths, again: str) -> Iterator[Finding]:
    for path in (paths.python, paths.script):
        if not path.is_file():
            yield wrong(name, f"{path} is gone: every call is blocked", again)
    if not paths.credentials.is_file():
        told = f"{paths.credentials} is gone, as is its host: every call is blocked"
        yield wrong(name, told, f"{again} --host NAME, or {again.replace('install', 'uninstall')}")
    if not os.access(paths.python, os.X_OK):
        yield wrong(name, f"{paths.python} cannot be run: every call is blocked", again)
    if paths.script.is_file() and not paths.script.samefile(client.__file__):
        yield wrong(name, f"{paths.script} is of another installation", again)
    if paths.gateway != _gateway(settings):
        told = f"it asks the sidecar of {paths.gateway.parent}, and was not tried"
        yield wrong(name, told, again)


def _gateway(settings: Settings) -> Path:
    return settings.state_dir.absolute() / "gateway.json"


def _check_switches(agent: Agent, project: Path | None) -> Iterator[Finding]:
    """Yield what in the agent's own settings keeps every hook from running."""
    for place in switched_off(agent, project):
        told = f"{place}: no hook runs"
        yield wrong(f"hooks.{agent.name}", told, "switch the hooks on there")
    if agent.name != "claude-code":
        yield unknown(f"hooks.{agent.name}", "whether it is trusted is not seen here", agent.advice)


def _before(agent: Agent) -> str:
    call: str = agent.shell_call("", Path("/"))["hook_event_name"]
    return call


def _try(agent: Agent, path: Path, command: str) -> Finding:
    """Run the installed command with the canary; it must be denied, and must do nothing."""
    with tempfile.TemporaryDirectory(prefix="pmcl-doctor-") as folder:
        marker = Path(folder) / _MARKER
        call = json.dumps(agent.shell_call(_CANARY, Path(folder)))
        try:
            ended = subprocess.run(  # noqa: S603 - what stands in the settings is what is tried
                ["/bin/sh", "-c", command],
                input=call,
                capture_output=True,
                text=True,
                cwd=folder,
                timeout=_CANARY_S,
                check=False,
            )
        except (OSError, subprocess.SubprocessError) as error:
            told = f"the command in {path} cannot be run: {error}"
            return wrong(f"canary.{agent.name}", told, "install it again")
        if marker.exists():
            told = f"the command in {path} did what it should only have judged"
            return wrong(f"canary.{agent.name}", told, "uninstall it")
    return _judged(agent, path, ended)


def _judged(agent: Agent, path: Path, ended: subprocess.CompletedProcess[str]) -> Finding:
    name = f"canary.{agent.name}"
    if ended.returncode == 2 and ended.stderr.strip() and not ended.stdout.strip():
        told = f"{path}: blocked, but nobody judged it: {ended.stderr.strip()}"
        return wrong(name, told, "see the other findings")
    reason = _denial(agent, ended.stdout) if ended.returncode == 0 else None
    if reason is not None and _HELD_FOR in reason:
        return fine(name, f"{path}: a call that must be held was denied")
    if reason is not None:
        told = f"{path}: denied, but not for what the call does: {reason}"
        return wrong(name, told, "see the other findings")
    told = f"{path}: a call that must be held was not denied (exit code {ended.returncode})"
    return wrong(name, told, "do not rely on this hook; install it again")


def _denial(agent: Agent, printed: str) -> str | None:
    try:
        answer: Any = json.loads(printed)
    except ValueError:
        return None
    return agent.denial(answer) if isinstance(answer, dict) else None
