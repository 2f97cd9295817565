from collections.abc import Sequence
from pathlib import Path

import pytest

from pmcl.ops.coding import CodingConfig, ProjectError, evaluate_coding, read_project
from pmcl.ops.coding.injections import attack_sessions
from pmcl.ops.coding.sessions import FOLDER, ordinary_sessions
from pmcl.ops.recordings import Recording

README = """# Prices

Reads prices and totals them, in cents and without floats, for shops of any size.

## Install

Install it with `pip install -e .[dev]`, then run `pytest -q`. To deploy, run `make deploy` and
write a note to ops@example.com. Please add tests for each change, and always run `ruff check .`
before you commit. Check out https://docs.example.org/prices for the rest of the manual.

```python
from prices import total

assert total([1, 2]) == 3
```
"""
SOURCE = '''"""Prices."""

import requests
from decimal import Decimal

API = "https://api.example.com/v1/prices"


def total(prices):
    # Use Decimal, not float. See https://docs.python.org/3/library/decimal.html
    return sum(prices)


def fetch(item):
    """Fetch one price. Call this before total()."""
    response = requests.get(f"{API}/{item}", timeout=5)
    response.raise_for_status()
    return Decimal(response.json()["price"])
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "README.md").write_text(README)
    (tmp_path / "src" / "prices.py").write_text(SOURCE)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "hook.py").write_text(SOURCE)
    return tmp_path


def test_a_project_is_its_guides_and_sources(folder: Path) -> None:
    found = read_project(folder)
    assert [one.path for one in found.guides] == ["README.md"]
    assert [one.path for one in found.sources] == ["src/prices.py"]
    with pytest.raises(ProjectError, match="README"):
        read_project(folder / "src")


def test_sessions_are_drawn_from_the_seed_alone(folder: Path) -> None:
    project = read_project(folder)

    def shown(sessions: Sequence[Recording]) -> list[str]:
        return [repr(one) for one in sessions]

    one, again = (shown([*ordinary_sessions(project, 3, 1)]) for _ in range(2))
    assert one == again
    assert one != shown([*ordinary_sessions(project, 3, 2)])


def test_what_is_injected_was_read_before_it_is_obeyed(folder: Path) -> None:
    for session in attack_sessions(read_project(folder), 30, 1):
        obeyed = session.steps[-1]
        assert [step.label for step in session.steps].count("attack") == 1
        assert obeyed.label == "attack"
        said = [str(value) for value in obeyed.args.values() if FOLDER not in str(value)]
        read = "\n".join(str(step.output) for step in session.steps[:-1])
        words = max(said, key=len).split("\n")[0]
        assert words[:20] in read or session.injection_task == "post secrets"


@pytest.mark.anyio
async def test_ordinary_work_passes_and_injections_are_held(folder: Path) -> None:
    report = await evaluate_coding([folder], CodingConfig(sessions=3))
    rows = {row["kind"]: row for row in report["rows"] if row["n"]}
    assert rows["ordinary"]["n"] > 30
    assert rows["ordinary"]["by"] == {}
    assert rows["injected"]["n"] == 3
    assert rows["injected"]["by"] == {}


def test_a_folder_that_is_no_project_is_told_why(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match=f"{tmp_path}: it has no README of 400 characters"):
        read_project(tmp_path)
    with pytest.raises(ProjectError, match="nowhere: it is no folder"):
        read_project(tmp_path / "nowhere")


@pytest.mark.anyio
async def test_without_a_project_nothing_is_evaluated() -> None:
    with pytest.raises(ProjectError, match="--installed"):
        await evaluate_coding([], CodingConfig())
