import hashlib
import hmac
import re
from time import process_time
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pmcl.contracts import (
    CheckpointRequest,
    ContractError,
    Justification,
    Observation,
    Premortem,
    Resource,
    convert,
)
from pmcl.judgement import redact, redact_observation, redact_request, redact_text

KEY = b"k" * 32
SECRET = "Tr0ub4dor"
ULID = "01ARZ3NDEKTSV4RRFFQ69G5FA"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc+/=\n-----END RSA PRIVATE KEY-----"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.SflKxwRJSMeKKF2QT4"
SHAPES = {
    "private_key": PEM,
    "jwt": JWT,
    "api_key": "sk-proj-abcDEF0123456789_-xyz",
    "token": "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "access_key": "AKIAIOSFODNN7EXAMPLE",
}
NAMES = [
    "password",
    "passwd",
    "passphrase",
    "db_pwd",
    "userPassword",
    "token",
    "accessToken",
    "refresh-token",
    "secret",
    "client_secret",
    "api_key",
    "apiKey",
    "X-Api-Key",
    "apikey",
    "authorization",
    "Proxy-Authorization",
    "cookie",
    "Set-Cookie",
    "private_key",
    "SSH_KEY",
    "aws.secret_access_key",
    "credentials",
    "signing_key",
    "session_key",
    "encryptionKey",
    "account_key",
    "auth",
    "pass",
    "otp",
    "signature",
    "jwt",
    "PGPASSWORD",
    "dbpassword",
    "authtoken",
    "SMTP_PASS",
    "X-Amz-Signature",
]
INNOCENT_NAMES = [
    "path",
    "to",
    "recipient",
    "id",
    "key",
    "tokenizer",
    "token_count",
    "secret_name",
    "private_key_path",
    "password_file",
    "cookie_policy",
    "author",
    "compass",
    "passage",
    "token_id",
    "authorization_url",
    "keyboard",
    "pass_rate",
    "first_pass",
    "boarding_pass",
    "passwordless",
    "function_signature",
]


def _hmac(secret: str) -> str:
    return hmac.new(KEY, secret.encode(), hashlib.sha256).hexdigest()


def _mark(kind: str, secret: str) -> str:
    return f"[redacted:{kind}:{_hmac(secret)[:16]}]"


@pytest.mark.parametrize("name", NAMES)
def test_field_with_a_secret_name_is_hidden_whole(name: str) -> None:
    hidden = redact({"outer": [{name: SECRET}]}, KEY)["outer"][0][name]
    assert hidden["hmac"] == _hmac(SECRET)
    assert set(hidden) == {"hmac", "kind"}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "form",
    [
        "{}={}",
        "{}: {}",
        '"{}": "{}"',
        "'{}':'{}'",
        "{} = '{}'",
        "--{} {}",
        "--{}={}",
        "see {}={} there",
        "?{}={}&page=2",
        '{{\\"{}\\": \\"{}\\"}}',
        '{}="{}',
    ],
)
def test_secret_behind_its_name_is_marked_in_text(name: str, form: str) -> None:
    text = redact_text(form.format(name, SECRET), KEY)
    assert SECRET not in text
    assert re.fullmatch(
        re.escape(form.format(name, "@")).replace("@", r"\[redacted:[a-z_]+:[0-9a-f]{16}\]"), text
    )


@pytest.mark.parametrize("name", INNOCENT_NAMES)
def test_innocent_name_hides_nothing(name: str) -> None:
    assert redact({name: SECRET}, KEY) == {name: SECRET}
    assert redact_text(f"{name}={SECRET}", KEY) == f"{name}={SECRET}"


@pytest.mark.parametrize(("kind", "secret"), SHAPES.items())
@pytest.mark.parametrize(
    "around", ["{}", "see {}, then", "({})", '"{}"', "x\n{}\ny", "a/{}", "={}"]
)
def test_known_shape_is_marked_wherever_it_stands(kind: str, secret: str, around: str) -> None:
    assert redact_text(around.format(secret), KEY) == around.format(_mark(kind, secret))


@pytest.mark.parametrize(
    "secret",
    [
        "gho_abcdefghijklmnop0123",
        "github_pat_11ABCDEFG0123456789_abc",
        "glpat-abcdefghij0123456789",
        "xoxb-123456789012-abcdef",
        "sk-abcdefghijklmnop",
        "sk_live_abcdefghijklmnop",
        "AIzaSyA-abcdefghijklmnopqrstuvwxyz_0123",
        "ASIAIOSFODNN7EXAMPLE",
        PEM.replace("RSA ", ""),
        PEM.replace("RSA PRIVATE", "OPENSSH PRIVATE"),
        PEM.replace("\n", "\\n"),
        PEM[:60],
    ],
)
def test_other_known_shapes_are_marked(secret: str) -> None:
    assert re.fullmatch(r"\[redacted:[a-z_]+:[0-9a-f]{16}\]", redact_text(secret, KEY))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://bob:{}@host/p?q=1", "https://bob:{}@host/p?q=1"),
        ("postgres://bob:{}@db:5432/main", "postgres://bob:{}@db:5432/main"),
    ],
)
@pytest.mark.parametrize("password", ["hunter2", "p@ss", "a:b", "[x]"])
def test_password_of_a_url_is_marked_and_its_host_stays(
    text: str, expected: str, password: str
) -> None:
    marked = expected.format(_mark("url_password", password))
    assert redact_text(text.format(password), KEY) == marked


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"Bearer {'a' * 20}==", f"Bearer {_mark('bearer', 'a' * 20 + '==')}"),
        (
            f'{{"Authorization": "Bearer {"a" * 20}", "path": "/a"}}',
            f'{{"Authorization": "Bearer {_mark("bearer", "a" * 20)}", "path": "/a"}}',
        ),
        (
            "curl -H 'Authorization: Basic dXNlcg==' https://h/p",
            f"curl -H 'Authorization: Basic {_mark('authorization', 'dXNlcg==')}' https://h/p",
        ),
        ("Cookie: a=1; b=2\nHost: h", f"Cookie: {_mark('cookie', 'a=1; b=2')}\nHost: h"),
        ('password = "two words"', f'password = "{_mark("password", "two words")}"'),
        (
            'password="a\\"b" x',
            f'password="{_mark("password", chr(97) + chr(92) + chr(34) + "b")}" x',
        ),
        ("token=abc]def,x", f"token={_mark('token', 'abc]def')},x"),
    ],
)
def test_secret_is_marked_to_its_own_end(text: str, expected: str) -> None:
    assert redact_text(text, KEY) == expected


@pytest.mark.parametrize(
    "text",
    [
        "mail bob@example.com about /home/bob/.ssh/config",
        "https://host/p?page=2#top",
        "bob@example.com:/srv/backup",
        "01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
        "d41d8cd98f00b204e9800998ecf8427e",
        "the bearer of good news",
        "password: null",
        "token = None",
        "max_tokens=512",
        "the token is gone",
        "--no-password --verbose",
        "task-force-sk-short",
        "",
    ],
)
def test_recipients_paths_ids_and_prose_stay(text: str) -> None:
    assert redact_text(text, KEY) == text


def test_json_types_stay() -> None:
    value = {"a": [1, 2.5, True, None, "x", {"b": []}], "max_tokens": 5, "token": None}
    value |= {"password": "", "cookies": [], "secret": False}
    redacted = redact(value, KEY)
    assert redacted == value
    assert type(redacted["a"][0]) is int
    assert type(redacted["a"][2]) is bool


@pytest.mark.parametrize(
    ("secret", "text"),
    [(1234, "1234"), (["a", "b"], '["a","b"]'), ({"b": 1, "a": 2}, '{"a":2,"b":1}')],
)
def test_secret_of_any_type_is_hidden_in_canonical_form(secret: Any, text: str) -> None:
    assert redact({"password": secret}, KEY) == {
        "password": {"hmac": _hmac(text), "kind": "password"}
    }


def test_keys_are_walked() -> None:
    token = SHAPES["token"]
    assert redact({token: {f"x {token}": 1}}, KEY) == {
        _mark("token", token): {f"x {_mark('token', token)}": 1}
    }


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ({"name": "X-Api-Key", "value": SECRET}, "value"),
        ({"key": "DB_PASSWORD", "value": SECRET, "type": "text"}, "value"),
        ({"header": "Authorization", "value": SECRET}, "value"),
        (["mysql", "--password", SECRET], 2),
        (["tool", "--client-secret", SECRET, "--page", "2"], 2),
    ],
)
def test_value_beside_its_secret_name_is_hidden(value: Any, place: Any) -> None:
    redacted = redact({"outer": value}, KEY)["outer"]
    assert redacted[place]["hmac"] == _hmac(SECRET)
    assert [redacted[at] for at in _places(value) if at != place] == [
        value[at] for at in _places(value) if at != place
    ]


def _places(value: Any) -> list[Any]:
    return list(value) if isinstance(value, dict) else list(range(len(value)))


@pytest.mark.parametrize(
    "value",
    [
        {"name": "Content-Type", "value": "text/html"},
        {"key": "notes/1", "value": "x"},
        ["--password-file", "/run/x", "y"],
        ["--password=", "bob"],
        ["token", "name"],
    ],
)
def test_value_beside_an_innocent_name_stays(value: Any) -> None:
    assert redact(value, KEY) == value


def test_lookalike_of_a_hidden_value_is_hidden() -> None:
    fake = {"kind": "password", "hmac": SECRET}
    assert SECRET not in str(redact({"password": fake}, KEY))


def test_other_key_gives_another_digest() -> None:
    assert redact_text("password=x", KEY) != redact_text("password=x", b"other")


def test_other_key_leaves_what_is_redacted() -> None:
    once = redact({"password": SECRET, "note": f"token={SECRET} {JWT}"}, KEY)
    assert redact(once, b"other") == once


def test_secret_without_canonical_form_is_refused() -> None:
    with pytest.raises(ContractError):
        redact({"password": 2**60}, KEY)


def test_nesting_is_bounded() -> None:
    value: Any = "x"
    for _ in range(64):
        value = [value]
    assert redact(value, KEY) == value
    with pytest.raises(ContractError, match="64 levels"):
        redact([value], KEY)


FRAGMENTS = st.sampled_from(
    [
        *SHAPES.values(),
        *NAMES,
        *INNOCENT_NAMES,
        "=",
        ": ",
        ":",
        " ",
        "\n",
        '"',
        "'",
        "\\",
        ";",
        "&",
        ",",
        "--",
        "[",
        "]",
        "{",
        "}",
        "@",
        "://",
        "https://bob:",
        "Bearer ",
        "Basic ",
        "abcdefghijklmnop",
        "x",
        "-",
        "_",
        ".",
        "/a/b",
        "[redacted:",
        "[redacted:token:0123456789abcdef]",
        "-----BEGIN PRIVATE KEY-----",
        "-----END",
        "eyJ",
        "sk-",
        "AKIA",
        "1",
        "\u00e9",
        "null",
    ]
)
TEXTS = st.lists(FRAGMENTS | st.text(max_size=3), max_size=12).map("".join)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 2**53 - 1) | st.floats(-1e9, 1e9) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@given(text=TEXTS)
@example(text="token=[redacted:token:0123456789abcdef]abc")
@example(text="Authorization: Bearer token=x")
@example(text=PEM + JWT)  # the mark in front bares the start of the token
@example(text='Bearer abcdefghijklmnop="password=x"')
def test_marking_text_twice_is_marking_once(text: str) -> None:
    once = redact_text(text, KEY)
    assert redact_text(once, KEY) == once
    assert redact_text(once, b"other") == once


@given(value=VALUES)
def test_redacting_twice_is_redacting_once(value: Any) -> None:
    once = redact(value, KEY)
    assert redact(once, KEY) == once
    assert redact(once, b"other") == once


@given(before=st.text(alphabet="ab /=:,\n\"'", max_size=8), kind=st.sampled_from([*SHAPES]))
def test_no_shape_passes_behind_other_text(before: str, kind: str) -> None:
    secret = SHAPES[kind]
    assert secret not in redact_text(f"{before} {secret} tail", KEY)


ADVERSARIAL = [
    "-eyJ" + "a" * 12,
    "eyJ" + "a" * 20 + ".",
    "://a:",
    "://" + "a" * 600,
    "a.b-c_",
    'password="',
    "password=\\",
    "cookie: a; ",
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN " + "A" * 40,
    "-----END",
    "bearer ",
    "bearer " + "a" * 20 + "=x",
    "sk-" + "a" * 15 + " ",
    "[redacted:",
    "[redacted:token:0123456789abcdef]",
    "curl -u a",
    "curl " + "a " * 150,
    "password is a",
    "password is " + "a1" * 40 + ";",
    "login a password ",
    "aws key ",
    "aws" + " " * 19 + "key'",
    "AKIA" + "A" * 15,
    "AKIA" + "A" * 17,
    "xoxb-" + "1-" * 20,
    "xoxb-1-",
    "glpat-" + "a" * 15 + " ",
    "a" * 32 + "-us1",
    "12345678:AA",
    "SG." + "a" * 22 + ".",
    "discord M" + "a" * 24 + ".",
    "https://hooks.slack.com/services/T/",
    "sq0csp-",
    "ghp_" + "a" * 15 + "-",
    "npm_" + "a" * 40 + ".",
    "npm_" + "aA" * 10 + ".=",
    "a_sk_",
    "a" * 24 + "_pat_",
    "a1Q~",
    "abc8Q~" + "a" * 30 + " ",
    "ATATT3",
    "re_" + "a" * 8 + "_",
    "_" + "a" * 16,
    "pypi-AgEIcHlwaS5vcmc",
    "--token ",
    "\\\\\\\\",
    "token" + " " * 50,
    "token:",
    "=",
    "a",
    "_",
    " ",
]


@pytest.mark.parametrize("piece", ADVERSARIAL)
def test_scanning_is_linear(piece: str) -> None:
    text = "token " + piece * (100_000 // len(piece))
    begun = process_time()
    redact_text(text, KEY)
    spent_s = process_time() - begun
    assert spent_s < 1.0  # a quadratic scan of 100 kB takes a minute


def _texts(contract: Any) -> str:
    return msgspec.json.encode(contract).decode()


def test_request_keeps_no_secret_in_any_free_text(make_request: Any) -> None:
    secret = SHAPES["api_key"]
    request = make_request(
        goal=f"use {secret}",
        arguments={"path": "/project/a", "headers": {"x": secret}, "password": secret},
        resources=(Resource(kind="other", value=f"x {secret}", argument=secret),),
        expected_outcome=secret,
        premortem=Premortem(
            failure_mode="m", likelihood=0.1, mitigation=secret, evidence_ids=(ULID + "A",)
        ),
        justification=Justification(
            necessity=secret, lower_risk_alternatives=(secret,), residual_risks=(secret, "none")
        ),
        rejected_alternatives=(secret, "none"),
    )
    redacted = redact_request(request, KEY)
    assert secret not in _texts(redacted)
    assert redacted.arguments["path"] == "/project/a"
    assert redacted.premortem is not None
    assert redacted.premortem.evidence_ids == (ULID + "A",)
    assert redact_request(redacted, b"other") == redacted
    assert convert(msgspec.to_builtins(redacted), CheckpointRequest) == redacted


def test_request_without_secrets_stays(make_request: Any) -> None:
    request = make_request()
    assert redact_request(request, KEY) == request


def test_observation_keeps_no_secret_in_its_payload() -> None:
    secret = SHAPES["token"]
    observation = Observation(
        evidence_id=ULID + "A",
        key="k",
        generation=1,
        source="tool",
        trust="tool_output",
        observed_at=1,
        summary=f"saw {secret}",
        provenance=secret,
        resources=(Resource(kind="path", value=f"/a/{secret}"),),
        detail=f'{{"password": "{SECRET}", "t": "{secret}"}}',
    )
    redacted = redact_observation(observation, KEY)
    assert secret not in _texts(redacted)
    assert SECRET not in _texts(redacted)
    assert redacted.resources[0].value.startswith("/a/[redacted:token:")
    assert redact_observation(redacted, b"other") == redacted
    assert redact_observation(
        msgspec.structs.replace(observation, summary="s", provenance="", detail=None, resources=()),
        KEY,
    ) == msgspec.structs.replace(observation, summary="s", provenance="", detail=None, resources=())


def test_marks_never_push_a_text_over_its_limit(make_request: Any) -> None:
    for shift in range(40):
        goal = "x" * shift + " pw=\u00e9 " * 800
        redacted = redact_request(make_request(goal=goal), KEY)
        assert len(redacted.goal.encode()) <= 4_096
        assert redact_request(redacted, b"other") == redacted
        assert "\u00e9" not in redacted.goal
