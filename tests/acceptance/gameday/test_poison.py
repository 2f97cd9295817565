"""A message on which its worker always fails stops nobody, and gets its second chance."""

import sys
from pathlib import Path

import pytest

from pmcl.hosts import Host
from tests.acceptance.facts import until
from tests.acceptance.gameday.station import Station
from tests.acceptance.gameday.whole import expect_whole

pytestmark = pytest.mark.anyio

POISONED = (sys.executable, str(Path(__file__).with_name("poisoned.py")))


async def test_poison_is_put_aside_and_dealt_with_once_after_the_repair(station: Station) -> None:
    async with station.up(command=POISONED), Host.connect(station.host()) as host:
        poison = await host.observe(source="poison", summary="it divides by zero")
        others = [await host.observe(source="ls", summary=str(n)) for n in range(20)]

        async def buried() -> bool:
            return bool((await station.told("deadletters", "list"))["letters"])

        await until(buried)
        await expect_whole(station, others, ())
        (letter,) = (await station.told("deadletters", "list"))["letters"]
        assert (letter["worker"], letter["reason"], letter["attempts"]) == (
            "observe", "ZeroDivisionError", 5,
        )  # fmt: skip
        shown = await station.told("deadletters", "show", str(letter["sequence"]))
        assert shown["content"]["summary"] == "it divides by zero"
        # The cause is still there: it stays a dead letter.
        await station.run("deadletters", "redrive", code=2)
    async with station.up():
        dry = await station.told("deadletters", "redrive", "--dry-run")
        assert (dry["dry_run"], dry["done"]) == (True, 1), dry
        assert (await station.told("deadletters", "redrive"))["done"] == 1
        assert (await station.told("deadletters", "redrive"))["done"] == 0
        await expect_whole(station, [poison, *others], ())
        assert (await station.told("deadletters", "list"))["letters"] == []
