"""What a command says of one thing: a name and a text a line, the text never cut."""

import re
import textwrap
from collections.abc import Iterable, Mapping
from typing import Final

from rich.table import Table

from pmcl.contracts import Resource
from pmcl.ops.console import console, print_raw, screen_width, shown_whole

__all__ = ["print_line", "print_lines", "print_none", "shown_resources"]

_NAME_MIN: Final = 12
_CALL_CHARS: Final = 13
_call = re.compile(r"call:[0-9a-f]{64}")


def print_lines(lines: Iterable[tuple[str, str]]) -> None:
    """Print names and texts in two columns, whatever the texts hold; in a pipe a tab parts them."""
    if screen_width() is None:
        print_raw("".join(f"{name}\t{text}\n" for name, text in lines))
        return
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(overflow="fold", max_width=max(_NAME_MIN, console.width // 3))
    table.add_column(overflow="fold")
    for name, text in lines:
        table.add_row(name, text)
    console.print(table, markup=False)


def print_line(text: str, *, indent: int) -> None:
    """Print one line; what the screen has no room for follows below, indented."""
    width = screen_width()
    lines = [text]
    if width is not None:
        lines = textwrap.wrap(text, width, subsequent_indent=" " * indent, break_on_hyphens=False)
    console.print("\n".join(lines), markup=False, soft_wrap=True)


def print_none(nothing: str, others: Mapping[str, int]) -> None:
    """Print that there is nothing, or none that was asked for: what there is, then."""
    there = ", ".join(f"{shown_whole(name)} ({count})" for name, count in sorted(others.items()))
    print_line(f"None is like that. There are: {there}." if there else nothing, indent=0)


def shown_resources(resources: Iterable[Resource]) -> str:
    """Return resources with their kinds, so that nothing in a value hides."""
    return ", ".join(_shown(each) for each in resources)


def _shown(resource: Resource) -> str:
    """Return a resource; what stands for a call without any has no name that tells something."""
    if resource.kind == "other" and _call.fullmatch(resource.value):
        return f"calls with the same arguments ({resource.value[:_CALL_CHARS]}…)"
    return f"{resource.kind} {shown_whole(resource.value)}"
