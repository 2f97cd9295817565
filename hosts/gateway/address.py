"""The gateway listens on one loopback port, chosen once and kept, and on a socket of its user.

Hosts find both by `gateway.json`. Any local program can take a port while the sidecar is down, and
would be handed keys; the socket lies in the state folder, where nobody else can make one.
Source: SPEC, Defaults.
"""

import errno
import os
import socket
from pathlib import Path
from typing import Final

import msgspec

from pmcl.bus import write_private
from pmcl.contracts import PmclError
from pmcl.hosts.gateway.config import GatewayConfig

__all__ = ["GatewayError", "Listening", "gateway_url", "listen"]

_LOOPBACK: Final = "127.0.0.1"
_BACKLOG: Final = 128
_NAME_MAX_BYTES: Final = 100


class GatewayError(PmclError):
    """The gateway cannot be started."""


class _Address(msgspec.Struct, frozen=True):
    url: str
    socket: str = ""


class Listening(msgspec.Struct, frozen=True):
    """What the gateway listens on: a loopback port, and the socket of a file at `path`."""

    port: socket.socket
    file: socket.socket
    path: Path

    @property
    def url(self) -> str:
        """Where the gateway is found over the loopback."""
        return gateway_url(self.port.getsockname()[1])

    def close(self) -> None:
        """Listen no more; nothing is left that looks like a gateway that could be asked."""
        self.port.close()
        self.file.close()
        self.path.unlink(missing_ok=True)


def listen(config: GatewayConfig) -> Listening:
    """Listen, both ways; `gateway.json` names them, mode 0600.

    Raises:
        GatewayError: the port is in use, the kept one cannot be read, or the socket cannot be made.
    """
    path = config.state_dir / "gateway.json"
    port = config.port or _kept_port(path)
    try:
        listening = socket.create_server((_LOOPBACK, port), backlog=_BACKLOG)
    except OSError as error:
        raise GatewayError(_told(error, port)) from error
    listening.settimeout(0)
    file = config.state_dir.absolute() / "gateway.sock"
    try:
        found = Listening(listening, _listen_privately(file), file)
    except OSError as error:
        listening.close()
        raise GatewayError(f"gateway: cannot listen on {file}: {error.strerror}") from error
    write_private(path, msgspec.json.encode(_Address(found.url, str(file))) + b"\n")
    return found


def _listen_privately(file: Path) -> socket.socket:
    """Return a socket that listens on a file which this user alone may connect to."""
    file.unlink(missing_ok=True)
    listening = socket.socket(socket.AF_UNIX)
    folder = os.open(file.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        # Through the folder's descriptor a name of any length fits into a socket's address.
        fits = len(os.fsencode(file)) <= _NAME_MAX_BYTES
        listening.bind(str(file) if fits else f"/proc/self/fd/{folder}/{file.name}")
        file.chmod(0o600)
        listening.listen(_BACKLOG)
        listening.settimeout(0)
    except BaseException:
        listening.close()
        raise
    finally:
        os.close(folder)
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
