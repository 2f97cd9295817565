"""Who may say what: hosts reach the core by service imports of exactly their kinds, nothing else.

A host can publish only under its own name, read only its own inboxes and its own committed events,
and no `reply=` of its making is resolved in the core account. Workers answer only to inboxes. Only
the operator says what operators say. Nobody has `allow_responses`.

Source: facts/reliability, the accounts that were verified; DESIGN section 2.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from pmcl.bus.keys import IDENTITIES, HostEntry, Identity, Keyring
from pmcl.contracts import CHECKPOINT_VERBS, LEASE_VERBS, PREFIX, STORED_PREFIX, inbox_prefix

__all__ = [
    "DURABLES",
    "READER",
    "REQUESTS",
    "SERVICES",
    "accounts_configuration",
    "core_permissions",
    "host_permissions",
]

DURABLES: Final[Mapping[str, str]] = {
    "observe": f"{PREFIX}.observation.*.*",
    "outcome": f"{PREFIX}.outcome.*.*",
}
"""The durable consumers of INTAKE and what they are for."""

READER: Final = "replay"
"""The name of the consumer that a page is read by; it is gone when the page is read."""

REQUESTS: Final = ("checkpoint", "context", "lease", "ops")
"""The kinds that a worker answers."""

SERVICES: Final = (
    f"{PREFIX}.checkpoint.*.*.*",
    f"{PREFIX}.context.*.*",
    f"{PREFIX}.lease.*.*.*",
    f"{PREFIX}.observation.*.*",
    f"{PREFIX}.outcome.*.*",
)
"""All that a host can say to the core."""

Permissions = tuple[tuple[str, ...], tuple[str, ...]]
"""What may be published, what may be subscribed to."""


def host_permissions(scope: str, host: str) -> Permissions:
    """Return what one host may do, in account HOSTS."""
    name = f"{scope}.{host}"
    inboxes = f"{inbox_prefix(scope, host)}.>"
    spoken = (
        *(f"{PREFIX}.checkpoint.{name}.{verb}" for verb in CHECKPOINT_VERBS),
        f"{PREFIX}.context.{name}",
        *(f"{PREFIX}.lease.{name}.{verb}" for verb in LEASE_VERBS),
        f"{PREFIX}.observation.{name}",
        f"{PREFIX}.outcome.{name}",
        inboxes,  # the watchdog asks itself
    )
    return spoken, (inboxes, f"{STORED_PREFIX}.event.{name}.>")


def core_permissions(identity: Identity) -> Permissions:
    """Return what one of the sidecar's identities may do, in account CORE."""
    inboxes = f"_INBOX.{identity}.>"
    match identity:
        case "admin":
            return ("$JS.API.>", inboxes), (inboxes,)
        case "operator":
            return (f"{PREFIX}.ops.>", inboxes), (f"{STORED_PREFIX}.>", inboxes)
        case "relay":
            return (
                f"{PREFIX}.event.>",
                f"{PREFIX}.reflection.>",
                "$JS.API.STREAM.INFO.LOG",
                "$JS.API.STREAM.MSG.GET.LOG",
                inboxes,
            ), (inboxes,)
        case "worker":
            requests = (f"{PREFIX}.{kind}.>" for kind in REQUESTS)
            return (
                f"{PREFIX}.deadletter.>",
                "$JS.API.STREAM.INFO.DEADLETTERS",
                "$JS.API.STREAM.INFO.INTAKE",
                "$JS.API.STREAM.MSG.GET.DEADLETTERS",
                *(subject for durable in DURABLES for subject in _consuming(durable)),
                *_reading(),
                "_INBOX.>",
                "_R_.>",  # where a reply to an imported request goes
            ), (*requests, inboxes)


def _consuming(durable: str) -> Iterable[str]:
    yield f"$JS.API.CONSUMER.MSG.NEXT.INTAKE.{durable}"
    yield f"$JS.API.CONSUMER.INFO.INTAKE.{durable}"
    yield f"$JS.ACK.INTAKE.{durable}.>"


def _reading() -> Iterable[str]:
    """Yield what it takes to read INTAKE again; the durable consumers stay out of reach."""
    for verb in ("CREATE", "DELETE", "MSG.NEXT"):
        yield f"$JS.API.CONSUMER.{verb}.INTAKE.{READER}"


def accounts_configuration(keyring: Keyring) -> str:
    """Return the `accounts` block of the server's configuration."""
    core = "\n".join(
        _user(keyring.public_key(identity), core_permissions(identity)) for identity in IDENTITIES
    )
    hosts = "\n".join(_host(name, entry) for name, entry in keyring.hosts().items())
    exports = "\n".join(f'      {{service: "{subject}"}}' for subject in SERVICES)
    imports = "\n".join(
        f'      {{service: {{account: CORE, subject: "{subject}"}}}}' for subject in SERVICES
    )
    return f"""\
accounts {{
  CORE {{
    jetstream: enabled
    exports = [
{exports}
      {{stream: "{STORED_PREFIX}.>"}}
    ]
    users = [
{core}
    ]
  }}
  HOSTS {{
    imports = [
{imports}
      {{stream: {{account: CORE, subject: "{STORED_PREFIX}.>"}}}}
    ]
    users = [
{hosts}
    ]
  }}
}}
"""


def _host(name: tuple[str, str], entry: HostEntry) -> str:
    return _user(entry.nkey, host_permissions(*name))


def _user(nkey: str, permissions: Permissions) -> str:
    publish, subscribe = (", ".join(f'"{subject}"' for subject in side) for side in permissions)
    return (
        f"      {{nkey: {nkey}, permissions: {{"
        f"publish: {{allow: [{publish}]}}, subscribe: {{allow: [{subscribe}]}}}}}}"
    )
