"""A table for people, JSON for programs; both name the machine."""

import os
import platform
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console
from rich.table import Table

from benchmarks.rounds import Result

__all__ = ["as_json", "machine", "print_table"]


def machine() -> dict[str, Any]:
    return {
        "cores": os.cpu_count(),
        "processor": processor(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
    }


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def print_table(results: Sequence[Result], rounds: int) -> None:
    table = Table("what", "ours", "baseline", "", "ours to baseline", "min to max", "target", "")
    for result in results:
        row = result.row
        low, high = result.spread
        table.add_row(
            row.name,
            f"{result.ours:,.4g} {row.unit}",
            f"{result.baseline:,.4g} {row.unit}",
            row.baseline,
            f"{result.compared:.3g}",
            f"{low:.3g} to {high:.3g}",
            "reported" if row.bound is None else str(row.bound),
            {None: "", True: "met", False: "missed"}[result.met],
        )
    console = Console(width=None if Console().is_terminal else 180)
    console.print(table)
    facts = ", ".join(f"{name} {value}" for name, value in machine().items())
    console.print(f"Medians of {rounds} rounds. {facts}", highlight=False)


def as_json(results: Sequence[Result], rounds: int) -> str:
    rows = [
        {
            "name": result.row.name,
            "unit": result.row.unit,
            "ours": result.ours,
            "baseline": {"name": result.row.baseline, "value": result.baseline},
            "compared": result.compared,
            "compared_as": "ratio" if result.row.bound is None else result.row.bound.kind,
            "spread": result.spread,
            "target": None if result.row.bound is None else str(result.row.bound),
            "met": result.met,
        }
        for result in results
    ]
    document = {"machine": machine(), "rounds": rounds, "rows": rows}
    return msgspec.json.format(msgspec.json.encode(document)).decode()
