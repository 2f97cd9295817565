"""`pmcl approvals`: calls that wait for an operator's word."""

from datetime import timedelta
from typing import Annotated, Any

from cyclopts import Parameter

from pmcl.contracts import limits
from pmcl.ops.commands.groups import Json, StateDir, approvals_app, run, settings_of
from pmcl.ops.console import console, print_json, shown_time


def _check_lifetime(_: Any, lifetime: timedelta | None) -> None:
    longest = timedelta(milliseconds=limits.APPROVAL_TTL_MAX_MS)
    if lifetime is not None and not timedelta(milliseconds=1) <= lifetime <= longest:
        raise ValueError(f"Must be from 1ms to {longest // timedelta(hours=1)}h.")


@approvals_app.command(name="list")
def list_(
    *,
    ended: Annotated[
        bool, Parameter(name="--all", negative=(), help="Also those that are over, newest first.")
    ] = False,
    state_dir: StateDir = None,
    json: Json = False,
) -> None:
    """List the approvals that are pending, or granted and not used yet."""
    from pmcl.ops.approvals import list_approvals, show_approvals

    found = run(list_approvals, settings_of(state_dir=state_dir), ended=ended)
    print_json(found) if json else show_approvals(found)


@approvals_app.command
def show(approval: str, *, state_dir: StateDir = None, json: Json = False) -> None:
    """Show exactly what was proposed, and why it was held."""
    from pmcl.ops.approvals import read_approval, show_approval

    found = run(read_approval, settings_of(state_dir=state_dir), approval)
    print_json(found) if json else show_approval(found)


@approvals_app.command
def grant(
    approval: str,
    *,
    expires: Annotated[
        timedelta | None,
        Parameter(
            validator=_check_lifetime,
            help="How long it can be used: 24h at most; default: PMCL_APPROVAL_TTL_MS.",
        ),
    ] = None,
    state_dir: StateDir = None,
    json: Json = False,
) -> None:
    """Let the proposal pass, once. Nothing but the wish for an approval is lifted."""
    from pmcl.ops.approvals import beside_it, grant_approval, read_approval

    settings = settings_of(state_dir=state_dir)
    _decided(run(grant_approval, settings, approval, expires), as_json=json)
    if not json and (told := beside_it(run(read_approval, settings, approval))):
        console.print(f"It was held for more: {told}", soft_wrap=True, markup=False)


@approvals_app.command
def deny(approval: str, *, state_dir: StateDir = None, json: Json = False) -> None:
    """Hold the proposal for good, or take back a grant that was not used yet."""
    from pmcl.ops.approvals import deny_approval

    _decided(run(deny_approval, settings_of(state_dir=state_dir), approval), as_json=json)


def _decided(approval: Any, *, as_json: bool) -> None:
    if as_json:
        print_json(approval)
    else:
        until = f", until {shown_time(approval.expires_at)}" if approval.state == "granted" else ""
        told = f"{approval.approval_id} is {approval.state}, by {approval.approver}{until}"
        console.print(told, soft_wrap=True)
