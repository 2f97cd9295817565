from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import settings

from pmcl.contracts import (
    AuthoritySnapshot,
    CheckpointRequest,
    Effect,
    Premortem,
    Resource,
    Tool,
)
from pmcl.judgement import CitedEvidence, Inputs

# A busy machine is no defect of a pure function.
settings.register_profile("pure", deadline=None)
settings.load_profile("pure")

NOW_MS = 1_000_000
LEASE_MS = 600_000
ULID = "01ARZ3NDEKTSV4RRFFQ69G5FA"

MakeRequest = Callable[..., CheckpointRequest]
MakeInputs = Callable[..., Inputs]
EFFECTS: tuple[Effect, ...] = (
    "inspect_local",
    "network",
    "sensing",
    "mutation",
    "communication",
    "execution",
)


def _authority(**changes: Any) -> AuthoritySnapshot:
    return AuthoritySnapshot(
        tools=changes.get("tools", {"*": "grant"}),
        effects=changes.get("effects", dict.fromkeys(EFFECTS, "grant")),
        writable_roots=changes.get("roots", ("/project",)),
        network_hosts=changes.get("hosts", ("*",)),
    )


def _request(tool: str = "write_file", **changes: Any) -> CheckpointRequest:
    fields: dict[str, Any] = {
        "call_id": "call-1",
        "lease_id": ULID + "0",
        "generation": 3,
        "goal": "keep the notes in order",
        "kind": "tool",
        "tool": Tool(server="files", name=tool, definition_hash="d" * 64),
        "arguments": {"path": "/project/notes.md"},
        "arguments_commitment": "c" * 64,
        "proposal_hash": "a" * 64,
        "resources": (Resource(kind="path", value="/project/notes.md", argument="path"),),
    }
    return CheckpointRequest(**(fields | changes))


def _inputs(request: CheckpointRequest, **changes: Any) -> Inputs:
    fields: dict[str, Any] = {
        "scope": "team",
        "host": "desk",
        "evaluation_id": ULID + "1",
        "now_ms": NOW_MS,
        "request": request,
        "authority": _authority(),
        "lease_generation": 3,
        "lease_expires_at": NOW_MS + LEASE_MS,
        "resource_keys": ("key-notes",),
    }
    return Inputs(**(fields | changes))


def _evidence(letter: str = "A", **changes: Any) -> CitedEvidence:
    fields: dict[str, Any] = {
        "evidence_id": ULID + letter,
        "generation": 3,
        "trust": "environment",
        "observed_at": NOW_MS - 1_000,
        "erased": False,
        "resource_keys": ("key-notes",),
    }
    return CitedEvidence(**(fields | changes))


def _premortem(*letters: str) -> Premortem:
    return Premortem(
        failure_mode="wrong_target",
        likelihood=0.2,
        mitigation="read it first",
        evidence_ids=tuple(ULID + letter for letter in letters),
    )


# Factories hold no state, so a whole session may share them, also under Hypothesis.
@pytest.fixture(scope="session")
def make_request() -> MakeRequest:
    return _request


@pytest.fixture(scope="session")
def make_inputs() -> MakeInputs:
    return _inputs


@pytest.fixture(scope="session")
def make_authority() -> Callable[..., AuthoritySnapshot]:
    return _authority


@pytest.fixture(scope="session")
def make_evidence() -> Callable[..., CitedEvidence]:
    return _evidence


@pytest.fixture(scope="session")
def make_premortem() -> Callable[..., Premortem]:
    return _premortem
