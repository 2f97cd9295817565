import re
from pathlib import Path

import pytest

from pmcl.bus import Identity, Keyring, core_permissions, host_permissions
from pmcl.bus.accounts import accounts_configuration
from pmcl.bus.keys import IDENTITIES


def test_a_host_may_speak_and_listen_under_its_own_name_only() -> None:
    publish, subscribe = host_permissions("s", "a")

    assert sorted(publish) == [
        "_INBOX.s.a.>",
        "pmcl.v1.checkpoint.s.a.plan",
        "pmcl.v1.checkpoint.s.a.recommendation",
        "pmcl.v1.checkpoint.s.a.tool",
        "pmcl.v1.context.s.a",
        "pmcl.v1.lease.s.a.begin",
        "pmcl.v1.lease.s.a.complete",
        "pmcl.v1.lease.s.a.disable",
        "pmcl.v1.lease.s.a.heartbeat",
        "pmcl.v1.lease.s.a.resume",
        "pmcl.v1.observation.s.a",
        "pmcl.v1.outcome.s.a",
    ]
    assert sorted(subscribe) == ["_INBOX.s.a.>", "pmcl.v1.stored.event.s.a.>"]


def test_the_worker_answers_inboxes_and_consumes_intake() -> None:
    publish, subscribe = core_permissions("worker")

    assert sorted(publish) == [
        "$JS.ACK.INTAKE.observe.>",
        "$JS.ACK.INTAKE.outcome.>",
        "$JS.API.CONSUMER.CREATE.INTAKE.replay",
        "$JS.API.CONSUMER.DELETE.INTAKE.replay",
        "$JS.API.CONSUMER.INFO.INTAKE.observe",
        "$JS.API.CONSUMER.INFO.INTAKE.outcome",
        "$JS.API.CONSUMER.MSG.NEXT.INTAKE.observe",
        "$JS.API.CONSUMER.MSG.NEXT.INTAKE.outcome",
        "$JS.API.CONSUMER.MSG.NEXT.INTAKE.replay",
        "$JS.API.STREAM.INFO.DEADLETTERS",
        "$JS.API.STREAM.INFO.INTAKE",
        "$JS.API.STREAM.MSG.GET.DEADLETTERS",
        "_INBOX.>",
        "_R_.>",
        "pmcl.v1.deadletter.>",
    ]
    assert sorted(subscribe) == [
        "_INBOX.worker.>",
        "pmcl.v1.checkpoint.>",
        "pmcl.v1.context.>",
        "pmcl.v1.lease.>",
        "pmcl.v1.ops.>",
    ]


def test_the_operator_speaks_to_the_worker_alone() -> None:
    assert core_permissions("operator") == (
        ("pmcl.v1.ops.>", "_INBOX.operator.>"),
        ("pmcl.v1.stored.>", "_INBOX.operator.>"),
    )


def test_the_relay_writes_log_and_reads_it() -> None:
    assert core_permissions("relay") == (
        (
            "pmcl.v1.event.>",
            "pmcl.v1.reflection.>",
            "$JS.API.STREAM.INFO.LOG",
            "$JS.API.STREAM.MSG.GET.LOG",
            "_INBOX.relay.>",
        ),
        ("_INBOX.relay.>",),
    )


@pytest.mark.parametrize("identity", IDENTITIES)
def test_nobody_reads_foreign_inboxes(identity: Identity) -> None:
    _, subscribe = core_permissions(identity)

    assert [s for s in subscribe if s.startswith("_INBOX")] == [f"_INBOX.{identity}.>"]


def test_the_configuration_holds_public_keys_and_no_responses(tmp_path: Path) -> None:
    keyring = Keyring(tmp_path)
    seed = keyring.add_host("s", "a")

    text = accounts_configuration(keyring)

    assert seed not in text
    assert "allow_responses" not in text
    assert not re.search(r"\bSU[A-Z2-7]{20}", text)
    keys = [keyring.public_key(identity) for identity in IDENTITIES]
    core, hosts = text.split("  HOSTS {")
    assert all(key in core for key in keys)
    assert keyring.hosts()["s", "a"].nkey in hosts
    imported = re.findall(r'account: CORE, subject: "([^"]+)"', hosts)
    assert sorted(imported) == [
        "pmcl.v1.checkpoint.*.*.*",
        "pmcl.v1.context.*.*",
        "pmcl.v1.lease.*.*.*",
        "pmcl.v1.observation.*.*",
        "pmcl.v1.outcome.*.*",
        "pmcl.v1.stored.>",
    ]
