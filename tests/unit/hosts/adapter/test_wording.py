"""What a model is told of a held call asks for the same and names nothing that it never sees."""

import re

import pytest

from pmcl.contracts import Tool
from pmcl.hosts.adapter.evidence import SeenEvidence
from pmcl.hosts.adapter.wording import BY_CALLS, BY_PROMPT, in_words
from pmcl.judgement import Phrases, fallback_resource, reword
from pmcl.judgement.revising import BY_IDS

ULID = "01ARZ3NDEKTSV4RRFFQ69G5FA"
UNSEEN = re.compile(r"generation|evidence_ids|premortem|call id|evidence id|observation")


@pytest.mark.parametrize("phrases", [BY_CALLS, BY_PROMPT])
def test_every_phrase_is_one_that_a_model_can_act_on(phrases: Phrases) -> None:
    for name in Phrases.__struct_fields__:
        said = reword(f"Held. {getattr(BY_IDS, name).format(ULID + 'C')}/a", phrases)
        assert said == f"Held. {getattr(phrases, name)}/a"
        assert not UNSEEN.search(said)
        assert ULID not in said


def test_a_call_without_resources_is_named_as_itself() -> None:
    tool = Tool(server="ops", name="restart", definition_hash="0" * 64)
    resource = fallback_resource(tool, {"name": "db"})
    text = f"Held. To lift this, {BY_IDS.look}the {resource.kind} {resource.value}{BY_IDS.cite}"
    said = in_words(text, BY_CALLS)
    assert "something about exactly this call, then" in said
    assert "call:" not in said


def test_evidence_is_named_by_what_showed_it() -> None:
    seen = SeenEvidence()
    seen.add((), ULID + "A", "web/fetch")
    assert seen.shown_by(ULID + "A") == "the output of web/fetch"
    assert seen.shown_by(ULID + "B") is None
