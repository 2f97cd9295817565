"""A subject filter says the same as worker, scope and host, and nothing that cannot be."""

import pytest

from pmcl.contracts import Selection
from pmcl.ops.misuse import MisuseError
from pmcl.ops.subject_filter import selection_of


@pytest.mark.parametrize(
    ("subject", "means"),
    [
        (">", Selection()),
        ("pmcl.>", Selection()),
        ("pmcl.v1.*.*.*", Selection()),
        ("*.*.*.*.*", Selection()),
        ("pmcl.v1.observation.>", Selection(worker="observe")),
        ("pmcl.v1.outcome.*.*", Selection(worker="outcome")),
        ("pmcl.v1.outcome.demo.>", Selection(worker="outcome", scope="demo")),
        ("pmcl.*.*.demo.alice", Selection(scope="demo", host="alice")),
        ("pmcl.v1.*.*.alice", Selection(host="alice")),
        (
            "pmcl.v1.observation.demo.alice",
            Selection(worker="observe", scope="demo", host="alice"),
        ),
    ],
)
def test_a_subject_is_a_selection(subject: str, means: Selection) -> None:
    assert selection_of(subject) == means


@pytest.mark.parametrize(
    "subject",
    [
        "",
        "observation",
        "pmcl.v1.observation",
        "pmcl.v1.observation.demo",
        "pmcl.v1.observation.demo.alice.more",
        "pmcl.v1.observation.demo.alice.>",
        "pmcl.v1.>.demo",
        "pmcl.v1.event.demo.alice",
        "pmcl.v2.observation.demo.alice",
        "pmcl.v1.observation.de*.alice",
        "pmcl.v1.observation..alice",
        "pmcl.v1.observation.demo.al ice",
        "pmcl.v1.observation.>.>",
    ],
)
def test_a_subject_that_nothing_can_have_is_refused(subject: str) -> None:
    with pytest.raises(MisuseError, match=r"observation\|outcome\.SCOPE\.HOST") as refused:
        selection_of(subject)
    assert repr(subject) in str(refused.value)
