"""Who asks, and from where: decided before a byte of the body is read.

A key is a host's seed. It is never logged or shown, and never compared: its public half is looked
up, so that every key that opens nothing is answered alike.
Source: SPEC A8, G4.
"""

from typing import Final

import msgspec

from pmcl.bus import KeyringError, public_key
from pmcl.hosts.gateway.config import GatewayConfig
from pmcl.hosts.gateway.refusals import GatewayRefusedError
from pmcl.hosts.known import KnownHost

__all__ = ["Caller", "authenticate", "check_source"]

_SEED_MAX_CHARS: Final = 128


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """A host whose key was shown; the seed is not."""

    known: KnownHost
    nkey: str
    seed: str

    def __repr__(self) -> str:
        return f"Caller(scope={self.known.scope!r}, host={self.known.host!r})"


def authenticate(authorization: str | None, config: GatewayConfig) -> Caller:
    """Return the host that the bearer key belongs to.

    Raises:
        GatewayRefusedError: no key, or one that belongs to nobody; both are told alike.
    """
    scheme, _, seed = (authorization or "").partition(" ")
    nkey = _public(seed.strip()) if scheme.lower() == "bearer" else None
    known = None if nkey is None else config.find_host(nkey)
    if nkey is None or known is None:
        limit = "Bearer and the key of a registered host"
        raise GatewayRefusedError(401, "wrong_key", "authorization", limit=limit)
    return Caller(known=known, nkey=nkey, seed=seed.strip())


def check_source(host: str | None, origin: str | None, port: int) -> None:
    """Refuse what a web page of another site could have sent.

    Raises:
        GatewayRefusedError: the name asked for is not this machine's own (a rebound name of
            somebody's domain), or the page that asks is not ours.
    """
    names = (f"127.0.0.1:{port}", f"localhost:{port}")
    if host not in names:
        raise GatewayRefusedError(
            421, "wrong_host", "host", value=host or "", limit=" or ".join(names)
        )
    origins = tuple(f"http://{name}" for name in names)
    if origin is not None and origin not in origins:
        raise GatewayRefusedError(
            403, "foreign_origin", "origin", value=origin, limit="no other site"
        )


def _public(seed: str) -> str | None:
    if len(seed) > _SEED_MAX_CHARS:
        return None
    try:
        return public_key(seed)
    except KeyringError:
        return None
