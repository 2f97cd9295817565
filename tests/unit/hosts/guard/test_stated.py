from typing import Any

import pytest

from pmcl.contracts import ContractError, Justification, Premortem
from pmcl.hosts.adapter import Stated
from pmcl.hosts.guard.stated import offered, read_stated

PREMORTEM: dict[str, Any] = {"failure_mode": "data_loss", "likelihood": 0.2, "mitigation": "a copy"}


def of_stated() -> dict[str, Any]:
    schema = offered({"type": "object"})
    assert schema is not None
    offer: dict[str, Any] = schema["properties"]["_pmcl"]
    return offer


def test_the_schema_offers_exactly_what_is_read() -> None:
    properties = of_stated()["properties"]
    assert set(properties) == set(Stated.__struct_fields__)
    assert set(properties["premortem"]["properties"]) == set(Premortem.__struct_fields__)
    assert set(properties["justification"]["properties"]) == set(Justification.__struct_fields__)


@pytest.mark.parametrize("additional", [False, True, {"type": "string"}])
def test_a_schema_that_closes_its_properties_takes_one_more(additional: Any) -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
        "additionalProperties": additional,
    }
    changed = offered(schema)
    assert changed is not None
    assert set(changed["properties"]) == {"a", "_pmcl"}
    assert {**changed, "properties": schema["properties"]} == schema
    assert "_pmcl" not in schema["properties"]


@pytest.mark.parametrize(
    "schema",
    [
        None,
        True,
        {"properties": {"_pmcl": {}}},
        {"properties": []},
        {"type": "object", "allOf": [{"additionalProperties": False}]},
        {"$ref": "#/$defs/a"},
        {"type": "object", "maxProperties": 1},
        {"type": "object", "propertyNames": {"pattern": "^a"}},
    ],
)
def test_a_schema_that_could_become_unsatisfiable_is_left_alone(schema: Any) -> None:
    assert offered(schema) is None


def test_what_is_stated_is_read() -> None:
    stated = read_stated({"goal": "tidy up", "premortem": PREMORTEM})
    assert stated.goal == "tidy up"
    assert stated.premortem == Premortem(**PREMORTEM)
    assert read_stated(None) == read_stated({}) == Stated()


@pytest.mark.parametrize(
    ("value", "field", "shown", "limit"),
    [
        ([], "", "[]", "an object, not a list"),
        ("because", "", "because", "an object, not text"),
        ({"goal": 5}, ".goal", "5", "text or null, not a whole number"),
        ({"goal": "x" * 4097}, ".goal", "x" * 64, "text of at most 4096 characters"),
        ({"aim": "x"}, "", "aim", "known fields only"),
        (
            {"premortem": {**PREMORTEM, "likelihood": 2}},
            ".premortem.likelihood",
            "2",
            "a number of at most 1",
        ),
        ({"premortem": {"likelihood": 0.5}}, ".premortem", '{"likelihood":0.5}', "the required"),
        ({"evidence_ids": ["no"]}, ".evidence_ids[0]", "no", "a ULID"),
        ({"evidence_ids": ["ghp_" + "a1B2" * 9]}, ".evidence_ids[0]", "", "a ULID"),
    ],
)
def test_what_does_not_fit_is_refused_by_field_value_and_limit(
    value: Any, field: str, shown: str, limit: str
) -> None:
    with pytest.raises(ContractError) as caught:
        read_stated(value)
    assert caught.value.field == f"$.params.arguments._pmcl{field}"
    assert caught.value.value == shown
    assert limit in caught.value.limit
    assert "`" not in str(caught.value)
