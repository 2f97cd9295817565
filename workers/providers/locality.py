"""An address is local when its host is this machine by number; a name proves nothing.

`localhost` is taken for 127.0.0.1 and never looked up.
"""

from ipaddress import ip_address
from urllib.parse import urlsplit, urlunsplit

__all__ = ["is_local", "local_url"]


def is_local(url: str) -> bool:
    """Return whether only this machine can be behind the address."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        if parts.scheme not in ("http", "https") or "@" in parts.netloc:
            return False
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def local_url(url: str) -> str:
    """Return the address with the number in place of `localhost`."""
    parts = urlsplit(url)
    if parts.hostname != "localhost":
        return url
    port = "" if parts.port is None else f":{parts.port}"
    return urlunsplit(parts._replace(netloc=f"127.0.0.1{port}"))
