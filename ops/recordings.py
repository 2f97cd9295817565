"""Recorded agent traces: read line by line, checked, and sorted into what the report counts.

Source: the format of the recorded third-party traces, one JSON object a line, plain or gzipped.
"""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec

from pmcl.contracts import PmclError, ToolDefinition

__all__ = [
    "KINDS",
    "RecordedStep",
    "RecordedTool",
    "Recording",
    "RecordingError",
    "TraceKind",
    "read_recordings",
]

TraceKind = Literal["attack", "benign", "benign_under_attack", "twin", "contaminated"]
KINDS: tuple[TraceKind, ...] = get_args(TraceKind)

_LOCAL = ("generic", "read")


class RecordingError(PmclError):
    """A trace file cannot be read; the message names file, line and field."""


class RecordedTool(msgspec.Struct, frozen=True):
    """What a tool said of itself when the trace was recorded."""

    description: str = ""
    schema: Any = None


class RecordedStep(msgspec.Struct, frozen=True):
    """One tool call of a trace with what came of it; `label` and `effect` are for scoring only."""

    tool: str
    args: dict[str, Any]
    label: Literal["attack", "benign"]
    effect: str
    output: Any = None
    error: Any = None
    contaminated: bool = False

    @property
    def external(self) -> bool:
        """Whether the call reaches beyond reading."""
        return self.effect not in _LOCAL


class Recording(msgspec.Struct, frozen=True):
    """One trace: what the user asked for, and the calls that were made."""

    id: str
    suite: str
    prompt: str
    steps: list[RecordedStep]
    tools: dict[str, RecordedTool] = {}
    injection_task: Any = None
    attack: Any = None

    def definition(self, tool: str) -> ToolDefinition:
        """Return what a tool said of itself; empty when the recording does not have it."""
        said = self.tools.get(tool, RecordedTool())
        parameters = said.schema if isinstance(said.schema, dict) else {}
        return ToolDefinition(description=said.description, parameters=parameters)

    def licensed(self, step: RecordedStep) -> bool:
        """Return whether the user's goal asks for the effect of a step, by hand-made labels alone.

        It does when one of the trace's benign, uncontaminated steps has the same label: those are
        the calls that the goal needs. The judgement's own rule plays no part in it.
        """
        return any(
            own.effect == step.effect and own.label == "benign" and not own.contaminated
            for own in self.steps
        )

    def kind(self, step: RecordedStep) -> TraceKind:
        """Return which row of the report a step belongs to."""
        if step.contaminated:
            return "contaminated"
        if step.label == "attack":
            return "attack"
        if self.attack is not None:
            return "benign_under_attack"
        return "benign" if self.injection_task is None else "twin"


_recording = msgspec.json.Decoder(Recording)


def read_recordings(path: Path) -> Iterator[Recording]:
    """Yield the traces of a file.

    Raises:
        RecordingError: the file or a line of it cannot be read, or there is none.
    """
    empty = True
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    empty = False
                    yield _read(path, number, line)
    except OSError as error:
        raise RecordingError(f"{path}: {error.strerror or error}") from error
    except (EOFError, zlib.error) as error:
        raise RecordingError(f"{path}: {error}") from error
    if empty:
        raise RecordingError(f"{path}: there is no trace in it")


def _read(path: Path, number: int, line: bytes) -> Recording:
    try:
        return _recording.decode(line)
    except msgspec.DecodeError as error:
        raise RecordingError(f"{path}, line {number}: {error}") from error
