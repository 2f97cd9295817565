import importlib
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmcl.contracts import DetectorMissingError
from pmcl.judgement import detector_is_due, load_detector, redact_text
from pmcl.judgement.secret_detector import _PLUGINS, _loaded, patterns
from pmcl.judgement.secret_hints import hints, holds_one

KEY = b"k" * 32
PATTERNS = [
    pytest.param(plugin, pattern, id=f"{plugin.module}-{number}")
    for plugin in _PLUGINS
    if not plugin.narrowed
    for number, pattern in enumerate(patterns(plugin.module, plugin.name))
]


@pytest.mark.parametrize(("plugin", "pattern"), PATTERNS)
@settings(max_examples=20)
@given(data=st.data())
def test_every_find_of_a_plugin_holds_one_of_its_hints(
    plugin: object, pattern: re.Pattern[str], data: st.DataObject
) -> None:
    """A newer detect-secrets with other patterns fails here, and is not passed over silently."""
    if pattern.flags & re.IGNORECASE:  # in the case that issuers write
        pattern = re.compile(pattern.pattern, pattern.flags & ~re.IGNORECASE)
    found = data.draw(st.from_regex(pattern))
    assert holds_one(found, plugin.hints)  # type: ignore[attr-defined]


def test_longer_credential_goes_whole() -> None:
    secret = "SG." + "a" * 22 + "." + "b" * 80
    assert re.fullmatch(r"\[redacted:api_key:[0-9a-f]{16}\]", redact_text(secret, KEY))


@pytest.mark.parametrize(
    "text",
    [
        "xAKIAIOSFODNN7EXAMPLE",
        "AKIAIOSFODNN7EXAMPLEX",
        "a" * 40 + "-us1",
        "d41d8cd98f00b204e9800998ecf8427e-us2026",
        "912345678901:AA" + "b" * 33,
    ],
)
def test_part_of_a_longer_word_is_no_credential(text: str) -> None:
    assert redact_text(text, KEY) == text


def test_only_the_credential_of_a_longer_find_is_marked() -> None:
    text = "aws key is '" + "a1B2" * 10 + "' in eu-central-1"
    assert re.fullmatch(
        r"aws key is '\[redacted:access_key:[0-9a-f]{16}\]' in eu-central-1", redact_text(text, KEY)
    )


def test_detector_is_loaded_by_the_first_text_that_needs_it() -> None:
    program = (
        "import sys; from pmcl.judgement import redact_text as redact\n"
        "redact('mail bob@example.com about the password=x of /srv/a', b'k')\n"
        "assert 'detect_secrets' not in sys.modules\n"
        "redact('SG.' + 'a' * 22 + '.' + 'b' * 43, b'k')\n"
        "assert 'detect_secrets' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


@given(text=st.text(alphabet="abcxyzABC_-:/ 0", max_size=40), chosen=st.integers(0, 4))
def test_hints_say_what_searching_says(text: str, chosen: int) -> None:
    exact = ["ab_", "xyz-", "A0", "gl-a", "gl-b", "gl-c", "gl-d"]
    lowered = ["bca", "/a", ": "]
    text = text[:20] + exact[chosen] * (chosen % 2) + text[20:]
    expected = any(each in text for each in exact) or any(each in text.lower() for each in lowered)
    assert holds_one(text, hints(exact, lowered)) == expected


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """detect-secrets does not load; returns what was tried."""
    tried: list[str] = []

    def fail(name: str) -> None:
        tried.append(name)
        raise ImportError(name)

    _loaded.cache_clear()
    monkeypatch.setattr(importlib, "import_module", fail)
    yield tried
    _loaded.cache_clear()


@pytest.mark.parametrize("text", ["key SG.", "an AKIA thing", "xoxb-1"])
def test_text_that_may_hold_a_credential_is_refused_without_the_rules(
    broken: list[str], text: str
) -> None:
    with pytest.raises(DetectorMissingError) as refused:
        redact_text(text, KEY)
    assert text not in str(refused.value)
    assert (refused.value.code, refused.value.value) == ("detector_missing", "ImportError")


def test_other_rules_go_on_without_it(broken: list[str]) -> None:
    assert redact_text("nothing to see", KEY) == "nothing to see"
    assert re.fullmatch(r"password=\[redacted:.*\]", redact_text("password=hunter2pass", KEY))
    assert broken == []


def test_rules_that_do_not_load_are_looked_for_once(broken: list[str]) -> None:
    for _ in range(2):
        with pytest.raises(DetectorMissingError):
            load_detector()
    assert len(broken) == len(_PLUGINS)
    assert not detector_is_due({"text": "key SG."})  # nothing is left to be loaded
    with pytest.raises(DetectorMissingError):
        redact_text("key SG.", KEY)


def test_plugin_that_has_changed_counts_as_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    _loaded.cache_clear()
    monkeypatch.setattr(importlib, "import_module", lambda _: object())
    with pytest.raises(DetectorMissingError, match="AttributeError"):
        load_detector()
    _loaded.cache_clear()
