import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmcl.hosts.adapter import OutputTooLargeError
from pmcl.hosts.adapter.outputs import PART_MAX_BYTES, PARTS_MAX, observations_of, parts_of


@given(st.text(max_size=50), st.integers(1, 4000))
def test_parts_are_the_output(text: str, times: int) -> None:
    output = text * times
    parts = parts_of(output)
    assert "".join(parts) == output
    assert all(len(part.encode()) <= PART_MAX_BYTES for part in parts)


def test_more_than_is_looked_at_is_refused() -> None:
    most = PART_MAX_BYTES * PARTS_MAX
    assert len(parts_of("a" * most)) == PARTS_MAX
    with pytest.raises(OutputTooLargeError, match=f"{most + 1} bytes, allowed: {most} bytes"):
        parts_of("a" * (most + 1))


def test_a_lone_surrogate_is_no_obstacle() -> None:
    assert parts_of("a\ud800b") == ("a?b",)


def test_each_part_says_which_it_is() -> None:
    observed = observations_of(("a", "b"), "files/read", "web", ())
    assert [fields["provenance"] for fields in observed] == ["part 1 of 2", "part 2 of 2"]
    assert {fields["trust"] for fields in observed} == {"web"}
