"""What the runtime tells of its own work, for whoever counts it; telling never waits."""

__all__ = ["RuntimeSignals"]


class RuntimeSignals:
    """Makes nothing of what it is told."""

    def committed(self, seconds: float) -> None:
        """A unit is committed, `seconds` after it was handed over."""

    def not_committed(self) -> None:
        """The ledger could not commit a unit."""

    def taken(self, kind: str) -> None:
        """A request has come."""

    def defective(self, kind: str, error: str, line: str) -> None:
        """A request met a defect of ours: the type of the error, and where it was raised."""

    def answered(self, kind: str, answer: str, seconds: float) -> None:
        """A request has its end: `answered`, the code of an error, or `late` without a reply."""
