"""An address counts by every host that some reader of it would ask.

Readers differ: to a browser a backslash is a slash, blanks at the ends and line ends are nothing,
and `https:///a` and `https:a` both lead to `a`; others take the same text for something else.
Source: RFC 3986; WHATWG URL, the state machine of special schemes.
"""

import re
from typing import Final
from urllib.parse import unquote, urlsplit

__all__ = ["file_of", "hosts_of", "is_address"]

_scheme = re.compile(r"\s*[a-z][a-z0-9+.-]*:[/\\]{2}", re.IGNORECASE)
_special = re.compile(r"(https?|wss?|ftp):[/\\]*", re.IGNORECASE)
_file = re.compile(r"\s*file:", re.IGNORECASE)
_line_ends = re.compile(r"[\t\r\n]")
_BLANKS: Final = "".join(map(chr, range(33)))


def is_address(text: str) -> bool:
    """Return whether a text begins with a scheme and names a place behind it, or a file."""
    return _scheme.match(text) is not None or _file.match(text) is not None


def hosts_of(address: str) -> tuple[str, ...]:
    """Return the hosts in an address, or in one without a scheme.

    Raises:
        ValueError: it cannot be read, or its scheme asks for a host and there is none.
    """
    spelled = _line_ends.sub("", address.strip(_BLANKS))
    if _scheme.match(spelled) is None and _special.match(spelled) is None:
        spelled = "https://" + spelled
    browsed = _special.sub(lambda found: f"{found[1]}://", spelled, count=1).replace("\\", "/")
    found = [urlsplit(each).hostname for each in (spelled, browsed)]
    hosts = tuple(dict.fromkeys(host for host in found if host))
    if not hosts and _special.match(spelled) is not None:
        raise ValueError("no host")
    return hosts


def file_of(address: str) -> str | None:
    """Return the path that an address of a file leads to; `None` for any other address.

    Raises:
        ValueError: it cannot be read.
    """
    if _file.match(address) is None:
        return None
    return unquote(urlsplit(address.strip(_BLANKS)).path)
