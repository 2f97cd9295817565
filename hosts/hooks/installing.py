"""The hook stands in an agent's settings once, whole, or not at all; all else there is the user's.

A file is replaced in one step, keeps its mode, and the text that it had lies beside it.
"""

import difflib
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from pmcl.hosts.hooks.agent import Agent
from pmcl.hosts.hooks.command import HookPaths, SettingsError, groups_of, is_ours
from pmcl.hosts.hooks.settings_text import SettingsText

__all__ = [
    "SettingsChange",
    "installed",
    "plan_install",
    "plan_uninstall",
    "read_settings",
    "write_settings",
]

_NOTHING = "{}"
_SIZE_MAX_BYTES = 4 * 1024 * 1024


class SettingsChange(msgspec.Struct, frozen=True, kw_only=True):
    """What would become of one settings file.

    Attributes:
        path: where the file is, links followed.
        before: its text; `None` when there is none.
        removes: the file goes, since nothing is left in it.
    """

    path: Path
    before: str | None
    after: str
    removes: bool = False

    @property
    def is_needed(self) -> bool:
        """Whether the file would be another."""
        return self.after != (self.before or "")

    @property
    def backup(self) -> Path:
        """Where the text that it had is kept."""
        return self.path.with_name(f"{self.path.name}.before-pmcl")

    @property
    def diff(self) -> str:
        """What changes, as a unified diff."""
        before = (self.before or "").splitlines(keepends=True)
        lines = difflib.unified_diff(
            before, self.after.splitlines(keepends=True), str(self.path), str(self.path)
        )
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def plan_install(agent: Agent, project: Path | None, paths: HookPaths) -> SettingsChange:
    """Return the change after which the hook is installed with these paths, and only so.

    Raises:
        SettingsError: the file cannot be read or is no JSON; the message says where.
    """
    path, before = _read(agent, project)
    settings = _parsed(path, before)
    wanted = groups_of(agent, paths)
    ours = [(event, group) for event, group in settings.groups() if _is_all_ours(group)]
    if sorted(ours, key=repr) != sorted(wanted, key=repr) or _handlers(settings) != len(wanted):
        settings = settings.without(is_ours)
        with _named(path):
            for event, group in wanted:
                settings = settings.with_group(event, group)
    return SettingsChange(path=path, before=before, after=settings.text)


def plan_uninstall(agent: Agent, project: Path | None) -> SettingsChange:
    """Return the change after which nothing of ours is installed. Raises as `plan_install`."""
    path, before = _read(agent, project)
    if before is None:
        return SettingsChange(path=path, before=None, after="")
    after = _parsed(path, before).without(is_ours).text
    change = SettingsChange(path=path, before=before, after=after)
    if change.is_needed and after.strip() == _NOTHING and not change.backup.exists():
        return msgspec.structs.replace(change, removes=True)  # there was no file before ours
    return change


def installed(agent: Agent, project: Path | None) -> list[tuple[str, str]]:
    """Return event and command of each hook of ours. Raises as `plan_install`."""
    path, before = _read(agent, project)
    handlers = [] if before is None else _parsed(path, before).handlers()
    return [
        (event, handler["command"])
        for event, handler in handlers
        if is_ours(handler.get("command"))
    ]


def read_settings(agent: Agent, project: Path | None) -> dict[str, Any]:
    """Return what the settings say; nothing without a file. Raises as `plan_install`."""
    path, before = _read(agent, project)
    return _parsed(path, before).value


def write_settings(change: SettingsChange) -> None:
    """The file is as the change says, whole, with the mode it had; its old text is kept beside it.

    One that held nothing but ours is gone, and nothing is kept of it.

    Raises:
        SettingsError: it cannot be written, or was changed meanwhile.
    """
    try:
        change.path.parent.mkdir(parents=True, exist_ok=True)
        mode = stat.S_IMODE(change.path.stat().st_mode) if change.before is not None else 0o600
        if _text(change.path) != change.before:
            raise SettingsError(f"{change.path} was changed meanwhile: try again")
        if change.removes:
            change.path.unlink(missing_ok=True)
            return
        if change.before is not None:
            _replace(change.backup, change.before, mode)
        _replace(change.path, change.after, mode)
    except OSError as error:
        raise SettingsError(f"{change.path} cannot be written: {error}") from error


def _replace(path: Path, text: str, mode: int) -> None:
    whole = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(whole, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        whole.replace(path)
    except BaseException:
        whole.unlink(missing_ok=True)
        raise


def _read(agent: Agent, project: Path | None) -> tuple[Path, str | None]:
    path = Path(os.path.realpath(agent.settings(project)))
    try:
        return path, _text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from error


def _text(path: Path) -> str | None:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            text = file.read(_SIZE_MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    if len(text) > _SIZE_MAX_BYTES:
        raise SettingsError(f"{path} has more than {_SIZE_MAX_BYTES} characters")
    return text


def _parsed(path: Path, text: str | None) -> SettingsText:
    with _named(path):
        return SettingsText(text or "")


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Name the file in what is wrong with its text."""
    try:
        yield
    except SettingsError as error:
        raise SettingsError(f"{path}: {error}; nothing was changed") from error


def _is_all_ours(group: dict[str, list[dict[str, object]]]) -> bool:
    return bool(group["hooks"]) and all(is_ours(each.get("command")) for each in group["hooks"])


def _handlers(settings: SettingsText) -> int:
    return sum(is_ours(handler.get("command")) for _, handler in settings.handlers())
