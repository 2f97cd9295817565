"""Values of variables that a script sets itself, put where it uses them."""

import re
from collections import Counter
from typing import Final

from tree_sitter import Node

from pmcl.judgement.effects.shell import walk, word_of

__all__ = ["with_known"]

_KNOWN_MAX: Final = 64
_home = re.compile(r"^\$(?:HOME\b|\{HOME\})")
_plain_value = re.compile(r"[\w./~-]+")
_plain_pattern = re.compile(r"[\w./~*?-]+")


def with_known(script: str, root: Node) -> str:
    """Return a script with a value for each variable whose only value stands in it, and home's.

    That of a loop over one pattern is the pattern.
    """
    if "$" not in script:
        return script
    found = [*walk(root)] if "=" in script or "for" in script else []
    loops = [node for node in found if node.type == "for_statement"]
    nodes = [node for node in found if node.type == "variable_assignment"]
    names = Counter(_text(node).partition("=")[0] for node in nodes)
    known = {"HOME": "~"}
    for node in nodes:
        name, value = _text(node).partition("=")[0], _value(node.named_children[-1])
        if names[name] == 1 and value and _plain_value.fullmatch(value) is not None:
            known[name] = value
    for node in loops:
        name, *values = [_text(each) for each in node.named_children[:-1]]
        if len(values) == 1 and _plain_pattern.fullmatch(values[0]) is not None:
            known.setdefault(name, values[0])
    for name, value in [*known.items()][:_KNOWN_MAX]:
        script = re.sub(rf"\$(?:{re.escape(name)}(?!\w)|\{{{re.escape(name)}\}})", value, script)
    return script


def _value(node: Node) -> str | None:
    known = word_of(node).text
    return _home.sub("~", _text(node).strip('"')) if known is None else known


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
