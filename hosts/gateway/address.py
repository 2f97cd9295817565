"""The gateway listens on one loopback port, chosen once and kept: hosts find it by `gateway.json`.

Source: SPEC, Defaults.
"""

import errno
import socket
from pathlib import Path
from typing import Final

import msgspec

from pmcl.bus import write_private
from pmcl.contracts import PmclError
from pmcl.hosts.gateway.config import GatewayConfig

__all__ = ["GatewayError", "gateway_url", "listen"]

_LOOPBACK: Final = "127.0.0.1"
_BACKLOG: Final = 128


class GatewayError(PmclError):
    """The gateway cannot be started."""


class _Address(msgspec.Struct, frozen=True):
    url: str


def listen(config: GatewayConfig) -> socket.socket:
    """Return a socket that listens on the gateway's port; `gateway.json` names it, mode 0600.

    Raises:
        GatewayError: the port is in use, or the kept one cannot be read.
    """
    path = config.state_dir / "gateway.json"
    port = config.port or _kept_port(path)
    try:
        listening = socket.create_server((_LOOPBACK, port), backlog=_BACKLOG)
    except OSError as error:
        raise GatewayError(_told(error, port)) from error
    listening.settimeout(0)
    url = gateway_url(listening.getsockname()[1])
    write_private(path, msgspec.json.encode(_Address(url)) + b"\n")
    return listening


def gateway_url(port: int) -> str:
    """Return where a gateway on this port is found."""
    return f"http://{_LOOPBACK}:{port}"


def _kept_port(path: Path) -> int:
    """Return the port of the last start, 0 for any."""
    try:
        url = msgspec.json.decode(path.read_bytes(), type=_Address).url
    except FileNotFoundError:
        return 0
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise GatewayError(f"{path}: {error}: remove it for a new port") from error
    port = url.removeprefix(gateway_url(0).removesuffix("0"))
    if not port.isdecimal() or not 0 < int(port) < 2**16:
        raise GatewayError(f"{path}: url is {url!r}, allowed: {gateway_url(0)[:-1]}PORT")
    return int(port)


def _told(error: OSError, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        hint = "stop what listens there, or set gateway_port (PMCL_GATEWAY_PORT)"
        return f"gateway: port {port} of {_LOOPBACK} is in use: {hint}"
    return f"gateway: cannot listen on port {port} of {_LOOPBACK}: {error.strerror}"
