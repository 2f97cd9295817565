"""`pmcl judge`: a stored evaluation is judged again from its stored inputs, and told line by line.

Nothing is written, and no text of an observation is needed: what was not stored was not judged.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from pmcl.judgement import judge
from pmcl.ledger import evaluations
from pmcl.ledger.evaluations import Judged
from pmcl.ops.console import console, shown_whole
from pmcl.ops.lifting import operators_part
from pmcl.ops.lines import print_lines
from pmcl.ops.reach import check_ledger
from pmcl.ops.settings import Settings
from pmcl.store import open_reader

__all__ = ["judge_again", "judgement_lines", "show_judgement"]

_VALUE_CHARS = 160


async def judge_again(settings: Settings, evaluation_id: str | None) -> dict[str, Any]:
    """Return the stored evaluation, and where judging its inputs again says otherwise.

    Args:
        settings: name the ledger.
        evaluation_id: `None` for the newest.

    Returns:
        `{"evaluation", "request", "scope", "host", "decided_at", "same", "differences",
        "lifted_by"}`; a difference is `{"field", "stored", "again"}`, and `lifted_by` says what an
        operator can do about a request that was held.

    Raises:
        LedgerError: there is no ledger, no such evaluation, or its payload was erased.
    """
    check_ledger(settings)
    async with open_reader(settings.ledger_path) as reader:
        judged = await evaluations.stored(reader, evaluation_id)
    return _report(judged) | {"lifted_by": list(operators_part(settings, judged))}


def _report(judged: Judged) -> dict[str, Any]:
    inputs = judged.inputs
    stored = _plain(judged.evaluation)
    again = _plain(judge(inputs).evaluation)
    differences = [
        {"field": field, "stored": before, "again": now}
        for field, before, now in _differences("$", stored, again)
    ]
    request = _plain(inputs.request)
    return {
        "scope": inputs.scope,
        "host": inputs.host,
        "decided_at": inputs.now_ms,
        "request": request,
        "evaluation": stored,
        "same": not differences,
        "differences": differences,
    }


def _plain(value: Any) -> dict[str, Any]:
    plain = msgspec.to_builtins(value)
    assert isinstance(plain, dict)
    return plain


def _differences(path: str, one: Any, other: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(one, dict) and isinstance(other, dict):
        for name in dict.fromkeys((*one, *other)):
            yield from _differences(f"{path}.{name}", one.get(name), other.get(name))
    elif isinstance(one, list | tuple) and isinstance(other, list | tuple):
        for place in range(max(len(one), len(other))):
            pair = (items[place] if place < len(items) else None for items in (one, other))
            yield from _differences(f"{path}[{place}]", *pair)
    elif one != other:
        yield path, one, other


def show_judgement(report: dict[str, Any]) -> None:
    """Print what was asked, what each check found, and whether judging again agrees."""
    print_lines(judgement_lines(report))
    if report["same"]:
        console.print("Judged again from the stored inputs: the same, field for field.")
        return
    console.print("Judged again from the stored inputs, this version says otherwise:")
    for difference in report["differences"]:
        stored, again = (_shown(difference[name]) for name in ("stored", "again"))
        console.print(f"  {difference['field']}: stored {stored}, now {again}", markup=False)


def judgement_lines(report: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what there is to say of an evaluation, each as a name and a text."""
    request, evaluation = report["request"], report["evaluation"]
    tool = request["tool"]
    yield "evaluation", evaluation["evaluation_id"]
    yield "asked by", f"{report['scope']}/{report['host']}, generation {request['generation']}"
    called = shown_whole(f"{tool['server']}/{tool['name']}")
    yield "call", f"{request['kind']} {called}, call {request['call_id']}"
    yield "goal", _shown(request["goal"])
    yield "arguments", _shown(request["arguments"])
    for index, step in enumerate(request.get("steps", ())):
        yield f"step {index}", _shown(step)
    for resource in request.get("resources", ()):
        yield "resource", f"{resource['kind']} {_shown(resource['value'])}"
    yield "verdict", evaluation["checkpoint_status"]
    for reason in evaluation["reasons"]:
        yield "reason", reason
    for told in report["lifted_by"]:
        yield "lifted by", shown_whole(told)
    if evaluation["revision_request"]:
        yield "revision", _shown(evaluation["revision_request"])
    yield from _check_lines("state", evaluation["state_check"])
    yield from _check_lines("plan", evaluation["plan_check"])
    yield from _check_lines("execution", evaluation["execution_check"])


def _check_lines(check: str, found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in found.items():
        if name == "items":
            for item in value:
                note = f", {item['note']}" if item.get("note") else ""
                of = f" ({', '.join(item['lineage'])})" if item.get("lineage") else ""
                yield f"{check}: {item['name']}", f"{item['freshness']}{note}{of}"
        else:
            yield f"{check}: {name.replace('_', ' ')}", _shown(value)


def _shown(value: Any) -> str:
    if value is None:
        return "missing"
    if value in ([], (), {}):
        return "none"
    text = shown_whole(value)
    return text if len(text) <= _VALUE_CHARS else text[:_VALUE_CHARS] + "…"
