"""A query reads, or it is not shown to: what any dialect could run as more than a read is more.

Two readers guard each other: signs by which dialects differ (escapes, executed comments, other
quotes) are refused first, so that the parser and the database see the same words. Source: SPEC C3.
"""

import logging
import re
from typing import Final

from pmcl.contracts import Effect

__all__ = ["SQL_MAX_CHARS", "looks_like_sql", "sql_effect"]

SQL_MAX_CHARS: Final = 4096
"""Longer texts are executions unread; it bounds the time that parsing takes."""

# A backslash, `#`, `$$`, `/*!`, `--x`, a nested comment, a bracket or a backtick round more than a
# name: each hides in one dialect what another one runs.
_differs = re.compile(r"[\\#\0]|\$\w*\$|/\*[!+M]|--(?=\S)|/\*(?:(?!\*/)[\s\S]){0,4096}?/\*")
_quoted_name = re.compile(r"\[[\w .]{0,128}\]|`[\w .]{0,128}`")
_word = re.compile(r"[A-Za-z_]{1,32}")

_WRITES: Final = frozenset(
    "alter analyze comment create delete drop grant insert merge reindex rename replace revoke "
    "truncate update upsert vacuum".split()
)
_STARTS: Final = _WRITES | frozenset(
    "attach begin call commit copy declare desc describe detach do exec execute explain load lock "
    "pragma rollback select set show use values with".split()
)
_HARMLESS: Final = frozenset(
    "acos asin atan char_length datetime editdist3 glob hex ifnull instr json_valid julianday "
    "last_insert_rowid likelihood likely nullif octet_length pi printf quote random soundex "
    "sqlite_version strftime total typeof unicode unixepoch unlikely version".split()
)
"""Functions that the parser does not know by a class of their own and that only compute."""
_REACHING: Final = frozenset(
    "AIAgg AIClassify AIEmbed AIForecast AIGenerate AISimilarity AISummarizeAgg GenerateBool "
    "GenerateDouble GenerateEmbedding GenerateInt GenerateTable GenerateText MLForecast "
    "MLTranslate NetFunc NextValueFor Predict ReadCSV ReadParquet ToFile".split()
)
"""Functions that the parser knows and that read files, ask a model or a network, or count on."""
_READING_PRAGMAS: Final = frozenset(
    "collation_list compile_options database_list foreign_key_check foreign_key_list "
    "freelist_count function_list index_info index_list index_xinfo integrity_check page_count "
    "page_size quick_check table_info table_list table_xinfo".split()
)


def looks_like_sql(text: str) -> bool:
    """Return whether a text starts with a word of SQL."""
    found = _word.match(text.lstrip()[:64])
    return found is not None and found[0].lower() in _STARTS


def sql_effect(text: str) -> Effect:
    """Return inspect_local for a shown read, mutation for a plain write, else execution.

    Never raises.
    """
    if len(text) > SQL_MAX_CHARS or _is_ambiguous(text):
        return "execution"
    first = _word.match(text.lstrip())
    match first[0].lower() if first else "":
        case "select" | "with" | "values":
            return _parsed(text)
        case "explain":
            rest = text.lstrip()[len("explain") :].lstrip()
            plan = re.sub(r"(?i)\Aquery\s{1,8}plan\s", "", rest)
            return sql_effect(plan) if looks_like_sql(plan) else "execution"
        case "show" | "describe" | "desc":
            return "inspect_local" if _names_only(text) else "execution"
        case "pragma":
            return "inspect_local" if _reads_pragma(text) else "execution"
        case word if word in _WRITES:
            return _parsed(text)
    return "execution"


_QUOTES: Final = frozenset("[]`")


def _is_ambiguous(text: str) -> bool:
    """Return whether dialects may differ about it, or read a table from an address in it."""
    quotes = not _QUOTES.isdisjoint(_quoted_name.sub("", text))
    return quotes or "://" in text or _differs.search(text) is not None


def _names_only(text: str) -> bool:
    plain = text.strip().removesuffix(";")
    return all(sign.isalnum() or sign in " _.\n\t" for sign in plain)


def _reads_pragma(text: str) -> bool:
    name, _, rest = text.strip()[len("pragma") :].strip().removesuffix(";").partition("(")
    argument = rest.strip().removesuffix(")").strip("'\" ")
    plain = not argument or all(sign.isalnum() or sign == "_" for sign in argument)
    return name.strip().rpartition(".")[2].lower() in _READING_PRAGMAS and plain


def _parsed(text: str) -> Effect:
    # It takes 80 ms to import, and most sidecars never see a query.
    from sqlglot import errors, exp, parse

    logging.getLogger("sqlglot").setLevel(logging.ERROR)  # it would show what it cannot read

    reads = (exp.Select, exp.SetOperation, exp.Values, exp.Subquery)
    writes = (exp.Insert, exp.Update, exp.Delete, exp.Create, exp.Drop, exp.Alter, exp.Merge)
    runs = (
        exp.Command,
        exp.Anonymous,
        exp.AnonymousAggFunc,
        exp.Copy,
        exp.Attach,
        exp.UserDefinedFunction,
    )
    try:
        statements = [found for found in parse(text) if found is not None]
    except (errors.SqlglotError, RecursionError, ValueError):
        return "execution"
    effect: Effect = "inspect_local"
    for statement in statements:
        if not isinstance(statement, reads + writes):
            return "execution"
        if any(type(found).__name__ in _REACHING for found in statement.walk()):
            return "execution"
        if any(str(found.name).lower() not in _HARMLESS for found in statement.find_all(*runs)):
            return "execution"
        touches = (*writes, exp.Into, exp.Lock, exp.TruncateTable)
        if statement.find(*touches) is not None:
            effect = "mutation"
    return effect if statements else "execution"
