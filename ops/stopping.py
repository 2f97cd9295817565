"""`pmcl stop` and `pmcl resume`: an operator's word, and what it did."""

from pmcl.contracts import Resume, Stop, StopState
from pmcl.ops.asking import ask_sidecar, operator_label
from pmcl.ops.console import console, shown_time
from pmcl.ops.settings import Settings

__all__ = ["resume", "show_resumed", "show_stopped", "shown_leases", "stop"]


async def stop(settings: Settings, *, dry_run: bool = False) -> StopState:
    """Let only local inspections go on, from the reply on. Raises as `ask_sidecar`."""
    question = Stop(label=operator_label(), dry_run=dry_run)
    return await ask_sidecar(settings, "stop", question, StopState)


async def resume(settings: Settings, *, dry_run: bool = False) -> StopState:
    """Let everything be judged again. Raises as `ask_sidecar`."""
    question = Resume(label=operator_label(), dry_run=dry_run)
    return await ask_sidecar(settings, "resume", question, StopState)


def show_stopped(state: StopState) -> None:
    """Print for people what `stop` did, or would."""
    if not state.changed:
        console.print(f"Stopped already, {_since(state)}.")
    elif not state.stopped:
        console.print(f"Would stop: {shown_leases(state)} would end, with all that they passed.")
    else:
        console.print(f"Stopped, {_since(state)}: {shown_leases(state)} ended.")
        console.print("Only local inspections go on until `pmcl resume`.")


def show_resumed(state: StopState) -> None:
    """Print for people what `resume` did, or would."""
    if not state.changed:
        console.print("Nothing is stopped.")
    elif state.stopped:
        console.print(f"Would resume: stopped {_since(state)}.")
    else:
        console.print("Resumed. What was passed before the stop stays void; hosts ask again.")


def shown_leases(state: StopState) -> str:
    """Return how many leases a stop ends, with the word."""
    return "1 lease" if state.leases == 1 else f"{state.leases} leases"


def _since(state: StopState) -> str:
    return f"since {shown_time(state.since)} by {state.by}"
