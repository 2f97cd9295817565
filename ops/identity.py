"""`pmcl identity`: who the agents of a scope are, as an operator configures it, and since when."""

import tomllib
from pathlib import Path
from typing import Any, Final

import msgspec

from pmcl.contracts import (
    Identity,
    IdentityVersion,
    Mismatch,
    PmclError,
    SetIdentity,
    convert,
    schema_of,
)
from pmcl.ledger import identities
from pmcl.ops.asking import ask_sidecar, operator_label
from pmcl.ops.console import console, shown_time, shown_whole
from pmcl.ops.reach import check_ledger
from pmcl.ops.settings import Settings
from pmcl.store import open_reader

__all__ = [
    "IdentityFileError",
    "list_identities",
    "read_identity",
    "set_identity",
    "show_identities",
    "show_identity_set",
]

_LISTED_MAX: Final = 16
_FILE_MAX_BYTES: Final = 1024 * 1024


class IdentityFileError(PmclError):
    """The file cannot be read, or is no TOML; the message names it and says why."""


def read_identity(file: Path) -> Identity:
    """Return what a TOML file says; it may be a pipe, and whoever waits for one can stop it.

    Raises:
        IdentityFileError: it cannot be read, is no TOML, or does not say what it should.
    """
    try:
        with file.open("rb") as opened:
            text = opened.read(_FILE_MAX_BYTES + 1)
        if len(text) > _FILE_MAX_BYTES:
            raise IdentityFileError(f"{file} has more than {_FILE_MAX_BYTES} bytes")
        return msgspec.convert(tomllib.loads(text.decode()), Identity)
    except OSError as error:
        raise IdentityFileError(f"{file}: {error.strerror}") from error
    except msgspec.ValidationError as error:
        raise IdentityFileError(f"{file}: {_misfit(error)}") from error
    except (ValueError, RecursionError) as error:
        raise IdentityFileError(f"{file}: it is no TOML: {error}") from error


def _misfit(error: msgspec.ValidationError) -> str:
    found = Mismatch.of(error)
    if found.unknown is None:
        return f"{found.path} does not fit, allowed: {found.limit}"
    return f"{found.unknown!r} is no part, allowed: {', '.join(Identity.__struct_fields__)}"


async def set_identity(settings: Settings, scope: str, identity: Identity) -> IdentityVersion:
    """Return the version that stands: a new one, unless it says what stood before.

    Raises:
        ContractError: the scope does not fit.
        RefusedError, BusError, HostError: as `ask_sidecar`.
    """
    fields = {
        "schema": schema_of(SetIdentity),
        "of_scope": scope,
        "identity": msgspec.to_builtins(identity),
        "label": operator_label(),
    }
    return await ask_sidecar(settings, "identity", convert(fields, SetIdentity), IdentityVersion)


async def list_identities(settings: Settings, scope: str) -> dict[str, Any]:
    """Return the newest versions, newest first: `{"versions": [...]}`.

    Raises:
        LedgerError: there is no ledger.
    """
    check_ledger(settings)
    async with open_reader(settings.ledger_path) as reader:
        found = await identities.versions(reader, scope, _LISTED_MAX)
    return {"versions": [msgspec.to_builtins(each) for each in found]}


def show_identities(found: dict[str, Any]) -> None:
    """Print the versions for people."""
    if not found["versions"]:
        console.print("No identity is configured.")
    for each in found["versions"]:
        since = shown_time(each["configured_at"])
        console.print(f"version {each['version']}, since {since}, by {each['configured_by']}")
        for name, value in (each["identity"] or {"text": "(unavailable)"}).items():
            shown = "; ".join(value) if isinstance(value, list) else value
            console.print(f"  {name:<15}{shown_whole(shown)}", markup=False, soft_wrap=True)


def show_identity_set(found: IdentityVersion) -> None:
    """Print which version stands."""
    since = shown_time(found.configured_at)
    console.print(f"Version {found.version} stands, since {since}, by {found.by}.")
