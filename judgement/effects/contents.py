"""What an argument holds is told by its name, or by the operator; a program in it is read.

Texts that are only data (a body, a path, a search) are never read as programs.
"""

import shlex
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from pmcl.contracts import Effect
from pmcl.judgement.effects.names import words_of
from pmcl.judgement.effects.rules import Content
from pmcl.judgement.effects.shell import shell_inspects, words_inspect
from pmcl.judgement.effects.sql import looks_like_sql, sql_effect
from pmcl.judgement.effects.unseen import runs_unseen

__all__ = ["UNSEEN_PROGRAM", "Finding", "content_of", "program_finding", "program_of"]

UNSEEN_PROGRAM: Final = "shell.unseen_program"

_BY_NAME: Final[dict[str, Content]] = {
    **dict.fromkeys(
        "bash bash_command cmd command command_line commandline commands shell "
        "shell_command".split(),
        "shell",
    ),
    **dict.fromkeys("sql sql_query sql_statement".split(), "sql"),
    **dict.fromkeys("http_method method request_method".split(), "method"),
}
_URL_WORDS: Final = frozenset("endpoint href uri uris url urls webhook webpage website".split())
_OF_SHELL: Final = frozenset(
    "bash cmd command console exec execute run sh shell terminal zsh".split()
)
_OF_SQL: Final = frozenset(
    "bigquery clickhouse data database db duckdb exec execute mariadb mssql mysql oracle postgres "
    "postgresql query read redshift run select snowflake sql sqlite table".split()
)
_DATABASES: Final = _OF_SQL - frozenset("data exec execute query read run select table".split())
_BESIDE_A_PROGRAM: Final = frozenset(
    "connection cwd database db description dir_path directory explanation is_background limit "
    "max_output_bytes max_output_length max_rows params parameters run_in_background schema "
    "timeout timeout_ms timeout_s timeout_seconds workdir working_dir working_directory".split()
)


class Finding(msgspec.Struct, frozen=True):
    """An effect and the code of the rule that found it."""

    effect: Effect
    reason: str


def program_of(
    words: list[str], arguments: Mapping[str, Any], said: Mapping[str, Content]
) -> Finding | None:
    """Return what a tool does whose name only says that it runs a program; `None` for others.

    Every other argument must be known to change nothing about it.

    Args:
        words: the tool's name.
        arguments: the call's.
        said: what an operator says that arguments hold.
    """
    programs: tuple[tuple[Content, frozenset[str]], ...] = (("shell", _OF_SHELL), ("sql", _OF_SQL))
    for content, own in programs:
        if content not in said.values() and not (words and own.issuperset(words)):
            continue
        held = [
            name
            for name, value in arguments.items()
            if content_of(name, value, words, said) == content
        ]
        others = [name for name in arguments if name not in held]
        if len(held) == 1 and all(_is_beside(name, said) for name in others):
            return program_finding(content, arguments[held[0]])
    return None


def content_of(
    name: str, value: Any, words: list[str], said: Mapping[str, Content]
) -> Content | None:
    """Return what an argument of a tool holds; `None` where nothing tells."""
    if name in said:
        return said[name]
    lowered = name.lower()
    if lowered in _BY_NAME:
        return _BY_NAME[lowered]
    if lowered in ("query", "statement", "queries") and _asks_database(words, value):
        return "sql"
    return None if _URL_WORDS.isdisjoint(words_of(name)) else "url"


def program_finding(content: Content, value: Any) -> Finding:
    """Return what a shell command (a text, or its words) or a query does; else an execution."""
    effect: Effect = "execution"
    if content == "sql" and isinstance(value, str):
        effect = sql_effect(value)
    elif content == "shell" and _shell_inspects(value):
        effect = "inspect_local"
    if content == "shell" and effect == "execution" and runs_unseen(_line(value)):
        return Finding(effect, UNSEEN_PROGRAM)
    shown = "inspects" if effect == "inspect_local" else "not_shown"
    return Finding(effect, f"{content}.{shown}")


def _asks_database(words: list[str], value: Any) -> bool:
    """Return whether a `query` is one of a database: by the tool's name, else by its first word."""
    if not _DATABASES.isdisjoint(words):
        return True
    return "query" in words and isinstance(value, str) and looks_like_sql(value)


def _is_beside(name: str, said: Mapping[str, Content]) -> bool:
    return name.lower() in _BESIDE_A_PROGRAM or said.get(name) == "data"


def _shell_inspects(value: Any) -> bool:
    if isinstance(value, str):
        return shell_inspects(value)
    words = _words(value)
    return bool(words) and words_inspect(words)


def _line(value: Any) -> str:
    """Return a command as one would type it."""
    return value if isinstance(value, str) else shlex.join(_words(value))


def _words(value: Any) -> list[str]:
    """Return a command's words, none of what is not given word by word."""
    words = list(value) if isinstance(value, list | tuple) else []
    return words if all(isinstance(word, str) for word in words) else []
