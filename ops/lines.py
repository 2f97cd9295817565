"""What a command says of one thing: a name and a text a line, the text never cut."""

from collections.abc import Iterable

from rich.table import Table

from pmcl.contracts import Resource
from pmcl.ops.console import console, shown_whole

__all__ = ["print_lines", "shown_resources"]


def print_lines(lines: Iterable[tuple[str, str]]) -> None:
    """Print names and texts in two columns, whatever the texts hold."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, text in lines:
        table.add_row(name, text)
    console.print(table, markup=False)


def shown_resources(resources: Iterable[Resource]) -> str:
    """Return resources with their kinds, so that nothing in a value hides."""
    return ", ".join(f"{each.kind} {shown_whole(each.value)}" for each in resources)
