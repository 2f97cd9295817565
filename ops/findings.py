"""What `pmcl doctor` found: each finding says what is so, and what to do where it should not be."""

from typing import Literal

import msgspec

__all__ = ["Finding", "State", "fine", "unknown", "wrong"]

State = Literal["ok", "unknown", "wrong"]


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One finding.

    Attributes:
        check: what was looked at, a stable name.
        state: `unknown` cannot be told from here.
        told: what was found.
        remedy: what to do; "" where there is nothing.
    """

    check: str
    state: State
    told: str
    remedy: str = ""


def fine(check: str, told: str) -> Finding:
    """Return that something is as it should be."""
    return Finding(check=check, state="ok", told=told)


def unknown(check: str, told: str, remedy: str) -> Finding:
    """Return that something cannot be told from here."""
    return Finding(check=check, state="unknown", told=told, remedy=remedy)


def wrong(check: str, told: str, remedy: str) -> Finding:
    """Return that something is not as it should be."""
    return Finding(check=check, state="wrong", told=told, remedy=remedy)
