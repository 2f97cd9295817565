from collections.abc import Iterator

from cyclopts import App

from pmcl.judgement.operators_own import DECISIONS, STATE
from pmcl.ops.commands import app
from pmcl.ops.settings import Settings

INSPECTS = frozenset(
    "approvals list|approvals show|audit verify|backups|calibration|deadletters list|"
    "deadletters show|demo|doctor|erasures|evaluate calibration|evaluate coding|evaluate effects|"
    "evaluate program|evaluate traces|evidence show|guard|holds list|holds show|"
    "hook claude-code|hook codex|hook gemini|host list|identity show|judge|"
    "lessons list|mcp|memories changes|memories items|memories list|"
    "memories rejected|memories show|outbox list|outbox show|outcomes list|"
    "reflections list|reflections show|status|stop|watch".split("|")
)
"""What an agent may run as well: it tells something, asks, or only narrows."""


def _commands(group: App, *before: str) -> Iterator[str]:
    for name in group:
        if not name.startswith("-"):
            yield from _commands(group[name], *before, name) if [*group[name]] else ()
            if group[name].default_command is not None:
                yield " ".join([*before, name])


def test_every_command_is_the_operators_or_known_to_decide_nothing() -> None:
    for command in _commands(app):
        first, _, second = command.partition(" ")
        verbs = DECISIONS.get(first)
        decides = verbs is not None and (not verbs or second in verbs)
        assert decides != (command in INSPECTS), command


def test_the_ledger_lies_where_nobody_else_reads() -> None:
    settings = Settings()
    assert settings.ledger_path.relative_to(settings.state_dir).parts[0] in STATE
