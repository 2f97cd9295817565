"""The `pmcl` command: its groups, and what all commands share."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import anyio
from cyclopts import App, Parameter, Token, validators

from pmcl.contracts import ContractError, check_token
from pmcl.ops.console import configure_logs
from pmcl.ops.settings import Settings, load_settings

__all__ = [
    "Count",
    "DryRun",
    "File",
    "Json",
    "Name",
    "Number",
    "Plot",
    "Rate",
    "StateDir",
    "app",
    "approvals_app",
    "audit_app",
    "dead_letters_app",
    "evaluate_app",
    "evidence_app",
    "holds_app",
    "hook_app",
    "host_app",
    "identity_app",
    "lessons_app",
    "memories_app",
    "outbox_app",
    "outcomes_app",
    "reflections_app",
    "run",
    "save_figure",
    "settings_of",
]

app = App(name="pmcl", help="A veto-only sidecar between an agent's wish and a tool's effect.")
host_app = App(name="host", help="Hosts that may connect.")
approvals_app = App(name="approvals", help="Calls that wait for an operator's word.")
audit_app = App(name="audit", help="Whether the record is what it was.")
evaluate_app = App(name="evaluate", help="How well the checkpoint does on recorded input.")
evidence_app = App(name="evidence", help="What was observed, by its id.")
hook_app = App(name="hook", help="Hooks of coding agents.")
holds_app = App(name="holds", help="What is held, and what would lift it.")
dead_letters_app = App(name="deadletters", help="Messages that could not be dealt with.")
lessons_app = App(name="lessons", help="What verified runs have taught.")
identity_app = App(name="identity", help="Who the agents of a scope are.")
memories_app = App(name="memories", help="What reflection derived, and what was not admitted.")
outbox_app = App(name="outbox", help="What is committed and not yet told.")
outcomes_app = App(name="outcomes", help="What hosts reported and no evaluation took.")
reflections_app = App(name="reflections", help="What was thought about beside the work.")
app.register_install_completion_command(
    help="Install completion for bash, zsh, fish or PowerShell, and load it at the shell's start."
)
app.command(outbox_app)
app.command(outcomes_app)
app.command(reflections_app)
app.command(evidence_app)
app.command(holds_app)
app.command(identity_app)
app.command(lessons_app)
app.command(memories_app)
app.command(dead_letters_app)
app.command(hook_app)
app.command(host_app)
app.command(approvals_app)
app.command(audit_app)
app.command(evaluate_app)

_NUMBER_MAX: Final = 2**63 - 1
_COUNT_MAX: Final = 1_000_000
_RATE_MIN: Final = 0.001


def _path(_: Any, tokens: Sequence[Token]) -> Path:
    """Return what was named; `~` is the user's home, also where the shell leaves it alone."""
    named = tokens[0].value
    if not named.strip():
        raise ValueError(f"{named!r} names no file or folder.")
    try:
        return Path(named).expanduser()
    except RuntimeError as error:
        raise ValueError(f"{named!r} is in the home of nobody.") from error


def _check_name(_: Any, name: str | None) -> None:
    if name is not None:
        try:
            check_token("name", name)
        except ContractError as error:
            raise ValueError(f"Allowed: {error.limit}.") from error


File = Annotated[Path, Parameter(converter=_path)]
Name = Annotated[str, Parameter(validator=_check_name)]
"""Of a scope or a host."""
StateDir = Annotated[
    File | None, Parameter(help="Keys, ledger and the embedded server's store; PMCL_STATE_DIR.")
]
Json = Annotated[bool, Parameter(name="--json", negative=(), help="One line of JSON.")]
Number = Annotated[int, Parameter(validator=validators.Number(gte=1, lte=_NUMBER_MAX))]
Count = Annotated[int, Parameter(validator=validators.Number(gte=1, lte=_COUNT_MAX))]
Rate = Annotated[
    float | None, Parameter(validator=validators.Number(gte=_RATE_MIN, lte=_COUNT_MAX))
]
DryRun = Annotated[bool, Parameter(name="--dry-run", negative=())]

Plot = Annotated[File | None, Parameter(help="Write the reliability diagram here, as PNG.")]


def settings_of(**given: Any) -> Settings:
    """Return the settings, what the command line gave first; logs are configured."""
    settings = load_settings(overrides=given)
    configure_logs(settings.log_level)
    return settings


def run(function: Any, *arguments: Any, **options: Any) -> Any:
    """Return what a coroutine function returns, on an event loop of its own."""

    async def call() -> Any:
        return await function(*arguments, **options)

    return anyio.run(call, backend_options={"use_uvloop": sys.platform != "win32"})


def save_figure(figures: dict[str, Any], path: Path | None) -> None:
    """Draw the reliability diagram of a score into a file, if one was named."""
    if path is None:
        return
    import msgspec

    from pmcl.judgement import Score
    from pmcl.ops.reliability_plot import save_plot

    save_plot(msgspec.convert(figures, Score), path)
