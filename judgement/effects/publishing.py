"""Commands that hand work over to others: what is pushed, released or deployed is out of hand.

A row says which operands of a program do so. Only words that stand there plainly are read: this
asks for the user's word where a command can be read, it clears none. Source: the manuals of these
programs.
"""

from typing import Final

from tree_sitter import Node

from pmcl.judgement.effects.programs import programs_in
from pmcl.judgement.effects.script_files import name_and_rest
from pmcl.judgement.effects.shell import SCRIPT_MAX_BYTES, parse, walk

__all__ = ["publishes"]

_NESTED_MAX: Final = 3


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_HOSTED: Final = frozenset(
    f"{thing} {verb}"
    for thing in _words("gist issue mr pr release repo")
    for verb in _words("close comment create delete edit merge ready reopen review upload")
)
_PACKAGES: Final = _words("publish unpublish")
_TASKS: Final = _words("deploy publish push release")
_PUBLISHERS: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys(_words("bun cargo flit hatch npm pnpm poetry uv yarn"), _PACKAGES),
    **dict.fromkeys(_words("buildah docker gem podman skopeo"), _words("copy push")),
    **dict.fromkeys(_words("ansible-playbook sendmail"), frozenset()),
    **dict.fromkeys(_words("pulumi terraform tofu"), _words("apply destroy up")),
    **dict.fromkeys(_words("eb fly flyctl netlify railway serverless vercel"), _words("deploy up")),
    **dict.fromkeys(_words("gh glab"), _HOSTED),
    **dict.fromkeys(_words("just make rake task"), _TASKS),
    "git": _words("push send-email"),
    "helm": _words("delete install push rollback uninstall upgrade"),
    "kubectl": _words("apply create delete patch replace scale set"),
    "twine": _words("upload"),
}
"""Programs, and the one or two first operands with which they publish; none where any run does."""
_WITH_VALUE: Final = _words("-C -R -c -n --context --kubeconfig --namespace --prefix --repo")


def publishes(script: str) -> bool:
    """Return whether one of the commands of a script hands work over to others; never raises."""
    return _reads(script, _NESTED_MAX)


def _reads(script: str, nested: int) -> bool:
    data = script.encode("utf-8", "replace")
    if nested == 0 or len(data) > SCRIPT_MAX_BYTES:
        return False
    commands = [node for node in walk(parse(data.decode())) if node.type == "command"]
    return any(_hands_over(node) or _runs_one(node, nested) for node in commands)


def _runs_one(command: Node, nested: int) -> bool:
    inner = [program.text for program in programs_in(command) if program.is_script]
    return any(_reads(script, nested - 1) for script in inner)


def _hands_over(command: Node) -> bool:
    name, rest = name_and_rest(command)
    first = _PUBLISHERS.get(name)
    if first is None:
        return False
    operands = _operands([word or "" for word in rest])
    return not first or not first.isdisjoint((*operands[:1], " ".join(operands[:2])))


def _operands(words: list[str]) -> list[str]:
    operands, skipped = [], False
    for word in words:
        if not skipped and not word.startswith("-"):
            operands.append(word)
        skipped = word in _WITH_VALUE and not skipped
    return operands
