"""Commands that only ask how things stand: CI, containers, a cluster, what is installed.

They reach a network or a daemon, so they are no local inspections, but they change nothing. A row
names what may be asked, and every flag that may stand there; a flag that is not named may send the
question elsewhere, write, wait for ever or open a browser. Source: the manuals of gh, glab, docker,
kubectl, helm and the package managers.
"""

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from pmcl.judgement.word_set import word_set

__all__ = ["only_asks"]


class _Tool(msgspec.Struct, frozen=True):
    """What a program may be asked.

    Attributes:
        asks: the words that a question begins with.
        plain: flags without a value.
        valued: flags whose next word is their value, whatever it is.
        hidden: words that name what should not be shown.
    """

    asks: frozenset[tuple[str, ...]]
    plain: frozenset[str]
    valued: frozenset[str]
    hidden: frozenset[str] = frozenset()


def _asks(text: str) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(each.split()) for each in text.split(","))


_TOOLS: Final[dict[str, _Tool]] = {
    "gh": _Tool(
        asks=_asks(
            "run list,run view,pr list,pr view,pr status,pr checks,pr diff,issue list,issue view,"
            "issue status,release list,release view,repo view,workflow list,workflow view,status,"
            "auth status"
        ),
        plain=word_set("--comments --exit-status --log --log-failed --name-only --verbose -v"),
        valued=word_set(
            "-L -a -b -e -j -l -q -s -u --attempt --author --assignee --base --branch --commit "
            "--event --head --job --jq --json --label --limit --search --state --status --user "
            "--workflow"
        ),
    ),
    "glab": _Tool(
        asks=_asks("ci list,ci status,ci view,mr list,mr view,issue list,issue view,repo view"),
        plain=word_set("--all --comments"),
        valued=word_set("--author --branch --label --page --per-page -P -b -p"),
    ),
    "docker": _Tool(
        asks=_asks(
            "ps,images,info,logs,top,port,diff,history,version,container ls,image ls,volume ls,"
            "network ls,compose ps,compose logs,compose ls,compose images"
        ),
        plain=word_set("-a -q --all --digests --no-trunc --quiet --timestamps -t"),
        valued=word_set("-n --filter --format --last --since --tail --until"),
    ),
    "kubectl": _Tool(
        asks=_asks(
            "get,describe,logs,top pods,top nodes,rollout status,rollout history,version,"
            "config current-context,config get-contexts"
        ),
        plain=word_set(
            "-A -p --all-containers --all-namespaces --client --no-headers --previous "
            "--show-labels --timestamps"
        ),
        valued=word_set(
            "-c -l -n --container --field-selector --namespace --selector --since --sort-by --tail"
        ),
        hidden=word_set("secret secrets all"),
    ),
    "helm": _Tool(
        asks=_asks("list,ls,status,history,version"),
        plain=word_set("-A -a --all --all-namespaces --short"),
        valued=word_set("-n --filter --max --namespace"),
    ),
    **dict.fromkeys(
        ("pip", "pip3"),
        _Tool(
            asks=_asks("list,show,freeze,check"),
            plain=word_set("-l --editable --files --local --outdated --uptodate --user"),
            valued=word_set("--format"),
        ),
    ),
    "uv": _Tool(
        asks=_asks("pip list,pip show,pip freeze,pip check"),
        plain=word_set("--outdated"),
        valued=word_set("--depth --format"),
    ),
    "poetry": _Tool(
        asks=_asks("show,env info"), plain=word_set("-T -l --latest --tree"), valued=word_set("")
    ),
    **dict.fromkeys(
        ("npm", "pnpm", "yarn"),
        _Tool(
            asks=_asks("ls,list,outdated,view,info,why,audit,--version,-v"),
            plain=word_set("-g -a --all --global --json --long --omit=dev --production"),
            valued=word_set("--depth --audit-level"),
            hidden=word_set("fix"),
        ),
    ),
    **dict.fromkeys(
        ("cargo", "go", "gradle", "mvn", "rustc"),
        _Tool(asks=_asks("--version,version,-V"), plain=word_set(""), valued=word_set("")),
    ),
    **dict.fromkeys(
        ("apt", "brew"),
        _Tool(
            asks=_asks("list"),
            plain=word_set("--installed --upgradable --versions --cask"),
            valued=word_set(""),
        ),
    ),
}
_SHOWN_AS: Final = word_set("-ojson -owide -oyaml -o=json -o=wide -o=yaml")
_name = re.compile(r"[\w#][\w.,/#:-]*")


def only_asks(words: Sequence[str]) -> bool:
    """Return whether a command only asks such a service how things stand."""
    tool = _TOOLS.get(words[0]) if words else None
    if tool is None:
        return False
    asked = next((each for each in tool.asks if tuple(words[1 : 1 + len(each)]) == each), None)
    return asked is not None and _is_plain(tool, words[1 + len(asked) :])


def _is_plain(tool: _Tool, words: Sequence[str]) -> bool:
    waiting = iter(words)
    for word in waiting:
        name, assigned, _ = word.partition("=")
        if name in tool.valued:
            if not assigned and next(waiting, None) is None:
                return False
        elif word == "-o":
            if f"-o{next(waiting, '')}" not in _SHOWN_AS:
                return False
        elif word not in tool.plain and word not in _SHOWN_AS and not _names(tool, word):
            return False
    return True


def _names(tool: _Tool, word: str) -> bool:
    """Return whether a word names what is asked about, and no address."""
    kinds = re.split(r"[,/]", word.lower())
    plain = _name.fullmatch(word) is not None and "//" not in word
    return plain and not any(kind.partition(".")[0] in tool.hidden for kind in kinds)
