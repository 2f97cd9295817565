"""What the desk refuses by itself: no verdict is used, no outcome is said, that is not its own."""

from typing import ClassVar

from pmcl.contracts import HostError

__all__ = ["NotOpenError", "UnknownVerdictError"]


class UnknownVerdictError(HostError):
    """No verdict of this id was given here, as far back as is remembered."""

    code: ClassVar[str] = "unknown_verdict"

    def __init__(self) -> None:
        super().__init__("no verdict of this id was given here")


class NotOpenError(HostError):
    """The verdict has no dispatch that waits for its outcome.

    Attributes:
        ended: why not: what was said already, or why it was never claimed.
    """

    code: ClassVar[str] = "not_open"

    def __init__(self, ended: str) -> None:
        self.ended = ended
        super().__init__(f"no dispatch waits for its outcome: {ended}")
