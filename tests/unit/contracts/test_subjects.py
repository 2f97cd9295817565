import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmcl.contracts import (
    OPS_VERBS,
    ContractError,
    Subject,
    check_token,
    inbox_prefix,
    parse_subject,
)

TOKENS = st.text(alphabet="abcxyz0189_-", min_size=1, max_size=64)
GOOD: dict[str, list[str | None]] = {
    "checkpoint": ["plan", "recommendation", "tool"],
    "context": [None],
    "lease": ["begin", "complete", "disable", "heartbeat", "resume"],
    "observation": [None],
    "outcome": [None],
    "reflection": ["idle", "turn"],
}
BAD_TOKENS = [
    "",
    "*",
    ">",
    "a*",
    "a>",
    "a b",
    " a",
    "a\n",
    "a\r\n",
    "\r\n",
    "a\0",
    "\0",
    "a\u2028",
    "a\u2029b",
    "A",
    "scopE",
    "\u00e9",
    "\u0430",
    "\uff41",
    "a" * 65,
    "$JS",
    "a/b",
    "a,b",
    "a:b",
]


@given(scope=TOKENS, host=TOKENS, name=TOKENS, data=st.data())
def test_good_subjects_round_trip(scope: str, host: str, name: str, data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from([*GOOD, "event"]))
    leaf = name if kind == "event" else data.draw(st.sampled_from(GOOD[kind]))
    text = f"pmcl.v1.{kind}.{scope}.{host}" + ("" if leaf is None else f".{leaf}")
    subject = parse_subject(text)
    assert subject == Subject(kind, scope, host, leaf)  # type: ignore[arg-type]
    assert str(subject) == text


@pytest.mark.parametrize("token", BAD_TOKENS)
def test_bad_scope_host_and_leaf_are_refused_by_name(token: str) -> None:
    for text, field in (
        (f"pmcl.v1.observation.{token}.host", "subject.scope"),
        (f"pmcl.v1.observation.scope.{token}", "subject.host"),
        (f"pmcl.v1.event.scope.host.{token}", "subject.leaf"),
        (f"pmcl.v1.lease.scope.host.{token}", "subject.leaf"),
        (f"pmcl.v1.{token}.scope.host", "subject.kind"),
    ):
        with pytest.raises(ContractError) as caught:
            parse_subject(text)
        assert caught.value.field == field
        assert caught.value.limit
    with pytest.raises(ContractError):
        check_token("scope", token)
    with pytest.raises(ContractError):
        inbox_prefix("scope", token)
    with pytest.raises(ContractError):
        inbox_prefix(token, "host")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "pmcl",
        "pmcl.v1",
        "pmcl.v1.observation.scope",
        "pmcl.v1.observation.scope.host.leaf",
        "pmcl.v1.observation.scope.host.",
        "pmcl.v1.event.scope.host",
        "pmcl.v1.lease.scope.host",
        "pmcl.v1.lease.scope.host.begin.now",
        "pmcl.v1.checkpoint.scope.host.Tool",
        "pmcl.v2.observation.scope.host",
        "PMCL.v1.observation.scope.host",
        ".pmcl.v1.observation.scope.host",
        "pmcl.v1.stored.scope.host",
        "pmcl.v1.unknown.scope.host",
        "pmcl.v1.ops",
        "pmcl.v1.ops.",
        "pmcl.v1.ops.unknown",
        "pmcl.v1.ops.approve.now",
        "pmcl.v1.ops.scope.host.approve",
    ],
)
def test_other_subjects_are_refused(text: str) -> None:
    with pytest.raises(ContractError):
        parse_subject(text)


@pytest.mark.parametrize("verb", OPS_VERBS)
def test_operators_subjects_round_trip(verb: str) -> None:
    subject = parse_subject(f"pmcl.v1.ops.{verb}")
    assert subject == Subject("ops", "", "", verb)
    assert str(subject) == f"pmcl.v1.ops.{verb}"


def test_long_value_is_shown_cut() -> None:
    with pytest.raises(ContractError) as caught:
        check_token("scope", "A" * 10_000)
    assert caught.value.value == "A" * 64


def test_inbox_prefix_names_scope_and_host() -> None:
    assert inbox_prefix("team", "desk-1") == "_INBOX.team.desk-1"
