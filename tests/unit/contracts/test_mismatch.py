"""What does not fit is told in plain words, whichever bound it is that it passes."""

from typing import Annotated, Any

import msgspec
import pytest
from msgspec import Meta

from pmcl.contracts import Digest, Id, Mismatch, Token, Ulid


class Bounds(msgspec.Struct, forbid_unknown_fields=True):
    name: Annotated[str, Meta(min_length=1)] = "x"
    pair: tuple[int, int] = (1, 2)
    above: Annotated[int, Meta(gt=1)] = 2
    below: Annotated[float, Meta(lt=0.5)] = 0
    flag: bool | None = None
    members: dict[str, int] = {}
    few: Annotated[dict[str, int], Meta(max_length=1)] = {}
    token: Token = "t"
    ulid: Ulid = "0" * 26
    id: Id = "x"
    digest: Digest = "0" * 64
    other: Annotated[str, Meta(pattern="^a'b")] = "a'b"


@pytest.mark.parametrize(
    ("given", "path", "limit"),
    [
        (7, "$", "an object, not a whole number"),
        ({"name": ""}, "$.name", "text of at least 1 characters"),
        ({"pair": [1]}, "$.pair", "a list of 2 items, not 1"),
        ({"above": 1}, "$.above", "a whole number of at least 2"),
        ({"below": 0.5}, "$.below", "a number below 0.5"),
        ({"flag": "yes"}, "$.flag", "true or false or null, not text"),
        ({"members": {"a": None}}, "$.members[...]", "a whole number, not null"),
        ({"few": {"a": 1, "b": 1}}, "$.few", "an object of at most 1 members"),
        ({"token": "A"}, "$.token", "1 to 64 of a-z, 0-9, _ and -"),
        ({"ulid": "x"}, "$.ulid", "a ULID: 26 capital letters and digits"),
        ({"id": "a b"}, "$.id", "1 to 128 of A-Z, a-z, 0-9, ., _, :, / and -"),
        ({"digest": "x"}, "$.digest", "64 of 0-9 and a-f"),
        ({"other": "x"}, "$.other", 'text matching regex "^a\'b"'),
    ],
)
def test_a_mismatch_is_told_in_plain_words(given: Any, path: str, limit: str) -> None:
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.convert(given, Bounds)
    assert Mismatch.of(caught.value) == Mismatch(path, limit)


def test_a_field_that_nobody_knows_is_told_apart() -> None:
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.convert({"nothing": 1}, Bounds)
    assert Mismatch.of(caught.value) == Mismatch("$", "known fields only", "nothing")


def test_what_is_not_known_is_told_as_it_is() -> None:
    assert Mismatch.of(msgspec.ValidationError("Number out of range - at `$.a`")) == Mismatch(
        "$.a", "Number out of range"
    )
