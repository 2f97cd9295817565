"""What one host may do, as its operator wrote it down; every adapter of the host reads the same.

Equal snapshots make the guard, the hook and the client of one host join one lease.
Source: SPEC A1.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, get_args

import msgspec

from pmcl.bus import Credentials
from pmcl.contracts import AuthoritySnapshot, Effect, Grant, HostError
from pmcl.hosts.config import HostConfig

__all__ = ["Profile", "ProfileError", "load_host", "load_profile", "new_profile", "profile_path"]

_TEMPLATE: Final = """\
# What this host may do: grant, approve (an operator is asked each time) or prohibit.
# What is not named is prohibited. A verdict only ever vetoes: it never widens this.

writable_roots = {roots}
network_hosts = ["*"]  # host names; "*" stands for any
provider_locality = "nonlocal"  # where the model runs: local, nonlocal

[tools]  # "server/name"; "*" stands for every tool that is not named
"*" = "grant"

[effects]
inspect_local = "grant"
network = "grant"
sensing = "approve"
mutation = "grant"
communication = "grant"
execution = "grant"
"""


_GRANTS: Final = get_args(Grant)
_EFFECTS: Final = get_args(Effect)


class ProfileError(HostError):
    """A profile cannot be used; the message names the file, the key and what is allowed."""


class Profile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file's content."""

    tools: dict[str, Grant]
    effects: dict[Effect, Grant]
    writable_roots: tuple[str, ...] = ()
    network_hosts: tuple[str, ...] = ()
    provider_locality: Literal["local", "nonlocal"] = "nonlocal"

    @property
    def authority(self) -> AuthoritySnapshot:
        """The snapshot that a lease is begun with."""
        return AuthoritySnapshot(
            tools=self.tools,
            effects=self.effects,
            writable_roots=self.writable_roots,
            network_hosts=self.network_hosts,
        )


def profile_path(credentials: Path) -> Path:
    """Return where the profile of a credentials file lies: beside it."""
    return credentials.with_suffix(".toml")


def new_profile(roots: Sequence[Path]) -> str:
    """Return the text of a profile that grants all but sensing, and writing below `roots` only."""
    return _TEMPLATE.format(roots=json.dumps([str(root) for root in roots]))


def load_host(credentials: Path, state_dir: Path | None = None) -> HostConfig:
    """Return the configuration of the host that the credentials belong to.

    Args:
        credentials: the file that `pmcl host add` wrote.
        state_dir: the sidecar's, in which the file that all processes of the host share lies; when
            `None`, the one that `PMCL_STATE_DIR` names, else that of the user.

    Raises:
        KeyringError: the credentials are missing, malformed, or readable by others.
        ProfileError: the profile beside them is missing or does not fit.
    """
    profile = load_profile(profile_path(credentials))
    return HostConfig(
        credentials=Credentials.load(credentials),
        authority=profile.authority,
        state_dir=None if state_dir is None else state_dir / "hosts",
        provider_locality=profile.provider_locality,
    )


def load_profile(path: Path) -> Profile:
    """Return what a profile says.

    Raises:
        ProfileError: it is missing or does not fit.
    """
    if path.exists() and not path.is_file():  # reading a pipe would wait for ever
        raise ProfileError(f"profile {path}: it is no file")
    try:
        told = msgspec.toml.decode(path.read_bytes())
    except (OSError, ValueError, RecursionError, msgspec.DecodeError) as error:
        raise ProfileError(f"profile {path}: {error}") from error
    try:
        return msgspec.convert(told, Profile)
    except msgspec.ValidationError as error:
        raise ProfileError(f"profile {path}: {_misfit(told) or error}") from error


def _misfit(told: Mapping[str, Any]) -> str | None:
    """Return which line of a table does not fit: the library that converts names none."""
    for table in ("tools", "effects"):
        lines = told.get(table)
        for name, grant in lines.items() if isinstance(lines, dict) else ():
            if table == "effects" and name not in _EFFECTS:
                return f"{name!r} is no effect, allowed in effects: one of {', '.join(_EFFECTS)}"
            if grant not in _GRANTS:
                return f"{table}.{name!r} is {grant!r}, allowed: one of {', '.join(_GRANTS)}"
    return None
