"""A reflector: who looks back on what happened and says what may be worth keeping.

It is handed values and returns values. What it says is proposed, and admitted by fixed rules alone.
"""

from typing import Protocol

import msgspec

from pmcl.contracts import PmclError, Reflection, Spending, Visibility
from pmcl.judgement import Retrospect, findings_of, reflection_of

__all__ = ["BuiltInReflector", "Reflected", "Reflector", "ReflectorError", "ReflectorTraits"]


class ReflectorTraits(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a reflector before it is asked.

    Attributes:
        name: as the record has it.
        reservation: what one cycle may use.
        reads: the texts that it may see; empty for one that reads no text.
    """

    name: str
    reservation: Spending
    reads: frozenset[Visibility] = frozenset()


class Reflected(msgspec.Struct, frozen=True, kw_only=True):
    """What a reflector said, and what it used; its time is measured by whoever asks.

    Attributes:
        findings: codes of what it spoke about, never to be said again.
    """

    reflection: Reflection
    used: Spending = Spending()
    findings: tuple[str, ...] = ()


class ReflectorError(PmclError):
    """A reflector said nothing, or nothing of use; nothing of it is kept.

    Attributes:
        reason: a short code.
        used: as of `Reflected`.
        discarded: that there was an answer; the same question is not asked again.
        retry_after_ms: how long it wants not to be asked.
        lasting: that the same question would be refused again.
    """

    def __init__(
        self,
        reason: str,
        *,
        used: Spending | None = None,
        discarded: bool,
        retry_after_ms: int = 0,
        lasting: bool = False,
    ) -> None:
        self.reason = reason
        self.used = used or Spending()
        self.discarded = discarded
        self.retry_after_ms = retry_after_ms
        self.lasting = lasting
        super().__init__(f"reflector: {reason}")


class Reflector(Protocol):
    """Reflects on one host's past at a time."""

    traits: ReflectorTraits

    async def reflect(self, retrospect: Retrospect) -> Reflected:
        """Return what it says. Raises `ReflectorError`."""
        ...


class BuiltInReflector:
    """Follows the fixed rules of `judgement.reflecting`; needs no model and costs nothing."""

    traits = ReflectorTraits(name="built-in", reservation=Spending(ms=1_000))

    async def reflect(self, retrospect: Retrospect) -> Reflected:
        """Return what the rules find."""
        findings = findings_of(retrospect)
        codes = tuple(finding.code for finding in findings)
        return Reflected(reflection=reflection_of(findings), findings=codes)
