"""What a call does: the riskiest of what any rule finds, never below what the host claims.

Nothing is believed that only its author says: a hint can raise, and an operator's rule alone can
lower. What no rule shows to be a local inspection is execution. Source: SPEC C3.
"""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from pmcl.contracts import CheckpointRequest, Effect, Reversibility, ToolDefinition
from pmcl.judgement.effects.arguments import findings_in, flag_effect
from pmcl.judgement.effects.contents import UNSEEN_PROGRAM, Finding, program_of
from pmcl.judgement.effects.descriptions import chosen, from_description
from pmcl.judgement.effects.dispatch import InnerCall, inner_calls, is_dispatcher
from pmcl.judgement.effects.lexicon import DISPATCH_WORDS
from pmcl.judgement.effects.look_alikes import looks_alike
from pmcl.judgement.effects.names import NameSays, from_name, own_words
from pmcl.judgement.effects.risk import (
    lasting_longer,
    reversibility,
    risk_of,
    riskier,
    riskiest,
)
from pmcl.judgement.effects.rules import EffectRules, ToolRule

__all__ = ["Classification", "classify"]

_INNER_MAX: Final = 64
_NESTED_MAX: Final = 4
_REASONS_MAX: Final = 8
_HIDDEN: Final = Finding("execution", "dispatch.hidden")
_NO_DEFINITION: Final = ToolDefinition()


class Classification(msgspec.Struct, frozen=True, kw_only=True):
    """What a call does, and why the sidecar thinks so.

    Attributes:
        effect: the riskier of `own` and the host's claim.
        own: what the rules give without the claim.
        reasons: codes of the rules that found something, the riskiest first, at most 8; never any
            content. `docs/effects.md` lists them.
    """

    effect: Effect
    reversibility: Reversibility
    own: Effect
    reasons: tuple[str, ...]


class _Call(msgspec.Struct, frozen=True):
    server: str
    name: str
    arguments: dict[str, Any]
    definition: ToolDefinition


def classify(request: CheckpointRequest, rules: EffectRules) -> Classification:
    """Return what the request does; never raises.

    `rules` are the operator's: one lowers or raises what the sidecar finds, none what the host
    claims. Source: SPEC C3.
    """
    definition = request.definition or _NO_DEFINITION
    call = _Call(request.tool.server, request.tool.name, request.arguments, definition)
    rule = rules.of(call.server, call.name)
    findings = [*_ruled(call, rules, rule, _NESTED_MAX)]
    if rule is None or rule.effect is None:
        findings.extend(_hints(request, definition))
        findings.extend(_resources(request))
    findings.sort(key=lambda found: (-risk_of(found.effect), found.reason != UNSEEN_PROGRAM))
    own = findings[0].effect
    effect = own if request.effect is None else riskier(own, request.effect)
    reasons = [finding.reason for finding in findings]
    if effect != own:
        reasons.insert(0, "claim.effect")
    return Classification(
        effect=effect,
        reversibility=_reversibility(effect, own, request, rule),
        own=own,
        reasons=tuple(dict.fromkeys(reasons))[:_REASONS_MAX],
    )


def _reversibility(
    effect: Effect, own: Effect, request: CheckpointRequest, rule: ToolRule | None
) -> Reversibility:
    usual = reversibility(effect, request.reversibility)
    if rule is None or rule.reversibility is None or effect != own:
        return usual
    return lasting_longer(rule.reversibility, request.reversibility)


def _ruled(
    call: _Call, rules: EffectRules, rule: ToolRule | None, nested: int
) -> Iterator[Finding]:
    """Yield what the operator says of a call, else what is found."""
    if rule is not None and rule.effect is not None:
        yield Finding(rule.effect, "operator.effect")
    else:
        yield from _found(call, rules, rule, nested)


def _found(
    call: _Call, rules: EffectRules, rule: ToolRule | None, nested: int
) -> Iterator[Finding]:
    said = {} if rule is None else rule.arguments
    words = own_words(call.name)
    inner = [*_first(inner_calls(call.arguments), _INNER_MAX + 1)]
    if is_dispatcher(words) or "tool" in said.values():
        yield from _inner(call, inner, rules, nested) if inner else [_HIDDEN]
        return
    program = program_of(words, call.arguments, said) if call.name.isascii() else None
    if program is not None:
        yield program
        return
    name = from_name(call.name, call.server)
    yield from _named(name, call.definition)
    yield from findings_in(words, call.arguments, said)
    yield from _defaults(call)
    read = [each for each in inner if each.arguments is not None]
    if read and (name.lead != "acts" or not DISPATCH_WORDS.isdisjoint(words)):
        yield from _inner(call, read, rules, nested)


def _named(name: NameSays, definition: ToolDefinition) -> Iterator[Finding]:
    """Yield what name and description say together."""
    says = from_description(definition.description)
    match name.lead:
        case "inspects" | "acts":
            yield Finding(name.effect, name.reason)
        case "subject_first" if says.reads:
            yield Finding(name.effect, "description.reads")
        case "subject_first":
            yield Finding("execution", "name.unknown_verb")  # `frobnicate_list`
        case "unknown":
            told = chosen(says) if name.reason == "name.unknown" else None
            yield Finding(told or "execution", "description.verb" if told else name.reason)
    if says.acts and name.lead in ("inspects", "subject_first"):
        yield Finding(riskiest([*says.acts]), "description.raises")


def _defaults(call: _Call) -> Iterator[Finding]:
    """Yield what a flag does that the schema sets unless the call says otherwise."""
    properties = call.definition.parameters.get("properties")
    if not isinstance(properties, dict):
        return
    for name, schema in properties.items():
        unset = name not in call.arguments and isinstance(schema, dict)
        if unset and schema.get("default") is True:
            flag = flag_effect(name)
            if flag is not None:
                yield Finding(flag, "schema.flag")


def _inner(
    call: _Call, inner: list[InnerCall], rules: EffectRules, nested: int
) -> Iterator[Finding]:
    if len(inner) > _INNER_MAX or nested == 0:
        yield _HIDDEN
        return
    for found in inner:
        if found.arguments is None:
            yield _HIDDEN
            continue
        server = found.server or call.server
        own = _Call(server, found.name, found.arguments, _NO_DEFINITION)
        findings = [*_ruled(own, rules, rules.of(server, found.name), nested - 1)]
        yield Finding(riskiest([finding.effect for finding in findings]), "dispatch.inner")
        yield from findings


def _hints(request: CheckpointRequest, definition: ToolDefinition) -> Iterator[Finding]:
    """Yield what the tool's own author or the host warns of; a hint that soothes is not read."""
    hints = definition.annotations
    if request.read_only is False:
        yield Finding("mutation", "hint.not_read_only")
    if hints is None:
        return
    if hints.read_only is False:
        yield Finding("mutation", "hint.not_read_only")
    if hints.destructive:
        yield Finding("mutation", "hint.destructive")
    if hints.open_world:
        yield Finding("network", "hint.open_world")


def _resources(request: CheckpointRequest) -> Iterator[Finding]:
    for resource in request.resources:
        if resource.kind == "host":
            yield Finding("network", "resource.host")
        if looks_alike(resource.value):
            yield Finding("execution", "resource.look_alike")


def _first(calls: Iterator[InnerCall], count: int) -> Iterator[InnerCall]:
    for _, call in zip(range(count), calls, strict=False):
        yield call
