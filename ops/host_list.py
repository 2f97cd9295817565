"""`pmcl host list`: who may connect, when each was heard last, and by which key; no secret is read.

A key is told by the fingerprint of its public half. What lies in a credentials file is looked at
only to say whether it is the key that is registered.
"""

from typing import Final, Literal

import anyio.to_thread
import msgspec

from pmcl.bus import Credentials, HostEntry, Keyring, KeyringError, public_key
from pmcl.contracts import TrustLabel, sha256
from pmcl.ops.console import console, shown_time
from pmcl.ops.known_hosts import credentials_of, find_profile
from pmcl.ops.rows import print_rows
from pmcl.ops.settings import Settings
from pmcl.store import Reader, load_queries, open_reader

__all__ = ["HostView", "list_hosts", "show_hosts"]

_queries = load_queries("pmcl.ops", "host_list")
_FINGERPRINT_CHARS: Final = 16

CredentialsState = Literal["here", "another key", "unusable", "elsewhere"]
_MEANINGS: Final[dict[CredentialsState, str]] = {
    "another key": "the file in the state folder is not of the key that is registered",
    "unusable": "the file in the state folder is no credentials file that only you can read",
    "elsewhere": "none in the state folder: wherever `pmcl host add --out` wrote them",
}


class HostView(msgspec.Struct, frozen=True, kw_only=True):
    """One registered host.

    Attributes:
        fingerprint: of its public key: the first 16 hex digits of SHA-256.
        trust: labels that it may assert.
        credentials: whether the file in the state directory holds this very key; `elsewhere` when
            there is none.
        profile: where what it may do is written down; `None` when that is elsewhere, too.
        generation, lease: of its newest lease; `None` and `never` when it had none.
        heard_at: milliseconds since the epoch.
    """

    scope: str
    host: str
    fingerprint: str
    trust: tuple[TrustLabel, ...]
    credentials: CredentialsState
    profile: str | None
    generation: int | None = None
    lease: str = "never"
    heard_at: int | None = None


async def list_hosts(settings: Settings) -> list[HostView]:
    """Return the registered hosts by scope and name; nothing is made where there is none.

    Raises:
        KeyringError: the registry is malformed.
    """
    found = await anyio.to_thread.run_sync(_registered, settings)
    if not settings.ledger_path.exists():
        return found
    async with open_reader(settings.ledger_path) as reader:
        return [await _with_lease(reader, each) for each in found]


def _registered(settings: Settings) -> list[HostView]:
    keys = settings.state_dir / "keys"
    if not keys.is_dir():
        return []
    hosts = Keyring(keys).hosts()
    return [_view(settings, scope, host, entry) for (scope, host), entry in hosts.items()]


def _view(settings: Settings, scope: str, host: str, entry: HostEntry) -> HostView:
    profile = find_profile(settings, scope, host)
    return HostView(
        scope=scope,
        host=host,
        fingerprint=sha256(entry.nkey.encode())[:_FINGERPRINT_CHARS],
        trust=entry.trust,
        credentials=_credentials(settings, scope, host, entry),
        profile=None if profile is None else str(profile),
    )


def _credentials(settings: Settings, scope: str, host: str, entry: HostEntry) -> CredentialsState:
    path = credentials_of(settings, scope, host)
    if not path.exists():
        return "elsewhere"
    try:
        known = public_key(Credentials.load(path).seed)
    except KeyringError:
        return "unusable"
    return "here" if known == entry.nkey else "another key"


async def _with_lease(reader: Reader, host: HostView) -> HostView:
    row = await reader.one(_queries.newest_lease, scope=host.scope, host=host.host)
    if row is None:
        return host
    return msgspec.structs.replace(
        host, generation=row["generation"], lease=row["state"], heard_at=row["heard_at"]
    )


def show_hosts(hosts: list[HostView]) -> None:
    """Print the hosts for people."""
    if not hosts:
        console.print("No host is registered: `pmcl host add NAME --scope S` makes one.")
        return
    names = ("host", "generation", "last heard", "key", "credentials")
    rows = [
        (
            f"{each.scope}/{each.host}",
            each.lease if each.generation is None else f"{each.generation} {each.lease}",
            shown_time(each.heard_at),
            each.fingerprint,
            each.credentials,
        )
        for each in hosts
    ]
    print_rows(names, rows)
    for state in dict.fromkeys(each.credentials for each in hosts):
        if state in _MEANINGS:
            console.print(f"credentials {state}: {_MEANINGS[state]}.", soft_wrap=True)
