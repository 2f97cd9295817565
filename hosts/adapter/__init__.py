"""What every adapter shares: a tool call as it is seen, and its way past the checkpoint."""

from pmcl.hosts.adapter.calls import Mediated, Stated, ToolCall
from pmcl.hosts.adapter.mediator import Mediator
from pmcl.hosts.adapter.outputs import OutputTooLargeError
from pmcl.hosts.adapter.resources import find_resources
from pmcl.hosts.adapter.wording import BY_PROMPT

__all__ = [
    "BY_PROMPT",
    "Mediated",
    "Mediator",
    "OutputTooLargeError",
    "Stated",
    "ToolCall",
    "find_resources",
]
