"""`pmcl outbox`: what is committed and not yet told."""

import sys

from pmcl.ops.commands.groups import Json, Number, StateDir, outbox_app, run, settings_of
from pmcl.ops.console import print_json


@outbox_app.command(name="list")
def list_(*, state_dir: StateDir = None, json: Json = False) -> None:
    """List the journal's rows that LOG does not have, and what waits in hosts' files here."""
    from pmcl.ops.outbox import list_outboxes, show_outboxes

    report = run(list_outboxes, settings_of(state_dir=state_dir))
    print_json(report) if json else show_outboxes(report)


@outbox_app.command
def replay(host: str | None = None, *, state_dir: StateDir = None, json: Json = False) -> None:
    """Send again what waits; `pmcl outbox list` is the dry run. Exit code 2 when something stays.

    Args:
        host: `SCOPE/NAME`; its file alone is sent again.
        state_dir: Keys, ledger and the embedded server's store.
        json: One line of JSON.
    """
    from pmcl.ops.outbox import replay_outboxes, show_replayed

    report = run(replay_outboxes, settings_of(state_dir=state_dir), host)
    print_json(report) if json else show_replayed(report)
    if report.waiting != 0 or any(found.error or found.rows for found in report.hosts):
        sys.exit(2)


@outbox_app.command
def show(host: str, *, state_dir: StateDir = None, json: Json = False) -> None:
    """Show what waits in a host's file row by row, and what is parked.

    Args:
        host: `SCOPE/NAME`.
        state_dir: Keys, ledger and the embedded server's store.
        json: One line of JSON.
    """
    from pmcl.ops.parking import list_rows, show_rows

    found = run(list_rows, settings_of(state_dir=state_dir), host)
    print_json(found) if json else show_rows(found)


@outbox_app.command
def park(host: str, *numbers: Number, state_dir: StateDir = None, json: Json = False) -> None:
    """Set outcomes or audit receipts aside, so that the others go on; none is dropped.

    Args:
        host: `SCOPE/NAME`.
        numbers: As `pmcl outbox show` has them.
        state_dir: Keys, ledger and the embedded server's store.
        json: One line of JSON.
    """
    from pmcl.ops.parking import park_rows, show_rows

    found = run(park_rows, settings_of(state_dir=state_dir), host, numbers)
    print_json(found) if json else show_rows(found)


@outbox_app.command
def release(host: str, *numbers: Number, state_dir: StateDir = None, json: Json = False) -> None:
    """Put parked outcomes and audit receipts back, to be delivered.

    Args:
        host: `SCOPE/NAME`.
        numbers: Of these alone, as `pmcl outbox show` has them.
        state_dir: Keys, ledger and the embedded server's store.
        json: One line of JSON.
    """
    from pmcl.ops.parking import release_rows, show_rows

    found = run(release_rows, settings_of(state_dir=state_dir), host, numbers)
    print_json(found) if json else show_rows(found)
