from pathlib import Path

import pytest

from pmcl.judgement import EffectRules, ToolRule
from pmcl.ops.cell import run_cell
from pmcl.ops.rules import load_rules
from pmcl.ops.settings import Settings, SettingsError


def _load(tmp_path: Path, text: str) -> EffectRules:
    path = tmp_path / "rules.toml"
    path.write_text(text)
    return load_rules(path)


def test_without_a_file_there_are_no_rules() -> None:
    assert load_rules(None) == EffectRules()


def test_rules_are_read(tmp_path: Path) -> None:
    text = """
    [tools."crm/lookup"]
    effect = "inspect_local"

    [tools."crm/ask"]
    reversibility = "irreversible"
    arguments = {q = "sql", note = "data"}
    """
    assert _load(tmp_path, text).tools == {
        "crm/lookup": ToolRule(effect="inspect_local"),
        "crm/ask": ToolRule(reversibility="irreversible", arguments={"q": "sql", "note": "data"}),
    }


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = 1", "x is 1, allowed: the table tools"),
        ("tools = 1", "tools is 1, allowed: a table for each tool"),
        ("[tools.lookup]", 'tools."lookup" is \'lookup\', allowed: "server/name"'),
        ('tools."a/b" = 1', 'tools."a/b" is 1, allowed: a table of effect, '),
        ('[tools."a/b"]\neffect = "none"', "tools.\"a/b\".effect is 'none', allowed: one of insp"),
        ('[tools."a/b"]\neffect = [1]', 'tools."a/b".effect is [1], allowed: one of inspect_local'),
        ('[tools."a/b"]\neffects = "x"', "tools.\"a/b\".effects is 'x', allowed: effect, rever"),
        ('[tools."a/b"]\nreversibility = 2', "reversibility is 2, allowed: one of reversible, "),
        ('[tools."a/b"]\narguments = 2', "arguments is 2, allowed: a table of arguments"),
        ('[tools."a/b".arguments]\nq = "php"', "arguments.q is 'php', allowed: one of shell, sql"),
    ],
)
def test_rule_that_does_not_fit_is_told_by_key_value_and_limit(
    tmp_path: Path, text: str, told: str
) -> None:
    with pytest.raises(SettingsError) as refused:
        _load(tmp_path, text)
    message = str(refused.value)
    assert told in message
    assert message.startswith(f"rules file {tmp_path / 'rules.toml'}: ")


def test_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"nowhere\.toml"):
        load_rules(tmp_path / "nowhere.toml")
    with pytest.raises(SettingsError, match=r"rules\.toml.*line 1"):
        _load(tmp_path, "tools = \n")


@pytest.mark.anyio
async def test_sidecar_with_rules_that_do_not_fit_does_not_start(tmp_path: Path) -> None:
    settings = Settings(state_dir=tmp_path / "state", rules=tmp_path / "nowhere.toml")
    with pytest.raises(SettingsError, match=r"nowhere\.toml"):
        async with run_cell(settings):
            pass
    assert not settings.state_dir.exists()
