"""Which lines of a text are programming code, a log or a stack trace, told by their form.

Code orders a machine about and speaks to nobody: `return total`, `call x()`, a docstring. Only what
is told by form counts, and where it counts is for the caller to say.
"""

import re
from collections.abc import Iterator
from typing import Final

__all__ = [
    "blocks_of",
    "is_code_line",
    "is_listing",
    "is_worded",
    "quotes_in",
    "statements_of",
    "unnumbered",
]

_LOOKED_AT: Final = 300
_LISTING_SHARE: Final = 0.35
_LISTING_MIN: Final = 3

_number = re.compile(r"^\s*\d{1,6}(?:\u2192|\t)")
_fence = re.compile(r"^\s*(?:```|~~~)")
_code_line = re.compile(
    r"^\s*(?:"
    r"(?:async )?(?:def|class|fn|func|function|sub|struct|enum|interface|trait|impl|namespace|"
    r"module|package|type) [\w$.<>]+.*[({:;=\]>]|"
    r"(?:if|elif|for|while|with|except|switch|match|case|catch)\b.*[:{]\s*(?:#.*|//.*)?$|"
    r"(?:else|try|finally|do)\s*[:{]|"
    r"(?:import|from|use|using|require|include|#include|extern) .*|"
    r"(?:return|raise|throw|yield|await|assert|del|new|const|let|var|val|static|public|private|"
    r"protected|export|pub|mut|final|void|int|char|auto)\b.*(?:[(){}\[\];=]|\bself\b|\.\w)|"
    r"(?:return|pass|break|continue|end|raise|else|fi|done|esac)\s*;?$|"
    r"return [\w.'\"-]+\s*$|"
    r"@[\w.]+(?:\(.*)?$|"
    r"[\w.$\[\]\"']+\s*(?::\s*[\w.\[\], |]+)?\s*(?:[-+*/|&:?]|<<|>>|\*\*|//)?=(?!=).*|"
    r"[\w.$]+\(.*\)?[\s;,:{)]*$|"
    r".*[;{}]\s*(?://.*|#.*)?$|"
    r"[)\]}]+[\s,;:)\]}]*(?:else.*)?$|"
    r".*\)\s*(?:->.*)?[:{]\s*$|"
    r"[\"'].*[\"'],\s*$|"
    r"[\w.]+\(?,\s*$|"
    r"\"{3}|'{3}"
    r")"
)
_log_line = re.compile(
    r"^\s*(?:"
    r"\[?\d{4}-\d\d-\d\d[T ]\d\d:|\d\d:\d\d:\d\d\b|"
    r"[\w./\\-]+\.\w+:\d+(?::\d+)?:|"
    r"File \"[^\"]+\", line \d+|Traceback \(most recent|"
    r"at [\w.$<>]+ ?\([^)]*\)|"
    r"(?:E|>) {2,}\S|(?:FAILED|PASSED|ERROR|SKIPPED|XFAIL) [\w./-]+(?:::|\.py)|"
    r"[=_-]{4,} .* [=_-]{4,}$|"
    r"\[?(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE|FATAL)\]?\b\s*[:\[|]|"
    r"(?:warning|error|note|help|info)(?:\[\w+\])?: |npm (?:warn|err!|WARN|ERR!) |"
    r"(?:\+\+\+|---) [\w./-]+|@@ .* @@|diff --git "
    r")"
)
_says_little = re.compile(r"^\s*(?:#|//|/?\*|--|;|<|%|[\"']{3}|import |from |use |using )")
_code_sign = re.compile(r"[={}\[\]]|\w\(")
_quoted = re.compile(r"`[^`]*`")
_comment = re.compile(r"^\s*(?:#+!?|//+!?|/\*+|\*+/?|--|;;+|<!--|%+|\"{3}|'{3})\s?")


def unnumbered(text: str) -> str:
    """Return a text without the numbers that a reader put before its lines."""
    lines = text.split("\n")
    numbered = sum(_number.match(line) is not None for line in lines[:20])
    if numbered * 2 <= len(lines[:20]):
        return text
    return "\n".join(_number.sub("", line) for line in lines)


def is_code_line(line: str) -> bool:
    """Return whether a line looks like a statement of a program: no comment, and no import."""
    return _code_line.match(line) is not None and _says_little.match(line) is None


def is_listing(text: str) -> bool:
    """Return whether a text is a program, with what comments it has."""
    lines = [line for line in text.split("\n")[:_LOOKED_AT] if line.strip()]
    if len(lines) < _LISTING_MIN or any(map(_fence.match, lines)):
        return False
    code = sum(_code_line.match(line) is not None for line in lines)
    return code >= _LISTING_MIN and code >= _LISTING_SHARE * len(lines)


def blocks_of(text: str) -> Iterator[tuple[bool, str]]:
    """Yield the text in pieces, in order, each with whether it is code.

    What stands between fences is, and so is a run of lines that look like it.
    """
    piece: list[str] = []
    was_code, fenced = False, False
    for line in text.split("\n"):
        edge = _fence.match(line) is not None
        is_code = fenced or edge or _looks_like_code(line, goes_on=was_code)
        if is_code != was_code and piece:
            yield was_code, "\n".join(piece)
            piece = []
        piece.append(line)
        was_code, fenced = is_code, fenced != edge
    if piece:
        yield was_code, "\n".join(piece)


def quotes_in(text: str) -> Iterator[tuple[bool, str]]:
    """Yield a text in pieces, each with whether it stands between fences or behind `>`."""
    piece: list[str] = []
    was_quoted, fenced = False, False
    for line in text.split("\n"):
        edge = _fence.match(line) is not None
        is_quoted = fenced or edge or line.lstrip().startswith(">")
        if is_quoted != was_quoted and piece:
            yield was_quoted, "\n".join(piece)
            piece = []
        if not edge:
            piece.append(line)
        was_quoted, fenced = is_quoted, fenced != edge
    if piece:
        yield was_quoted, "\n".join(piece)


def _looks_like_code(line: str, *, goes_on: bool) -> bool:
    if not line.strip():
        return goes_on
    return _log_line.match(line) is not None


def statements_of(block: str) -> Iterator[tuple[bool, str]]:
    """Yield each line of code, and comments that follow each other as one, without their signs.

    Each stands beside whether it is a comment, or anything else that is no statement.
    """
    said: list[str] = []
    for line in block.split("\n"):
        if _comment.match(line) or not _is_statement(line):
            said.append(_comment.sub("", line).strip())
            continue
        yield from _joined(said)
        said = []
        yield False, line.strip()
    yield from _joined(said)


def _joined(said: list[str]) -> Iterator[tuple[bool, str]]:
    text = "\n".join(said).strip()
    if text:
        yield True, text


def is_worded(text: str) -> bool:
    """Return whether a text has no sign that only code has, but for what it quotes."""
    return _code_sign.search(_quoted.sub("", text)) is None


def _is_statement(line: str) -> bool:
    return _code_line.match(line) is not None or _log_line.match(line) is not None
