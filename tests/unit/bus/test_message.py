import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmcl.bus import HeaderError, MessageTooLargeError
from pmcl.bus.message import (
    check_reply,
    check_subject,
    frame,
    known_headers,
    parse_headers,
)
from pmcl.contracts import ContractError


@pytest.mark.parametrize(
    "subject",
    ["pmcl.v1.observation.s.a", "$JS.API.STREAM.INFO.LOG", "_INBOX.s.a.0af.1", "x" * 255],
)
def test_a_plain_subject_may_be_published_to(subject: str) -> None:
    check_subject(subject)


@pytest.mark.parametrize(
    "subject",
    ["", "a.*", "a.>", "a b", "a\r\nPUB x", "a\0", "a\u2028", "ä", "a\n", "x" * 256],
)
def test_a_subject_that_the_server_reads_otherwise_is_refused(subject: str) -> None:
    with pytest.raises(ContractError):
        check_subject(subject)


def test_only_known_headers_are_read() -> None:
    received = {
        "Status": "404",
        "Description": "x",
        "pmcl-number": "1",
        "Pmcl-Number": "2",
        "Nats-Expected-Last-Sequence": "3",
        "traceparent": "00",
    }

    assert known_headers(received) == {"Pmcl-Number": "2", "traceparent": "00"}
    assert known_headers(None) == {}


@pytest.mark.parametrize("name", ["Status", "Nats-Rollup", "nats-expected-last-sequence", ""])
def test_an_unknown_header_is_not_sent(name: str) -> None:
    with pytest.raises(HeaderError):
        frame("s", b"", {"Pmcl-Number": "1", name: "x"}, "", 1000)


@pytest.mark.parametrize("value", ["a\nb", "a\r", "\r\n"])
def test_a_header_with_a_line_break_is_not_sent(value: str) -> None:
    with pytest.raises(HeaderError):
        frame("s", b"", {"traceparent": value}, "", 1000)


@pytest.mark.parametrize("reply", ["", "_INBOX.s.a.1", "_R_.ä", "a.>"])
def test_one_word_may_be_replied_to(reply: str) -> None:
    check_reply(reply)


@pytest.mark.parametrize("reply", ["a b", "a\r\nPUB x 0", "a\n", "\0", "a\tb"])
def test_a_reply_that_would_end_the_line_is_refused(reply: str) -> None:
    with pytest.raises(ContractError):
        check_reply(reply)


def test_a_frame_is_what_the_server_reads() -> None:
    assert frame("a.b", b"xy", None, "", 2) == b"PUB a.b 2\r\nxy\r\n"
    assert frame("a.b", b"", {}, "r", 0) == b"PUB a.b r 0\r\n\r\n"
    assert frame("a.b", b"xy", {"Pmcl-Number": "1", "traceparent": "ä"}, "r", 99) == (
        "HPUB a.b r 45 47\r\nNATS/1.0\r\nPmcl-Number: 1\r\ntraceparent: ä\r\n\r\nxy\r\n".encode()
    )


@given(
    st.binary(max_size=50),
    st.dictionaries(
        st.sampled_from(["Pmcl-Number", "traceparent"]),
        st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=9),
    ),
)
def test_the_limit_is_on_the_bytes_on_the_wire(data: bytes, headers: dict[str, str]) -> None:
    block = "NATS/1.0\r\n" + "".join(f"{k}: {v}\r\n" for k, v in headers.items()) + "\r\n"
    expected = len(data) + (len(block.encode()) if headers else 0)

    assert frame("s", data, headers, "", expected).endswith(data + b"\r\n")
    with pytest.raises(MessageTooLargeError) as raised:
        frame("s", data, headers, "", expected - 1)
    assert (raised.value.size_bytes, raised.value.limit_bytes) == (expected, expected - 1)


def test_a_header_block_is_read_as_far_as_it_is_known() -> None:
    block = (
        b"NATS/1.0\r\nStatus: 503\r\nPmcl-Number:7\r\n\xff\xfe: x\r\nno colon\r\n"
        b" Pmcl-Epoch : \xffE \r\n\r\n"
    )
    assert parse_headers(block) == {"Pmcl-Number": "7", "Pmcl-Epoch": "\ufffdE"}
