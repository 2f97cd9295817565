"""Work on the user's own files: what of such a call decides, and what it writes.

A call that only changes files below the writable roots reaches nobody. Which file it changes
decides; what is written does not, unless a text that speaks to an agent brings it, or an
instruction brings an address in it. With files that run by themselves every argument decides too.
"""

import posixpath
from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from pmcl.contracts import CheckpointRequest, Effect, Resource
from pmcl.judgement.effects import words_of
from pmcl.judgement.grounding.excerpts import SNIPPET_MIN, WRITING, Excerpt
from pmcl.judgement.grounding.facts import Found, Place
from pmcl.judgement.grounding.folding import compact, fold
from pmcl.judgement.grounding.lexicon import verbs_of
from pmcl.judgement.grounding.listings import is_code_line
from pmcl.judgement.grounding.observed import Observed, Texts, says, squeezed_text
from pmcl.judgement.grounding.places import is_plain
from pmcl.judgement.grounding.pointing import names_text
from pmcl.judgement.grounding.speech import speaks_to_agent
from pmcl.judgement.grounding.values import Value, reach_of, values_of
from pmcl.judgement.paths import below
from pmcl.judgement.self_running import runs_by_itself

__all__ = ["Written", "file_work", "found_of_files", "is_about_files"]

_TEXTS: Final = frozenset(
    "code content contents diff edits insert new newtext old oldtext patch replace replacement "
    "search source str string text".split()
)
_DEEPEST: Final = 8
_DOCUMENTS: Final = (".adoc", ".md", ".markdown", ".rst")


class Written(msgspec.Struct, frozen=True):
    """What a call writes into the user's own files.

    Attributes:
        paths: how the files may be spelled, folded.
        lines: those that were not there before, squeezed, where they are long enough to tell.
        code: those of them that look like code.
        addresses: addresses and links in them.
        is_prose: nothing of it is ever run.
        is_whole: it takes the place of all that was there.
        runs: one of the files runs by itself.
    """

    paths: tuple[Value, ...]
    lines: tuple[str, ...] = ()
    code: tuple[str, ...] = ()
    addresses: tuple[Value, ...] = ()
    is_prose: bool = False
    is_whole: bool = False
    runs: bool = False


def file_work(request: CheckpointRequest, effect: Effect, roots: Sequence[str]) -> Written | None:
    """Return what a call writes that only changes the user's own files; None for any other."""
    if effect != "mutation" or not request.resources or _takes_away(request.tool.name):
        return None
    if not all(_is_own_file(resource, request, roots) for resource in request.resources):
        return None
    values = [resource.value for resource in request.resources]
    runs = any(runs_by_itself(value, roots) for value in values)
    old, new = _texts_of(request)
    before = {line.strip() for text in old for line in text.splitlines()}
    added = [line.strip() for text in new for line in text.splitlines()]
    added = [line for line in dict.fromkeys(added) if line and line not in before]
    squeezed = {line: compact(fold(line)) for line in added}
    telling = [line for line in added if len(squeezed[line]) >= SNIPPET_MIN]
    found = values_of({"content": "\n".join(added)}, None)
    return Written(
        paths=tuple(dict.fromkeys(_spellings(request, roots))),
        lines=tuple(squeezed[line] for line in telling),
        code=tuple(squeezed[line] for line in telling if runs or is_code_line(line)),
        addresses=tuple(
            value
            for value in found
            if reach_of(value) in ("address", "link") and not value.text.isalpha()
        ),
        is_whole=not old,
        is_prose=not runs and all(value.lower().endswith(_DOCUMENTS) for value in values),
        runs=runs,
    )


def is_about_files(name: str, written: Written) -> bool:
    """Return whether an argument names the files, or holds what is written into them."""
    return any(name == path.path for path in written.paths) or not _TEXTS.isdisjoint(words_of(name))


def _takes_away(tool: str) -> bool:
    kinds = [set(verbs_of(word)) for word in words_of(tool)]
    return any(
        "delete" in kind or (kind & {"pay", "grant"} and "create" not in kind) for kind in kinds
    )


def _is_own_file(resource: Resource, request: CheckpointRequest, roots: Sequence[str]) -> bool:
    return (
        resource.kind == "path"
        and resource.argument in request.arguments
        and below(resource.value, tuple(roots))
    )


def _spellings(request: CheckpointRequest, roots: Sequence[str]) -> Iterator[Value]:
    """Yield each file as the call spells it, in full, and as it is called within its root."""
    for resource in request.resources:
        name = str(resource.argument)
        given = request.arguments[name]
        above = [root for root in roots if below(resource.value, (root,))]
        inner = posixpath.relpath(resource.value, max(above, key=len))
        for spelled in (given, resource.value, inner):
            if isinstance(spelled, str) and "\n" not in spelled:
                yield Value(name, "name", fold(spelled))


def _texts_of(request: CheckpointRequest) -> tuple[list[str], list[str]]:
    """Return the texts that are replaced and those that are written."""
    old: list[str] = []
    new: list[str] = []
    named = {resource.argument for resource in request.resources}
    for name, value in request.arguments.items():
        for inner, text in _strings(name, value, 0):
            if "\n" not in text and name in named:
                continue
            if text.lstrip().startswith(("*** ", "--- ", "diff ")):
                lines = text.splitlines()
                old.append("\n".join(line[1:] for line in lines if line[:1] in ("-", " ")))
                new.append("\n".join(line[1:] for line in lines if line.startswith("+")))
            else:
                (old if {"old", "oldtext", "search"} & set(words_of(inner)) else new).append(text)
    return old, new


def _strings(name: str, value: Any, depth: int) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, dict) and depth < _DEEPEST:
        for inner, each in value.items():
            yield from _strings(str(inner), each, depth + 1)
    elif isinstance(value, list | tuple) and depth < _DEEPEST:
        for each in value:
            yield from _strings(name, each, depth + 1)


def found_of_files(written: Written, texts: Texts, about: Sequence[str]) -> list[Found]:
    """Return where the choice of the files and what is written into them come from."""
    names = dict.fromkeys(path.path for path in written.paths)
    found = [_choice(name, written, texts, about) for name in names]
    brought = _brought(written, texts, about)
    if brought is not None:
        name = written.paths[0].path
        place: Place = "untrusted_instruction"
        found.append(Found(argument=name, kind="text", place=place, evidence_id=brought))
    return found


def _choice(name: str, written: Written, texts: Texts, about: Sequence[str]) -> Found:
    """Return who chose a file; to read about one (`see docs/usage.md`) is not to choose it.

    A file that names itself chooses nothing, unless it speaks to an agent there.
    """
    forms = [path for path in written.paths if path.path == name]
    place: Place = "nowhere"
    evidence_id = None
    if any(says(texts.goal, form) for form in forms):
        place, evidence_id = "goal", texts.goal_id
    else:
        for item in texts.untrusted:
            telling = _choosing(item, besides=item.excerpt.claims if written.runs else ())
            naming = [text for text in telling if any(says(text, form) for form in forms)]
            if not written.runs and _names_itself(item, naming, about):
                continue
            if naming or item.excerpt.unread:
                handed = texts.delegated and not written.runs
                chosen = handed and is_plain(item.excerpt, naming)
                place = "delegated" if chosen else "untrusted_instruction"
                evidence_id = item.evidence_id
                break
    return Found(argument=name, kind="name", place=place, evidence_id=evidence_id)


def _names_itself(item: Observed, naming: Sequence[str], about: Sequence[str]) -> bool:
    own = not set(about).isdisjoint(item.resource_keys)
    return own and not item.excerpt.outright and not any(map(speaks_to_agent, naming))


def _choosing(item: Observed, besides: Sequence[str]) -> list[str]:
    excerpt = item.excerpt
    told = excerpt.instructions
    if excerpt.outright:
        told += excerpt.code
    else:
        told = tuple(one for one in told if not WRITING.isdisjoint(one.verbs))
    return [*(one.text for one in told), *besides]


def _brought(written: Written, texts: Texts, about: Sequence[str]) -> str | None:
    """Return the evidence that brings a line to an agent, or orders one to be written.

    What an observation of the very file holds stands in it already, where it is written whole.
    """
    own = [item for item in texts.untrusted if not set(about).isdisjoint(item.resource_keys)]
    there = " ".join([squeezed_text(item.excerpt) for item in own])
    code = [line for line in written.code if line not in there]
    addresses = [value for value in written.addresses if value.compacted not in there]
    pointed = not written.runs and (texts.delegated or names_text(texts.goal))
    for item in texts.untrusted:
        if item.excerpt.outright and _is_told(item.excerpt, written.lines):
            return item.evidence_id
        if written.is_prose or (item in own and written.is_whole):
            continue
        reached, lines = (written.addresses, written.code) if item in own else (addresses, code)
        if _is_ordered(item.excerpt, reached, () if pointed else lines):
            return item.evidence_id
    return None


def _is_told(excerpt: Excerpt, lines: Sequence[str]) -> bool:
    if excerpt.unread:
        return bool(lines)
    said = compact(" ".join([one.text for one in excerpt.instructions + excerpt.code]))
    return any(line in said for line in lines)


def _is_ordered(excerpt: Excerpt, addresses: Sequence[Value], code: Sequence[str]) -> bool:
    """Return whether an order brings an address to be written, or a line of code as it stands.

    A line that orders itself is code that was there before.
    """
    told = excerpt.instructions + excerpt.code
    acting = [one.text for one in told if not WRITING.isdisjoint(one.verbs)]
    if any(says(text, address) for address in addresses for text in acting):
        return True
    said = [compact(text) for text in acting] if code else []
    led = set(excerpt.snippets)
    return any(line in led or any(line in text and line != text for text in said) for line in code)
