"""Until when a command only inspects, told by its flags and by how many operands it takes."""

from collections.abc import Sequence
from typing import Final

import msgspec

__all__ = ["Command", "Word", "within"]

MANY: Final = 1_000


class Word(msgspec.Struct, frozen=True):
    """One word of a command.

    Attributes:
        text: as the command gets it; `None` when only running the shell would tell.
        spreads: it is a pattern, which may become several words.
    """

    text: str | None
    spreads: bool = False


class Command(msgspec.Struct, frozen=True):
    """Until when a command only inspects.

    Attributes:
        short, long: flags that do more; long ones without dashes, `find` style ones with one.
        operands: how many words that are no flags it takes before one means something else.
    """

    short: str = ""
    long: Sequence[str] = ()
    operands: int = MANY

    @property
    def takes_anything(self) -> bool:
        """Whether no word can make it do more, so that unknown words may follow."""
        return not self.short and not self.long and self.operands == MANY


def within(command: Command, words: list[Word]) -> bool:
    """Return whether no flag and no operand makes a command do more."""
    if command.takes_anything:
        return True
    operands, flags_end = 0, False
    for word in words:
        text = word.text
        if text is None or (word.spreads and command.operands < MANY):
            return False  # it might be one of the flags, or one operand too many
        if text == "--":
            flags_end = True
        elif flags_end or not text.startswith("-") or text == "-":
            operands += 1
        elif _does_more(command, text):
            return False
    return operands <= command.operands


def _does_more(command: Command, flag: str) -> bool:
    if flag in command.long:  # `find -delete`
        return True
    if not flag.startswith("--"):
        return any(letter in command.short for letter in flag[1:])
    given = flag[2:].partition("=")[0]
    return any(long.startswith(given) or given.startswith(long) for long in command.long)
