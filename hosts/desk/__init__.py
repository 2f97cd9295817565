"""Where callers that come and go put their calls: HTTP and MCP serve the same desk."""

from pmcl.hosts.desk.asking import read_asked
from pmcl.hosts.desk.checks import (
    CheckAnswer,
    CheckAsked,
    PlanCheckAsked,
    RecommendationCheckAsked,
    ToolCheckAsked,
)
from pmcl.hosts.desk.desk import Desk
from pmcl.hosts.desk.errors import NotOpenError, UnknownVerdictError
from pmcl.hosts.desk.messages import (
    BeginAsked,
    ContextAsked,
    DispatchAnswer,
    DispatchAsked,
    LeaseAnswer,
    ManyObserved,
    ManyStored,
    ObserveAsked,
    Observed,
    OutcomeAnswer,
    OutcomeAsked,
    Stored,
    TurnAnswer,
    TurnAsked,
)
from pmcl.hosts.desk.problems import Problem, problem_of
from pmcl.hosts.desk.schemas import components, object_schema

__all__ = [
    "BeginAsked",
    "CheckAnswer",
    "CheckAsked",
    "ContextAsked",
    "Desk",
    "DispatchAnswer",
    "DispatchAsked",
    "LeaseAnswer",
    "ManyObserved",
    "ManyStored",
    "NotOpenError",
    "ObserveAsked",
    "Observed",
    "OutcomeAnswer",
    "OutcomeAsked",
    "PlanCheckAsked",
    "Problem",
    "RecommendationCheckAsked",
    "Stored",
    "ToolCheckAsked",
    "TurnAnswer",
    "TurnAsked",
    "UnknownVerdictError",
    "components",
    "object_schema",
    "problem_of",
    "read_asked",
]
