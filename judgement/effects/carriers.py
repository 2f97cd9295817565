"""Commands that run another one, which stands among their own words.

Source: the manuals of these programs.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from pmcl.judgement.effects.shell import words_inspect
from pmcl.judgement.word_set import word_set

__all__ = ["carried"]

_STARTS_MAX: Final = 4
_LOOKED_AT_MAX: Final = 32
_ANY: Final[frozenset[str]] = frozenset()
_CARRIERS: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys(word_set("bunx chronic flock npx parallel ssh strace uvx watch"), _ANY),
    **dict.fromkeys(word_set("chroot dotenv gosu ltrace runuser su systemd-run unshare"), _ANY),
    **dict.fromkeys(word_set("pdm pipenv pipx poetry rye uv"), word_set("run")),
    **dict.fromkeys(word_set("conda doppler hatch mamba micromamba op"), word_set("run")),
    **dict.fromkeys(word_set("docker nerdctl podman"), word_set("exec run")),
    **dict.fromkeys(word_set("kubectl oc"), word_set("exec")),
    **dict.fromkeys(word_set("asdf aws-vault bundle direnv mise"), word_set("exec x")),
    **dict.fromkeys(word_set("bun npm pnpm yarn"), word_set("dlx exec x")),
    "find": word_set("-exec -execdir -ok -okdir"),
    "git": word_set("--exec -x foreach run"),
    "nix": word_set("-- develop run shell"),
    "screen": word_set("-X -dm"),
}
"""Commands that run another one, and the words behind which it may begin; none for any place."""
_INTO: Final = word_set(
    "aws-vault chroot direnv docker flock gosu kubectl mise nerdctl oc podman runuser ssh su"
)
"""Those of them that take one operand first: a container, a machine, a folder, a user."""


def carried(name: str, words: Sequence[str]) -> Iterator[list[str]]:
    """Yield the words at each place where a command may begin that another one runs."""
    begins = _CARRIERS.get(name)
    if begins is None:
        return
    starts = [at for at, word in enumerate(words, 1) if word in begins] if begins else [0]
    for start in starts[:_STARTS_MAX]:
        yield from _begun(words[start:], 1 if name in _INTO else 0)


def _begun(words: Sequence[str], operands: int) -> Iterator[list[str]]:
    """Yield the places behind the flags; a word right behind one may be its value, or the command.

    Args:
        words: among which the command begins.
        operands: how many words stand in front of it that are neither.
    """
    for at, word in enumerate(words[:_LOOKED_AT_MAX]):
        if word.startswith("-"):
            continue
        yield [*words[at:]]
        may_be_value = at > 0 and words[at - 1].startswith("-") and words[at - 1] != "--"
        operands -= 0 if may_be_value else 1
        if operands < 0 or words_inspect([*words[at:]]):
            return
