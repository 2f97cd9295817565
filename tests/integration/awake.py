"""A sidecar that a whole session shares lives on the tests' own loop.

The loop stands still while a test without one runs. After some 20 s of that nats-server has dropped
the sidecar's connections, and whoever asked first would find nobody.
"""

from pmcl.ops.cell import Cell
from tests.integration.gateway.wire import Wire
from tests.integration.hosts.sidecar import until

__all__ = ["awake"]

_WITHIN_S = 30.0


async def awake(cell: Cell) -> None:
    """Every part of the sidecar does its work, whatever its loop has slept through."""
    assert cell.gateway_url is not None
    anybody = Wire(cell.gateway_url, None)

    async def ready() -> bool:
        return (await anybody.get("/v1/ready")).status == 200

    await until(ready, within_s=_WITHIN_S)
