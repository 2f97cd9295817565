"""`pmcl audit`, `rebuild`, `backup`, `restore`, `erase`: the record itself, and copies of it."""

import sys
from typing import Annotated

from cyclopts import Parameter

from pmcl.ops.commands.groups import File, Json, Name, StateDir, app, audit_app, run, settings_of
from pmcl.ops.console import print_json

BROKEN = 2
"""Exit code where the work was done and the record is not as it must be."""


@audit_app.command
def verify(*, state_dir: StateDir = None, json: Json = False) -> None:
    """Walk the journal's hash chain, LOG and the payloads; exit code 2 where one breaks.

    Args:
        state_dir: Keys, ledger and the embedded server's store.
        json: One line of JSON.
    """
    from pmcl.ops.record.audit import audit_record, show_audit
    from pmcl.ops.record.verified import keep_verified

    settings = settings_of(state_dir=state_dir)
    report = run(audit_record, settings, quiet=json)
    keep_verified(settings, report)
    print_json(report) if json else show_audit(report)
    if not report["sound"]:
        sys.exit(BROKEN)


@app.command
def rebuild(
    *,
    source: Annotated[File | None, Parameter(name="--from")] = None,
    replace: Annotated[bool, Parameter(negative=())] = False,
    state_dir: StateDir = None,
    json: Json = False,
) -> None:
    """Fold all events into an empty ledger and compare; exit code 2 where they differ.

    Args:
        source: A ledger whose journal is folded, in place of LOG.
        replace: Put the new ledger in the old one's place; that is kept beside it.
        state_dir: Keys, ledger and the embedded server's store.
        json: One line of JSON.
    """
    from pmcl.ops.record.rebuild import rebuild_ledger, show_rebuild

    settings = settings_of(state_dir=state_dir)
    report = run(rebuild_ledger, settings, source, replace=replace, quiet=json)
    print_json(report) if json else show_rebuild(report)
    if not report["same"]:
        sys.exit(BROKEN)


@app.command
def backup(place: File, *, state_dir: StateDir = None, json: Json = False) -> None:
    """Write a verified copy of the ledger and its key into a new folder, while it works.

    Args:
        place: The folder; it must be empty, or not there.
        state_dir: Keys, ledger and the embedded server's store.
        json: One line of JSON.
    """
    from pmcl.ops.record.backup import make_backup, show_backup

    made = run(make_backup, settings_of(state_dir=state_dir), place, quiet=json)
    print_json(made) if json else show_backup(made)


@app.command
def backups(*, state_dir: StateDir = None, json: Json = False) -> None:
    """List the backups that the ledger knows of, newest first."""
    from pmcl.ops.record.backup import list_backups, show_backups

    found = run(list_backups, settings_of(state_dir=state_dir))
    print_json(found) if json else show_backups(found)


@app.command
def restore(
    place: File,
    *,
    replace: Annotated[bool, Parameter(negative=())] = False,
    state_dir: StateDir = None,
    json: Json = False,
) -> None:
    """Verify a backup and, with --replace, put it in the ledger's place; no sidecar may run.

    Args:
        place: The backup's folder.
        replace: Do it; the ledger that is there is kept beside it.
        state_dir: Keys, ledger and the embedded server's store.
        json: One line of JSON.
    """
    from pmcl.ops.record.restore import restore_backup, show_restore

    settings = settings_of(state_dir=state_dir)
    report = run(restore_backup, settings, place, replace=replace, quiet=json)
    print_json(report) if json else show_restore(report)


@app.command
def erase(
    *evidence: str,
    scope: Name,
    host: Name | None = None,
    yes: Annotated[bool, Parameter(negative=())] = False,
    state_dir: StateDir = None,
    json: Json = False,
) -> None:
    """Erase content for good, in a running sidecar; without --yes only count it.

    Args:
        evidence: Ids of single observations; what names them goes as well.
        scope: Whose content.
        host: Of this host of the scope alone.
        yes: Do it. Envelopes stay, and the chain still verifies.
        state_dir: Keys, ledger and the embedded server's store.
        json: One line of JSON.
    """
    from pmcl.ops.record.erase import (
        as_json,
        ask_erasure,
        find_left,
        show_erasure,
        wait_erasure,
    )

    settings = settings_of(state_dir=state_dir)
    asked = run(ask_erasure, settings, scope, host, evidence, dry_run=not yes)
    done = run(wait_erasure, settings, asked, quiet=json) if yes else None
    left = run(find_left, settings, asked, scope, host, evidence)
    print_json(as_json(asked, done, left)) if json else show_erasure(asked, done, left)


@app.command
def erasures(*, state_dir: StateDir = None, json: Json = False) -> None:
    """List what was erased, or is being erased, newest first."""
    from pmcl.ops.record.erase import list_erasures, show_erasures

    found = run(list_erasures, settings_of(state_dir=state_dir))
    print_json(found) if json else show_erasures(found)
