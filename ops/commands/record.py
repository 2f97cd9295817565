"""`pmcl audit`: whether the record is what it was."""

import sys

from pmcl.ops.commands.groups import Json, StateDir, audit_app, run, settings_of
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

    report = run(audit_record, settings_of(state_dir=state_dir), quiet=json)
    print_json(report) if json else show_audit(report)
    if not report["sound"]:
        sys.exit(BROKEN)
