"""`pmcl replay`: stored messages are handed to their workers once more."""

import sys
from datetime import UTC, datetime, timedelta
from typing import Annotated

from cyclopts import Parameter

from pmcl.contracts import PmclError, Selection
from pmcl.ops.commands.groups import (
    DryRun,
    Json,
    Name,
    Number,
    Rate,
    StateDir,
    app,
    run,
    settings_of,
)
from pmcl.ops.console import print_json
from pmcl.ops.misuse import MisuseError

Moment = datetime | timedelta | None


@app.command
def replay(  # noqa: PLR0913 - each is an option of the command
    *,
    from_: Annotated[Number | None, Parameter(name="--from")] = None,
    to: Number | None = None,
    since: Moment = None,
    until: Moment = None,
    subject: str | None = None,
    worker: str | None = None,
    scope: Name | None = None,
    host: Name | None = None,
    rate: Rate = None,
    dry_run: DryRun = False,
    state_dir: StateDir = None,
    json: Json = False,
) -> None:
    """Hand messages of INTAKE to their workers again; what was done before changes nothing.

    Ctrl-C stops between any two, and says where to go on. Exit code 2 when some failed.

    Args:
        from_: The first sequence of the stream.
        to: The last one; without it, what is the last one now.
        since: Stored at this time (UTC) or later; or so long ago at most, as 90m.
        until: Stored before this time.
        subject: With such a subject, as pmcl.v1.observation.demo.* or pmcl.v1.outcome.>; instead
            of worker, scope and host.
        worker: Those that this worker takes: observe or outcome.
        scope: Of hosts of this scope.
        host: Of hosts of this name.
        rate: So many a second at most.
        dry_run: Change nothing; tell what would become of each.
        state_dir: Keys, ledger and the embedded server's store.
        json: One line of JSON.
    """
    from pmcl.ops.stream_replay import ReplayReport, Stretch, show_replay
    from pmcl.ops.stream_replay import replay as replay_stretch

    stretch = Stretch(
        selection=_selection(subject, Selection(worker=worker, scope=scope, host=host)),
        first=from_,
        last=to,
        since_ms=_ms(since),
        until_ms=_ms(until),
    )
    report = ReplayReport(dry_run=dry_run)
    settings = settings_of(state_dir=state_dir)
    try:
        run(replay_stretch, settings, stretch, report, per_second=rate, quiet=json)
    except (KeyboardInterrupt, PmclError):
        if report.messages:
            print_json(report) if json else show_replay(report)
        raise
    print_json(report) if json else show_replay(report)
    if report.left:
        sys.exit(2)


def _selection(subject: str | None, named: Selection) -> Selection:
    """Return what is meant, said in one of the two ways."""
    from pmcl.ops.subject_filter import selection_of

    if subject is None:
        return named
    if named != Selection():
        raise MisuseError("subject says worker, scope and host: name it alone, or without it them")
    return selection_of(subject)


def _ms(moment: Moment) -> int | None:
    """Return a moment in milliseconds; one without a zone is UTC, a length of time is ago."""
    match moment:
        case None:
            return None
        case timedelta():
            return int((datetime.now(UTC).timestamp() - moment.total_seconds()) * 1000)
        case datetime(tzinfo=None):
            at = moment.replace(tzinfo=UTC)
        case _:
            at = moment
    return int(at.timestamp() * 1000)
