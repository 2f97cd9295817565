"""`pmcl deadletters`: messages that could not be dealt with."""

import sys

from pmcl.contracts import PmclError
from pmcl.ops.commands.groups import (
    Count,
    DryRun,
    Json,
    Number,
    Rate,
    StateDir,
    dead_letters_app,
    run,
    settings_of,
)
from pmcl.ops.console import print_json


@dead_letters_app.command(name="list")
def list_(
    *,
    worker: str | None = None,
    reason: str | None = None,
    limit: Count = 256,
    state_dir: StateDir = None,
    json: Json = False,
) -> None:
    """List the dead letters, the oldest first.

    Args:
        worker: Of this worker alone.
        reason: Of this reason alone.
        limit: So many at most.
        state_dir: Keys, ledger and the embedded server's store.
        json: One line of JSON.
    """
    from pmcl.ops.dead_letters import Wanted, list_letters, show_letters

    wanted = Wanted(worker=worker, reason=reason, limit=limit)
    found = run(list_letters, settings_of(state_dir=state_dir), wanted)
    print_json(found) if json else show_letters(found)


@dead_letters_app.command
def show(number: Number, *, state_dir: StateDir = None, json: Json = False) -> None:
    """Show one dead letter with its content, secrets marked."""
    from pmcl.ops.dead_letters import read_letter, show_letter

    found = run(read_letter, settings_of(state_dir=state_dir), number)
    print_json(found) if json else show_letter(found)


@dead_letters_app.command
def redrive(  # noqa: PLR0913 - each is an option of the command
    number: Number | None = None,
    *,
    worker: str | None = None,
    reason: str | None = None,
    limit: Count = 256,
    rate: Rate = None,
    dry_run: DryRun = False,
    state_dir: StateDir = None,
    json: Json = False,
) -> None:
    """Have dead letters dealt with after all, each once; Ctrl-C between any two is safe.

    Args:
        number: This one alone.
        worker: Of this worker alone.
        reason: Of this reason alone.
        limit: So many at most, the oldest first.
        rate: So many a second at most.
        dry_run: Change nothing; tell what would become of each.
        state_dir: Keys, ledger and the embedded server's store.
        json: One line of JSON.
    """
    from pmcl.ops.dead_letters import DeadLetterNotFoundError, Wanted
    from pmcl.ops.redriving import RedriveReport, show_redriven
    from pmcl.ops.redriving import redrive as redrive_letters

    settings = settings_of(state_dir=state_dir)
    wanted = Wanted(sequence=number, worker=worker, reason=reason, limit=limit)
    report = RedriveReport(dry_run=dry_run)
    try:
        run(redrive_letters, settings, wanted, report, per_second=rate, quiet=json)
    except (KeyboardInterrupt, PmclError):
        if report.found:
            print_json(report) if json else show_redriven(report)
        raise
    if number is not None and not report.found:
        raise DeadLetterNotFoundError(number)
    print_json(report) if json else show_redriven(report)
    if report.left:
        sys.exit(2)
