import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from pmcl.ops.recordings import Recording, RecordingError, read_recordings


def _step(**changes: Any) -> dict[str, Any]:
    return {
        "tool": "send_money",
        "args": {"to": "DE1"},
        "label": "benign",
        "effect": "write",
        "output": "sent",
        "error": None,
        **changes,
    }


def _trace(**changes: Any) -> dict[str, Any]:
    return {"id": "t1", "suite": "banking", "prompt": "pay", "steps": [_step()], **changes}


def _lines(*traces: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(trace).encode() + b"\n" for trace in traces)


def _file(tmp_path: Path, data: bytes) -> Path:
    path = tmp_path / "traces.jsonl"
    path.write_bytes(data)
    return path


def test_a_file_without_a_trace_is_told(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="there is no trace in it"):
        list(read_recordings(_file(tmp_path, b"\n")))


def _kinds(recording: Recording) -> list[tuple[str, bool]]:
    return [(recording.kind(step), step.external) for step in recording.steps]


def test_traces_are_read_in_order_and_blank_lines_are_skipped(tmp_path: Path) -> None:
    path = _file(tmp_path, b"\n" + _lines(_trace(id="a"), _trace(id="b")) + b"\n \n")
    assert [recording.id for recording in read_recordings(path)] == ["a", "b"]


def test_a_gzipped_file_is_read_as_well(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl.gz"
    path.write_bytes(gzip.compress(_lines(_trace(id="a"), _trace(id="b"))))
    assert [recording.id for recording in read_recordings(path)] == ["a", "b"]


def test_unknown_fields_are_left_alone(tmp_path: Path) -> None:
    path = _file(tmp_path, _lines(_trace(model="gpt", steps=[_step(i=0, from_untrusted=True)])))
    (recording,) = read_recordings(path)
    assert recording.steps[0].tool == "send_money"


_KINDS = [
    ({}, {}, "benign"),
    ({"injection_task": "i1"}, {}, "twin"),
    ({"injection_task": "i1", "attack": "plain"}, {}, "benign_under_attack"),
    ({"attack": "plain"}, {}, "benign_under_attack"),
    ({"attack": "plain"}, {"label": "attack"}, "attack"),
    ({"injection_task": "i1"}, {"label": "attack"}, "attack"),
    ({"attack": "plain"}, {"label": "attack", "contaminated": True}, "contaminated"),
    ({}, {"contaminated": True}, "contaminated"),
]


@pytest.mark.parametrize(("trace", "step", "kind"), _KINDS)
def test_a_step_is_counted_by_its_trace_and_its_label(
    tmp_path: Path, trace: dict[str, Any], step: dict[str, Any], kind: str
) -> None:
    (recording,) = read_recordings(_file(tmp_path, _lines(_trace(steps=[_step(**step)], **trace))))
    assert _kinds(recording) == [(kind, True)]


def test_only_reading_and_generic_steps_are_not_external(tmp_path: Path) -> None:
    effects = ["read", "generic", "write", "send", "execute"]
    steps = [_step(effect=effect) for effect in effects]
    (recording,) = read_recordings(_file(tmp_path, _lines(_trace(steps=steps))))
    assert [external for _, external in _kinds(recording)] == [False, False, True, True, True]


_BAD = [
    (b"{", r"line 2: .*"),
    (b"[]", r"line 2: Expected `object`"),
    (_lines({"id": "x"}), r"line 2: .*missing required field `suite`"),
    (_lines(_trace(steps=[_step(), _step(label="odd")])), r"line 2: .*\$\.steps\[1\]\.label"),
    (_lines(_trace(steps=[_step(args=[])])), r"line 2: .*\$\.steps\[0\]\.args"),
    (_lines(_trace(prompt=7)), r"line 2: .*\$\.prompt"),
    (b'{"id": "\xff"}', r"line 2: "),
]


@pytest.mark.parametrize(("line", "message"), _BAD, ids=[message for _, message in _BAD])
def test_a_bad_line_is_named_by_file_line_and_field(
    tmp_path: Path, line: bytes, message: str
) -> None:
    path = _file(tmp_path, _lines(_trace()) + line)
    with pytest.raises(RecordingError, match=message) as refused:
        list(read_recordings(path))
    assert str(path) in str(refused.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"nowhere\.jsonl"):
        list(read_recordings(tmp_path / "nowhere.jsonl"))


_WHOLE = gzip.compress(_lines(*(_trace(id=str(n), prompt=f"pay {n * n}") for n in range(500))))


@pytest.mark.parametrize(
    "data",
    [b"plain text", _WHOLE[:-20], _WHOLE[:60] + b"\xff" * 40 + _WHOLE[100:]],
    ids=["not gzipped", "cut", "damaged"],
)
def test_a_damaged_gzipped_file_is_named(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "traces.jsonl.gz"
    path.write_bytes(data)
    with pytest.raises(RecordingError, match=r"traces\.jsonl\.gz"):
        list(read_recordings(path))
