"""What a host refuses by itself: after each error nothing ran, or nothing counts as stored."""

from pmcl.contracts import HostError
from pmcl.hosts.verdict import Verdict

__all__ = [
    "DispatchRefusedError",
    "HeldError",
    "KeyRefusedError",
    "ObservationLostError",
    "PathError",
    "ReplyError",
]


class DispatchRefusedError(HostError):
    """The tool was not run and may not be run with this verdict.

    Attributes:
        reason: `held`, `claimed` (the verdict was used before), `expired`, `fenced`, `no_lease`,
            `key_refused` (the host's key is not accepted any more), `not_a_call` (a plan or a
            recommendation), `other_proposal` (not what was checked), `unconfirmed` (the sidecar did
            not say in time that there was no stop).
    """

    def __init__(self, call_id: str, reason: str) -> None:
        self.call_id = call_id
        self.reason = reason
        super().__init__(f"call {call_id} was not dispatched: {reason}")


class HeldError(HostError):
    """A guarded function did not run; the message is for the model, which may revise its call.

    Attributes:
        verdict: `None` when the call could not be asked about.
    """

    def __init__(self, told: str, verdict: Verdict | None) -> None:
        self.verdict = verdict
        super().__init__(told)

    @property
    def reasons(self) -> tuple[str, ...]:
        """The codes of why it was held; none when it could not be asked about."""
        return () if self.verdict is None else self.verdict.reasons

    @property
    def revision_request(self) -> str | None:
        """What would lift the hold, if anything that the model can do."""
        return None if self.verdict is None else self.verdict.revision_request


class KeyRefusedError(HostError):
    """The sidecar's server does not accept this host's key: it can ask and store nothing."""

    def __init__(self, scope: str, host: str) -> None:
        self.scope = scope
        self.host = host
        super().__init__(
            f"the sidecar does not accept the key of {scope}/{host}: it was removed, or its"
            " credentials are another's; `pmcl host list` tells, `pmcl host add` makes new ones"
        )


class ObservationLostError(HostError):
    """Observations were not stored in time, as far as is known; they are closed and never count.

    Attributes:
        lost: keys of those that were not stored.
        stored: evidence ids of the others of the same call.
    """

    def __init__(self, lost: tuple[str, ...], stored: tuple[str, ...], reason: str) -> None:
        self.lost = lost
        self.stored = stored
        self.reason = reason
        super().__init__(f"{len(lost)} observations not stored, {len(stored)} stored: {reason}")


class PathError(HostError):
    """It cannot be said where a path leads, so it is none that a call may name."""

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"path {path!r} cannot be resolved: {reason}")


class ReplyError(HostError):
    """A reply is not an answer to what was asked; it was ignored."""

    def __init__(self, subject: str, reason: str) -> None:
        self.subject = subject
        self.reason = reason
        super().__init__(f"reply on {subject}: {reason}")
