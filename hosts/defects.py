"""What requests met of the sidecar's own defects, as it tells those who ask for its health."""

import msgspec

__all__ = ["Defect", "Defects"]


class Defect(msgspec.Struct, frozen=True, kw_only=True):
    """A request that the sidecar could not serve for a defect of its own.

    Attributes:
        kind: of the request.
        error: the type of what was raised; its text may hold content.
        line: function and number of the line that raised it.
    """

    kind: str
    error: str
    line: str
    at_ms: int


class Defects(msgspec.Struct, frozen=True, kw_only=True):
    """How many there were since the sidecar started, and the newest."""

    count: int = 0
    last: Defect | None = None
