"""Commands that run another one, which stands among their own words.

Source: the manuals of these programs.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from pmcl.judgement.effects.shell import words_inspect

__all__ = ["carried"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_STARTS_MAX: Final = 4
_LOOKED_AT_MAX: Final = 32
_ANY: Final[frozenset[str]] = frozenset()
_CARRIERS: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys(_words("bunx chronic flock npx parallel ssh strace uvx watch"), _ANY),
    **dict.fromkeys(_words("chroot dotenv gosu ltrace runuser su systemd-run unshare"), _ANY),
    **dict.fromkeys(_words("pdm pipenv pipx poetry rye uv"), _words("run")),
    **dict.fromkeys(_words("conda doppler hatch mamba micromamba op"), _words("run")),
    **dict.fromkeys(_words("docker nerdctl podman"), _words("exec run")),
    **dict.fromkeys(_words("kubectl oc"), _words("exec")),
    **dict.fromkeys(_words("asdf aws-vault bundle direnv mise"), _words("exec x")),
    **dict.fromkeys(_words("bun npm pnpm yarn"), _words("dlx exec x")),
    "find": _words("-exec -execdir -ok -okdir"),
    "git": _words("--exec -x foreach run"),
    "nix": _words("-- develop run shell"),
    "screen": _words("-X -dm"),
}
"""Commands that run another one, and the words behind which it may begin; none for any place."""
_INTO: Final = _words(
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
