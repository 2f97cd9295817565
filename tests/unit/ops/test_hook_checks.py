"""The canary tells a hook that judges from one that only seems to block, or does not."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from pmcl.hosts.hooks import AGENTS, Agent, HookPaths, plan_install, write_settings
from pmcl.ops.findings import Finding
from pmcl.ops.hook_checks import check_hooks
from pmcl.ops.settings import Settings
from tests.unit.hosts.hooks.gateway import Gateway, body, gateway, http, saying

agents = pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)
REASON = "PMCL held it. Reasons: plan.approval_required, canary.not_kept."


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home" / name))


def install(agent: Agent, project: Path | None, serving: Gateway) -> None:
    paths = HookPaths(credentials=serving.credentials, gateway=serving.address)
    write_settings(plan_install(agent, project, paths))


def found(folder: Path, project: Path) -> dict[str, list[Finding]]:
    by_check: dict[str, list[Finding]] = {}
    for finding in check_hooks(Settings(state_dir=folder), project):
        by_check.setdefault(finding.check, []).append(finding)
    return by_check


def denying(agent: Agent) -> bytes:
    return http(body(stdout=agent.deny(REASON).stdout))


@agents
def test_a_held_call_that_is_denied_is_fine(agent: Agent, tmp_path: Path) -> None:
    with gateway(tmp_path, saying(denying(agent))) as serving:
        install(agent, None, serving)
        findings = found(tmp_path, tmp_path / "project")
    (canary,) = findings[f"canary.{agent.name}"]
    assert canary.state == "ok"
    assert all(each.state != "wrong" for each in findings.get(f"hooks.{agent.name}", []))
    call = json.loads(serving.requests[0].partition(b"\r\n\r\n")[2])
    assert "| base64 -d | sh" in call["tool_input"]["command"]


@agents
@pytest.mark.parametrize("answer", [body(), body(stdout="{}"), body(stdout="no")])
def test_a_held_call_that_goes_on_is_wrong(agent: Agent, answer: bytes, tmp_path: Path) -> None:
    with gateway(tmp_path, saying(http(answer))) as serving:
        install(agent, None, serving)
        (canary,) = found(tmp_path, tmp_path / "project")[f"canary.{agent.name}"]
    assert canary.state == "wrong"
    assert "was not denied" in canary.told


@agents
def test_a_denial_for_another_reason_proves_nothing(agent: Agent, tmp_path: Path) -> None:
    nobody = http(body(stdout=agent.deny("PMCL held it. Reasons: degraded.timeout.").stdout))
    with gateway(tmp_path, saying(nobody)) as serving:
        install(agent, None, serving)
        (canary,) = found(tmp_path, tmp_path / "project")[f"canary.{agent.name}"]
    assert canary.state == "wrong"
    assert "degraded.timeout" in canary.told


def test_a_denial_in_another_agents_form_is_none(tmp_path: Path) -> None:
    gemini, codex = AGENTS["gemini"], AGENTS["codex"]
    for agent, other in ((gemini, codex), (codex, gemini)):
        folder = tmp_path / agent.name
        folder.mkdir()
        with gateway(folder, saying(denying(other))) as serving:
            install(agent, None, serving)
            (canary,) = found(folder, tmp_path / "project")[f"canary.{agent.name}"]
        assert canary.state == "wrong"


@agents
def test_a_call_that_is_blocked_without_a_verdict_is_wrong(agent: Agent, tmp_path: Path) -> None:
    with gateway(tmp_path, saying(b"")) as serving:
        install(agent, None, serving)
        (canary,) = found(tmp_path, tmp_path / "project")[f"canary.{agent.name}"]
    assert canary.state == "wrong"
    assert "nobody judged it" in canary.told


@agents
def test_a_command_that_does_what_it_should_judge_is_wrong(agent: Agent, tmp_path: Path) -> None:
    doing = tmp_path / "python"
    doing.write_text("#!/bin/sh\ntouch marker\n")
    doing.chmod(0o700)
    with gateway(tmp_path, saying(denying(agent))) as serving:
        paths = HookPaths(credentials=serving.credentials, gateway=serving.address, python=doing)
        write_settings(plan_install(agent, None, paths))
        (canary,) = found(tmp_path, tmp_path / "project")[f"canary.{agent.name}"]
    assert canary.state == "wrong"
    assert "only have judged" in canary.told


Break = Callable[[Agent, Path, Gateway], None]


def without_python(agent: Agent, folder: Path, serving: Gateway) -> None:
    paths = HookPaths(
        credentials=serving.credentials, gateway=serving.address, python=folder / "gone"
    )
    write_settings(plan_install(agent, None, paths))


def of_another_sidecar(agent: Agent, folder: Path, serving: Gateway) -> None:
    paths = HookPaths(credentials=serving.credentials, gateway=folder / "other" / "gateway.json")
    write_settings(plan_install(agent, None, paths))


def without_an_event(agent: Agent, folder: Path, serving: Gateway) -> None:
    install(agent, None, serving)
    path = agent.settings(None)
    settings = json.loads(path.read_text())
    settings["hooks"].pop(agent.after_tool)
    path.write_text(json.dumps(settings))


def twice(agent: Agent, folder: Path, serving: Gateway) -> None:
    install(agent, None, serving)
    install(agent, folder / "project", serving)


def not_json(agent: Agent, folder: Path, serving: Gateway) -> None:
    path = agent.settings(folder / "project")
    path.parent.mkdir(parents=True)
    path.write_text("{")


BROKEN: dict[str, tuple[Break, str]] = {
    "python": (without_python, "is gone"),
    "sidecar": (of_another_sidecar, "it asks the sidecar of"),
    "event": (without_an_event, "has no hook for"),
    "twice": (twice, "asked about twice"),
    "not json": (not_json, "line 1, column 2"),
}


@agents
@pytest.mark.parametrize(("broken", "told"), BROKEN.values(), ids=BROKEN)
def test_what_is_wrong_with_a_hook_is_told(
    agent: Agent, broken: Break, told: str, tmp_path: Path
) -> None:
    with gateway(tmp_path, saying(denying(agent))) as serving:
        broken(agent, tmp_path, serving)
        findings = found(tmp_path, tmp_path / "project")[f"hooks.{agent.name}"]
    wrong = [each for each in findings if each.state == "wrong" and told in each.told]
    assert wrong
    assert all(each.remedy for each in wrong)


@pytest.mark.parametrize(
    ("name", "file", "text"),
    [
        ("claude-code", "settings.json", '{"disableAllHooks": true}'),
        ("codex", "config.toml", "[features]\nhooks = false\n"),
        ("gemini", "settings.json", '{"hooksConfig": {"enabled": false}}'),
        ("gemini", "settings.json", '{"hooksConfig": {"disabled": ["pmcl-BeforeTool"]}}'),
    ],
)
def test_hooks_that_are_switched_off_are_told(
    name: str, file: str, text: str, tmp_path: Path
) -> None:
    agent = AGENTS[name]
    path = agent.settings(None).with_name(file)
    path.parent.mkdir(parents=True)
    path.write_text(text)
    with gateway(tmp_path, saying(denying(agent))) as serving:
        install(agent, None, serving)
        findings = found(tmp_path, tmp_path / "project")[f"hooks.{name}"]
    assert any("no hook runs" in each.told and each.state == "wrong" for each in findings)


@agents
def test_a_hook_of_another_sidecar_is_not_tried(agent: Agent, tmp_path: Path) -> None:
    """An approval that the call left there could not be denied from here."""
    with gateway(tmp_path, saying(denying(agent))) as serving:
        install(agent, None, serving)
        findings = found(tmp_path / "elsewhere", tmp_path / "project")
    assert f"canary.{agent.name}" not in findings
    assert serving.requests == []


def test_without_a_hook_that_is_what_is_told(tmp_path: Path) -> None:
    [(name, (finding,))] = found(tmp_path, tmp_path / "project").items()
    assert (name, finding.state) == ("hooks", "unknown")
    assert "pmcl hook install" in finding.remedy
