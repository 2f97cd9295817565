"""Credentials of known issuers are found by the rules of detect-secrets, and to their last letter.

Its patterns say how a credential begins; here each is held to a boundary on its left, and what
grows beyond the pattern's length goes with it, so that no tail is left. The package is loaded when
a text holds one of the literals that its patterns need, and never before. Loading takes a tenth of
a second and reads files, so what has an event loop calls `load_detector` beside it first. Where it
does not load, a text that may hold such a credential is refused: it is never passed on unread.

Left out of its plugins are those that find ids (Twilio, Artifactory), addresses (public IPs) or
entropy, those whose patterns can take quadratic time (npm, OpenAI, JWT, Cloudant, IBM, SoftLayer,
keywords), and those that mark less than the rules of `secret_shapes` and `secret_names` do (private
keys, passwords in URLs, Azure, GitHub, GitLab, Stripe).
"""

import importlib
import re
from collections.abc import Callable
from functools import cache
from typing import Any, Final

import msgspec

from pmcl.contracts import DetectorMissingError
from pmcl.judgement.secret_hints import Hints, hints, holds_one, joined

__all__ = [
    "DETECTOR_HINTS",
    "Mark",
    "detector_is_due",
    "load_detector",
    "mark_detected",
    "patterns",
]

Mark = Callable[[str, str], str]
"""Makes a mark of a kind and a secret."""


class _Plugin(msgspec.Struct, frozen=True):
    """One class of detect-secrets.

    Attributes:
        kind: what its finds are called in a mark.
        hints: each text that it finds something in holds one of them.
        narrowed: the hints ask for more than the pattern, which alone would take ids.
        grows: a find may be longer than its pattern; else a longer one is something else.
        grouped: where a pattern has a group, the group is the credential.
    """

    module: str
    name: str
    kind: str
    hints: Hints
    grows: bool = True
    grouped: bool = False
    narrowed: bool = False


_PLUGINS: Final = (
    _Plugin(
        "aws",
        "AWSKeyDetector",
        "access_key",
        hints(["AKIA", "ASIA", "ABIA", "ACCA", "A3T"], ["aws"]),
        grows=False,
        grouped=True,
    ),
    _Plugin("discord", "DiscordBotTokenDetector", "token", hints([], ["discord"]), narrowed=True),
    _Plugin("mailchimp", "MailchimpDetector", "api_key", hints(["-us"], []), grows=False),
    _Plugin("pypi_token", "PypiTokenDetector", "token", hints(["pypi-AgE"], [])),
    _Plugin("sendgrid", "SendGridDetector", "api_key", hints(["SG."], [])),
    _Plugin("slack", "SlackDetector", "token", hints(["xox", "://hooks.slack"], [])),
    _Plugin("square_oauth", "SquareOAuthDetector", "secret", hints(["sq0csp-"], [])),
    _Plugin(
        "telegram_token",
        "TelegramBotTokenDetector",
        "token",
        hints([":AA"], []),
        grows=False,
        narrowed=True,
    ),
)
DETECTOR_HINTS: Final = joined(*(plugin.hints for plugin in _PLUGINS))
_MARK: Final = re.compile(r"(\[redacted:[a-z_]{1,32}:[0-9a-f]{16}\])")
_more = re.compile(r"[A-Za-z0-9_-]*+")


def patterns(module: str, name: str) -> tuple[re.Pattern[str], ...]:
    """Return the compiled patterns of one plugin class of detect-secrets.

    Raises:
        DetectorMissingError: they do not load; that is found out once in a process.
    """
    loaded = _loaded(module, name)
    if isinstance(loaded, str):
        raise DetectorMissingError("$", loaded, "a detect-secrets that loads")
    return loaded


@cache
def _loaded(module: str, name: str) -> tuple[re.Pattern[str], ...] | str:
    """Return the patterns, or the name of the error that loading them ended with."""
    try:
        plugins = importlib.import_module(f"detect_secrets.plugins.{module}")
        return tuple(getattr(plugins, name).denylist)
    except (ImportError, AttributeError, SyntaxError, OSError) as error:
        return type(error).__name__


def load_detector() -> None:
    """Load all rules; no text is the first that needs them after it.

    Raises:
        DetectorMissingError: some do not load; a text that may need them is refused from now on.
    """
    for plugin in _PLUGINS:
        _loaded(plugin.module, plugin.name)
    for plugin in _PLUGINS:
        patterns(plugin.module, plugin.name)


def detector_is_due(value: Any) -> bool:
    """Return whether redacting a JSON value, or a contract, would have to load the rules.

    A value that is no JSON needs none: it is refused before.
    """
    if _loaded.cache_info().currsize == len(_PLUGINS):
        return False
    try:
        text = msgspec.json.encode(value).decode()
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        return False
    return holds_one(text, DETECTOR_HINTS)


def mark_detected(text: str, mark: Mark) -> str:
    """Return `text` with each credential in it replaced by `mark(kind, credential)`.

    Raises:
        DetectorMissingError: `text` may hold a credential that no rule was loaded for.
    """
    for plugin in _PLUGINS:
        if holds_one(text, plugin.hints):
            text = _marked(text, plugin, mark)
    return text


def _marked(text: str, plugin: _Plugin, mark: Mark) -> str:
    for pattern in patterns(plugin.module, plugin.name):
        if pattern.search(text) is None:
            continue
        pieces = _MARK.split(text)  # every other one is a mark and stays
        pieces[::2] = [_piece(piece, pattern, plugin, mark) for piece in pieces[::2]]
        text = "".join(pieces)
    return text


def _piece(text: str, pattern: re.Pattern[str], plugin: _Plugin, mark: Mark) -> str:
    done: list[str] = []
    kept = at = 0
    while (found := pattern.search(text, at)) is not None:
        start, end = found.span(1 if plugin.grouped and pattern.groups else 0)
        if _continues(text, start) or not (plugin.grows or _ends(text, end)):
            at = found.start() + 1
            continue
        rest = _more.match(text, end)
        end = end if rest is None else rest.end()
        done += (text[kept:start], mark(plugin.kind, text[start:end]))
        kept = at = end
    return "".join((*done, text[kept:]))


def _continues(text: str, start: int) -> bool:
    """Return whether what begins at `start` is the rest of a longer word or number."""
    before = text[start - 1] if start else " "
    return before.isdigit() if text[start].isdigit() else before.isalnum()


def _ends(text: str, end: int) -> bool:
    """Return whether what ends at `end` is not the beginning of a longer word."""
    return _more.fullmatch(text[end : end + 1]) is None or end == len(text)
