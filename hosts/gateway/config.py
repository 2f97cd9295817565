"""How the gateway is run; callers hold keys, the registry says whose they are."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec

from pmcl.hosts.config import HostConfig
from pmcl.hosts.defects import Defects
from pmcl.hosts.known import KnownHost
from pmcl.judgement import EffectRules

__all__ = ["GatewayConfig"]


class GatewayConfig(msgspec.Struct, frozen=True, kw_only=True):
    """The gateway of one sidecar.

    Attributes:
        url: of the bus.
        state_dir: the sidecar's; `gateway.json` and the hosts' files lie below it.
        find_host: whose a public key is, `None` for nobody's; never waits.
        load_profile: what a host's operator wrote down for it; may wait, raises `PmclError`.
        parts: of the sidecar, and whether each does its work now; never waits.
        defects: what requests met since the start; never waits.
        metrics: the text that `/metrics` answers; there is no such path without it.
        serves_hosts: without it health, readiness and metrics are all that is answered.
        port: to listen on; 0 for one that is chosen once and kept.
        rules: the operator's, for what nobody answers.
        sessions_max: hosts' sessions open at once.
        idle_s: a session that nobody used for so long, with nothing open, is closed.
        requests_max, host_requests_max: requests under way, in all and with one key.
        request_s: how long a request may take, its body included.
        body_s: how long a body may take to arrive.
        close_s: how long the last outcomes may take at the end.
    """

    url: str
    state_dir: Path
    find_host: Callable[[str], KnownHost | None]
    load_profile: Callable[[KnownHost], HostConfig]
    parts: Callable[[], dict[str, bool]]
    defects: Callable[[], Defects] = Defects
    metrics: Callable[[], Awaitable[bytes]] | None = None
    serves_hosts: bool = True
    port: int = 0
    rules: EffectRules = EffectRules()
    sessions_max: int = 64
    idle_s: float = 3600.0
    requests_max: int = 128
    host_requests_max: int = 32
    request_s: float = 30.0
    body_s: float = 10.0
    close_s: float = 5.0

    @property
    def hosts_dir(self) -> Path:
        """Where the hosts' own files lie, shared with every other process of a host."""
        return self.state_dir / "hosts"
