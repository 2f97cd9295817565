"""A command line whose parts do not go together, though each is one that is understood."""

from pmcl.contracts import PmclError

__all__ = ["MisuseError"]


class MisuseError(PmclError):
    """Nothing was done, and would not be the next time either; the message says what is allowed."""
