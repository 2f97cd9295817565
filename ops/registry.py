"""Which hosts exist and what they may assert, as the keyring's file said at the last load."""

from collections.abc import Mapping

from pmcl.bus import HostEntry, Keyring
from pmcl.contracts import TrustLabel
from pmcl.hosts import KnownHost

__all__ = ["HostRegistry"]


class HostRegistry:
    """Answers without touching the disk; `load` reads the file again."""

    def __init__(self, keyring: Keyring) -> None:
        self._keyring = keyring
        self._hosts: Mapping[tuple[str, str], HostEntry] = {}
        self._by_key: Mapping[str, KnownHost] = {}
        self.load()

    def load(self) -> None:
        """Know the hosts as the file says now."""
        self._hosts = self._keyring.hosts()
        self._by_key = {
            entry.nkey: KnownHost(scope=scope, host=host, trust=frozenset(entry.trust))
            for (scope, host), entry in self._hosts.items()
        }

    def find(self, nkey: str) -> KnownHost | None:
        """Return whose a public key is, `None` for nobody's."""
        return self._by_key.get(nkey)

    def allowed_trust(self, scope: str, host: str) -> frozenset[TrustLabel]:
        """Return the trust labels that a host's credential may assert; none if it is unknown."""
        entry = self._hosts.get((scope, host))
        return frozenset() if entry is None else frozenset(entry.trust)
