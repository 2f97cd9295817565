"""Pages are made from templates that escape whatever they are given."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.resources import files
from typing import Final

import msgspec
from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup

from pmcl.ops.console import shown_time, shown_whole

__all__ = ["STATIC", "Static", "counted", "environment"]

_PACKAGE: Final = "pmcl.ops.dashboard"
_MEDIA: Final = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
_after_separator = re.compile(r"(?<=[/_.:-])(?=[^/_.:-])")


class Static(msgspec.Struct, frozen=True):
    """A file as it is sent."""

    media_type: str
    content: bytes


def _read() -> Mapping[str, Static]:
    return {
        file.name: Static(_MEDIA[file.name.rpartition(".")[2]], file.read_bytes())
        for file in files(_PACKAGE).joinpath("static").iterdir()
    }


STATIC: Final = _read()
"""What every page may load, by name; nothing else is loaded."""


def environment() -> Environment:
    """Return what makes pages: undefined names are errors, and everything is escaped."""
    sources = {
        file.name: file.read_text(encoding="utf-8")
        for file in files(_PACKAGE).joinpath("templates").iterdir()
    }
    made = Environment(
        loader=DictLoader(sources),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "breakable": _breakable,
        "clock": lambda at_ms: shown_time(at_ms, "%m-%d %H:%M:%S"),
        "count": lambda number: f"{number:,}",
        "counted": counted,
        "figure": lambda number: "\N{EN DASH}" if number is None else f"{number:.3f}",
        "moment": _moment,
        "since": shown_time,
        "whole": shown_whole,
    }
    return made


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural but for one."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _breakable(name: str) -> Markup:
    """Return a name that may be broken behind its separators, not inside a word."""
    return Markup("<wbr>").join(_after_separator.split(name))


def _moment(at_ms: int) -> str:
    """Return a time for `datetime` attributes."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds")
