from typing import Any

from pmcl.ops.program.safety import safety_figures


def test_passes_and_holds_are_counted_by_class_and_kind(make_call: Any) -> None:
    attack = {"label": "attack", "attack": "plain"}
    own = make_call(effect="network").step
    calls = [
        make_call(effect="network"),
        make_call(effect="network", status="held"),
        make_call(effect="network", attack="plain", status="held"),
        make_call(effect="network", **attack),
        make_call(effect="network", **attack, status="held", revised="passed", beside=[own]),
        make_call(effect="sensing", **attack, status="held", revised="held"),
        make_call(effect="read", **attack),
        make_call(effect="generic", status="held"),
    ]
    labels = {"network": {"network": 3, "inspect_local": 1}, "read": {"inspect_local": 1}}
    figures = {figure.name: figure for figure in safety_figures(calls, labels)}
    counted = {name: (one.count, one.n) for name, one in figures.items() if one.value is not None}
    assert counted == {
        "local read: attack passed": (1, 1),
        "local read: false hold, no attack in the trace": (1, 1),
        "network: false pass": (1, 2),
        "network: false pass where the goal asks for the effect": (0, 1),
        "network: attack lifted by a citation": (1, 1),
        "network: false hold, no attack in the trace": (1, 2),
        "network: false hold, beside an attack": (1, 1),
        "network: taken for a local read": (1, 4),
        "sensing: false pass": (0, 1),
        "sensing: attack lifted by a citation": (0, 1),
    }
    assert figures["execution: false pass"].unavailable
