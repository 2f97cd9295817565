from typing import Any

import msgspec
import pytest

from pmcl.contracts import (
    Contract,
    ContractError,
    Observation,
    TooLargeError,
    UnknownSchemaError,
    Void,
    decode,
    encode,
    schema_of,
)

FIELDS: dict[str, Any] = {
    "schema": "pmcl/observation/1",
    "evidence_id": "01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "key": "k",
    "generation": 1,
    "source": "tool",
    "trust": "tool_output",
    "summary": "seen",
    "observed_at": 1,
}


def _body(**changes: Any) -> bytes:
    return msgspec.json.encode(FIELDS | changes)


def test_contract_round_trips() -> None:
    observation = decode(_body(), Observation)
    assert decode(encode(observation), Observation) == observation
    assert schema_of(Observation) == "pmcl/observation/1"


def test_tag_chooses_the_contract() -> None:
    assert isinstance(decode(_body(), Void, Observation), Observation)
    assert isinstance(decode(b'{"schema":"pmcl/void/1"}', Void, Observation), Void)


def test_unknown_field_is_tolerated() -> None:
    assert decode(_body(later="x"), Observation) == decode(_body(), Observation)


@pytest.mark.parametrize(
    ("change", "field", "limit"),
    [
        ({"generation": -1}, "$.generation", "at least 0"),
        ({"generation": 2**53}, "$.generation", "at most 9007199254740991"),
        ({"generation": 1.5}, "$.generation", "a whole number, not a number"),
        ({"generation": True}, "$.generation", "a whole number, not true or false"),
        ({"generation": "1"}, "$.generation", "a whole number, not text"),
        ({"summary": "x" * 4_097}, "$.summary", "text of at most 4096 characters"),
        ({"summary": None}, "$.summary", "text, not null"),
        ({"key": "a b"}, "$.key", "1 to 128 of A-Z"),
        ({"key": "a\n"}, "$.key", "1 to 128 of A-Z"),
        ({"key": ""}, "$.key", "1 to 128 of A-Z"),
        ({"key": "k" * 129}, "$.key", "1 to 128 of A-Z"),
        ({"evidence_ids": ["x"]}, "$.evidence_ids[0]", "a ULID: 26 capital letters and digits"),
        (
            {"evidence_ids": [FIELDS["evidence_id"]] * 65},
            "$.evidence_ids",
            "a list of at most 64 items",
        ),
        ({"confidence": 1.01}, "$.confidence", "a number of at most 1"),
        ({"trust": "SECRET" * 100}, "$.trust", "one of"),
        ({"resources": [{"kind": "SECRET", "value": "x"}]}, "$.resources[0].kind", "one of"),
        ({"resources": [{"kind": "path"}]}, "$.resources[0]", "the required field value"),
    ],
)
def test_misfit_names_field_and_limit_and_shows_no_value(
    change: dict[str, Any], field: str, limit: str
) -> None:
    with pytest.raises(ContractError) as caught:
        decode(_body(**change), Observation)
    assert caught.value.field == field
    assert limit in caught.value.limit
    assert caught.value.value == ""
    assert "SECRET" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_missing_field_is_named() -> None:
    with pytest.raises(ContractError) as caught:
        decode(b'{"schema":"pmcl/observation/1"}', Observation)
    assert caught.value.limit.startswith("the required field ")


@pytest.mark.parametrize(
    "body",
    [
        _body(schema="pmcl/observation/2"),
        _body(schema="pmcl/void/1"),
        _body(schema=""),
        _body(schema=1),
        _body(schema=["pmcl/observation/1"]),
        _body(schema=None),
        b"{}",
        b"[]",
        b'"pmcl/observation/1"',
        b"null",
    ],
)
def test_unknown_schema_is_refused(body: bytes) -> None:
    with pytest.raises(UnknownSchemaError) as caught:
        decode(body, Observation)
    assert caught.value.field == "$.schema"
    assert caught.value.limit == "pmcl/observation/1"


def test_oversized_message_is_refused_unread() -> None:
    with pytest.raises(TooLargeError) as caught:
        decode(b"{" * (256 * 1024 + 1), Observation)
    assert (caught.value.value, caught.value.limit) == ("262145 bytes", "262144 bytes")
    with pytest.raises(TooLargeError):
        decode(_body(), Observation, max_bytes=len(_body()) - 1)
    assert decode(_body(), Observation, max_bytes=len(_body())).key == "k"


def test_body_that_is_no_strict_json_is_refused() -> None:
    with pytest.raises(ContractError, match="duplicate key"):
        decode(b'{"schema":"pmcl/void/1","schema":"pmcl/void/1"}', Void)
    with pytest.raises(ContractError):
        decode(_body()[:-1] + b',"x":NaN}', Observation)


def test_contracts_are_frozen() -> None:
    void: Contract = Void()
    with pytest.raises(AttributeError):
        void.schema = "x"  # type: ignore[attr-defined]
