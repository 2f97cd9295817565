"""Everything a host needs to know, passed whole. The seed is in memory only and never shown."""

import hmac
import os
from pathlib import Path
from typing import Literal

import msgspec
import platformdirs

from pmcl.bus import Credentials
from pmcl.contracts import AuthoritySnapshot, Kind, Subject, limits
from pmcl.judgement import EffectRules, OperatorsFiles, spellings_of

__all__ = ["HostConfig"]


class HostConfig(msgspec.Struct, frozen=True, kw_only=True):
    """One host.

    Attributes:
        authority: what this host may do, for the whole generation.
        rules: the operator's rules of effects, for calls that nobody can judge; the sidecar reads
            its own.
        provider_locality: where the model runs that reads what is observed.
        state_dir: where the host's file lies; when `None`, `hosts` in the folder that
            `PMCL_STATE_DIR` names, where the sidecar looks for it, or else in the user's.
        deadline_ms: how long a check may take, in all.
        observe_ms: how long an observation may take until it is stored.
        reconnect_ms: how long a check waits for a connection that is down.
        sweep_ms: between two looks for what dead siblings left.
        sibling_ms: how long another process of this host may take to send again what the stream has
            lost of its observations.
        resend_ms: an outcome without a receipt is sent again after this time.
        close_ms: how long the last outcomes may take when the host is closed.
    """

    credentials: Credentials
    authority: AuthoritySnapshot
    rules: EffectRules = EffectRules()
    provider_locality: Literal["local", "nonlocal"] = "nonlocal"
    state_dir: Path | None = None
    deadline_ms: int = limits.CLIENT_DEADLINE_MS
    observe_ms: int = 5_000
    reconnect_ms: int = 250
    sweep_ms: int = 5_000
    sibling_ms: int = 60_000
    resend_ms: int = 30_000
    close_ms: int = 2_000

    @property
    def file(self) -> Path:
        """The file that all processes of this host on this machine share."""
        directory = self.state_dir or _state_dir() / "hosts"
        return directory / f"{self.credentials.scope}.{self.credentials.host}.sqlite"

    @property
    def operators_files(self) -> OperatorsFiles:
        """Where the operator's files lie, if the sidecar is on this machine; unresolved."""
        own = self.state_dir
        folder = own.parent if own is not None and own.name == "hosts" else _state_dir()
        folders = spellings_of((str(folder),), os.path.expanduser("~"))
        return OperatorsFiles(folders, f"{self.credentials.scope}.{self.credentials.host}")

    @property
    def redaction_key(self) -> bytes:
        """The key of this host's redaction marks: the same for all its processes."""
        return hmac.digest(self.credentials.seed.encode(), b"pmcl/redaction/1", "sha256")

    def subject(self, kind: Kind, leaf: str | None = None) -> str:
        """Return the subject on which this host speaks of `kind`."""
        return str(Subject(kind, self.credentials.scope, self.credentials.host, leaf))


def _state_dir() -> Path:
    return Path(os.environ.get("PMCL_STATE_DIR") or platformdirs.user_state_path("pmcl"))
