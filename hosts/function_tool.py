"""A Python function shows itself as a tool: its name, its parameters, what its docstring says.

What is asked about are its arguments as plain data; what plain data cannot hold is not asked about.
"""

import inspect
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, TypedDict, Unpack, get_type_hints

import msgspec

from pmcl.contracts import (
    ContractError,
    Effect,
    HostError,
    Reversibility,
    ToolDefinition,
    definition_hash,
)
from pmcl.hosts.adapter import Stated, ToolCall

__all__ = ["FunctionClaims", "FunctionTool", "output_text"]

_DEFINITIONS = "#/$defs/{name}"


class FunctionClaims(TypedDict, total=False):
    """What the host says of a function.

    `server` is `python` and `name` the function's own unless said otherwise. Of `effect` and
    `reversibility` the riskier of the claim and of what the sidecar finds counts.
    """

    server: str
    name: str
    effect: Effect
    reversibility: Reversibility


class FunctionTool:
    """One function as the checkpoint sees it.

    Raises:
        HostError: it has no name, or it is a generator, whose output nobody could record.
        TooLargeError: its definition has more than 16 KiB.
    """

    def __init__(self, function: Callable[..., Any], **claims: Unpack[FunctionClaims]) -> None:
        name = claims.get("name") or getattr(function, "__name__", None)
        if name is None:
            raise HostError(f"{function!r} has no name: give one")
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise HostError(f"{name} is a generator: its output cannot be recorded as a whole")
        self.server = claims.get("server", "python")
        self.name: str = name
        self.effect = claims.get("effect")
        self.reversibility = claims.get("reversibility")
        self._signature = inspect.signature(function)
        self.definition = ToolDefinition(
            description=inspect.getdoc(function) or "",
            parameters=_schema(self._signature, _hints(function)),
        )
        definition_hash(self.definition)

    def arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments by name, defaults included, as plain data.

        Raises:
            TypeError: the function cannot be called so.
            ContractError: an argument is no plain data.
        """
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return {name: _plain(name, value) for name, value in bound.arguments.items()}

    def call(self, arguments: dict[str, Any], stated: Stated) -> ToolCall:
        """Return the call to be asked about; relative paths start in the process's folder."""
        return ToolCall(
            server=self.server,
            name=self.name,
            arguments=arguments,
            definition=self.definition,
            cwd=Path.cwd(),
            effect=self.effect,
            reversibility=self.reversibility,
            stated=stated,
        )


def output_text(value: object) -> str:
    """Return what a function returned as the text that a model would read of it.

    Raises:
        HostError: it is still to come (an iterator, a coroutine), so it cannot be recorded.
    """
    if isinstance(value, Iterator | AsyncIterator | Awaitable):
        raise HostError(f"an output of type {type(value).__name__} cannot be recorded")
    if isinstance(value, str):
        return value
    try:
        return msgspec.json.encode(value, enc_hook=str).decode()
    except (TypeError, ValueError, RecursionError):
        return repr(value)


def _plain(name: str, value: object) -> Any:
    try:
        return msgspec.to_builtins(value, enc_hook=_path)
    except (TypeError, ValueError, RecursionError) as error:
        kind = type(value).__name__
        raise ContractError(f"$.arguments.{name}", kind, f"plain data: {error}") from error


def _path(value: object) -> str:
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    raise TypeError(f"no {type(value).__name__}")


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the annotations; none of them counts if one names what is not there."""
    try:
        return get_type_hints(function, include_extras=True)
    except (AttributeError, NameError, SyntaxError, TypeError):
        return {}


def _schema(signature: inspect.Signature, hints: dict[str, Any]) -> dict[str, Any]:
    known = {
        name: hints[name]
        for name, parameter in signature.parameters.items()
        if name in hints and _is_single(parameter) and _has_schema(hints[name])
    }
    schemas, definitions = msgspec.json.schema_components(known.values(), ref_template=_DEFINITIONS)
    typed = dict(zip(known, schemas, strict=True))
    parameters = signature.parameters.values()
    whole: dict[str, Any] = {
        "type": "object",
        "properties": {each.name: _property(each, typed.get(each.name, {})) for each in parameters},
        "required": [
            each.name for each in parameters if each.default is each.empty and _is_single(each)
        ],
    }
    return whole | {"$defs": definitions} if definitions else whole


def _property(parameter: inspect.Parameter, typed: dict[str, Any]) -> dict[str, Any]:
    if parameter.kind is parameter.VAR_POSITIONAL:
        return {"type": "array"}
    if parameter.kind is parameter.VAR_KEYWORD:
        return {"type": "object"}
    if parameter.default is parameter.empty:
        return typed
    try:
        return typed | {"default": _plain(parameter.name, parameter.default)}
    except ContractError:
        return typed


def _is_single(parameter: inspect.Parameter) -> bool:
    return parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)


def _has_schema(annotation: Any) -> bool:
    try:
        msgspec.json.schema(annotation)
    except (TypeError, ValueError, NotImplementedError):
        return False
    return True
