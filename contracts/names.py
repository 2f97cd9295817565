"""Names and ids: what may stand in a subject, a key or a reference.

Source: facts on NATS subjects; a literal `*`, `>`, NUL or CRLF in a token is stored by the server.
"""

import re
from typing import Annotated, Final, Literal

import msgspec

from pmcl.contracts.errors import ContractError
from pmcl.contracts.limits import EVIDENCE_IDS_MAX

__all__ = [
    "PATTERNS",
    "Count",
    "Digest",
    "EvidenceIds",
    "Id",
    "Key",
    "Millis",
    "Text",
    "Token",
    "TrustLabel",
    "Ulid",
    "check_token",
]

_TOKEN = r"^[a-z0-9_-]{1,64}\Z"  # noqa: S105 - a pattern
_ULID = r"^[0-9A-HJKMNP-TV-Z]{26}\Z"
_ID = r"^[A-Za-z0-9._:/-]{1,128}\Z"
_DIGEST = r"^[0-9a-f]{64}\Z"
_TOKEN_LIMIT = "1 to 64 of a-z, 0-9, _ and -"  # noqa: S105 - what fits the pattern
_token = re.compile(_TOKEN)

Token = Annotated[str, msgspec.Meta(pattern=_TOKEN)]
"""A scope, a host name or a leaf: one subject token."""
Ulid = Annotated[str, msgspec.Meta(pattern=_ULID)]
"""A ULID, as the sidecar and the host's file make them."""
Id = Annotated[str, msgspec.Meta(pattern=_ID)]
"""An id that a host chose: a call, a turn, a receipt kind, a failure mode."""
Key = Annotated[str, msgspec.Meta(min_length=1, max_length=256)]
"""A name that a host chose and that is stored in the open: a tool, a server, a source."""
Digest = Annotated[str, msgspec.Meta(pattern=_DIGEST)]
"""SHA-256 or HMAC-SHA-256, lower-case hex."""
Text = Annotated[str, msgspec.Meta(max_length=4096)]
"""Free text of at most 4096 characters."""
Millis = Annotated[int, msgspec.Meta(ge=0, le=2**53 - 1)]
"""Milliseconds since the Unix epoch, UTC, or a length of time in milliseconds."""
Count = Annotated[int, msgspec.Meta(ge=0, le=2**53 - 1)]
"""A number of things, or the number of a thing in its sequence."""
EvidenceIds = Annotated[tuple[Ulid, ...], msgspec.Meta(max_length=EVIDENCE_IDS_MAX)]
"""Ids of evidence in the ledger, in the order the host gave them."""

PATTERNS: Final = {
    _TOKEN: _TOKEN_LIMIT,
    _ULID: "a ULID: 26 capital letters and digits",
    _ID: "1 to 128 of A-Z, a-z, 0-9, ., _, :, / and -",
    _DIGEST: "64 of 0-9 and a-f",
}
"""What fits each pattern, in words."""

TrustLabel = Literal[
    "user",
    "operator",
    "tool_output",
    "web",
    "document",
    "environment",
    "model",
    "sensor",
    "imported",
]


def check_token(field: str, value: str) -> str:
    """Return `value` if it may stand in a subject.

    Raises:
        ContractError: anything but 1 to 64 of `a-z`, `0-9`, `_`, `-`.
    """
    if _token.match(value) is None:
        raise ContractError(field, value, _TOKEN_LIMIT)
    return value
