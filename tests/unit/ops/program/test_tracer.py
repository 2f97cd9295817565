"""A trace is found wherever it stands, and only where 8 bytes of it do."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmcl.ops.program.sentinels import Sentinel, sentinels
from pmcl.ops.program.tracer import Tracer

PART = "q7Xw9ZkLm2Rt5Vb8"
TRACER = Tracer([Sentinel("key", PART, PART, (PART,))])
NOISE = st.sampled_from([b"\0", b"\xff", b'"', b"a", b"=", b"zz9", b"-", PART[3:10].encode()])


@pytest.mark.parametrize("at", range(len(PART) - 7))
def test_any_eight_bytes_of_a_part_are_found_in_each_form(at: int) -> None:
    piece = PART[at : at + 8].encode()
    assert TRACER.in_bytes(piece) == {"key, plain"}
    for hexed in (piece.hex(), piece.hex().upper()):
        assert TRACER.in_bytes(hexed.encode()) == {"key, hex"}


@pytest.mark.parametrize("offset", range(3))
def test_a_part_in_base64_is_found_at_each_offset(offset: int) -> None:
    text = base64.b64encode(b"x" * offset + PART.encode() + b"yz")
    assert TRACER.in_bytes(text) == {"key, base64"}


def test_less_of_a_part_is_no_trace() -> None:
    assert TRACER.in_bytes(b"-".join(PART[at : at + 7].encode() for at in range(10))) == set()


@given(st.lists(NOISE), st.integers(0, 8), st.lists(NOISE))
def test_a_trace_is_found_whatever_stands_around_it(
    before: list[bytes], at: int, after: list[bytes]
) -> None:
    found = TRACER.in_bytes(b"".join((*before, PART[at : at + 8].encode(), *after)))
    assert "key, plain" in found


def test_every_form_that_is_said_has_its_trace() -> None:
    known = sentinels(1)
    tracer = Tracer(known.values())
    for kind, each in known.items():
        assert f"{kind}, plain" in tracer.in_bytes(each.text.encode())
