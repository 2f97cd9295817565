"""Whether a sidecar runs: a page must not start its server, as a command may."""

from pmcl.ops.asking import NotRunningError
from pmcl.ops.settings import Settings
from pmcl.ops.state_dir import running_pid

__all__ = ["check_running", "is_running"]


def is_running(settings: Settings) -> bool:
    """Return whether a sidecar runs here, or its server is another's to run."""
    if settings.server_url is not None:
        return True
    return settings.state_dir.is_dir() and running_pid(settings.state_dir) is not None


def check_running(settings: Settings) -> None:
    """Raise `NotRunningError` unless a sidecar runs."""
    if not is_running(settings):
        raise NotRunningError(settings)
