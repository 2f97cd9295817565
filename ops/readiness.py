"""What a running sidecar says of its own health, asked of its gateway by other processes."""

import http.client
import json
from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

import msgspec

from pmcl.contracts import PmclError
from pmcl.hosts import Defects
from pmcl.ops.console import shown_time
from pmcl.ops.findings import Finding, fine, wrong
from pmcl.ops.settings import Settings

__all__ = ["Readiness", "UnaskedError", "ask_readiness", "check_gateway", "told_defects"]

_ANSWER_S: Final = 2.0
_ANSWERS: Final = (http.HTTPStatus.OK, http.HTTPStatus.SERVICE_UNAVAILABLE)
_START: Final = "start it: pmcl up"


class Readiness(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `/v1/ready`."""

    parts: dict[str, bool]
    defects: Defects


class UnaskedError(PmclError):
    """Nobody answers for the sidecar's health; `remedy` says what to do."""

    def __init__(self, told: str, remedy: str) -> None:
        self.remedy = remedy
        super().__init__(told)


def ask_readiness(settings: Settings) -> tuple[str, Readiness]:
    """Return the gateway's address, and what it says of the sidecar.

    Raises:
        UnaskedError: there is no gateway, or it does not answer as one.
    """
    path = settings.state_dir / "gateway.json"
    try:
        url = str(json.loads(path.read_bytes())["url"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UnaskedError(f"{path} names no gateway", _START) from error
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=_ANSWER_S)
    try:
        connection.request("GET", "/v1/ready")
        answer = connection.getresponse()
        if answer.status not in _ANSWERS:
            raise UnaskedError(f"{url} answers {answer.status}", "see the log of pmcl up")
        return url, msgspec.json.decode(answer.read(), type=Readiness)
    except (OSError, http.client.HTTPException) as error:
        raise UnaskedError(f"{url} does not answer: {type(error).__name__}", _START) from error
    except msgspec.MsgspecError as error:
        remedy = "start pmcl up again, so that both are of one version"
        raise UnaskedError(f"{url} answers otherwise: {error}", remedy) from error
    finally:
        connection.close()


def check_gateway(settings: Settings) -> Iterator[Finding]:
    """Yield whether the gateway answers, every part works, and no request met a defect."""
    try:
        url, readiness = ask_readiness(settings)
    except UnaskedError as error:
        yield wrong("gateway", str(error), error.remedy)
        return
    yield fine("gateway", url)
    if ill := [part for part, does_work in readiness.parts.items() if not does_work]:
        remedy = "see docs/ops/runbook.md, PmclPartNotWorking"
        yield wrong("ready", f"{', '.join(ill)}: not working", remedy)
    else:
        yield fine("ready", f"{', '.join(readiness.parts)} work")
    if told := told_defects(readiness.defects):
        remedy = "calls were held for it: see request.failed in the log of pmcl up, and report it"
        yield wrong("defects", told, remedy)
    else:
        yield fine("defects", "no request met one since the sidecar started")


def told_defects(defects: Defects) -> str:
    """Return how many requests met a defect and what the last one was, "" without any."""
    if (last := defects.last) is None:
        return ""
    requests = "1 request" if defects.count == 1 else f"{defects.count} requests"
    at = f"{last.error} in {last.line}, {shown_time(last.at_ms)}"
    return f"{requests} met a defect of the sidecar, the last a {last.kind} ({at})"
