"""A list for people: one line a row, or several where the screen is too narrow, and nothing cut.

Where the output is no screen, a row is one line, however long, and a tab parts its columns.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rich.cells import cell_len
from rich.text import Text

from pmcl.ops.console import console, print_raw, screen_width

__all__ = ["print_rows"]

_GAP: Final = "  "
_INDENT: Final = "    "


def print_rows(names: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows below the names of their columns.

    A column that the screen has no room for begins a line of its own, indented, in every row; one
    that is wider than the screen is folded there.
    """
    table = [tuple(names), *(tuple(row) for row in rows)]
    if screen_width() is None:
        print_raw("".join("\t".join(row).rstrip("\t") + "\n" for row in table))
        return
    widths = [max(cell_len(cell) for cell in column) for column in zip(*table, strict=True)]
    width = screen_width()
    lines = _lines(widths, width)
    for number, row in enumerate(table):
        for text in _shown(row, widths, lines, width):
            style = "bold" if number == 0 else ""
            console.print(text, style=style, markup=False, soft_wrap=True)


def _lines(widths: Sequence[int], width: int | None) -> list[list[int]]:
    """Return which columns stand on which line of a row."""
    lines: list[list[int]] = [[]]
    used = 0
    for column, wanted in enumerate(widths):
        if lines[-1] and width is not None and used + wanted > width:
            lines.append([])
            used = len(_INDENT)
        lines[-1].append(column)
        used += wanted + len(_GAP)
    return lines


def _shown(
    row: Sequence[str], widths: Sequence[int], lines: list[list[int]], width: int | None
) -> Iterator[str]:
    """Yield the lines of one row; one without anything on it is left out, but for the first."""
    for place, columns in enumerate(lines):
        indent = _INDENT if place else ""
        text = _GAP.join(_padded(row[column], widths[column]) for column in columns).rstrip()
        if width is None or cell_len(indent + text) <= width:
            folded = [text]
        else:
            folded = [line.plain for line in Text(text).wrap(console, width - len(indent))]
        yield from (indent + part.rstrip() for part in folded if part or not place)


def _padded(cell: str, width: int) -> str:
    return cell + " " * (width - cell_len(cell))
