from typing import Any

import pytest

from pmcl.judgement import Grounding, judge
from tests.unit.judgement.conftest import ULID, MakeRequest

ASKED = Grounding(licence="licensed", goal_ids=(ULID + "U",))


@pytest.mark.parametrize(
    "command",
    [
        "pmcl approvals grant 01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "cd /srv && /opt/v/bin/pmcl resume",
        "sudo -u op pmcl hook uninstall --agent claude-code",
        "p'm'cl approvals \"grant\" X",
        "python -c \"import subprocess; subprocess.run(['pmcl', 'approvals', 'grant', 'X'])\"",
        "echo $(pmcl --state-dir /s host add eve --scope a)",
        "true;pmcl restore old.tar",
        "pmcl memories retract 01ARZ3NDEKTSV4RRFFQ69G5FAV --yes",
        ["pmcl", "erase", "--scope", "a"],
    ],
)
def test_an_agent_never_decides_for_its_operator(
    command: Any, make_request: MakeRequest, make_inputs: Any
) -> None:
    request = make_request("run", arguments={"command": command}, effect="execution")
    judgement = judge(make_inputs(request, grounding=ASKED))
    assert "authority.operators_own" in judgement.evaluation.reasons
    assert judgement.evaluation.checkpoint_status == "held"


@pytest.mark.parametrize(
    "command",
    [
        "pmcl approvals list",
        "pmcl memories list",
        "pmcl status",
        "pmcl stop",
        "cd ~/pmcl && pytest tests/unit -k resume",
        "pip install pmcl; make restore",
        "git commit -m 'Let pmcl say it'",
    ],
)
def test_what_decides_nothing_is_no_such_command(
    command: str, make_request: MakeRequest, make_inputs: Any
) -> None:
    request = make_request("run", arguments={"command": command}, effect="execution")
    judgement = judge(make_inputs(request, grounding=ASKED))
    assert "authority.operators_own" not in judgement.evaluation.reasons
