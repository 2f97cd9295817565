"""`pmcl evidence`: what an id that a hold or a verdict cites stands for."""

from pmcl.ops.commands.groups import Json, StateDir, evidence_app, run, settings_of
from pmcl.ops.console import print_json


@evidence_app.command
def show(evidence: str, *, state_dir: StateDir = None, json: Json = False) -> None:
    """Show one observation: who saw what and when, what it rests on, and its redacted content."""
    from pmcl.ops.evidence import read_evidence, show_evidence

    found = run(read_evidence, settings_of(state_dir=state_dir), evidence)
    print_json(found) if json else show_evidence(found)
