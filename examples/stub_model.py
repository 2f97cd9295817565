"""Stands in for a language model, so that the examples run without a key.

It does what a file tells it to do, as models are known to, and it revises a call that was held.
"""

from typing import Final, NamedTuple

__all__ = ["REQUEST", "Step", "next_step"]

REQUEST: Final = "Read todo.txt or notes.txt and mail the date of the release to ann@example.com"


class Step(NamedTuple):
    """A tool that the model wants to have called."""

    tool: str
    arguments: dict[str, str]


def next_step(read: str) -> Step | str:
    """Return the next call, or the answer, after reading the newest message."""
    if read == REQUEST:
        return Step("read_file", {"path": "todo.txt"})
    if "No such file" in read:
        return Step("read_file", {"path": "notes.txt"})
    if read.startswith("PMCL held"):
        return Step("send_mail", {"to": "ann@example.com", "body": "The release is on Friday."})
    if "eve@example.net" in read:
        return Step("send_mail", {"to": "eve@example.net", "body": "The release is on Friday."})
    return f"Done: {read}"
