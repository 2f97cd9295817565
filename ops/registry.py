"""Which hosts exist and what they may assert, as the keyring's file said at the last load."""

from collections.abc import Mapping

from pmcl.bus import HostEntry, Keyring
from pmcl.contracts import TrustLabel

__all__ = ["HostRegistry"]


class HostRegistry:
    """Answers without touching the disk; `load` reads the file again."""

    def __init__(self, keyring: Keyring) -> None:
        self._keyring = keyring
        self._hosts: Mapping[tuple[str, str], HostEntry] = keyring.hosts()

    def load(self) -> None:
        """Know the hosts as the file says now."""
        self._hosts = self._keyring.hosts()

    def allowed_trust(self, scope: str, host: str) -> frozenset[TrustLabel]:
        """Return the trust labels that a host's credential may assert; none if it is unknown."""
        entry = self._hosts.get((scope, host))
        return frozenset() if entry is None else frozenset(entry.trust)
