"""The gateway does what its description says: no defect, no status and no body beside it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis import Case
from schemathesis.checks import positive_data_acceptance

from pmcl.bus import Credentials
from pmcl.hosts.gateway import openapi
from tests.integration.gateway.wire import ANYTHING

TIMEOUT_S = 30

# What a schema cannot say is refused too: unknown evidence, 7.0 for a whole number, a secret.
BEYOND_SCHEMA = [positive_data_acceptance]
schema = schemathesis.openapi.from_dict(json.loads(openapi()))


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """URL and key of a gateway in a process of its own."""
    state_dir = tmp_path_factory.mktemp("state")
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("PMCL_") or name == "PMCL_NATS_SERVER"
    }
    environment = {**clean, "PMCL_STATE_DIR": str(state_dir)}
    command = [sys.executable, "-m", "pmcl.ops"]
    add = [*command, "host", "add", "alice", "--scope", "demo"]
    subprocess.run(add, env=environment, check=True, capture_output=True, timeout=TIMEOUT_S)
    with subprocess.Popen(
        [*command, "up", "--json"], env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            url = json.loads(process.stdout.readline())["gateway"]
            yield url, Credentials.load(state_dir / "credentials/demo.alice.json").seed
        finally:
            process.terminate()
            process.wait(TIMEOUT_S)


@schema.parametrize()
@settings(
    max_examples=20,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_every_answer_is_described(case: Case[Any], gateway: tuple[str, str]) -> None:
    url, key = gateway
    headers = {"Authorization": f"Bearer {key}"}
    if case.path != "/v1/lease":
        begun = {"authority": ANYTHING}
        lease = requests.post(f"{url}/v1/lease", json=begun, headers=headers, timeout=TIMEOUT_S)
        assert lease.status_code == 200
    case.call_and_validate(base_url=url, headers=headers, excluded_checks=BEYOND_SCHEMA)
