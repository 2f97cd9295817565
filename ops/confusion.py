"""`pmcl evaluate effects`: the sidecar's own effect of each recorded call, beside a person's label.

The label is read for counting only; no bus, no ledger and no claim is involved.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, get_args

import anyio.to_thread
from rich.table import Table

from pmcl.contracts import CheckpointRequest, Effect, Tool
from pmcl.judgement import classify
from pmcl.ops.console import console
from pmcl.ops.recordings import RecordedStep, Recording, read_recordings
from pmcl.ops.rules import load_rules
from pmcl.ops.settings import Settings

__all__ = ["count_effects", "show_confusion"]

_NOT_ASKED: Final = "0" * 64
_EFFECTS: Final[tuple[Effect, ...]] = get_args(Effect)


async def count_effects(settings: Settings, files: Sequence[Path]) -> dict[str, Any]:
    """Return how often each effect was found for each label, and by which rules otherwise.

    Args:
        settings: name the operator's rules, which count as well.
        files: recorded traces, as `pmcl evaluate traces` takes them.

    Returns:
        `{"labels": {label: {effect: calls}}, "others": [{"label", "effect", "server", "tool",
        "rules", "n"}]}`; `others` are those whose effect is not the label (`read` and `generic`
        are inspect_local), the most frequent first.

    Raises:
        RecordingError: a file or a line cannot be read.
        SettingsError: the rules file does not fit.
    """
    return await anyio.to_thread.run_sync(_count, settings, files)


def _count(settings: Settings, files: Sequence[Path]) -> dict[str, Any]:
    rules = load_rules(settings.rules)
    labels: dict[str, Counter[str]] = {}
    others: Counter[tuple[str, ...]] = Counter()
    for path in files:
        for recording in read_recordings(path):
            for step in recording.steps:
                request = _request(recording, step)
                found = classify(request, rules.about(request))
                labels.setdefault(step.effect, Counter())[found.effect] += 1
                if found.effect != (step.effect if step.external else "inspect_local"):
                    of = (step.effect, found.effect, recording.suite, step.tool, *found.reasons)
                    others[of] += 1
    return {
        "labels": {label: dict(labels[label]) for label in sorted(labels)},
        "others": [_other(*of, n=n) for of, n in others.most_common()],
    }


def _request(recording: Recording, step: RecordedStep) -> CheckpointRequest:
    return CheckpointRequest(
        call_id="c",
        lease_id="0" * 26,
        generation=0,
        goal="",
        kind="tool",
        tool=Tool(server=recording.suite, name=step.tool, definition_hash=_NOT_ASKED),
        definition=recording.definition(step.tool),
        arguments=step.args,
        arguments_commitment=_NOT_ASKED,
        proposal_hash=_NOT_ASKED,
    )


def _other(label: str, effect: str, server: str, tool: str, *rules: str, n: int) -> dict[str, Any]:
    return {
        "label": label,
        "effect": effect,
        "server": server,
        "tool": tool,
        "rules": rules,
        "n": n,
    }


def show_confusion(report: dict[str, Any]) -> None:
    """Print the report for people."""
    table = Table(title="calls by label and the sidecar's own effect", title_justify="left")
    table.add_column("label")
    for effect in _EFFECTS:
        table.add_column(effect, justify="right")
    for label, found in report["labels"].items():
        table.add_row(label, *(str(found.get(effect, 0)) for effect in _EFFECTS))
    console.print(table)
    for other in report["others"]:
        told = f"{other['server']}/{other['tool']}  {', '.join(other['rules'])}"
        console.print(
            f"{other['n']}  {other['label']} as {other['effect']}: {told}", soft_wrap=True
        )
