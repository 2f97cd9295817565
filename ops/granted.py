"""What a profile grants, line by line: who registers a host sees what it may do from then on."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from pmcl.contracts import AuthoritySnapshot, Grant
from pmcl.ops.console import console, shown_whole

__all__ = ["show_granted", "temporary_folders"]

_ANY: Final = "*"
_SAID: Final[dict[Grant, str]] = {"grant": "", "approve": " (asks an operator each time)"}


def show_granted(may: AuthoritySnapshot, profile: Path, roots: Sequence[Path]) -> None:
    """Print for people what a host may do, and how to narrow it; `roots` were just asked for."""
    console.print(f"what it may do, by {shown_whole(str(profile))}:", soft_wrap=True, markup=False)
    for name, said in _lines(may, {str(root) for root in roots if not root.is_dir()}):
        console.print(f"  {name:14}{shown_whole(said)}", soft_wrap=True, markup=False)
    console.print("Edit that file to narrow it; what it does not name is prohibited.")


def temporary_folders(roots: Sequence[Path]) -> list[Path]:
    """Return where programs put temporary files, resolved, as far as `roots` do not cover it."""
    places = dict.fromkeys(Path(each).resolve() for each in (tempfile.gettempdir(), "/tmp"))  # noqa: S108 - agents name it
    return [
        each
        for each in places
        if each.is_dir() and not any(each.is_relative_to(root) for root in roots)
    ]


def _lines(may: AuthoritySnapshot, missing: set[str]) -> Iterator[tuple[str, str]]:
    yield "tools", _granted(may.tools, "every tool that is not named")
    yield "effects", _granted(may.effects, "every effect")
    roots = [f"{root} (not there yet)" if root in missing else root for root in may.writable_roots]
    yield "writes below", ", ".join(roots) or "no folder"
    hosts = ["any host" if host == _ANY else host for host in may.network_hosts]
    yield "network", ", ".join(hosts) or "no host"


def _granted(grants: Mapping[Any, Grant], everything: str) -> str:
    """Return what is not prohibited, by name."""
    named = [
        (everything if name == _ANY else name) + _SAID[grant]
        for name, grant in grants.items()
        if grant != "prohibit"
    ]
    return ", ".join(named) or "none"
