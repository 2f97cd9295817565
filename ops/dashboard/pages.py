"""A page with its menu, or an error in its place: what the operator should see is on each."""

from typing import Any, Final

from starlette.responses import HTMLResponse

from pmcl.contracts import LedgerError, PmclError, RefusedError
from pmcl.ops.asking import NotRunningError
from pmcl.ops.dashboard.access import PageRefusedError
from pmcl.ops.dashboard.looking import Look
from pmcl.ops.dashboard.templates import environment
from pmcl.ops.dashboard.visit import Page, Visit
from pmcl.ops.settings import Settings
from pmcl.ops.state_dir import running_pid
from pmcl.ops.status import Standing, read_standing
from pmcl.store import open_reader

__all__ = ["MENU", "Pages"]

MENU: Final = (
    ("/", "Overview"),
    ("/verdicts", "Verdicts"),
    ("/holds", "Holds"),
    ("/approvals", "Approvals"),
    ("/queues", "Queues"),
    ("/deadletters", "Dead letters"),
    ("/calibration", "Calibration"),
    ("/work", "Work"),
    ("/stop", "Stop"),
)
"""Path and name, in the order of the keys 1 to 9."""


class Pages:
    """Makes every page of one dashboard, below `path`."""

    def __init__(self, settings: Settings, path: str) -> None:
        self._settings = settings
        self._path = path
        self._templates = environment()

    async def response(self, page: Page, visit: Visit) -> HTMLResponse:
        """Return a page as it is sent, with what the last action has to tell."""
        standing = await self._standing()
        sequence = page.sequence
        if sequence is None and standing is not None:
            sequence = standing.journal
        frame: dict[str, Any] = {
            "title": page.title,
            "here": _here(visit.request.url.path.removeprefix(self._path)),
            "running": running_pid(self._settings.state_dir) is not None,
            "wrong": _wrong(visit.lookout.last),
            "standing": standing,
            "shown_through": sequence,
            "form_token": visit.session.form_token,
            "told": visit.session.take_told(),
        }
        assert not frame.keys() & page.facts.keys()
        return self._made(page.template, page.status, {**frame, **page.facts})

    async def refusal(self, error: PmclError, visit: Visit) -> HTMLResponse:
        """Return the page that says why something is not shown, or was not done."""
        title = "Not done" if visit.request.method == "POST" else "Not shown"
        told = str(error)
        if isinstance(error, NotRunningError) and running_pid(self._settings.state_dir) is not None:
            told = "The sidecar runs, but does not answer."
        page = Page("refused.html", title, {"error": told}, status_of(error))
        return await self.response(page, visit)

    def bare(self, error: PmclError, path: str) -> HTMLResponse:
        """Return what those see who have no session: nothing of the sidecar, nor of our path."""
        styled = path.startswith(f"{self._path}/")
        return self._made("bare.html", status_of(error), {"error": str(error), "styled": styled})

    def _made(self, template: str, status: int, facts: dict[str, Any]) -> HTMLResponse:
        common = {
            "base": self._path,
            "menu": MENU,
            "page_names": dict(MENU),
            "state_dir": str(self._settings.state_dir),
        }
        text = self._templates.get_template(template).render(common | facts)
        return HTMLResponse(text, status)

    async def _standing(self) -> Standing | None:
        if not self._settings.ledger_path.exists():
            return None
        try:
            async with open_reader(self._settings.ledger_path) as reader:
                return await read_standing(reader)
        except PmclError:
            return None  # the page itself tells what is wrong


def _wrong(last: Look | None) -> int:
    """Return how much does not work, as far as it is known without asking."""
    return 0 if last is None else sum(need.kind == "wrong" for need in last.needs)


def status_of(error: PmclError) -> int:
    """Return the HTTP status of an error."""
    match error:
        case PageRefusedError():
            return error.status
        case NotRunningError():
            return 503
        case RefusedError():
            return 409
        case LedgerError():
            return 404
        case _:
            return 503


def _here(path: str) -> str:
    """Return the path of the menu that a page belongs to."""
    return "/" + path.strip("/").partition("/")[0]
