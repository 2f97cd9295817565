"""Commands that hand work over to others: what is pushed, released or deployed is out of hand.

Each command that a script runs is looked at, wherever it stands. This asks for the user's word
where a command can be read, it clears none.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from pmcl.judgement.effects.programs import INTERPRETERS
from pmcl.judgement.effects.publishers import (
    ALWAYS,
    ASKERS,
    BY_VERB,
    COPIERS,
    DRY,
    PHRASES,
    READING,
    RUN_TASKS,
    SENDERS,
    TASK_RUNNERS,
    VALUED,
    VERBS,
)
from pmcl.judgement.effects.runs import Run, is_readable, runs_in, telling_parts
from pmcl.judgement.word_set import word_set

__all__ = ["publishes"]

_TASKS: Final = word_set("deploy publish push release rollout ship upload")
_STAYS: Final = word_set(
    "assemble build bundle changelog check checks debug dry lint local log note notes pre preview "
    "test tests"
)
"""Beside one of `_TASKS` they make something else of a name: `release-notes`, `test:push`."""
_MANAGERS: Final = word_set("manage.py setup.py")
_PACKAGE_MANAGERS: Final = word_set("bun cargo deno go hatch npm pdm pnpm yarn")
_BODIES: Final = word_set(
    "--body-data --body-file --data --data-ascii --data-binary --data-raw --data-urlencode --form "
    "--form-string --json --post-data --post-file --upload-file"
)
_COPIES: Final = word_set("copy copyto cp del delete mirror move moveto mv purge put rm rsync sync")
_METHODS: Final = word_set("DELETE PATCH POST PUT")
_FIELDS: Final = word_set("-f -F --field --raw-field --input")
_NO_READING: Final = word_set("--help --version -h")
_ALIAS_READING: Final = word_set(
    "--get --get-all --get-regexp --list --unset --unset-all -l get list unset"
)
_OF_MACHINE: Final = word_set(
    "arch basename date dirname dpkg echo expr hostname id nproc pwd seq sw_vers uname uuidgen"
)
"""What a word may be filled in from without telling more than which machine asks, and when."""
_OUTWARD: Final = "/dev/tcp/", "/dev/udp/"
_names = re.compile(
    r"push|publish|deploy|release|ship|upload|send|\b(?:"
    + "|".join(
        sorted(map(re.escape, ALWAYS | ASKERS | BY_VERB | SENDERS | COPIERS | PHRASES.keys()))
    )
    + r")\b"
)
"""What a part of a script that is too hard to read whole has to name."""
_pushing_alias = re.compile(r"\A(?:alias\.[^=\s]+=|(?!alias\.)).*\bpush\b", re.DOTALL)
_token = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_script_name = re.compile(r"(?:\A|/)([\w.:-]+?)(?:\.(?:bash|js|mjs|php|pl|ps1|py|rb|sh|ts))?\Z")
_curl_body = re.compile(r"-[fgikLNsSv]*(?:[dFT]|X(?:DELETE|PATCH|POST|PUT)\b)")
_here = re.compile(
    r"(?:\w+://)?(?:[^/@]*@)?(?:[\w.-]*localhost|host\.docker\.internal|127\.[\d.]+|0\.0\.0\.0|"
    r"\[::1\])(?:[:/?]|\Z)"
)
_file_read = re.compile(r"\$\(\s*<")
_posting = re.compile(
    r"\.(?:delete|patch|post|put)\(|urlopen\([^)]*\bdata\b|"
    r"\bmethod\b[\"']?\s*[:=]\s*[\"'](?:DELETE|PATCH|POST|PUT)\b"
)
"""In a program of another language: a request with a body, or a method that changes something."""
_local_url = re.compile(r"//(?:[\w.-]*localhost|127\.[\d.]+|0\.0\.0\.0|\[::1\])[:/\"']")
_socket = re.compile(r"(?:tcp|udp|openssl)\w*:(?!localhost|127\.)", re.IGNORECASE)
_remote = re.compile(r"(?:rsync|s3|gs|ssh|sftp)://|(?:[^/:@\s]+@)?[\w.-]+:(?!//)|\[[0-9a-f:]+\]:")


def publishes(script: str) -> bool:
    """Return whether one of the commands of a script hands work over to others; never raises."""
    script = script if is_readable(script) else telling_parts(script, _names)
    if not is_readable(script):
        return True
    ran = runs_in(script)
    return (
        any(map(_hands_over, ran.runs))
        or any(map(_posts, ran.programs))
        or any(path.startswith(_OUTWARD) for path in ran.written)
    )


def _hands_over(run: Run) -> bool:
    if not _NO_READING.isdisjoint(run.rest[-1:]) or _is_dry(run):
        return False
    if run.name in ALWAYS:
        return True
    operands = _operands(run.rest)
    first = (*operands[:1], " ".join(operands[:2]))
    if not PHRASES.get(run.name, frozenset()).isdisjoint(first):
        return True
    return (
        _by_verb(run, operands)
        or _sends(run)
        or _fills_in(run)
        or _copies_away(run, operands)
        or _by_flag(run)
        or _runs_task(run, operands)
    )


def _is_dry(run: Run) -> bool:
    """Return whether a program says what it would do; a task's own program may take no heed."""
    if run.name in _PACKAGE_MANAGERS and not RUN_TASKS.isdisjoint(run.rest):
        return False
    flags = DRY.get(run.name, frozenset())
    for word in run.rest:
        flag, _, value = word.partition("=")
        if flag in flags and value not in ("0", "false", "no", "none"):
            return True
        bundled = word[:1] == "-" and word[1:].isalpha() and "n" in word
        if bundled and "-n" in flags and run.name == "rsync":
            return True
    return False


def _by_verb(run: Run, operands: Sequence[str]) -> bool:
    if run.name not in BY_VERB:
        return False
    if not operands:
        return run.name in ("now", "vercel")  # alone they deploy
    heads = [re.split(r"[-:]", word)[0] for word in operands[:4]]
    return READING.isdisjoint(heads) and not VERBS.isdisjoint(heads)


def _sends(run: Run) -> bool:
    """Return whether a program sends something to another machine, or somebody."""
    if run.name not in SENDERS:
        return False
    if run.name in ("mail", "mailx", "mutt"):
        return bool(run.rest)
    if run.name == "socat":
        return any(map(_socket.match, run.rest))
    words = [word for word in run.rest if not word.startswith("-")]
    if run.name in ("nc", "ncat", "netcat"):
        listens = any(word[:1] == "-" and not {"l", "z"}.isdisjoint(word) for word in run.rest)
        return bool(words) and not listens and not any(map(_here.match, words))
    return _has_body(run) and not any(map(_here.match, words))


def _fills_in(run: Run) -> bool:
    """Return whether another machine is asked for what a file holds or a command prints."""
    if run.name not in ASKERS | SENDERS or any(map(_here.match, run.rest)):
        return False
    filled = [word for word in run.rest if "$(" in word or "`" in word]
    if any(map(_file_read.search, filled)):
        return True
    return any(map(_prints_more, (each for word in filled for each in runs_in(word).runs[1:])))


def _prints_more(run: Run) -> bool:
    """Return whether a command may print what a machine or a project holds."""
    of_commit = run.name == "git" and run.rest[:1] in (("describe",), ("rev-parse",))
    return run.name not in _OF_MACHINE and not of_commit


def _posts(program: str) -> bool:
    """Return whether a program of another language sends something to another machine."""
    return "://" in program and bool(_posting.search(program)) and not _local_url.search(program)


def _has_body(run: Run) -> bool:
    """Return whether an HTTP client sends a body, or has a method that changes something."""
    if not _METHODS.isdisjoint(run.rest):
        return True
    if not {"-G", "--get"}.isdisjoint(run.rest):
        return False
    pairs = [word.partition("=") for word in run.rest]
    if any(flag in _BODIES or value in _METHODS for flag, _, value in pairs):
        return True
    return run.name == "curl" and any(map(_curl_body.match, run.rest))


def _copies_away(run: Run, operands: Sequence[str]) -> bool:
    if run.name not in COPIERS or not operands:
        return False
    if run.name not in ("rsync", "scp") and _COPIES.isdisjoint(operands[:2]):
        return False
    if run.name == "mc":
        return operands[-1][:1] not in ("/", ".")
    return _remote.match(operands[-1]) is not None


def _by_flag(run: Run) -> bool:
    if run.name == "gh" and run.rest[:1] == ("api",):
        words = run.rest
        changes = not _METHODS.isdisjoint(words) or any(word[2:] in _METHODS for word in words)
        fields = not _FIELDS.isdisjoint(words) and "GET" not in words
        reads = "graphql" in words and not any("mutation" in word for word in words)
        return changes or (fields and not reads)
    if run.name == "git" and any("alias." in word for word in run.rest):
        return _ALIAS_READING.isdisjoint(run.rest) and any(map(_pushing_alias.search, run.rest))
    return run.name in ("docker", "podman") and "--push" in run.rest


def _runs_task(run: Run, operands: Sequence[str]) -> bool:
    """Return whether a task or a script is run whose name says that it publishes."""
    if run.name in TASK_RUNNERS:
        tasks = [word for word in operands if "=" not in word]
        if run.name.startswith("gradle"):
            tasks = [word.rpartition(":")[2] for word in tasks]
        return any(map(_says_so, tasks))
    if run.name in _PACKAGE_MANAGERS:
        behind = [word for before, word in pairwise(run.rest) if before in RUN_TASKS]
        named = [word.rpartition("/")[2] for word in behind if word[:1] != "-"]
        named += operands[:1] if run.name in ("bun", "pnpm", "yarn") else []
        return any(map(_says_so, named))
    if run.name in INTERPRETERS:
        return any(map(_is_script, operands[:1])) or _is_managed(operands)
    return _is_script(run.path) and (not run.guessed or "/" in run.path or "." in run.path)


def _is_managed(operands: Sequence[str]) -> bool:
    """Return whether a project's own program is told to do so: `manage.py deploy`."""
    program = operands[0].rpartition("/")[2] if operands else ""
    return program in _MANAGERS and any(map(_says_so, operands[1:]))


def _is_script(path: str) -> bool:
    found = _script_name.search(path)
    return found is not None and _says_so(found[1])


def _says_so(name: str) -> bool:
    tokens = [token.lower() for token in _token.findall(name)]
    if not tokens or not _STAYS.isdisjoint(tokens):
        return False
    return tokens[0] in _TASKS or tokens[-1] in _TASKS


def _operands(words: Sequence[str]) -> list[str]:
    operands: list[str] = []
    skipped = False
    for word in words:
        if word == "--":
            break
        if not skipped and not word.startswith(("-", "+")):
            operands.append(word)
        skipped = word in VALUED and not skipped
    return operands
