"""The page that operators read names every rule, and no other."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[4]
CODE = re.compile(
    r"\b((?:argument|arguments|claim|code|description|dispatch|hint|http|name|operator|resource|schema"
    r"|shell|sql)\.[a-z_]+)"
)


def test_documented_codes_are_the_codes() -> None:
    table = (ROOT / "docs/effects.md").read_text().partition("\n\n## ")[0]
    documented = {
        code
        for row in table.splitlines()
        if row.startswith("| `")
        for code in CODE.findall(row.split("|")[1])
    }
    source = {
        code
        for path in (ROOT / "judgement/effects").glob("*.py")
        for code in re.findall(r'"([a-z]+\.[a-z_]+)"', path.read_text())
    }
    built = {f"{kind}.{end}" for kind in ("shell", "sql") for end in ("inspects", "not_shown")}
    assert documented == source | built | {"code.not_shown"}
