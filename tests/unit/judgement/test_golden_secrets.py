from typing import Any

import msgspec
import pytest

from pmcl.judgement import redact
from tests.unit.judgement.golden_secrets import NEGATIVES, POSITIVES, Positive

KEY = b"k" * 32
_FRAGMENT = 8


@pytest.mark.parametrize("positive", [pytest.param(each, id=each.name) for each in POSITIVES])
def test_golden_secret_leaves_no_fragment(positive: Positive) -> None:
    shown = msgspec.json.encode(redact(positive.value, KEY)).decode()
    # The public beginning of a webhook's address is no part of its secret.
    secret = positive.secret.removeprefix("https://hooks.slack.com/services/")
    pieces = (secret[at : at + _FRAGMENT] for at in range(len(secret) - _FRAGMENT + 1))
    assert [piece for piece in pieces if piece in shown] == []


@pytest.mark.parametrize("value", NEGATIVES.values(), ids=NEGATIVES.keys())
def test_what_looks_like_a_secret_stays(value: Any) -> None:
    assert redact(value, KEY) == value


def test_golden_set_is_large_enough_to_say_something() -> None:
    assert len({each.secret for each in POSITIVES}) >= 60
    assert len(NEGATIVES) >= 60
