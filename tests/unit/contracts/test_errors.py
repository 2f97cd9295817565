import pytest

from pmcl import contracts
from pmcl.contracts import (
    ApprovalDecidedError,
    BusError,
    ContractError,
    PmclError,
    RefusedError,
    refusal,
)


def _tree(error: type[RefusedError]) -> list[type[RefusedError]]:
    return [error, *(leaf for child in error.__subclasses__() for leaf in _tree(child))]


REFUSALS = [error for error in _tree(RefusedError) if error.__module__.startswith("pmcl.contracts")]


@pytest.mark.parametrize("error", REFUSALS)
def test_every_refusal_survives_the_wire(error: type[RefusedError]) -> None:
    before = error("$.field", "value", "limit")
    after = refusal(before.code, before.field, before.value, before.limit)
    assert type(after) is error
    assert (after.field, after.value, after.limit) == ("$.field", "value", "limit")
    assert str(after) == str(before)


def test_codes_are_unique() -> None:
    codes = [error.code for error in REFUSALS]
    assert sorted(codes) == sorted(set(codes))


def test_every_refusal_is_exported() -> None:
    assert {error.__name__ for error in REFUSALS} <= set(contracts.__all__)


def test_unknown_code_gives_the_root() -> None:
    assert type(refusal("from_tomorrow", "$", "", "x")) is RefusedError


def test_message_says_what_where_and_the_limit() -> None:
    error = ContractError("$.a", "x" * 100, 5)
    assert str(error) == f"malformed: $.a is '{'x' * 64}', allowed: 5"


def test_a_value_that_may_not_be_shown_is_not_shown_as_empty() -> None:
    assert str(ContractError("$.a", "", "text")) == "malformed: $.a does not fit, allowed: text"


def test_a_second_decision_is_told_the_state_and_not_the_field() -> None:
    error = ApprovalDecidedError("$.approval_id", "granted", "to grant one that is pending")
    told = (
        "approval_decided: this approval is granted already, allowed: to grant one that is pending"
    )
    assert str(error) == told


def test_all_errors_share_one_root() -> None:
    assert issubclass(RefusedError, PmclError)
    assert issubclass(BusError, PmclError)
