"""An operator's rules of effects are read once, from TOML; what does not fit is named, and ends it.

The shape is that of `pmcl.judgement.EffectRules`; `docs/effects.md` shows one.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, get_args

import msgspec

from pmcl.contracts import Effect, Reversibility
from pmcl.judgement import Content, EffectRules, ToolRule
from pmcl.ops.settings import SettingsError

__all__ = ["load_rules"]

_ALLOWED: Final[dict[str, tuple[str, ...]]] = {
    "effect": get_args(Effect),
    "reversibility": get_args(Reversibility),
    "arguments": get_args(Content),
}


def load_rules(path: Path | None) -> EffectRules:
    """Return the rules of a file; none without a file.

    Raises:
        SettingsError: the file cannot be read, or a rule of it does not fit; the message names
            file, key, value and what is allowed.
    """
    if path is None:
        return EffectRules()
    try:
        given = tomllib.loads(path.read_text())
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise SettingsError(f"rules file {path}: {why}") from error
    for key in given.keys() - {"tools"}:
        raise _unfit(path, key, given[key], "the table tools")
    tools = given.get("tools", {})
    if not isinstance(tools, dict):
        raise _unfit(path, "tools", tools, 'a table for each tool, [tools."server/name"]')
    return EffectRules(tools={name: _rule(path, name, said) for name, said in tools.items()})


def _rule(path: Path, name: str, said: Any) -> ToolRule:
    at = f'tools."{name}"'
    server, _, tool = name.partition("/")
    if not server or not tool:
        raise _unfit(path, at, name, '"server/name"')
    if not isinstance(said, dict):
        raise _unfit(path, at, said, "a table of " + ", ".join(_ALLOWED))
    for key, value in said.items():
        if key not in _ALLOWED:
            raise _unfit(path, f"{at}.{key}", value, ", ".join(_ALLOWED))
        if key == "arguments":
            _check_arguments(path, f"{at}.{key}", value)
        elif value not in _ALLOWED[key]:
            raise _unfit(path, f"{at}.{key}", value, "one of " + ", ".join(_ALLOWED[key]))
    return msgspec.convert(said, ToolRule)


def _check_arguments(path: Path, at: str, said: Any) -> None:
    if not isinstance(said, Mapping):
        raise _unfit(path, at, said, "a table of arguments and what each holds")
    for name, content in said.items():
        if content not in _ALLOWED["arguments"]:
            allowed = "one of " + ", ".join(_ALLOWED["arguments"])
            raise _unfit(path, f"{at}.{name}", content, allowed)


def _unfit(path: Path, key: str, value: Any, allowed: str) -> SettingsError:
    return SettingsError(f"rules file {path}: {key} is {value!r}, allowed: {allowed}")
