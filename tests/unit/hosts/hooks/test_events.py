"""Golden files: what each event of each agent says, and every answer that it gets.

`<event>.event.json` is what the agent sends, `<event>.read.json` what is read from it,
`answers.json` what is printed. An answer never allows and never asks.
"""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pmcl.contracts import ContractError
from pmcl.hosts.hooks.agent import Agent
from pmcl.hosts.hooks.agents import AGENTS
from pmcl.hosts.hooks.answers import GO_ON, HookAnswer
from pmcl.hosts.hooks.events import Event

GOLDEN = Path(__file__).parent / "golden"
EVENTS = [
    pytest.param(AGENTS[path.parent.name], path, id=f"{path.parent.name}/{path.name}")
    for path in sorted(GOLDEN.glob("*/*.event.json"))
]
TOLD = 'PMCL held it: "why"\nand what lifts it \u20ac'
agents = pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)


def shown(event: Event) -> dict[str, Any]:
    """Return an event for comparing: a call's id and definition are no part of it."""
    value: dict[str, Any] = {"kind": type(event).__name__}
    value |= msgspec.json.decode(msgspec.json.encode(event, enc_hook=str))
    for member in ("call_id", "definition", "stated"):
        value.get("call", {}).pop(member, None)
    return value


@pytest.mark.parametrize(("agent", "path"), EVENTS)
def test_an_event_reads_as_it_was_agreed(agent: Agent, path: Path) -> None:
    read = shown(agent.read(json.loads(path.read_text())))
    wanted = path.with_name(path.name.replace(".event.", ".read."))
    assert read == json.loads(wanted.read_text())


@agents
def test_every_event_that_is_installed_has_a_golden_file(agent: Agent) -> None:
    names = {
        path.name.split("-")[0].split(".")[0] for path in (GOLDEN / agent.name).glob("*.event.*")
    }
    assert names == {each.event for each in agent.registrations}


@agents
def test_the_answers_are_as_agreed(agent: Agent) -> None:
    response = {"stdout": "secret", "interrupted": False, "files": [{"type": "text", "text": "s"}]}
    answers = {
        "deny": agent.deny(TOLD),
        "withhold": agent.withhold(response, TOLD),
        "inform": agent.inform(TOLD),
        "go on": GO_ON,
    }
    wanted = json.loads((GOLDEN / agent.name / "answers.json").read_text())
    assert {name: told(answer) for name, answer in answers.items()} == wanted


def told(answer: HookAnswer) -> dict[str, Any]:
    assert (answer.exit_code, answer.stderr) == (0, "")
    return json.loads(answer.stdout) if answer.stdout else {}


@agents
def test_no_answer_allows_or_asks(agent: Agent) -> None:
    text = (GOLDEN / agent.name / "answers.json").read_text()
    for word in ('"allow"', '"ask"', '"approve"', '"continue"', "updatedInput"):
        assert word not in text


@agents
@pytest.mark.parametrize(
    "broken",
    [
        {"tool_input": "ls"},
        {"tool_input": []},
        {"tool_name": None},
        {"session_id": 1},
        {"cwd": None},
    ],
    ids=lambda broken: next(iter(broken)),
)
def test_a_call_that_has_not_its_form_is_refused(agent: Agent, broken: dict[str, Any]) -> None:
    with pytest.raises(ContractError):
        agent.read({**agent.shell_call("ls", Path("/")), **broken})


@agents
def test_an_event_of_another_name_is_taken_for_a_call(agent: Agent) -> None:
    call = {**agent.shell_call("ls", Path("/")), "hook_event_name": "PermissionRequest"}
    assert shown(agent.read(call))["kind"] == "BeforeTool"
    with pytest.raises(ContractError):
        agent.read({"hook_event_name": "SessionBegins", "session_id": "s", "cwd": "/"})


def test_gemini_knows_a_call_by_what_it_consists_of() -> None:
    gemini = AGENTS["gemini"]
    call = gemini.shell_call("ls", Path("/"))
    swapped = {**call, "tool_input": dict(reversed(call["tool_input"].items()))}
    after = {**call, "hook_event_name": "AfterTool", "tool_response": {"llmContent": ""}}
    keys = [shown(gemini.read(event))["key"] for event in (call, swapped, after)]
    assert keys[0] == keys[1] == keys[2]
    other = gemini.read({**call, "tool_input": {"command": "ls", "description": ""}})
    assert shown(other)["key"] != keys[0]
