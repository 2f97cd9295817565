import hashlib
import math
from typing import Any

import msgspec
import pytest
import rfc8785
from hypothesis import example, given
from hypothesis import strategies as st

from pmcl.contracts import (
    ContractError,
    ExpectedReceipt,
    Resource,
    canonical,
    keyed_digest,
    parse_strict,
    sha256,
)

SAFE = 2**53 - 1
FLOATS = (
    st.floats(allow_nan=False, allow_infinity=False)
    | st.integers(-SAFE, SAFE).map(float)
    | st.integers(-330, 308).map(lambda exponent: float(f"1e{exponent}"))
)
STRINGS = st.text(
    st.characters(exclude_categories=["Cs"])
    | st.sampled_from("\ue000\uffff\U00010000\U0001f600\0\x7f")
)


def _json(floats: st.SearchStrategy[float]) -> st.SearchStrategy[Any]:
    return st.recursive(
        st.none() | st.booleans() | st.integers(-SAFE, SAFE) | floats | STRINGS,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(STRINGS, inner, max_size=4),
        max_leaves=12,
    )


JSON = _json(FLOATS)
NOT_NUMBERS = [math.nan, math.inf, -math.inf]


@given(value=JSON)
@example(value={"\ue000": 1, "\U00010000": 2})
@example(value=[1.0, -0.0, 1e21, 1e20, 1e-6, 1e-7, 5e-324, 123456789012345680.0])
@example(value={"a": "1.0 1e5 null", "1.0": None})
def test_canonical_agrees_with_the_reference(value: Any) -> None:
    assert canonical(value) == rfc8785.dumps(value)


# A float from 2^53 to 10^21 has a form without a point, which reads back as an integer too large.
@given(value=_json(FLOATS.filter(lambda number: not SAFE < abs(number) < 1e21)))
def test_canonical_form_is_read_back_unchanged(value: Any) -> None:
    form = canonical(value)
    assert canonical(parse_strict(form)) == form


@given(value=st.dictionaries(STRINGS, JSON, max_size=6))
def test_key_order_changes_nothing(value: dict[str, Any]) -> None:
    assert canonical(dict(reversed(value.items()))) == canonical(value)


def test_canonical_takes_contracts_with_none() -> None:
    receipt = ExpectedReceipt(kind="file")
    assert canonical([receipt]) == b'[{"digest":null,"kind":"file"}]'


def test_canonical_leaves_out_what_a_resource_does_not_say() -> None:
    assert canonical([Resource(kind="path", value="/a")]) == b'[{"kind":"path","value":"/a"}]'


@pytest.mark.parametrize("number", [2**53, -(2**53), 2**64, -(2**70), 10**30, 10**400])
@pytest.mark.parametrize("around", [lambda value: value, lambda value: {"a": [value]}])
def test_integer_beyond_two_to_53_has_no_form(number: int, around: Any) -> None:
    with pytest.raises(ContractError):
        canonical(around(number))


@pytest.mark.parametrize("number", NOT_NUMBERS)
@pytest.mark.parametrize(
    "around",
    [lambda value: value, lambda value: {"a": [None, {"b": value}]}, lambda value: (value,)],
)
def test_not_a_number_has_no_form(number: float, around: Any) -> None:
    with pytest.raises(ContractError):
        canonical(around(number))


@given(value=JSON, number=st.sampled_from(NOT_NUMBERS))
def test_not_a_number_among_others_has_no_form(value: Any, number: float) -> None:
    with pytest.raises(ContractError):
        canonical({"first": value, "second": [number, value]})


def _deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    ["\ud800", {"\udfff": 1}, {1: "a"}, {None: 1}, {"a": {True: 1}}, object(), _deep(100_000)],
)
def test_what_json_cannot_say_has_no_form(value: Any) -> None:
    with pytest.raises(ContractError):
        canonical(value)


@pytest.mark.parametrize(
    "data",
    [
        b'{"a":1,"a":1}',
        b'{"a":1,"a":2}',
        b'{"a":1,"\\u0061":2}',
        b'{"b":{"a":1,"a":1}}',
        b'[{"x":[[{"a":{},"b":1,"a":{}}]]}]',
        b'{"a":{"":1,"":1}}',
    ],
)
def test_duplicate_key_is_refused_at_any_depth(data: bytes) -> None:
    with pytest.raises(ContractError, match="duplicate key"):
        parse_strict(data)


@pytest.mark.parametrize(
    "data",
    [
        b"NaN",
        b'{"a":NaN}',
        b'{"a": [Infinity]}',
        b"-Infinity",
        b"1e400",
        b'{"a" : -1e400}',
        b"1" * 5_000,
        b'"\\ud800"',
        b'{"\\udc00": 1}',
        b'"\\udc00\\ud800"',
        b"\xff",
        b'"\xff"',
        b'"\xed\xa0\x80"',
        b'"\xc0\x80"',
        b"\xef\xbb\xbf{}",
        b"",
        b" ",
        b"{",
        b"{} {}",
        b"{'a':1}",
        b'{"a":1,}',
        b'"\t"',
        b"01",
        b"+1",
        b".5",
        b"nul",
        b'{"a":1}\0',
        b"[" * 100_000,
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    ],
)
def test_what_is_not_strict_json_is_refused(data: bytes) -> None:
    with pytest.raises(ContractError) as caught:
        parse_strict(data)
    assert caught.value.field == "$"


@given(value=JSON)
def test_strict_parser_reads_what_msgspec_writes(value: Any) -> None:
    assert parse_strict(msgspec.json.encode(value)) == value


def test_digests_are_hex_of_the_named_algorithms() -> None:
    assert sha256(b"abc") == hashlib.sha256(b"abc").hexdigest()
    # Source: RFC 4231, test case 2.
    assert keyed_digest(b"Jefe", b"what do ya want for nothing?") == (
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    )
