"""A tool's output becomes observations that the ledger reads whole, in parts when it is long."""

from collections.abc import Iterator
from typing import Final

from pmcl.contracts import HostError, Resource, TrustLabel
from pmcl.hosts.observing import ObservationFields

__all__ = ["OutputTooLargeError", "observations_of", "parts_of"]

PART_MAX_BYTES: Final = 60 * 1024
"""The sidecar reads the first 64 KiB of one observation."""
PARTS_MAX: Final = 16
_SUMMARY_CHARS: Final = 1000


class OutputTooLargeError(HostError):
    """An output is longer than what grounding looks at, so no model may see it."""

    def __init__(self, size_bytes: int) -> None:
        self.size_bytes = size_bytes
        self.limit_bytes = PARTS_MAX * PART_MAX_BYTES
        super().__init__(f"the output has {size_bytes} bytes, allowed: {self.limit_bytes} bytes")


def parts_of(output: str) -> tuple[str, ...]:
    """Return the output in parts of at most 60 KiB of UTF-8, one for an empty output.

    Raises:
        OutputTooLargeError: more than 16 parts.
    """
    data = output.encode("utf-8", "replace")
    if len(data) > PARTS_MAX * PART_MAX_BYTES:
        raise OutputTooLargeError(len(data))
    return tuple(_parts(data)) or ("",)


def _parts(data: bytes) -> Iterator[str]:
    at = 0
    while at < len(data):
        end = min(len(data), at + PART_MAX_BYTES)
        while end < len(data) and data[end] & 0xC0 == 0x80:  # not between the bytes of one sign
            end -= 1
        yield data[at:end].decode()
        at = end


def observations_of(
    parts: tuple[str, ...], source: str, trust: TrustLabel, resources: tuple[Resource, ...]
) -> list[ObservationFields]:
    """Return one observation for each part, in order."""
    return [
        ObservationFields(
            source=source[:256],
            trust=trust,
            summary=part[:_SUMMARY_CHARS],
            detail=part,
            resources=resources,
            provenance="" if len(parts) == 1 else f"part {number} of {len(parts)}",
        )
        for number, part in enumerate(parts, start=1)
    ]
