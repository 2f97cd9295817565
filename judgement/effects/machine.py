"""Commands that tell what runs, listens and is logged on this machine, and what spoils each.

Left out is what waits, writes a file, ends something, or asks another machine. Source: the manuals
of iproute2, lsof, net-tools and systemd.
"""

from collections.abc import Callable
from typing import Final

from pmcl.judgement.effects.flags import Command, Word, within

__all__ = ["MACHINE"]

_JOURNALCTL: Final = Command(
    "f",
    "cursor-file flush follow relinquish-var rotate setup-keys smart-relinquish-var sync "
    "update-catalog vacuum-".split(),
)
_LSOF: Final = Command("Dkr")
_NETSTAT: Final = Command("c", ("continuous",))
_SS: Final = Command("DEFKNr", "diag events filter kill net resolve".split())
_SYSTEMCTL: Final = Command("HMw", "host image machine root wait".split())
_UNITS_TOLD: Final = [
    [verb]
    for verb in "cat is-active is-enabled is-failed list-sockets list-timers list-units show "
    "status".split()
]


def _lsof(words: list[Word]) -> bool:
    """Return whether open files are told once: `r` repeats, `D` and `k` name files of its own."""
    repeats = any((word.text or "").startswith("+r") for word in words)
    return not repeats and within(_LSOF, words)


def _ip(words: list[Word]) -> bool:
    """Return whether addresses, links or routes are shown, as they are without a verb."""
    texts = [word.text for word in words]
    while texts and texts[0] in ("-4", "-6", "-br", "-brief", "-c", "-j", "-o", "-s"):
        texts = texts[1:]
    shown = texts[1:2] in ([], ["show"], ["list"]) and None not in texts
    return shown and texts[:1] in [
        [each] for each in "a addr address l link n neigh r route".split()
    ]


def _systemctl(words: list[Word]) -> bool:
    """Return whether units of this machine are only told about."""
    operands = [word.text for word in words if not (word.text or "-").startswith("-")]
    return operands[:1] in _UNITS_TOLD and within(_SYSTEMCTL, words)


MACHINE: Final[dict[str, Callable[[list[Word]], bool]]] = {
    "ip": _ip,
    "journalctl": lambda words: within(_JOURNALCTL, words),
    "lsof": _lsof,
    "netstat": lambda words: within(_NETSTAT, words),
    "ss": lambda words: within(_SS, words),
    "systemctl": _systemctl,
}
