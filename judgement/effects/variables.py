"""Values of variables that a script sets itself, put where it uses them."""

import re
from collections import Counter
from typing import Final

from tree_sitter import Node

from pmcl.judgement.effects.shell import walk, word_of

__all__ = ["with_known"]

_KNOWN_MAX: Final = 64
_plain_value = re.compile(r"[\w./~-]+")


def with_known(script: str, root: Node) -> str:
    """Return a script with a value for each variable whose only value stands in it, and home's."""
    if "$" not in script:
        return script
    found = walk(root) if "=" in script else ()
    nodes = [node for node in found if node.type == "variable_assignment"]
    names = Counter(_text(node).partition("=")[0] for node in nodes)
    known = {"HOME": "~"}
    for node in nodes:
        name, value = _text(node).partition("=")[0], word_of(node.named_children[-1]).text
        if names[name] == 1 and value and _plain_value.fullmatch(value) is not None:
            known[name] = value
    for name, value in [*known.items()][:_KNOWN_MAX]:
        script = re.sub(rf"\$(?:{re.escape(name)}(?!\w)|\{{{re.escape(name)}\}})", value, script)
    return script


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
