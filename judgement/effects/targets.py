"""What a command changes, and whom it reaches, by its operands and by flags that name a target.

A flag is read in each of its forms: `-o x`, `-ox`, `-so x`, `--output x`, `--output=x`. What reads
is left out, so that a program or a library elsewhere is not what a command changes.
Source: the manuals of curl, wget, GNU coreutils, tar, make, patch, git, OpenSSH and rsync.
"""

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

__all__ = ["operands_of", "reached_by", "written_by"]

_WRITERS: Final = frozenset("mkdir mkfifo mv rm rmdir shred tee touch truncate unlink".split())
_AFTER_THE_FIRST: Final = frozenset("chgrp chmod chown".split())
_EDITORS: Final = frozenset({"perl", "sed"})
_FIND_ACTIONS: Final = frozenset({"-delete", "-exec", "-execdir", "-ok", "-okdir"})
_INTO_THE_LAST: Final = frozenset("cp install ln rsync scp".split())
_GIT_MAKES: Final = frozenset({"clone", "init", "worktree"})


class _Flags(msgspec.Struct, frozen=True):
    """Flags that take a value: short ones as letters, long ones without dashes."""

    short: str = ""
    long: tuple[str, ...] = ()


_OUTPUT: Final = _Flags("o", ("output",))
_DIRECTORY: Final = _Flags("C", ("directory",))
_TARGETS: Final[dict[str, _Flags]] = {
    **dict.fromkeys("as c++ cc clang clang++ g++ gcc gfortran go ld rustc".split(), _Flags("o")),
    **dict.fromkeys(("cp", "install", "ln", "mv"), _Flags("t", ("target-directory",))),
    **dict.fromkeys(("gmake", "make", "ninja"), _DIRECTORY),
    **dict.fromkeys(("gpg", "pandoc", "xxd"), _OUTPUT),
    "curl": _Flags("cDo", ("cookie-jar", "dump-header", "output", "output-dir", "trace")),
    "git": _Flags("C", ("git-dir", "output", "work-tree")),
    "openssl": _Flags("", ("out",)),
    "patch": _Flags("dor", ("directory", "output", "reject-file")),
    "rsync": _Flags("", ("backup-dir", "log-file", "partial-dir", "temp-dir")),
    "sort": _Flags("oT", ("output", "temporary-directory")),
    "tar": _DIRECTORY,
    "unzip": _Flags("d"),
    "wget": _Flags("aOoP", ("directory-prefix", "output-document", "output-file")),
}
_VALUES: Final = {
    "curl": _Flags(
        "AbcCdDeEFhHKmoPQrTuUwxXyYz",
        ("cert", "cookie", "data", "form", "header", "key", "output", "request", "user"),
    ),
    "nc": _Flags("iopqswXx"),
    "scp": _Flags("cFiJloPSX"),
    "ssh": _Flags("BbcDEeFIiJLlmOopQRSWw"),
    "wget": _Flags("aAeiloOPQRtTUwX", ("header", "output-document", "post-data", "post-file")),
}
"""What stands behind these is neither an address nor a host."""
_TO_ADDRESSES: Final = frozenset({"curl", "http", "https", "wget", "xh"})
_TO_FIRST: Final = frozenset("ftp nc ncat sftp ssh telnet".split())
_TO_REMOTES: Final = frozenset({"rsync", "scp"})
_address = re.compile(r"(?:[\w.-]+@)?(?:localhost|[\w-]+(?:\.[\w-]+)+|\[[0-9a-f:.]+\])(?:[:/?].*)?")
_remote = re.compile(r"(?:[^/:@]+@)?([^/:@]+|\[[^]]+\]):")


def operands_of(rest: Sequence[str | None]) -> Iterator[str]:
    """Yield the words that are no flags, and the values that flags have behind a `=`."""
    flags_end = False
    for text in rest:
        if text == "--":
            flags_end = True
        elif text and (flags_end or not text.startswith("-")):
            yield text
        elif text and "=" in text:
            yield text.partition("=")[2]


def written_by(name: str, rest: Sequence[str | None]) -> tuple[str, ...]:
    """Return the paths that a command changes, as it spells them."""
    named = [value for _, value in _values(_TARGETS.get(name, _Flags()), rest)]
    return tuple(dict.fromkeys([*_changed(name, rest, [*operands_of(rest)]), *named]))


def reached_by(name: str, rest: Sequence[str | None]) -> tuple[str, ...]:
    """Return whom a command reaches that it names without a scheme, as `//host/…`."""
    if name in _TO_REMOTES:
        found = [_remote.match(text) for text in operands_of(rest)]
        return tuple(f"//{match[1]}" for match in found if match is not None)
    if name not in _TO_ADDRESSES | _TO_FIRST:
        return ()
    taken = {at for at, _ in _values(_VALUES.get(name, _Flags()), rest)}
    free = [
        text
        for at, text in enumerate(rest)
        if text and not text.startswith("-") and at not in taken
    ]
    if name in _TO_FIRST:
        return tuple(f"//{text.rpartition('@')[2]}" for text in free[:1] if "://" not in text)
    return tuple(f"//{text}" for text in free if _address.fullmatch(text) is not None)


def _changed(name: str, rest: Sequence[str | None], operands: list[str]) -> list[str]:
    """Return those operands that the command changes."""
    if name in _WRITERS:
        return operands
    if name in _AFTER_THE_FIRST or (name in _EDITORS and _in_place(name, rest)):
        return operands[1:]
    if name in _INTO_THE_LAST:
        return operands[-1:]
    if name == "find" and not _FIND_ACTIONS.isdisjoint(rest):
        return [*itertools.takewhile(lambda text: not text.startswith("-"), map(str, rest))]
    if name == "git" and not _GIT_MAKES.isdisjoint(operands[:1]):
        return operands[-1:] if len(operands) > 1 else []
    if name == "tar" and _creates(rest):
        bundled = ["-" + _first(rest), *rest[1:]]
        return [value for _, value in _values(_Flags("f", ("file",)), bundled)]
    return [text for text in operands if name == "dd" and text.startswith("of=")]


def _values(flags: _Flags, rest: Sequence[str | None]) -> Iterator[tuple[int, str]]:
    """Yield what these flags are given, and the place of the last word that it took."""
    for place, text in enumerate(rest):
        if not text or not text.startswith("-"):
            continue
        at, value = place, ""
        name, _, joined = text.lstrip("-").partition("=")
        if text.startswith("--"):
            value, found = joined, name in flags.long
        else:
            bundled = itertools.takewhile(str.isalpha, text[1:])
            short = next((sign for sign in bundled if sign in flags.short), "")
            value, found = text.partition(short)[2] if short else joined, bool(short)
            found = found or name in flags.long
        if found and not value and place + 1 < len(rest):
            at, value = place + 1, rest[place + 1] or ""
        if found and value:
            yield at, value


def _in_place(name: str, rest: Sequence[str | None]) -> bool:
    flags = [text for text in rest if text and text.startswith("-")]
    if name == "perl":
        return any("i" in text for text in flags)
    return any(text.startswith(("-i", "--in-place")) for text in flags)


def _creates(rest: Sequence[str | None]) -> bool:
    return not {"c", "r", "u"}.isdisjoint(_first(rest)) or "--create" in rest


def _first(rest: Sequence[str | None]) -> str:
    return (rest[0] or "").lstrip("-") if rest else ""
