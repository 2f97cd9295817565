"""`pmcl host`: hosts that may connect."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from pmcl.contracts import TrustLabel
from pmcl.ops.commands.groups import File, Json, Name, StateDir, host_app, run, settings_of
from pmcl.ops.console import console, print_json


@host_app.command
def add(  # noqa: PLR0913 - each is an option of the command
    name: Name,
    *,
    scope: Name,
    trust: Annotated[tuple[TrustLabel, ...], Parameter(negative=())] = (),
    root: Annotated[tuple[File, ...], Parameter(negative=())] = (),
    temp: bool = True,
    out: File | None = None,
    state_dir: StateDir = None,
    json: Json = False,
) -> None:
    """Register a host and write its credentials, with a profile of what it may do beside them.

    Args:
        name: The host's name: 1 to 64 of a-z, 0-9, _ and -.
        scope: The scope (project, tenant) it works in; the same characters.
        trust: Trust labels it may assert; without it, every label but `operator`.
        root: Folders below which it may write; default: the current one.
        temp: Whether it may write below the folders for temporary files too, as agents do.
        out: Where the credentials go; default: `credentials/` in the state directory.
        state_dir: Keys, ledger and the embedded server's store.
        json: One line of JSON.
    """
    from pmcl.hosts import load_profile
    from pmcl.ops.granted import show_granted, temporary_folders
    from pmcl.ops.host_add import add_host
    from pmcl.ops.known_hosts import credentials_of, unloaded

    settings = settings_of(state_dir=state_dir)
    profile = (out or credentials_of(settings, scope, name)).with_suffix(".toml")
    kept, roots = profile.exists(), [each.resolve() for each in root or (Path.cwd(),)]
    roots += temporary_folders(roots) if temp else []
    path = run(add_host, settings, scope, name, trust, roots, out)
    granted = load_profile(profile)
    if json:
        report = {"credentials": str(path), "profile": str(profile), "profile_kept": kept}
        report |= _as_json(unloaded(settings))
        print_json(report | {"granted": granted})
        return
    console.print(f"credentials of {scope}/{name}: {path}", soft_wrap=True)
    if kept:
        console.print("The profile was there and stays as it is, whatever --root says.")
    elif not root:
        console.print("Without --root it may write below the current folder.")
    if temp and not kept:
        console.print("It may write temporary files too; --no-temp leaves that out.")
    show_granted(granted.authority, profile, roots)
    _show_unloaded(unloaded(settings), "is refused")


@host_app.command(name="list")
def list_(*, state_dir: StateDir = None, json: Json = False) -> None:
    """List the hosts that may connect, with their lease, when each was heard last, and its key.

    Args:
        state_dir: Keys, ledger and the embedded server's store.
        json: One line of JSON.
    """
    from pmcl.ops.host_list import list_hosts, show_hosts

    found = run(list_hosts, settings_of(state_dir=state_dir))
    print_json({"hosts": found}) if json else show_hosts(found)


@host_app.command
def remove(name: Name, *, scope: Name, state_dir: StateDir = None, json: Json = False) -> None:
    """Let a host's key open nothing any more; what the host has told stays.

    Args:
        name: The host's name.
        scope: The scope that it works in.
        state_dir: Keys, ledger and the embedded server's store.
        json: One line of JSON.
    """
    from pmcl.ops.hook_checks import hooks_of
    from pmcl.ops.host_remove import remove_host
    from pmcl.ops.known_hosts import credentials_of, unloaded

    settings = settings_of(state_dir=state_dir)
    dropped = run(remove_host, settings, scope, name)
    hooks = [*hooks_of(credentials_of(settings, scope, name).absolute(), Path.cwd())]
    if json:
        report = {
            "removed": f"{scope}/{name}",
            "credentials": dropped and str(dropped),
            "hooks_to_uninstall": hooks,
        }
        print_json(report | _as_json(unloaded(settings)))
        return
    opens = "its key opens nothing" if unloaded(settings) is None else "it is to lose its key"
    console.print(f"{scope}/{name} is not registered any more: {opens}.")
    if dropped is not None:
        told = f"{dropped} is removed; the profile beside it stays."
    elif (path := credentials_of(settings, scope, name)).exists():
        told = f"{path} stays, since it is not of this key: hooks and guards still count it."
    else:
        told = "Its credentials are not in the state folder: remove them where --out wrote them."
    console.print(told, soft_wrap=True, markup=False)
    for command in hooks:
        told = f"A hook still speaks for it, so every call of that agent is blocked: {command}"
        console.print(told, soft_wrap=True, markup=False)
    if dropped is not None:
        console.print(
            "Guards with this --host hold every call; hooks of other projects block every call."
        )
    _show_unloaded(unloaded(settings), "still opens it")


def _as_json(configuration: Path | None) -> dict[str, str]:
    return {} if configuration is None else {"to_be_loaded": str(configuration)}


def _show_unloaded(configuration: Path | None, until_then: str) -> None:
    """Say what an operator's own server needs: nobody else can tell it."""
    if configuration is not None:
        told = f"Have your nats-server load {configuration} now: the key {until_then} until then."
        console.print(told, soft_wrap=True, markup=False)
        console.print("With its process: nats-server --signal reload=PID", markup=False)
