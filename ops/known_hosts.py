"""The hosts of which this machine has credentials, found by name."""

from pathlib import Path

from pmcl.bus import ServerConfig
from pmcl.contracts import PmclError
from pmcl.hosts import HostConfig, load_host, profile_path
from pmcl.ops.settings import Settings

__all__ = [
    "HostNotFoundError",
    "credentials_dir",
    "credentials_of",
    "find_credentials",
    "find_host",
    "find_profile",
    "unloaded",
]


class HostNotFoundError(PmclError):
    """No host, or more than one, goes by a name; the message lists those that there are."""


def credentials_dir(settings: Settings) -> Path:
    """Return where `pmcl host add` puts credentials if nothing else was said."""
    return settings.state_dir / "credentials"


def credentials_of(settings: Settings, scope: str, host: str) -> Path:
    """Return where the credentials of a host go if nothing else was said."""
    return credentials_dir(settings) / f"{scope}.{host}.json"


def find_profile(settings: Settings, scope: str, host: str) -> Path | None:
    """Return the profile of a host; `None` where it is not where `pmcl host add` puts it."""
    path = profile_path(credentials_of(settings, scope, host))
    return path if path.is_file() else None


def unloaded(settings: Settings) -> Path | None:
    """Return what a server of the operator's own must load again to know the hosts as they are."""
    if settings.server_url is None:
        return None
    return ServerConfig(state_dir=settings.state_dir / "nats").configuration


def find_host(settings: Settings, name: str | None) -> HostConfig:
    """Return the configuration of a host, from its credentials and its profile.

    Raises:
        HostNotFoundError: see `find_credentials`.
        KeyringError, ProfileError: its files cannot be used.
    """
    return load_host(find_credentials(settings, name), settings.state_dir)


def find_credentials(settings: Settings, name: str | None) -> Path:
    """Return the credentials file that a name stands for.

    `name` is a host, `scope/host`, or a file; without it, the only host there is.

    Raises:
        HostNotFoundError: none, or more than one, goes by the name.
    """
    if name is not None and name.endswith(".json"):
        return Path(name)
    known = {
        path.stem.replace(".", "/", 1): path
        for path in sorted(credentials_dir(settings).glob("*.json"))
    }
    found = [path for host, path in known.items() if name in (None, host, host.partition("/")[2])]
    if len(found) == 1:
        return found[0]
    raise HostNotFoundError(_told(name, list(known), len(found)))


def _told(name: str | None, known: list[str], found: int) -> str:
    whose = "a host" if name is None else f"host {name!r}"
    if not known:
        return (
            f"there are no credentials of {whose} here: `pmcl host add NAME --scope S` makes some"
            " (those that it wrote elsewhere with --out are named by their file)"
        )
    there = ", ".join(known)
    if found == 0:
        return f"no host {name!r} here, but {there}"
    which = "host" if name is None else f"host {name!r}"
    return f"which {which} is meant? say it with --host: {there}"
