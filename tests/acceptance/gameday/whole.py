"""A station is whole again: what was acknowledged is there, once, and the commands say so."""

import random
from collections.abc import Collection
from pathlib import Path

from tests.acceptance.facts import until
from tests.acceptance.gameday.station import Station

__all__ = ["bare", "expect_whole", "flip_a_byte"]

_BARE = """
SELECT e.evidence_id AS id FROM evidence AS e
WHERE NOT EXISTS (SELECT 1 FROM payloads AS p WHERE p.scope = e.scope AND p.id = e.evidence_id)
"""


async def expect_whole(
    station: Station,
    acked: Collection[str],
    used: Collection[str],
    *,
    lost: int = 0,
    erased: Collection[str] = (),
) -> None:
    """What was acknowledged is evidence, with its content; each used verdict has one outcome.

    Args:
        station: runs.
        acked: evidence ids that a host was told are stored.
        used: evaluation ids under which a tool ran.
        lost: how many messages the stream has lost for good; they must be told.
        erased: evidence ids whose content, and no other, must be gone.
    """

    async def settled() -> bool:
        evidence = [
            row["id"] for row in await station.rows("SELECT evidence_id AS id FROM evidence")
        ]
        assert len(evidence) == len(set(evidence))
        outcomes = [
            row["id"]
            for row in await station.rows(
                "SELECT evaluation_id AS id FROM outcomes WHERE corrected_by IS NULL"
            )
        ]
        assert len(outcomes) == len(set(outcomes))
        beyond = await station.rows("SELECT 1 FROM inbox_beyond LIMIT 1")
        return not set(acked) - set(evidence) and not set(used) - set(outcomes) and not beyond

    await until(settled, within_s=40)
    status = await station.told("status")
    assert status["running"]
    assert status["ledger"]["lost_messages"] == lost
    assert (status["ledger"]["parked_outcomes"], status["ledger"]["listed_outcomes"]) == (0, 0)
    audit = await station.told("audit", "verify")
    assert audit["sound"], audit["faults"]
    assert await bare(station) == set(erased)


async def bare(station: Station) -> set[str]:
    """Return the ids of the evidence that has lost its content."""
    return {row["id"] for row in await station.rows(_BARE)}


def flip_a_byte(path: Path, chosen: random.Random) -> None:
    data = bytearray(path.read_bytes())
    data[chosen.randrange(len(data))] ^= 0xFF
    path.write_bytes(data)
