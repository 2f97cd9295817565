"""Each part is judged by its own signs alone, and is well again as soon as it gives one."""

from collections.abc import Callable

import pytest

from pmcl.ops.signals.vitals import DEFECTS_IN_A_ROW, SILENCE_S, STUCK_S, Vitals

WELL = dict.fromkeys(("connection", "intake", "relay", "requests", "writer"), True)


class Room:
    """A cell of which nothing runs: the clock and every part say what a test wants."""

    ready = True
    stores = True

    def __init__(self, head: int = 0, last: int = 0) -> None:
        self.now = 100.0
        self.last = last
        self.vitals = Vitals((self, self), self, head, lambda: self.now, stores=lambda: self.stores)
        self._heard = [self.vitals.pulled("observe"), self.vitals.pulled("outcome")]

    def live(self, seconds: float) -> None:
        """Time passes, and all but the relay give their signs."""
        self.now += seconds
        self.vitals.wrote()
        for heard in self._heard:
            heard()

    @property
    def ill(self) -> set[str]:
        parts = self.vitals.parts()
        assert parts.keys() == WELL.keys()
        return {part for part, does_work in parts.items() if not does_work}


def test_a_server_that_cannot_write_takes_nothing_in_although_it_gives_signs() -> None:
    room = Room()
    room.stores = False
    room.live(1)
    assert room.ill == {"intake"}
    room.stores = True
    assert room.ill == set()


def test_all_is_well_at_the_start() -> None:
    assert Room().vitals.parts() == WELL


def test_connection_that_is_down_is_told_at_once() -> None:
    room = Room()
    room.ready = False
    assert room.ill == {"connection"}
    room.ready = True
    assert room.ill == set()


@pytest.mark.parametrize("silent", ["observe", "outcome"])
def test_one_silent_consumer_is_enough(silent: str) -> None:
    room = Room()
    (other,) = {"observe", "outcome"} - {silent}
    room.now += SILENCE_S
    room.vitals.wrote()
    room.vitals.pulled(other)()
    assert room.ill == {"intake"}
    room.vitals.pulled(silent)()
    assert room.ill == set()


def test_silent_writer_is_told() -> None:
    room = Room()
    room.live(SILENCE_S - 0.1)
    room.now += 0.2
    assert room.ill == set()
    room.now += SILENCE_S
    for durable in ("observe", "outcome"):
        room.vitals.pulled(durable)()
    assert room.ill == {"writer"}
    room.vitals.wrote()
    assert room.ill == set()


def test_failed_commit_counts_until_something_is_committed() -> None:
    """A full disk lets a sweep pass that has nothing to write."""
    room = Room()
    room.vitals.failed()
    room.live(1)
    assert room.ill == {"writer"}
    room.last = 1
    room.vitals.committed(1)
    assert room.ill == set()


def test_failed_commit_is_forgotten_where_nobody_tries_again() -> None:
    room = Room()
    room.vitals.failed()
    room.live(STUCK_S)
    assert room.ill == set()


def send(room: Room) -> None:
    room.last += 1
    room.vitals.look()


def wait(room: Room) -> None:
    room.vitals.look()


@pytest.mark.parametrize(("happens", "ill"), [(send, set()), (wait, {"relay"})])
def test_relay_is_stuck_when_rows_wait_and_none_goes(
    happens: Callable[[Room], None], ill: set[str]
) -> None:
    room = Room()
    room.vitals.committed(9)
    for _ in range(3):
        room.live(STUCK_S / 2)
        happens(room)
    assert room.vitals.waiting == 9 - room.last
    assert room.ill == ill
    room.last = 9
    assert room.ill == set()


def test_relay_that_had_nothing_to_do_has_its_time() -> None:
    room = Room()
    room.live(10 * STUCK_S)
    room.vitals.committed(1)
    room.live(STUCK_S - 1)
    assert room.ill == set()
    room.live(1)
    assert room.ill == {"relay"}


def test_rows_of_before_the_start_wait_as_well() -> None:
    room = Room(head=5, last=2)
    assert room.vitals.waiting == 3
    room.live(STUCK_S)
    assert room.ill == {"relay"}


def fail(room: Room, kind: str = "checkpoint") -> None:
    room.vitals.defective(kind, "StatementError", "collect:7")
    room.vitals.answered(kind, "ledger_unavailable")


def test_requests_that_all_end_in_a_defect_are_told_until_one_is_served() -> None:
    room = Room()
    for _ in range(DEFECTS_IN_A_ROW - 1):
        fail(room)
    fail(room, "lease")
    assert room.ill == set()
    fail(room)
    room.vitals.answered("checkpoint", "stale_generation")
    room.vitals.answered("lease", "answered")
    assert room.ill == {"requests"}
    room.vitals.answered("checkpoint", "answered")
    assert room.ill == set()


def test_defects_between_answers_are_counted() -> None:
    room = Room()
    for _ in range(DEFECTS_IN_A_ROW):
        fail(room)
        room.vitals.answered("checkpoint", "answered")
    assert room.ill == set()
    assert room.vitals.defects.count == DEFECTS_IN_A_ROW
    last = room.vitals.defects.last
    assert last is not None
    assert (last.kind, last.error, last.line) == ("checkpoint", "StatementError", "collect:7")
