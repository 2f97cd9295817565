"""`pmcl outbox`: what is committed and not yet told."""

import sys

from pmcl.ops.commands.groups import Json, StateDir, outbox_app, run, settings_of
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
