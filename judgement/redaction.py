"""No secret passes: neither as a field's value, nor inside a text, nor as a key.

Recipients, paths, ids and JSON types stay as they are. Redacting twice is redacting once, so the
host and the sidecar may each do it with the same key or with two.

Source: SPEC C1, C11.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

import msgspec

from pmcl.contracts import (
    BeliefProposed,
    CheckpointRequest,
    ContractError,
    Justification,
    Observation,
    PlanStep,
    Premortem,
    Proposed,
    Resource,
    ToolDefinition,
    canonical,
)
from pmcl.contracts.limits import FREE_TEXT_MAX_BYTES
from pmcl.judgement.effects import EffectRules
from pmcl.judgement.hidden_effects import claim_hidden_effects
from pmcl.judgement.open_names import check_observation_names, check_request_names
from pmcl.judgement.secret_names import is_count, secret_kind
from pmcl.judgement.secret_shapes import MARK, digest, mark_secrets

__all__ = ["redact", "redact_observation", "redact_proposed", "redact_request", "redact_text"]

_DEEPEST: Final = 64
_NO_RULES: Final = EffectRules()
_ARGUMENT_MAX_BYTES: Final = 256
_SHOWN_VALUES: Final = frozenset({"const", "default", "enum", "example", "examples"})
_NAME_KEPT_CHARS: Final = 64
_PAIR_NAMES: Final = ("name", "key", "header", "field")
_PAIR_VALUES: Final = frozenset({"value"})
_NOTHING: Final[tuple[object, ...]] = (None, "", [], {})
_hidden_kind = re.compile(r"[a-z_]{1,32}")
_hidden_hmac = re.compile(r"[0-9a-f]{64}")
_half_mark = re.compile(r"\[(?:r(?:e(?:d(?:a(?:c(?:t(?:e(?:d(?::[a-z_:0-9]*)?)?)?)?)?)?)?)?)?\Z")


def redact_text(text: str, key: bytes) -> str:
    """Return `text` with every secret in it marked as `[redacted:<kind>:<16 hex digits>]`."""
    return mark_secrets(text, key)


def redact(value: Any, key: bytes) -> Any:
    """Return a JSON value without secrets.

    The value of a field with a secret's name becomes `{"kind": ..., "hmac": <64 hex digits>}`,
    whatever its type; empty ones, `null`, `true` and `false` stay.

    Raises:
        ContractError: more than 64 levels deep, or a secret value without a canonical form.
    """
    return _redact(value, key, 0)


def redact_request(
    request: CheckpointRequest, key: bytes, rules: EffectRules = _NO_RULES
) -> CheckpointRequest:
    """Return the request with every free text, the resources and the arguments redacted.

    A text that grows past its limit by its marks is cut between two marks. Where the marks hide
    what a call does, by `rules` too, its effect is claimed.

    Raises:
        SecretInNameError: a name holds a secret.
        ContractError: the arguments are nested too deep, or hide what has no canonical form.
    """
    check_request_names(request)
    redacted = msgspec.structs.replace(
        request,
        goal=_text(request.goal, key),
        arguments=redact(request.arguments, key),
        definition=_definition(request.definition, key),
        steps=tuple([_step(step, key) for step in request.steps]),
        resources=_resources(request.resources, key),
        expected_outcome=_optional(request.expected_outcome, key),
        premortem=_premortem(request.premortem, key),
        justification=_justification(request.justification, key),
        rejected_alternatives=_texts(request.rejected_alternatives, key),
    )
    return claim_hidden_effects(request, redacted, rules)


def redact_observation(observation: Observation, key: bytes) -> Observation:
    """Return the observation with its whole payload redacted.

    Raises:
        SecretInNameError: a name holds a secret.
    """
    check_observation_names(observation)
    detail = observation.detail
    return msgspec.structs.replace(
        observation,
        summary=_text(observation.summary, key),
        provenance=_text(observation.provenance, key),
        resources=_resources(observation.resources, key),
        detail=None if detail is None else redact_text(detail, key),
    )


def redact_proposed(proposed: Proposed, key: bytes) -> Proposed:
    """Return a proposal of reflection without secrets; its text may be longer by their marks."""
    text = mark_secrets(proposed.text, key)
    if isinstance(proposed, BeliefProposed):
        return msgspec.structs.replace(proposed, text=text, about=mark_secrets(proposed.about, key))
    return msgspec.structs.replace(proposed, text=text)


def _redact(value: Any, key: bytes, depth: int) -> Any:
    if isinstance(value, str):
        return mark_secrets(value, key)
    if not isinstance(value, dict | list | tuple):
        return value
    if depth == _DEEPEST:
        raise ContractError("$", "nesting", f"{_DEEPEST} levels")
    if isinstance(value, dict):
        return _members(value, key, depth + 1)
    return _items(value, key, depth + 1)


def _items(values: Sequence[Any], key: bytes, depth: int) -> list[Any]:
    """Return the items; one behind a secret's flag, as in an argument vector, is hidden."""
    redacted = []
    kind = None
    for item in values:
        redacted.append(_redact(item, key, depth) if kind is None else _hide(kind, item, key))
        is_flag = isinstance(item, str) and item.startswith("--")
        kind = secret_kind(item) if is_flag and "=" not in item and " " not in item else None
    return redacted


def _members(value: dict[str, Any], key: bytes, depth: int) -> dict[str, Any]:
    redacted = {}
    told = _told_kind(value)
    for name, member in value.items():
        if told is None and _is_plain(name):
            redacted[name] = _redact(member, key, depth)
            continue
        shown = mark_secrets(name, key)
        kind = told if name in _PAIR_VALUES and told else secret_kind(MARK.sub("", shown))
        redacted[shown] = _redact(member, key, depth) if kind is None else _hide(kind, member, key)
    return redacted


def _is_plain(name: str) -> bool:
    try:
        _plain(name)
    except ValueError:
        return False
    return True


@lru_cache(maxsize=4096)
def _plain(name: str) -> None:
    """Raise unless a name holds no secret and names none; what raises is not kept in memory."""
    if len(name) > _NAME_KEPT_CHARS or mark_secrets(name, b"") != name or secret_kind(name):
        raise ValueError


def _told_kind(members: dict[str, Any]) -> str | None:
    """Return what a pair such as `{"name": "X-Api-Key", "value": ...}` says that its value is."""
    if _PAIR_VALUES.isdisjoint(members):
        return None
    for name in _PAIR_NAMES:
        told = members.get(name)
        if isinstance(told, str) and (kind := secret_kind(told)) is not None:
            return kind
    return None


def _hide(kind: str, secret: Any, key: bytes) -> Any:
    if secret is None or isinstance(secret, bool) or secret in ("", [], {}):
        return secret
    if is_count(kind, secret) or _is_hidden(secret):
        return secret
    text = secret if isinstance(secret, str) else canonical(secret).decode()
    return {"hmac": digest(text, key), "kind": kind}


def _is_hidden(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() == {"hmac", "kind"}
        and _hidden_kind.fullmatch(str(value["kind"])) is not None
        and _hidden_hmac.fullmatch(str(value["hmac"])) is not None
    )


def _text(text: str, key: bytes, limit_bytes: int = FREE_TEXT_MAX_BYTES) -> str:
    redacted = mark_secrets(text, key)
    if redacted == text:
        return text
    data = redacted.encode("utf-8", "surrogatepass")
    if len(data) <= limit_bytes:
        return redacted
    return _half_mark.sub("", data[:limit_bytes].decode("utf-8", "ignore"))


def _optional(text: str | None, key: bytes) -> str | None:
    return None if text is None else _text(text, key)


def _texts(texts: tuple[str, ...], key: bytes) -> tuple[str, ...]:
    return tuple([_text(text, key) for text in texts])


def _definition(definition: ToolDefinition | None, key: bytes) -> ToolDefinition | None:
    """Return the definition, or nothing of one with a secret: it would not match its hash."""
    if definition is None or mark_secrets(definition.description, key) != definition.description:
        return None
    return None if _shows_secret(definition.parameters, key, 0) else definition


def _shows_secret(schema: Any, key: bytes, depth: int, *, named: bool = False) -> bool:
    """Return whether a schema holds a secret; a property's name alone is none, its default is."""
    if isinstance(schema, str):
        return mark_secrets(schema, key) != schema
    if not isinstance(schema, dict | list | tuple):
        return False
    if depth == _DEEPEST:
        return True
    if not isinstance(schema, dict):
        return any(_shows_secret(item, key, depth + 1, named=named) for item in schema)
    for name, member in schema.items():
        if named and name in _SHOWN_VALUES and member not in _NOTHING:
            return True
        if _shows_secret(name, key, depth) or _shows_secret(
            member, key, depth + 1, named=secret_kind(name) is not None
        ):
            return True
    return False


def _resources(resources: tuple[Resource, ...], key: bytes) -> tuple[Resource, ...]:
    return tuple([_resource(resource, key) for resource in resources])


def _resource(resource: Resource, key: bytes) -> Resource:
    argument = resource.argument
    return Resource(
        kind=resource.kind,
        value=_text(resource.value, key),
        argument=None if argument is None else _text(argument, key, _ARGUMENT_MAX_BYTES),
    )


def _step(step: PlanStep, key: bytes) -> PlanStep:
    return msgspec.structs.replace(
        step,
        arguments=None if step.arguments is None else redact(step.arguments, key),
        resources=_resources(step.resources, key),
        expected_outcome=_optional(step.expected_outcome, key),
    )


def _premortem(premortem: Premortem | None, key: bytes) -> Premortem | None:
    if premortem is None:
        return None
    return msgspec.structs.replace(premortem, mitigation=_text(premortem.mitigation, key))


def _justification(justification: Justification | None, key: bytes) -> Justification | None:
    if justification is None:
        return None
    return Justification(
        necessity=_text(justification.necessity, key),
        lower_risk_alternatives=_texts(justification.lower_risk_alternatives, key),
        residual_risks=_texts(justification.residual_risks, key),
    )
