"""The workers and their runtime: receive, prepare, decide, settle."""

from pmcl.workers.admitting import Cycle, admit_all
from pmcl.workers.approvals import ApprovalWorker
from pmcl.workers.checkpoint import CheckpointWorker
from pmcl.workers.commits import CommitSignal
from pmcl.workers.context import ContextWorker
from pmcl.workers.criticising import Critic, CriticUse
from pmcl.workers.erasing import end_erasure, erase_payloads
from pmcl.workers.identity import IdentityWorker
from pmcl.workers.lease import LeaseTimes, LeaseWorker
from pmcl.workers.observe import AllowedTrust, ObserveWorker
from pmcl.workers.operators import OperatorWorker
from pmcl.workers.outcome import OutcomeWorker
from pmcl.workers.record import RecordWorker, record_backup
from pmcl.workers.redriving import LETTER_MAX_BYTES, RedriveWorker
from pmcl.workers.reflect import ReflectWorker
from pmcl.workers.reflecting import Admission, Admit, ReflectionConfig
from pmcl.workers.reflector import (
    BuiltInReflector,
    Reflected,
    Reflector,
    ReflectorError,
    ReflectorTraits,
)
from pmcl.workers.replaying import ReplayWorker
from pmcl.workers.requests import RequestLimits, RequestLoop
from pmcl.workers.retaking import Retaker
from pmcl.workers.retracting import RetractionWorker
from pmcl.workers.signals import RuntimeSignals
from pmcl.workers.stopping import StopWorker
from pmcl.workers.streams import StreamHandler
from pmcl.workers.units import Units
from pmcl.workers.worker import (
    Decision,
    Done,
    Incoming,
    Reject,
    RequestWorker,
    Retry,
    Settlement,
    StreamWorker,
)

__all__ = [
    "LETTER_MAX_BYTES",
    "Admission",
    "Admit",
    "AllowedTrust",
    "ApprovalWorker",
    "BuiltInReflector",
    "CheckpointWorker",
    "CommitSignal",
    "ContextWorker",
    "Critic",
    "CriticUse",
    "Cycle",
    "Decision",
    "Done",
    "IdentityWorker",
    "Incoming",
    "LeaseTimes",
    "LeaseWorker",
    "ObserveWorker",
    "OperatorWorker",
    "OutcomeWorker",
    "RecordWorker",
    "RedriveWorker",
    "ReflectWorker",
    "Reflected",
    "ReflectionConfig",
    "Reflector",
    "ReflectorError",
    "ReflectorTraits",
    "Reject",
    "ReplayWorker",
    "RequestLimits",
    "RequestLoop",
    "RequestWorker",
    "Retaker",
    "RetractionWorker",
    "Retry",
    "RuntimeSignals",
    "Settlement",
    "StopWorker",
    "StreamHandler",
    "StreamWorker",
    "Units",
    "admit_all",
    "end_erasure",
    "erase_payloads",
    "record_backup",
]
