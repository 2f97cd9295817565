"""Runs in a process of its own, because the limit on file sizes is the process's."""

import resource
import sys
from pathlib import Path

import anyio

from pmcl.store import StoreConfig, StoreUnavailableError, Transaction, open_writer
from tests.unit.store.conftest import SCHEMA
from tests.unit.store.test_writer import ids, note, together


def limit_file_size(size: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


async def main(path: Path, shared: str) -> None:
    config = StoreConfig(
        path=path, schemas=(SCHEMA,), application_id=1, version=1, shared=bool(shared)
    )
    runs = []

    def counted(tx: Transaction) -> None:
        runs.append(1)
        note(len(runs) + 100, "x" * 2000)(tx)

    async with open_writer(config) as writer:
        commits: list[None] = []
        await writer.run(note(0))
        writer.on_commit(lambda: commits.append(None))
        sizes = [file.stat().st_size for file in path.parent.iterdir() if "shm" not in file.name]
        limit_file_size(max(sizes))
        for _ in range(3):
            results = await together(writer, counted, counted, counted)
            assert all(isinstance(result, StoreUnavailableError) for result in results), results
        assert len(runs) == 3 * (3 + 3), "a lost group runs again one by one"
        assert commits == []
        assert await writer.run(ids) == [0]
        limit_file_size(resource.RLIM_INFINITY)
        assert await together(writer, note(1), note(2)) == [1, 2]
        assert await writer.run(ids) == [0, 1, 2]
    async with open_writer(config) as writer:
        assert await writer.run(ids) == [0, 1, 2]


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]), sys.argv[2])
    sys.stdout.write("ok\n")
