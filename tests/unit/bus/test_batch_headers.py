import pytest

from pmcl.bus import Outgoing
from pmcl.bus.append import _batch_headers

FENCE = {"Nats-Expected-Last-Sequence": "7"}


def batch(count: int) -> list[dict[str, str]]:
    messages = [Outgoing("s", b"", {"Pmcl-Number": str(n)}) for n in range(count)]
    return list(_batch_headers(messages, FENCE))


@pytest.mark.parametrize("count", [1, 2, 3, 500])
def test_a_batch_is_numbered_fenced_first_and_committed_last(count: int) -> None:
    sent = batch(count)

    assert [headers["Nats-Batch-Sequence"] for headers in sent] == [
        str(n + 1) for n in range(count)
    ]
    assert [n for n, headers in enumerate(sent) if "Nats-Expected-Last-Sequence" in headers] == [0]
    assert [n for n, headers in enumerate(sent) if "Nats-Batch-Commit" in headers] == [count - 1]
    assert sent[-1]["Nats-Batch-Commit"] == "1"
    assert [headers["Pmcl-Number"] for headers in sent] == [str(n) for n in range(count)]


def test_every_attempt_has_an_id_of_its_own() -> None:
    ids = [{headers["Nats-Batch-Id"] for headers in batch(3)} for _ in range(2)]

    assert [len(one) for one in ids] == [1, 1]
    assert ids[0] != ids[1]
    assert all(1 <= len(name) <= 64 for one in ids for name in one)
