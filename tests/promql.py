"""Expressions of the alert rules and of the Grafana dashboard, taken apart as Prometheus would."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import promql_parser
from promql_parser import (
    AggModifierType,
    AggregateExpr,
    BinaryExpr,
    Call,
    Expr,
    MatrixSelector,
    ParenExpr,
    VectorSelector,
)

__all__ = [
    "expressions",
    "labels_of",
    "name_of",
    "panels",
    "parsed",
    "ranges",
    "rules",
    "selectors",
]

_OPS = Path(__file__).parents[1] / "docs/ops"


def rules() -> list[dict[str, Any]]:
    read = msgspec.yaml.decode((_OPS / "alerts.yml").read_bytes(), type=dict[str, Any])
    return [rule for group in read["groups"] for rule in group["rules"]]


def panels() -> list[dict[str, Any]]:
    read = msgspec.json.decode((_OPS / "grafana.json").read_bytes(), type=dict[str, Any])
    return [panel for panel in read["panels"] if panel["type"] != "row"]


def expressions() -> Iterator[str]:
    yield from (rule["expr"] for rule in rules())
    yield from (target["expr"] for panel in panels() for target in panel["targets"])


def parsed(expression: str) -> Expr:
    """An expression as Grafana sends it; `ValueError` where Prometheus would refuse it."""
    return promql_parser.parse(expression.replace("$__rate_interval", "5m"))


def name_of(selector: VectorSelector) -> str:
    """The metric that a selector names; all of ours name one."""
    assert selector.name is not None, selector.prettify()
    return selector.name


def selectors(expression: Expr) -> list[VectorSelector]:
    """Every selector in an expression, those of ranges as well."""
    found: list[VectorSelector] = []

    def visit(node: Expr) -> None:
        if isinstance(node, VectorSelector):
            found.append(node)

    promql_parser.walk(expression, visit)
    return found


def ranges(expression: Expr) -> list[str]:
    """The name of every series that is asked for over a time."""
    found: list[str] = []

    def visit(node: Expr) -> None:
        if isinstance(node, MatrixSelector):
            found.append(name_of(node.vector_selector))

    promql_parser.walk(expression, visit)
    return found


def labels_of(expression: Expr, known: Mapping[str, set[str]]) -> set[str]:
    """The labels that every result of an expression has; of a number, none."""
    match expression:
        case VectorSelector():
            return known[name_of(expression)]
        case MatrixSelector():
            return known[name_of(expression.vector_selector)]
        case ParenExpr():
            return labels_of(expression.expr, known)
        case Call():
            given = set[str]().union(*(labels_of(each, known) for each in expression.args))
            return given - {"le"} if expression.func.name == "histogram_quantile" else given
        case AggregateExpr():
            return _aggregated(expression, labels_of(expression.expr, known))
        case BinaryExpr() if not selectors(expression.rhs):
            return labels_of(expression.lhs, known)
        case BinaryExpr():
            return labels_of(expression.lhs, known) & labels_of(expression.rhs, known)
        case _:
            return set()


def _aggregated(expression: AggregateExpr, given: set[str]) -> set[str]:
    if str(expression.op) in ("topk", "bottomk"):
        return given
    if expression.modifier is None:
        return set()
    assert expression.modifier.type == AggModifierType.By, expression.prettify()
    kept = set(expression.modifier.labels)
    assert kept <= given, f"{expression.prettify()}: {kept - given} are not there"
    return kept
