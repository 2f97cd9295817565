"""A host whose key is not accepted is told so at once, and may do nothing: that is no outage."""

from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import msgspec
import pytest

from pmcl.bus import Credentials, Keyring
from pmcl.bus.keys import new_seed
from pmcl.contracts import AuthoritySnapshot
from pmcl.hosts import DispatchRefusedError, Host, HostConfig, KeyRefusedError
from pmcl.hosts.adapter import Mediator, ToolCall
from pmcl.ops.cell import Cell, run_cell
from pmcl.ops.settings import Settings
from tests.integration.hosts.sidecar import until
from tests.integration.hosts.test_host import reading

pytestmark = pytest.mark.anyio

_LONG_MS = 60_000
"""Whoever waited for a deadline would be found out by `_AT_ONCE_S`."""
_AT_ONCE_S = 20.0


class Removable:
    def __init__(self, cell: Cell, keyring: Keyring, config: HostConfig) -> None:
        self.config = config
        self._cell, self._keyring = cell, keyring

    async def remove(self) -> None:
        self._keyring.remove_host("s", "a")
        await self._cell.reload()


@pytest.fixture
async def removable(tmp_path: Path, anyio_backend: str) -> AsyncIterator[Removable]:
    state_dir = tmp_path / "state"
    keyring = Keyring(state_dir / "keys")
    seed = keyring.add_host("s", "a")
    async with run_cell(Settings(state_dir=state_dir)) as cell:
        config = HostConfig(
            credentials=Credentials(url=cell.url, scope="s", host="a", seed=seed),
            authority=AuthoritySnapshot(tools={"*": "grant"}, effects={"inspect_local": "grant"}),
            state_dir=tmp_path / "host",
            deadline_ms=_LONG_MS,
            observe_ms=_LONG_MS,
        )
        yield Removable(cell, keyring, config)


async def test_a_key_that_was_never_registered_is_told_at_once(removable: Removable) -> None:
    stranger = msgspec.structs.replace(removable.config.credentials, seed=new_seed())
    config = msgspec.structs.replace(removable.config, credentials=stranger)
    with anyio.fail_after(_AT_ONCE_S), pytest.raises(KeyRefusedError, match="key of s/a"):
        async with Host.connect(config):
            pytest.fail("it was connected")


async def test_a_removed_host_may_do_nothing_and_is_told_why(removable: Removable) -> None:
    with anyio.fail_after(_AT_ONCE_S):
        async with Host.connect(removable.config) as host:
            proposal = reading()
            verdict = await host.check(proposal)
            assert verdict.status == "passed"
            await removable.remove()
            await until(lambda: refused(host))
            with pytest.raises(KeyRefusedError, match="pmcl host list"):
                await host.check(reading())
            with pytest.raises(KeyRefusedError):
                await host.observe(source="x", summary="lost")
            with pytest.raises(KeyRefusedError):
                await host.context("anything")
            with pytest.raises(DispatchRefusedError, match="key_refused"):
                async with host.dispatch(verdict, proposal):
                    pytest.fail("it ran")
            mediated = await Mediator(host).check(
                ToolCall(server="files", name="read_file", arguments={"path": "/n"})
            )
            assert not mediated.may_run
            assert "does not accept the key of s/a" in mediated.told


async def refused(host: Host) -> bool:
    try:
        _ = host.generation
    except KeyRefusedError:
        return True
    return False
