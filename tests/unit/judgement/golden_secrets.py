"""A golden set for redaction: made-up values of valid form, and what looks like them and is none.

No value here opens anything: each is made of letters drawn from a fixed seed.
"""

import base64
import random
import string
from typing import Any

import msgspec

__all__ = ["NEGATIVES", "POSITIVES", "Positive", "positives"]

_letters = random.Random(20_261_201)
ALNUM = string.ascii_letters + string.digits
LOWER = string.ascii_lowercase + string.digits
UPPER = string.ascii_uppercase + string.digits
HEX = "0123456789abcdef"
BASE64 = ALNUM + "+/"
URL64 = ALNUM + "-_"


class Positive(msgspec.Struct, frozen=True):
    """A JSON value that holds a secret; no eight letters in a row of it may stay."""

    name: str
    value: Any
    secret: str


def _run(length: int, alphabet: str = ALNUM) -> str:
    return "".join(_letters.choice(alphabet) for _ in range(length))


def _jwt() -> str:
    head = base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').rstrip(b"=").decode()
    body = base64.urlsafe_b64encode(b'{"sub":"%s"}' % _run(12).encode()).rstrip(b"=").decode()
    return f"{head}.{body}.{_run(43, URL64)}"


def _pem(kind: str) -> str:
    lines = "\n".join(_run(64, BASE64) for _ in range(6))
    return f"-----BEGIN {kind}-----\n{lines}\n-----END {kind}-----"


# Issuers' forms, each in a place where a tool call or its output has it.
_ISSUED: dict[str, tuple[str, str]] = {
    "aws key id": ("AKIA" + _run(16, UPPER), "aws configure set aws_access_key_id {}"),
    "aws temporary id": ("ASIA" + _run(16, UPPER), "id {} of the session"),
    "aws secret key": (_run(40, BASE64), 'aws_secret = "{}"'),
    "github personal": ("ghp_" + _run(36), "git clone https://{}@github.com/a/b.git"),
    "github oauth": ("gho_" + _run(36), "saw {} in the log"),
    "github server": ("ghs_" + _run(36), "x={}"),
    "github refresh": ("ghr_" + _run(76), "({})"),
    "github fine-grained": ("github_pat_" + _run(22) + "_" + _run(59), "use {}, then push"),
    "gitlab personal": ("glpat-" + _run(20, URL64), "curl --header 'PRIVATE-TOKEN: {}' https://h"),
    "gitlab routable": ("glpat-" + _run(27, URL64) + ".01." + _run(9, LOWER), "log in by {}"),
    "gitlab runner": ("glrt-" + _run(20, URL64), "register {}"),
    "gitlab deploy": ("gldt-" + _run(20, URL64), "deploy with {}"),
    "slack bot": (f"xoxb-{_run(12, string.digits)}-{_run(12, string.digits)}-{_run(24)}", "{}"),
    "slack app": (f"xapp-1-A{_run(10, UPPER)}-{_run(13, string.digits)}-{_run(64, HEX)}", "{} "),
    "slack webhook": (
        f"https://hooks.slack.com/services/T{_run(8, UPPER)}/B{_run(8, UPPER)}/{_run(24)}",
        "post to {}",
    ),
    "stripe live": ("sk_live_" + _run(99), "stripe charges --api {}"),
    "stripe restricted": ("rk_live_" + _run(24), "{}"),
    "stripe test": ("sk_test_" + _run(24), "with {}"),
    "openai project": ("sk-proj-" + _run(120, URL64), "model called with {}"),
    "openai old": ("sk-" + _run(20) + "T3BlbkFJ" + _run(20), "{}"),
    "anthropic": ("sk-ant-api03-" + _run(93, URL64) + "AA", "{}"),
    "google key": ("AIza" + _run(35, URL64), "https://maps.example.com/api?key={}"),
    "google client": ("GOCSPX-" + _run(28, URL64), "client {}"),
    "google oauth": ("ya29." + _run(120, URL64), "then {}"),
    "sendgrid": (f"SG.{_run(22, URL64)}.{_run(43, URL64)}", "mail through {}"),
    "mailchimp": (_run(32, HEX) + "-us12", "list of {}"),
    "telegram": (
        f"{_run(10, '123456789')}:AA{_run(33, URL64)}",
        "https://api.telegram.org/bot{}/getMe",
    ),
    "discord": (f"M{_run(25)}.{_run(6, URL64)}.{_run(38, URL64)}", "discord.run('{}')"),
    "pypi": ("pypi-AgEIcHlwaS5vcmc" + _run(150, URL64), "twine upload -p {}"),
    "npm": ("npm_" + _run(36), "//registry.npmjs.org/:_authToken={}"),
    "hugging face": ("hf_" + _run(34, string.ascii_letters), "login {}"),
    "docker hub": ("dckr_pat_" + _run(27, URL64), "docker login with {}"),
    "vault": ("hvs." + _run(90, URL64), "vault says {}"),
    "digital ocean": ("dop_v1_" + _run(64, HEX), "doctl {}"),
    "shopify": ("shpat_" + _run(32, HEX), "shop {}"),
    "square": ("sq0csp-" + _run(43, URL64), "{}"),
    "linear": ("lin_api_" + _run(40), "linear with {}"),
    "notion": ("ntn_" + _run(46), "{}"),
    "figma": ("figd_" + _run(40), "figma: {}"),
    "grafana": (f"glsa_{_run(32)}_{_run(8, HEX)}", "via {}"),
    "vercel": ("vcp_" + _run(56), "vercel deploy -t {}"),
    "supabase": ("sbp_" + _run(40, HEX), "{}"),
    "planetscale": ("pscale_tkn_" + _run(43), "{}"),
    "resend": (f"re_{_run(8)}_{_run(24)}", "resend by {}"),
    "atlassian": ("ATATT3" + _run(180, URL64), "jira {}"),
    "azure app": (f"{_run(3)}8Q~{_run(34)}", "azure says {}"),
    "postman": (f"PMAK-{_run(24, HEX)}-{_run(34, HEX)}", "{}"),
    "age": ("AGE-SECRET-KEY-1" + _run(58, UPPER), "{}"),
    "jwt": (_jwt(), "saw {} there"),
    "pem rsa": (_pem("RSA PRIVATE KEY"), "cat > id <<E\n{}\nE"),
    "pem openssh": (_pem("OPENSSH PRIVATE KEY"), "{}"),
    "pem pkcs8": (_pem("PRIVATE KEY").replace("\n", "\\n"), '{{"k": "{}"}}'),
    "pgp": (_pem("PGP PRIVATE KEY BLOCK"), "{}"),
}
# A secret of no issuer's form is known by what stands before it.
_NAMED: dict[str, str] = {
    "environment": "DB_PASSWORD={} ./migrate",
    "pg environment": "PGPASSWORD={} psql -h db",
    "export": "export API_KEY={}",
    "smtp pass": "SMTP_PASS={}",
    "long flag": "mysql --password {} -u root",
    "long flag with =": "tool --client-secret={}",
    "bearer": "curl -H 'Authorization: Bearer {}' https://h/p",
    "basic": "Authorization: Basic {}",
    "api key header": "X-Api-Key: {}\nHost: h",
    "cookie": "Cookie: session={}; theme=dark",
    "set-cookie": "Set-Cookie: sid={}; HttpOnly",
    "url user": "postgres://app:{}@db.example.com:5432/main",
    "redis url": "redis://:{}@cache:6379/0",
    "mongo url": "mongodb+srv://u:{}@c0.example.net/x?w=1",
    "query": "https://h/p?page=2&access_token={}#top",
    "signed url": "https://s3.example.com/b/k?X-Amz-Signature={}&X-Amz-Expires=60",
    "ado": "Server=db;Database=m;User Id=sa;Password={};Encrypt=yes",
    "azure storage": "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={};EndpointSuffix=x",
    "yaml": "db:\n  user: app\n  password: {}\n",
    "json in text": 'got {{"refresh_token": "{}", "expires_in": 3600}}',
    "escaped json": '"{{\\"secret\\": \\"{}\\"}}"',
    "python": "client = Client(api_key='{}')",
    "ini": "[default]\naws_secret_access_key = {}",
    "netrc": "machine h login bob password {}",
    "sshpass": "sshpass -p {} ssh bob@h",
    "curl user": "curl -s -u bob:{} https://h/p",
    "sentence": "the admin password is {} and he knows it",
    "sentence quoted": "the passphrase was `{}`.",
}


def _nested(secret: str) -> dict[str, Any]:
    """Return structures whose names say what is hidden."""
    return {
        "field": {"auth": {"password": secret}},
        "list of fields": {"users": [{"name": "bob", "accessToken": secret}]},
        "headers": {"headers": {"X-Auth-Token": secret}},
        "header pair": {"headers": [{"name": "Authorization", "value": secret}]},
        "variable pair": {"env": [{"key": "DB_PASSWORD", "value": secret}]},
        "argument vector": {"argv": ["mysql", "--password", secret, "main"]},
        "a list": {"api_keys": [secret, "x"]},
    }


def positives() -> list[Positive]:
    found = [
        Positive(name, {"text": around.format(secret)}, secret)
        for name, (secret, around) in _ISSUED.items()
    ]
    for name, around in _NAMED.items():
        secret = _run(20)
        found.append(Positive(name, {"text": around.format(secret)}, secret))
    secret = _run(20)
    found += [Positive(name, value, secret) for name, value in _nested(secret).items()]
    return found


POSITIVES = positives()

NEGATIVES: dict[str, Any] = {
    "email": "alice.smith+news@example.com",
    "emails": {"to": ["bob@example.com", "carol@example.org"], "cc": "dave@example.net"},
    "iban de": "DE89370400440532013000",
    "iban spaced": "GB29 NWBK 6016 1331 9268 19",
    "iban field": {"recipient": "FR1420041010050500013M02606", "amount": 98.7},
    "bic": "COBADEFFXXX",
    "card last digits": "card ending in 4242",
    "phone": "+49 30 901820",
    "crypto address": "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
    "ethereum address": "0x52908400098527886E0F7030069857D2E4169EE7",
    "uuid": "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
    "uuid upper": "3F2504E0-4F89-11D3-9A0C-0305E82C3301",
    "ulid": "01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "md5": "d41d8cd98f00b204e9800998ecf8427e",
    "sha1": "da39a3ee5e6b4b0d3255bfef95601890afd80709",
    "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "git range": "git diff 3f786850e387550fdab836ed7e6dc881de23001b..HEAD",
    "image digest": f"registry/app@sha256:{'9f' * 32}",
    "base64 data": base64.b64encode(bytes(range(120))).decode(),
    "data url": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlE",
    "integrity": "sha512-oqVuAfXRKap7fdgcCY5uykM6+R9GqQ8K/uxy9rx7HNQlGYl1kPzQho1wx4JwY8wC9A==",
    "call id": "toolu_01A09q90qw90lq917835lq9",
    "chat id": "chatcmpl-9aBcDeFgHiJkLmNoPqRsTuVwXyZ01",
    "message id": "msg_01XFDUDYJgAAzVnptvVoYELx and req_011CSHoEeqs5C35K2UUqR7Fy",
    "run ids": ["run_01HZX3NDEKTSV4RRFFQ69G5F", "asst_9aBcDeFgHiJkLmNoPqRsTuVw"],
    "stripe price": "price_1MoBy5LkdIwHuXyz12345678 of prod_NWjs8kKbJWmuuc",
    "cache name": "build_cache_3f786850e387550fdab836ed7e6dc881de23001b",
    "publishable key": "pk_live_" + "a1B2" * 6,
    "upload": "uploads_d41d8cd98f00b204e9800998ecf8427e.png",
    "long words": "ops_configurationmanagement and risk_sk_summary_of_all_controls",
    "aws arn": "arn:aws:iam::123456789012:role/deploy",
    "aws resource": "i-0abcd1234efgh5678 in subnet-9d4a7b6c",
    "twilio account": "AC" + "0123456789abcdef" * 2,
    "stripe ids": "cus_NffrFeUfNV2Hib and pi_3MtwBwLkdIwHu7ix28a3tqPa",
    "google project": "projects/my-project-123456/topics/orders",
    "slack channel": "C024BE91L in T024BE7LD",
    "discord channel": "discord channel 112233445566778899 in guild 998877665544332211",
    "s3 path": "s3://bucket/year=2026/month=12/part-00000-3f2504e0.snappy.parquet",
    "unix path": "/home/bob/.ssh/id_ed25519.pub",
    "secret path": {"path": "/run/secrets/db_password", "secret_name": "db"},
    "windows path": "C:\\Users\\bob\\AppData\\Local\\Temp\\x.txt",
    "path with keys": "/srv/keys/public/release-key.asc",
    "deep path": "/srv/data/2026/12/01/customers/eu-central-1/part-0001.csv",
    "url": "https://example.com/a/b?page=2&sort=asc#section-3",
    "url with port": "http://localhost:8080/health",
    "url user without password": "ssh://git@github.com:22/a/b.git",
    "scp": "bob@example.com:/srv/backup",
    "hosts": "db-1.eu-west-1.internal:5432, cache.us-east-1.internal:6379",
    "ip": "10.0.12.7 and 2001:db8::8a2e:370:7334",
    "mac": "00:1B:44:11:3A:B7",
    "date times": "2026-12-01T10:15:00Z to 1700000000:1700003600",
    "docker user": "docker run -u 1000:1000 app",
    "curl": "curl -s -u bob https://h/p -o out.json",
    "prose token": "the token is gone, and the password was wrong",
    "prose secret": "the secret is out: nobody knows the key to it",
    "prose bearer": "the bearer of good news",
    "prose pass": "three passes, then a pass by the keeper",
    "prose key": "the key is in the drawer of desk 12",
    "prose asia": "ASIA PACIFIC REGION and ASIAPACIFIC",
    "counts": {"max_tokens": 512, "token_count": 12, "password_length": 16},
    "switches": {"has_password": True, "use_token": False, "secret": None},
    "public names": {"key": "notes/1", "author": "bob", "keyboard": "us", "compass": "N"},
    "pair": {"name": "Content-Type", "value": "application/json"},
    "pairs": [{"key": "REGION", "value": "eu-central-1"}, {"key": "LEVEL", "value": "debug"}],
    "argv": ["git", "commit", "--author", "Bob <bob@example.com>", "-m", "Rotate keys"],
    "flags": "--no-password --verbose --token-file /run/token",
    "null token": "token = None",
    "tokenizer": "tokenizer=bert-base-uncased",
    "yaml": "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\n",
    "sql": "SELECT id, password_hash_id FROM users WHERE key = 12",
    "code": "def first_pass(tokens: list[str]) -> None: ...",
    "snake words": "hf_transformers_cache_directory_for_models",
    "kebab words": "task-force-sk-short and risk-assessment-report-2026",
    "python path": "My.package.modules.NameOfClass.another.ModuleName",
    "version": "node-v20.11.1-linux-x64.tar.xz",
    "isbn and vat": "978-3-16-148410-0, DE123456789",
    "locale": "en-us, de-at, pt-br",
    "hash with region": "d41d8cd98f00b204e9800998ecf8427e in us1",
    "public key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJl3dIeudNqd0DPMRD6OIh65tjkxFNOt bob@desk",
    "certificate": "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
}
