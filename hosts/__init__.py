"""What a host puts between itself and the bus. It talks by message and never fails open."""

from pmcl.hosts.client import Host
from pmcl.hosts.config import HostConfig
from pmcl.hosts.defects import Defect, Defects
from pmcl.hosts.dispatch import Dispatch, Run
from pmcl.hosts.errors import (
    DispatchRefusedError,
    HeldError,
    KeyRefusedError,
    ObservationLostError,
    PathError,
    ReplyError,
)
from pmcl.hosts.function_tool import FunctionClaims
from pmcl.hosts.known import KnownHost
from pmcl.hosts.observing import ObservationFields
from pmcl.hosts.paths import resolve_path
from pmcl.hosts.profile import (
    Profile,
    ProfileError,
    load_host,
    load_profile,
    new_profile,
    profile_path,
)
from pmcl.hosts.proposal import Proposal
from pmcl.hosts.resending import Receipts, resend
from pmcl.hosts.stating import StatedFields, stating
from pmcl.hosts.sync_host import SyncHost, SyncTurn
from pmcl.hosts.turn import Turn
from pmcl.hosts.verdict import Verdict

__all__ = [
    "Defect",
    "Defects",
    "Dispatch",
    "DispatchRefusedError",
    "FunctionClaims",
    "HeldError",
    "Host",
    "HostConfig",
    "KeyRefusedError",
    "KnownHost",
    "ObservationFields",
    "ObservationLostError",
    "PathError",
    "Profile",
    "ProfileError",
    "Proposal",
    "Receipts",
    "ReplyError",
    "Run",
    "StatedFields",
    "SyncHost",
    "SyncTurn",
    "Turn",
    "Verdict",
    "load_host",
    "load_profile",
    "new_profile",
    "profile_path",
    "resend",
    "resolve_path",
    "stating",
]
