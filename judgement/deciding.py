"""Calls by which an agent would decide for its operator, or get round the sidecar.

They are held whatever anybody says. A command is told by its parsed words, wherever it stands in
one that runs others; what is in a file, or is put together while it runs, is not seen here.
"""

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pmcl.contracts import CheckpointRequest, Effect
from pmcl.judgement.effects import (
    Content,
    EffectRules,
    content_of,
    is_readable,
    runs_in,
    telling_parts,
    words_of,
)
from pmcl.judgement.operators_commands import runs_operators_own
from pmcl.judgement.operators_files import OperatorsFiles, holds_hook

__all__ = ["decides"]

_CHANGING: Final = frozenset({"mutation", "communication", "execution"})
_LISTING: Final = frozenset("directory glob info list listing ls stat tree".split())
_TYPING: Final = frozenset("console keys pty repl shell stdin terminal tmux tty".split())
"""Words of tools that type what they are given."""
_LABELS: Final = frozenset("description explanation reason thought title".split())
_PROGRAMS: Final = ("command", "cmd", "program", "executable")
_ARGUMENTS: Final = ("args", "argv", "arguments", "params")
_DEEPEST: Final = 16
_marks = re.compile(
    r"pmcl|nats|claude|codex|gemini|\.nk|[*?\[{$~]|kill|(?:\A|\s)/|"
    r"\b(?:cd|find|rm|rmdir|mv|shred|ch(?:grp|mod|own))\b",
    re.IGNORECASE,
)
"""Without one of these a text names nothing of the operator's, unless it is their own files."""
_names = re.compile(r"pmcl|nats|claude|codex|gemini|\.nk", re.IGNORECASE)
_PATH_MAX_CHARS: Final = 4096
_quotes = str.maketrans("", "", "'\"\\\n\0")


def decides(
    request: CheckpointRequest, effect: Effect, files: OperatorsFiles, rules: EffectRules
) -> bool:
    """Return whether a call runs, reads or changes what belongs to the operator."""
    scripts = [*_scripts(request, effect, rules)]
    if any(_runs_own(script, files) for script in scripts):
        return True
    named = words_of(request.tool.name)
    listing = effect == "inspect_local" and not _LISTING.isdisjoint(named)
    paths = [resource.value for resource in request.resources if resource.kind == "path"]
    if any(files.hold(path) or (files.lie_in(path) and not listing) for path in paths):
        return True
    writes = effect in _CHANGING and not scripts
    return (writes and any(map(holds_hook, paths))) or any(
        files.hold(text)
        for _, text in _texts("", request.arguments, _DEEPEST)
        if len(text) <= _PATH_MAX_CHARS and "\n" not in text
    )


def _runs_own(script: str, files: OperatorsFiles) -> bool:
    plain = script.translate(_quotes)
    named = (*files.folders, files.host)
    if _marks.search(plain) is None and not any(name and name in plain for name in named):
        return False
    script = script if is_readable(script) else telling_parts(script, _names)
    return not is_readable(script) or runs_operators_own(runs_in(script), files)


def _scripts(request: CheckpointRequest, effect: Effect, rules: EffectRules) -> Iterator[str]:
    """Yield what a call has run, or may have."""
    words = words_of(request.tool.name)
    rule = rules.of(request.tool.server, request.tool.name)
    said: Mapping[str, Content] = {} if rule is None else rule.arguments
    runs_any = effect == "execution" or not _TYPING.isdisjoint(words)
    for name, text in _texts("", request.arguments, _DEEPEST):
        is_shell = content_of(name, text, words, said) == "shell"
        if is_shell or (runs_any and name.lower() not in _LABELS):
            yield text


def _texts(name: str, value: Any, levels: int) -> Iterator[tuple[str, str]]:
    """Yield every text with its argument's name; words of one command also as a command."""
    if levels == 0:
        return
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, dict):
        yield from _command(value)
        for key, inner in value.items():
            yield from _texts(str(key), inner, levels - 1)
    elif isinstance(value, list | tuple):
        if len(value) > 1 and all(isinstance(inner, str) for inner in value):
            yield name, shlex.join(value)
        for inner in value:
            yield from _texts(name, inner, levels - 1)


def _command(members: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield a command whose words are a member of their own: `{command, args}`."""
    program = next((members[key] for key in _PROGRAMS if key in members), None)
    words = next((members[key] for key in _ARGUMENTS if key in members), None)
    if isinstance(program, str) and isinstance(words, list | tuple):
        yield "command", shlex.join([program, *map(str, words)])
