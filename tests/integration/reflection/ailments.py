"""What can be wrong with a model, whoever asks it, and the reason that is told of each."""

import gzip
from typing import Any, Final

import msgspec

from tests.stub_model import StubModel

__all__ = ["AILMENTS", "RESERVED", "USED", "Ailment"]

USED: Final = 120
RESERVED: Final = 8_192 + 512
_KEPT: Final = {"asked", "open", "url"}


class Ailment(msgspec.Struct, frozen=True, kw_only=True):
    """What a model does.

    Attributes:
        does: attributes of the stub.
        tokens: that are charged.
        answers: that there is an answer, of no use.
    """

    does: dict[str, Any]
    reason: str
    tokens: int = RESERVED
    answers: bool = False

    def befall(self, model: StubModel, questions: int) -> None:
        """Let the model answer so many questions more like this alone, and then be well."""
        well = {name: value for name, value in vars(StubModel()).items() if name not in _KEPT}
        for name, value in (well | self.does).items():
            setattr(model, name, value)
        model.ill_for = len(model.asked) + questions


def _failing(reason: str, tokens: int = RESERVED, **does: Any) -> Ailment:
    return Ailment(does=does, reason=reason, tokens=tokens)


def _useless(reason: str, tokens: int = RESERVED, **does: Any) -> Ailment:
    return Ailment(does=does, reason=reason, tokens=tokens, answers=True)


AILMENTS: Final = {
    "silent": _failing("timeout", silent=True),
    "trickling": _failing("timeout", body=b" " * 100_000, pace_s=0.01),
    "cut off": _failing("interrupted", cut_after=20),
    "hanging up": _failing("interrupted", cut_after=0),
    "impatient": _failing("status_408", 0, status="408 Request Timeout"),
    "limiting": _failing("status_429", 0, status="429 Too Many Requests"),
    "loading": _failing("status_503", 0, status="503 Service Unavailable"),
    "broken": _failing("status_500", status="500 Internal Server Error"),
    "no JSON": _useless("malformed", body=b"<html>busy</html>"),
    "keys twice": _useless("malformed", body=b'{"choices": [], "choices": []}'),
    "oversized": _useless("too_large", body=b" " * 10_000_000),
    "packed": _useless(
        "encoded", status="200 OK\r\nContent-Encoding: gzip", body=gzip.compress(b"{}")
    ),
    "out of tokens": _useless("cut", USED, finish_reason="length"),
    "mute": _useless("empty", USED, content=""),
    "chatting": _useless("schema", USED, content="I think that all is well"),
}
