"""The most telling place that a decisive value was found in.

A value that an instruction names counts there, wherever else it stands, since whoever wrote the
instruction chose it.
"""

from collections.abc import Callable, Sequence

from pmcl.judgement.grounding.claims import names_secret
from pmcl.judgement.grounding.excerpts import Excerpt
from pmcl.judgement.grounding.facts import Place
from pmcl.judgement.grounding.observed import Observed, Texts, says
from pmcl.judgement.grounding.pointing import names_file, names_text
from pmcl.judgement.grounding.values import Value, has_endpoint, reach_of

__all__ = ["is_claimed", "is_plain", "place_of", "secret_place"]


def secret_place(texts: Texts) -> tuple[Place, str | None] | None:
    """Return the instruction about a secret, since the secret itself may be redacted in it."""
    for item in texts.untrusted:
        told = item.excerpt.instructions + item.excerpt.code
        if item.excerpt.unread or any("secret" in one.objects for one in told):
            return "untrusted_instruction", item.evidence_id
        if any(names_secret(claim) for claim in item.excerpt.claims):
            return "untrusted_claim", item.evidence_id
    return None


def place_of(value: Value, texts: Texts) -> tuple[Place, str | None]:
    """Return the place, and the newest evidence of it; None where it stands nowhere."""
    if says(texts.goal, value, texts.goal_compact):
        return "goal", texts.goal_id
    for item in texts.untrusted:
        told = item.excerpt.instructions + item.excerpt.code
        naming = [one.text for one in told if says(one.text, value)]
        if item.excerpt.unread or (naming and not _is_known(value, item, texts)):
            chosen = texts.delegated and value.kind == "name" and is_plain(item.excerpt, naming)
            return "delegated" if chosen else "untrusted_instruction", item.evidence_id
    if value.kind == "text":
        return "nowhere", None
    for item in texts.untrusted:
        if is_claimed(value, item, texts):
            return "untrusted_claim", item.evidence_id
    place, evidence_id = _outside_instructions(value, texts)
    mentioned = place == "untrusted_prose" or (value.kind == "secret" and place != "nowhere")
    if mentioned and not _is_led(value, texts):
        return "untrusted_mention", evidence_id
    return place, evidence_id


def is_claimed(value: Value, item: Observed, texts: Texts) -> bool:
    """Return whether a claim chooses the value.

    A mere name is chosen only where the claim brings an address, and nothing else lists the name.
    """
    reach = reach_of(value)
    if reach == "nobody" or (value.quoted and texts.effect == "mutation"):
        return False
    naming = [claim for claim in item.excerpt.claims if says(claim, value)]
    if reach == "party":
        return any(map(has_endpoint, naming)) and not _is_listed(value, item, texts)
    return bool(naming) and not _is_known(value, item, texts)


def _is_led(value: Value, texts: Texts) -> bool:
    """Return whether the user led to where a value is mentioned, or it reaches nobody by itself.

    A file or a link that the user names leads to what stands in it, but not on to its own links.
    """
    reach = reach_of(value)
    if reach == "nobody" or value.quoted or texts.goal_id is None:
        return True
    if reach == "secret" and not names_secret(texts.goal):
        return False
    if texts.delegated or names_text(texts.goal):
        return True
    if reach == "link":
        return texts.effect == "network" and not names_file(texts.goal)
    return names_file(texts.goal) or (reach == "party" and not _is_addressed(value, texts))


def _is_addressed(value: Value, texts: Texts) -> bool:
    """Return whether an address stands beside a name."""
    return any(
        has_endpoint(text) and says(text, value)
        for item in texts.untrusted
        for text in item.excerpt.prose
    )


def _is_known(value: Value, instructing: Observed, texts: Texts) -> bool:
    """Return whether an address that plain words name is a field of another observation too.

    A contact or a participant may be spoken of. Names and numbers are shared by chance, and which
    of several listed things is meant is just what an attacker would choose.
    """
    if value.kind != "endpoint" or instructing.excerpt.speaks_to_agent:
        return False
    return _is_listed(value, instructing, texts)


def _is_listed(value: Value, besides: Observed, texts: Texts) -> bool:
    """Return whether the value is a field of another observation that speaks to no agent."""
    return any(
        says(field, value)
        for item in texts.untrusted
        if item is not besides and not item.excerpt.speaks_to_agent
        for field in item.excerpt.fields
    )


def is_plain(excerpt: Excerpt, naming: Sequence[str]) -> bool:
    """Return whether the instructions bring no address of their own and speak to no agent."""
    return not excerpt.speaks_to_agent and not any(map(has_endpoint, naming))


def _outside_instructions(value: Value, texts: Texts) -> tuple[Place, str | None]:
    places: tuple[tuple[Place, Callable[[Excerpt], tuple[str, ...]]], ...] = (
        ("untrusted_field", lambda excerpt: excerpt.fields),
        ("untrusted_prose", lambda excerpt: excerpt.claims + excerpt.prose),
    )
    for place, texts_of in places:
        for item in texts.untrusted:
            if any(says(text, value) for text in texts_of(item.excerpt)):
                return place, item.evidence_id
    return "nowhere", None
