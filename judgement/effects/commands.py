"""Commands that only inspect this machine, and what makes each of them do more.

A command that is not in the table is an execution. Each row is read so: all flags are fine but the
ones that are named; a long flag also counts in its abbreviations, a short one anywhere in a bundle.
Nothing here writes, runs a program, reaches a network or waits for ever. Source: SPEC C3; the GNU
coreutils, findutils, grep, sed, gawk, git and ripgrep manuals.
"""

from typing import Final

from pmcl.judgement.effects.flags import Command, Word, within
from pmcl.judgement.effects.machine import MACHINE
from pmcl.judgement.effects.versions import tells_version

__all__ = ["assigns_harmlessly", "inspects"]

_ANY: Final = Command()
_COMMANDS: Final[dict[str, Command]] = {
    **dict.fromkeys(
        (
            ": basename cal cat cd cksum cmp column comm cut df dir dirname du echo egrep exit "
            "expand expr false fgrep fmt fold free getconf grep groups head hexdump id join jq "
            "locale ls lsblk lscpu md5sum nl nproc od paste pathchk pgrep printenv ps pwd "
            "readlink realpath rev seq sha1sum sha224sum sha256sum sha384sum sha512sum stat "
            "strings sum tac tr true tty type uname unexpand uptime vdir wc whereis which "
            "who whoami"
        ).split(),
        _ANY,
    ),
    **dict.fromkeys(("[", "test"), Command("vR")),  # `test -v` runs what its subscript holds
    "diff": Command("", ("output",)),
    "fd": Command("xX", ("exec", "exec-batch")),
    "file": Command("C", ("compile",)),
    "find": Command(
        "",
        (
            "-delete",
            "-exec",
            "-execdir",
            "-fls",
            "-fprint",
            "-fprint0",
            "-fprintf",
            "-ok",
            "-okdir",
        ),
    ),
    "hostname": Command(
        "abdfFiAyI", "all-fqdns all-ip boot domain file fqdn ip- long yp nis".split(), operands=0
    ),
    "rg": Command("", ("pre", "hostname-bin")),
    "sort": Command("oT", ("output", "compress-program", "temporary-directory")),
    "tail": Command("fF", ("follow", "retry")),
    "tree": Command("oR", ("output",)),
    "uniq": Command(operands=1),
    "yq": Command("is", ("inplace", "in-place", "split-exp", "split-exp-file")),
}
_GIT_MORE: Final = Command(
    "O", ("exec", "ext-diff", "filters", "open-files-in-pager", "output", "textconv", "upload-pack")
)
_GIT: Final[dict[str, Command]] = {
    **dict.fromkeys(
        (
            "blame cat-file count-objects describe diff diff-tree for-each-ref grep log ls-files "
            "ls-tree merge-base name-rev rev-list rev-parse shortlog show show-ref status "
            "whatchanged"
        ).split(),
        _GIT_MORE,
    ),
    # Their operands make, move or delete something.
    "branch": Command(
        "cCdDfmMtuO", "copy delete edit force move set- track unset-".split(), operands=0
    ),
    "remote": Command(operands=0),
    "tag": Command(
        "adfmsuF",
        "annotate cleanup create-reflog delete edit file force local-user message sign".split(),
        operands=0,
    ),
}
_GIT_WORDS: Final = {("stash", "list"), ("worktree", "list"), ("reflog",), ("config", "--list")}
_GIT_PLAIN: Final = frozenset({"--no-pager", "--no-optional-locks", "--literal-pathspecs"})
_FOLDERS: Final = frozenset({"", "/bin", "/usr/bin"})
_SHELLS: Final = frozenset({"bash", "dash", "sh", "zsh"})
_ENVIRONMENT: Final = frozenset({"LANG", "LC_ALL", "LC_COLLATE", "LC_CTYPE", "TERM", "TZ"})


def inspects(words: list[Word]) -> bool | str:
    """Return whether the command only inspects; a script it runs instead, for `bash -c`.

    `words` are the command's name and what follows it.
    """
    if not words or words[0].text is None:
        return False
    folder, slash, name = words[0].text.rpartition("/")
    rest = words[1:]
    if folder not in _FOLDERS or (slash and not folder):
        return False
    if name in _WRAPPERS:
        return _WRAPPERS[name](rest)
    if name in _SHELLS:
        return _script(rest)
    if tells_version(name, [word.text for word in rest]):
        return True
    if name in _SPECIAL:
        return _SPECIAL[name](rest)
    return name in _COMMANDS and within(_COMMANDS[name], rest)


def assigns_harmlessly(name: str) -> bool:
    """Return whether a command may be given this variable: none that changes what it runs."""
    return name in _ENVIRONMENT


def _git(words: list[Word]) -> bool:
    texts = [word.text for word in words]
    while texts and texts[0] is not None:
        if texts[0] in _GIT_PLAIN:
            texts = texts[1:]
        elif texts[0] == "-C" and len(texts) > 1 and texts[1] is not None:
            texts = texts[2:]
        else:
            break
    if not texts or texts[0] is None:
        return False
    if tuple(texts) in _GIT_WORDS or (texts[:2] == ["config", "--get"] and len(texts) == 3):
        return True
    if texts in (["branch", "--list"], ["tag", "--list"], ["tag", "-l"]):
        return True
    command = _GIT.get(texts[0])
    return command is not None and within(command, words[len(words) - len(texts) + 1 :])


def _sed(words: list[Word]) -> bool:
    scripts: list[str] = []
    plain, expects = frozenset("nErsuz"), False
    for word in words:
        text = word.text
        if text is None:
            return False
        if expects or (not text.startswith("-") and not scripts):
            scripts.append(text)
            expects = False
        elif text in ("-e", "-ne", "-Ee", "-nE", "-En"):
            expects = text.endswith("e")
        elif text.startswith("-") and not plain.issuperset(text[1:]):
            return False
    return bool(scripts) and not expects and all(_prints(script) for script in scripts)


def _prints(script: str) -> bool:
    """Return whether a sed script only prints, deletes, quits or substitutes."""
    if set(script) <= frozenset("0123456789,$pdq;!=~+ "):
        return True
    if len(script) < 4 or script[0] != "s" or script[1].isalnum() or script[1] in "\\\n ":
        return False
    parts = script[2:].split(script[1])
    return (
        len(parts) == 3
        and not any(part.endswith("\\") for part in parts)
        and "\n" not in script
        and set(parts[2]) <= frozenset("gpiI0123456789")
    )


def _awk(words: list[Word]) -> bool:
    """Only one plain program, and in it no word or sign by which awk writes or runs anything."""
    texts = [word.text for word in words]
    while len(texts) > 2 and texts[0] == "-F" and texts[1] is not None:
        texts = texts[2:]
    if texts and texts[0] is not None and texts[0].startswith("-F") and len(texts[0]) > 2:
        texts = texts[1:]
    if not texts or texts[0] is None or texts[0].startswith("-"):
        return False
    more = (";;", ">", "|", "@", "system", "getline", "close", "fflush", "ARGV", "ENVIRON", "\\")
    # An operand like `x=1` sets a variable, which is harmless; all others are files to read.
    return not any(sign in texts[0] for sign in more) and "while" not in texts[0]


def _date(words: list[Word]) -> bool:
    return all(word.text in ("-u", "-R", "--utc") or _is_format(word.text) for word in words)


def _is_format(text: str | None) -> bool:
    return text is not None and text.startswith("+")  # any other operand sets the clock


def _printf(words: list[Word]) -> bool:
    """Return whether its first word is no flag: what follows is only printed."""
    return bool(words) and words[0].text is not None and not words[0].text.startswith("-")


def _set(words: list[Word]) -> bool:
    plain = {"-e", "-u", "-x", "-eu", "-ex", "-eux", "-euo", "-o", "-euxo", "pipefail"}
    return bool(words) and all(word.text in plain for word in words)


def _script(words: list[Word]) -> bool | str:
    """Return the script of `bash -lc SCRIPT`; nothing else that a shell is given is shown."""
    texts = [word.text for word in words]
    if texts[:1] == ["-l"]:
        texts = texts[1:]
    if len(texts) != 2 or texts[0] is None or texts[1] is None:
        return False
    flags = texts[0]
    bundle = flags.startswith("-") and flags.endswith("c") and set(flags[1:]) <= frozenset("lceux")
    return texts[1] if bundle else False


def _env(words: list[Word]) -> bool | str:
    rest = list(words)
    while rest and rest[0].text is not None and "=" in rest[0].text:
        if not assigns_harmlessly(rest[0].text.partition("=")[0]):
            return False
        rest = rest[1:]
    return inspects(rest) if rest else True


def _timeout(words: list[Word]) -> bool | str:
    shown = bool(words) and words[0].text is not None and words[0].text[:1].isdigit()
    return inspects(words[1:]) if shown else False


def _command(words: list[Word]) -> bool | str:
    return True if words and words[0].text in ("-v", "-V") else inspects(words)


def _xargs(words: list[Word]) -> bool:
    rest = list(words)
    while rest and rest[0].text in ("-0", "-r", "-t", "-n", "-I", "-L", "-P", "-d"):
        takes_value = rest[0].text in ("-n", "-I", "-L", "-P", "-d")
        rest = rest[2 if takes_value else 1 :]
    if not rest:
        return True  # it echoes
    name = rest[0].text
    command = None if name is None else _COMMANDS.get(name)
    return command is not None and command.takes_anything  # its input may hold any flag


_SPECIAL: Final = {
    "awk": _awk,
    "date": _date,
    "gawk": _awk,
    "git": _git,
    "mawk": _awk,
    "printf": _printf,
    "sed": _sed,
    "set": _set,
    **MACHINE,
}
_WRAPPERS: Final = {
    "command": _command,
    "env": _env,
    "nice": lambda words: inspects(words),
    "time": lambda words: inspects(words),
    "timeout": _timeout,
    "xargs": _xargs,
}
