"""What the tests of the bus share: who connects, where host `a` writes, and who takes it."""

from collections.abc import Awaitable, Callable

from pmcl.bus import INTAKE, Connection, PullConfig

Connect = Callable[..., Awaitable[Connection]]
"""Gives a ready connection by name; keyword arguments go into its configuration."""

OBSERVED = "pmcl.v1.observation.s.a"
CONFIG = PullConfig(stream=INTAKE, durable="observe", slots=16)
