"""The sizes and times that every part agrees on. Source: SPEC, Defaults.

Times are milliseconds, sizes bytes of UTF-8, counts plain numbers.
"""

from typing import Final

__all__ = [
    "APPROVALS_WAITING_MAX",
    "APPROVAL_TTL_MAX_MS",
    "APPROVAL_TTL_MS",
    "ARGUMENTS_MAX_BYTES",
    "CELL_QUEUE",
    "CLIENT_DEADLINE_MS",
    "DEFINITION_MAX_BYTES",
    "EVIDENCE_IDS_MAX",
    "FREE_TEXT_MAX_BYTES",
    "FRESHNESS_MS",
    "HEARTBEAT_MS",
    "HOST_OUTBOX_MAX_BYTES",
    "HOST_OUTBOX_MAX_ROWS",
    "HOST_QUEUE",
    "IDLE_MS",
    "LEASE_TTL_MS",
    "MESSAGE_MAX_BYTES",
    "PLAN_RESOURCES_MAX",
    "PLAN_STEPS_MAX",
    "RECOMMENDATION_TTL_MS",
    "REPLAY_PAGE_MAX",
    "STOP_MS",
    "VERDICT_TTL_MS",
]

MESSAGE_MAX_BYTES: Final = 256 * 1024
ARGUMENTS_MAX_BYTES: Final = 64 * 1024
DEFINITION_MAX_BYTES: Final = 16 * 1024
FREE_TEXT_MAX_BYTES: Final = 4 * 1024
EVIDENCE_IDS_MAX: Final = 64
PLAN_STEPS_MAX: Final = 32
PLAN_RESOURCES_MAX: Final = 64
"""Of all steps together; a step without any counts as one."""

VERDICT_TTL_MS: Final = 60_000
CLIENT_DEADLINE_MS: Final = 2_000
LEASE_TTL_MS: Final = 60_000
HEARTBEAT_MS: Final = 20_000
FRESHNESS_MS: Final = 300_000
STOP_MS: Final = 1_000
"""So old the sidecar's last word about a lease may be when a call under it is dispatched."""

APPROVAL_TTL_MS: Final = 600_000
APPROVAL_TTL_MAX_MS: Final = 86_400_000
APPROVALS_WAITING_MAX: Final = 64
"""Pending and granted approvals of one host."""

REPLAY_PAGE_MAX: Final = 2_048
"""The most stored messages that one request of an operator hands to their workers again."""

IDLE_MS: Final = 900_000
"""Between two idle reflections of one host."""

RECOMMENDATION_TTL_MS: Final = 7 * 86_400_000
"""So long a recommendation is shown; it is about a state that has changed since."""

CELL_QUEUE: Final = 256
HOST_QUEUE: Final = 32

HOST_OUTBOX_MAX_ROWS: Final = 10_000
HOST_OUTBOX_MAX_BYTES: Final = 64 * 1024 * 1024
