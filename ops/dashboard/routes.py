"""Every page and every action by its path; an action is a form that was sent."""

from typing import Final

from pmcl.ops.dashboard.approvals import approval, approvals, ask_deny, ask_grant, deny, grant
from pmcl.ops.dashboard.calibration import calibration
from pmcl.ops.dashboard.holds import hold, holds
from pmcl.ops.dashboard.letters import ask_redrive, do_redrive, letter, letters
from pmcl.ops.dashboard.overview import overview
from pmcl.ops.dashboard.queues import queues
from pmcl.ops.dashboard.stopping import ask_stop, resume, stop
from pmcl.ops.dashboard.verdicts import verdict, verdicts
from pmcl.ops.dashboard.visit import Handler
from pmcl.ops.dashboard.work import work

__all__ = ["ROUTES"]

ROUTES: Final[tuple[tuple[str, str, Handler], ...]] = (
    ("GET", "/", overview),
    ("GET", "/verdicts", verdicts),
    ("GET", "/verdicts/{named}", verdict),
    ("GET", "/holds", holds),
    ("GET", "/holds/{named}", hold),
    ("GET", "/approvals", approvals),
    ("GET", "/approvals/{named}", approval),
    ("GET", "/approvals/{named}/grant", ask_grant),
    ("POST", "/approvals/{named}/grant", grant),
    ("GET", "/approvals/{named}/deny", ask_deny),
    ("POST", "/approvals/{named}/deny", deny),
    ("GET", "/queues", queues),
    ("GET", "/deadletters", letters),
    ("GET", "/deadletters/redrive", ask_redrive),
    ("POST", "/deadletters/redrive", do_redrive),
    ("GET", "/deadletters/{named}", letter),
    ("GET", "/calibration", calibration),
    ("GET", "/work", work),
    ("GET", "/stop", ask_stop),
    ("POST", "/stop", stop),
    ("POST", "/resume", resume),
)
