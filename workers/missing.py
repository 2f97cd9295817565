"""Numbers that a host's stream acknowledged and that will never come: the host is told of them.

A number is missing once INTAKE has nothing left of what it held when the host named it as
acknowledged, and the inbox has not seen it. Then the stream has lost the message: a damaged block,
an older copy of its store, no store at all. The host has what it may forget only with a receipt,
and sends it again; it closes what it has not. Until then it is behind, and nothing it asks is
judged.

Source: DESIGN sections 2 and 3.8; facts/reliability, hazard 3 and section 4.
"""

from typing import Final, TypeVar

import msgspec
import structlog

from pmcl.bus import Connection, intake_progress
from pmcl.contracts import BusError, Contract, Received
from pmcl.workers.units import Units
from pmcl.workers.worker import Incoming

__all__ = ["MissingNumbers"]

C = TypeVar("C", bound=Contract)
Who = tuple[str, str, str]

log = structlog.get_logger()

_SUSPECTS_MAX: Final = 1024


class _Suspect(msgspec.Struct, frozen=True):
    """A host named this number when INTAKE ended at this sequence."""

    number: int
    sequence: int


class MissingNumbers:
    """Watches the hosts that are behind what they have had acknowledged."""

    def __init__(self, connection: Connection, units: Units) -> None:
        self._connection = connection
        self._units = units
        self._suspects: dict[Who, _Suspect] = {}

    async def told(self, incoming: Incoming, received: Received) -> Received:
        """Return the receipts of one who has named a watermark, with what will never come."""
        who = (incoming.subject.scope, incoming.subject.host, incoming.epoch)
        if received.through >= incoming.number:
            self._suspects.pop(who, None)
            return received
        try:
            missing = await self._missing(who, incoming.number)
        except BusError as error:
            log.debug("intake.not_asked", error=type(error).__name__)
            return received
        return msgspec.structs.replace(received, missing=missing) if missing else received

    async def _missing(self, who: Who, number: int) -> tuple[int, ...]:
        last, done = await intake_progress(self._connection)
        suspect = self._suspects.get(who)
        if suspect is None or suspect.sequence > last:
            self._suspect(who, _Suspect(number, last))
            return ()
        if done < suspect.sequence:
            return ()
        missing = await self._units.missing(*who, suspect.number)
        self._suspect(who, _Suspect(number, last))
        if missing:
            log.warning("intake.missing", scope=who[0], host=who[1], numbers=len(missing))
        return missing

    def _suspect(self, who: Who, suspect: _Suspect) -> None:
        self._suspects.pop(who, None)
        self._suspects[who] = suspect
        if len(self._suspects) > _SUSPECTS_MAX:
            del self._suspects[next(iter(self._suspects))]
