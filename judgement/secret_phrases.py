"""A secret that a command line or a sentence introduces is marked; a name before it is no field.

Said in a sentence it counts only when it is quoted or mixes letters and digits, so that "the token
is gone" stays. Each run is bounded.
"""

import re
from typing import Final

from pmcl.judgement.secret_detector import Mark
from pmcl.judgement.secret_hints import hints

__all__ = ["TOLD_HINTS", "mark_told"]

_told = re.compile(
    r"""
      (?<![A-Za-z0-9_])sshpass[ ]{1,4}+-p[ ]{0,4}+["']?(?P<sshpass>[^\s"']{1,256})
    | (?<![A-Za-z0-9_])curl[ ][^\n|;&]{0,256}?(?<=[ ])(?:-u|--user)[ =]?["']?
        [^\s:"'/]{1,64}+:(?P<curl>[^\s"']{1,256})
    | (?<![A-Za-z0-9])login\s{1,4}+[^\s]{1,64}+\s{1,4}+password\s{1,4}+(?P<netrc>[^\s]{1,256})
    | (?<![A-Za-z0-9])(?:password|passphrase|passcode|secret|token|api[ _-]key)[ ](?:is|was)[ ](?:
        [`"'](?P<quoted>[^\s`"']{4,256})[`"']
      | (?P<said>(?=[^\s]{0,64}\d)(?=[^\s]{0,64}[A-Za-z])[^\s`"',;()\[\]]{6,256}(?<![.!?:])))
    """,
    re.VERBOSE | re.IGNORECASE,
)
_KIND: Final = "password"
_SAID: Final = "password passphrase passcode secret token key"
TOLD_HINTS: Final = hints(
    ["curl ", "login", "sshpass "],
    [f"{name} {verb} " for name in _SAID.split() for verb in ("is", "was")],
)


def mark_told(text: str, mark: Mark) -> str:
    """Return `text` with each such secret replaced by `mark("password", secret)`."""
    return _told.sub(lambda found: _marked(found, mark), text)


def _marked(found: re.Match[str], mark: Mark) -> str:
    group = found.lastgroup
    if group is None or "[redacted:" in found[group]:
        return found[0]
    start, end = found.start(group) - found.start(), found.end(group) - found.start()
    return found[0][:start] + mark(_KIND, found[group]) + found[0][end:]
