"""Whether the user wants work handed to others: pushed, published, released, deployed, merged.

Such words are also things (`the push handler`), reports (`the deploy failed`), questions (`did you
push?`) and refusals (`leave the push to me`), and stand in what is quoted. What counts is a verb
that tells somebody to do it, or one of making or moving with a thing or a place of others.
"""

import re
from collections.abc import Sequence
from typing import Final

from pmcl.judgement.grounding.speech import Sentence
from pmcl.judgement.grounding.wishes import asks_to_be_told, parts_of

__all__ = ["asks_to_publish", "refuses_to_publish"]

_VERB: Final = (
    r"(?:(?:re|un|force[- ]?)?(?:push|publish|deploy|release)|ship|submit|upload|merge|promote|"
    r"post|send|share|announce|(?:e-?)?mail|provision|roll (?:\w+ ){0,2}?(?:out|back)|rollout|"
    r"go live|mirror|land|cut|rsync|scp|scale)"
)
_DONE: Final = (
    r"(?:pushed|published|deployed|released|shipped|submitted|uploaded|merged|promoted|rolled out)"
)
_DOING: Final = r"(?:pushing|publishing|deploying|releasing|shipping|submitting|uploading|merging)"
_PROGRAM: Final = (
    r"(?:(?:git|gh|glab|npm|pnpm|yarn|bun|npx|docker|cargo|poetry|uv|hatch|flit|gem|twine|make|"
    r"just|task|rake|terraform|tofu|pulumi|helm|kubectl) (?:run )?)?"
)
_ASKING: Final = (
    r"(?:\b(?:and|then|please|just|also|now|let's|lets|us|do|or|ok|okay|yes|yep|sure|go|ahead|"
    r"next|kindly|finally|afterwards?|run|execute|use|try|bitte|always|when done|once done)|"
    r"\b(?:can|could|would|will|may|should|shall|must|might want to) (?:you|we)|"
    r"(?<!whether )(?<!if )\b(?:you|we) (?:can|could|may|should|must)"
    r"(?: (?:now|then|also|just|always))?|"
    r"\b(?:want|need|like|love|have|ask|prefer)(?: you| us| this| it)? to|"
    r"\b(?:sure|free|time|proceed|remember|forget|on) (?:and|to)|help me(?: to)?)"
)
_ASKED: Final = rf"(?:^\W*|{_ASKING} )"
"""What stands before a verb that tells somebody to do it."""
_NO_THING: Final = (
    r"(?![- ](?:api|banner|box|branch|build|button|class|code|dialog|endpoint|event|field|flag|"
    r"form|function|handler|helper|hook|job|lock|logic|mail|message|method|model|module|notes?|"
    r"notification|page|pipeline|procedure|process|queue|screen|script|service|step|table|template|"
    r"test|token|view|widget|workflow)s?\b)"
    r"(?! (?:the |my |our |that )?(?:appointment|call|date|deadline|meeting)\b)"
)
"""What would make a thing of the word before, or move it in a calendar."""
_NO_REPORT: Final = (
    r"(?! (?:\w+ ){0,2}?(?:is|are|was|were|has|had|fails?|failed|breaks|broke|crashes|crashed|"
    r"went|took)\b)"
)
_NO_QUALITY: Final = r"(?! (?:build|green|pass|run|simple|succeed|work|\w{3,}er)\b)"
"""What would make the thing another one: `make the release faster`."""
_THING: Final = (
    r"(?:pull[- ]requests?|merge[- ]requests?|prs?|mrs?|releases?|issues?|tickets?|gists?|"
    r"deployment|deploy|push)"
)
_PLACE: Final = (
    r"(?:production|prod|staging|py-?pi|npm|crates(?:\.io)?|registry|servers?|cluster|upstream|"
    r"origin|remote|github|gitlab|bucket|s3|cdn|store|hub|marketplace|web|internet|public|"
    r"customers?|users|live)"
)
_RUNNING: Final = (
    r"(?:manifests?|deployments?|pods?|cluster|namespaces?|replicas?|(?:helm )?charts?|terraform|"
    r"tofu|pulumi|infra\w*|stack|plan|ingress|nodes?|k8s|kubernetes|playbooks?)"
)
"""What runs for others, and is changed by the programs that deploy."""
_GERMAN: Final = (
    r"(?:pushen?|ver\u00f6ffentlich\w*|deployen?|ausrollen|hochladen|releasen?|mergen?)"
)
_ROMANCE: Final = r"(?:pousser?|publie\w*|publica\w*|d\u00e9ploie\w*|despliega\w*|sube)"
_CJK: Final = (
    r"\u63a8\u9001|\u53d1\u5e03|\u767c\u5e03|\u90e8\u7f72|\u4e0a\u7ebf|\u30c7\u30d7\u30ed\u30a4"
)

_verb = re.compile(rf"{_ASKED}{_PROGRAM}{_VERB}\b(?! back (?:on|the)\b){_NO_THING}{_NO_REPORT}")
_to_be_done = re.compile(
    rf"\b(?:get|got|want|need|have|be|gets|being|like) (?:\w+ ){{0,4}}?{_DONE}\b|"
    rf"\b(?:ahead with|proceed with|start|by|and|begin) {_DOING}\b"
)
_making = re.compile(
    rf"{_ASKED}(?:create|open|make|cut|raise|file|draft|put up|start|submit|send|do|prepare|close|"
    r"reopen|edit|update|approve|trigger|run|comment|reply|respond|answer|add|leave|write|mach\w*|"
    rf"haz|fais) (?:[\w#.]+ ){{0,6}}?{_THING}\b{_NO_THING}{_NO_QUALITY}"
)
_moving = re.compile(
    rf"{_ASKED}(?:get|put|bring|take|make|move|copy|sync|back up|hand|roll|apply|restart|install|"
    r"run|set|upgrade|add|mail)\b(?: \S+){0,8}? (?:to|on|onto|in|into)(?: \w+){0,2}? "
    rf"{_PLACE}\b{_NO_THING}"
)
_out = re.compile(
    r"(?:^\W*|\b(?:and|then|please|now|let's|to) )(?:get|put|bring|take|make|go|hand|roll)\b"
    r"(?: \w+){0,4}? (?:live|out(?: (?:of )?(?:the door|there|now|today))?|in)$"
)
_running = re.compile(
    r"\b(?:apply|restart|provision|scale|destroy|tear down|drain|upgrade|install|delete|create|"
    rf"patch|set|update|remove)\b(?: \S+){{0,5}}? {_RUNNING}\b|"
    r"\b(?:with|using|run|use|execute|via|try) (?:ansible|aws|curl|gcloud|helm|kubectl|rsync|scp|"
    r"sftp|ssh|terraform|twine|wget)\b|"
    r"\b(?:call|hit|post|put|patch|request|trigger)\b(?: \S+){0,5}? "
    r"(?:api|endpoint|webhooks?|urls?)\b"
)
_in_other_words = re.compile(
    r"\b(?:haz|fais|bitte) (?:\w+ ){0,2}?push\b|\bpush (?:\w+ ){0,3}?(?:bitte|jetzt)\b|"
    rf"(?:^|\b(?:bitte|dann|und|jetzt|haz|fais|et|y) (?:\w+ ){{0,4}}?)(?:{_GERMAN}|{_ROMANCE})\b|"
    rf"\b(?:{_GERMAN}|{_ROMANCE}) (?:\w+ ){{0,3}}?(?:bitte|jetzt)\b|{_CJK}"
)
_still_to_do = re.compile(
    rf"\b(?:not|\w+n't) (?:\w+ ){{0,3}}?{_DONE}\b.*\b(?:please|so|now|then|go ahead and) do"
    r"(?: (?:it|so|that|this))?(?: (?:now|please))?\W*$"
)
_outright: Final = (_verb, _to_be_done, _in_other_words)
_wishes: Final = (*_outright, _making, _moving, _out, _running)

_NO: Final = (
    r"\b(?:not|\w+n't|cannot|no(?= \w)|hold|wait|stop|skip|cancel|leave|abort|postpone|delay|"
    r"before|undo|until|nicht|kein\w*|nie|pas|nunca|sin|non)\b|[\u4e0d\u522b\u5225\u52ff]"
)
"""What refuses to hand work over besides what refuses anything; `until` only puts it off."""
_speaks = re.compile(
    r"push|publi[sc]|deploy|releas|\bship|submit|upload|\bmerg|rolled|roll |rollout|"
    rf"ver\u00f6ffentl|{_CJK}"
)
_myself = re.compile(
    r"\bi(?:'ll| will| shall| can|'m going to| am going to|'ve| have| had|'d rather)?"
    r"(?: \w+){0,3}? (?:push|publish|deploy|releas|ship|submit|upload|merg)|"
    r"\b(?:my job|myself|by hand)\b"
)
_wanting = re.compile(r"\bi(?:'d| would)? (?:also |just )?(?:want|need|like|have to|love)\b")
_polite = re.compile(
    r"\b(?:please|let's|(?:can|could|would|will) (?:you|we)|why (?:don't|not)|how about|shall we)\b"
)
_quoted = re.compile(r"\"[^\"]*\"|`[^`]*`|\u300c[^\u300d]*\u300d")
_given = re.compile(r"(\b(?:run|do|execute|use|try|via|with|now|then|and):? |^)`([^`]*)`")


def asks_to_publish(*texts: Sequence[Sentence]) -> bool:
    """Return whether one of the user's texts, newest first, wants the work handed to others.

    The newest that wants or refuses it counts. Where it does both, the wish does if its verb hands
    over (`don't deploy to production, deploy to staging`): `prepare the release but do not publish`
    only speaks of the thing.
    """
    for text in texts:
        said = [_plain(sentence.text) for sentence in text if not sentence.quoted]
        refuses = any(map(_refuses, said))
        if any(_wants(one, _outright if refuses else _wishes) for one in said):
            return True
        if refuses:
            return False
    return False


def refuses_to_publish(text: Sequence[Sentence]) -> bool:
    """Return whether a text of the user's says that the work is not to be handed to others."""
    return any(_refuses(_plain(sentence.text)) for sentence in text if not sentence.quoted)


def _plain(text: str) -> str:
    """Return a sentence without what it quotes, but with a command that is to be run."""
    return _quoted.sub(" ", _given.sub(r"\1\2", text))


def _wants(text: str, wishes: Sequence[re.Pattern[str]]) -> bool:
    if asks_to_be_told(text) or text.startswith("how "):
        return False
    if text.endswith("?") and _polite.search(text) is None:
        return False
    if _still_to_do.search(text) is not None:
        return True
    return any(says_yes and _is_wish(part, wishes) for part, says_yes in parts_of(text, more=_NO))


def _is_wish(part: str, wishes: Sequence[re.Pattern[str]]) -> bool:
    if _is_by_user(part) and _wanting.search(part) is None:
        return False
    return any(pattern.search(part.strip()) is not None for pattern in wishes)


def _refuses(text: str) -> bool:
    return not text.endswith("?") and any(
        _speaks.search(part) is not None and (not says_yes or _is_by_user(part))
        for part, says_yes in parts_of(text, more=_NO)
    )


def _is_by_user(part: str) -> bool:
    """Return whether the user did it, or is going to."""
    return _myself.search(part) is not None
