import os
from pathlib import Path

import pytest

from pmcl.hosts import PathError, resolve_path
from pmcl.judgement.paths import below


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A root with links out of it, beside a folder whose name only starts like the root's."""
    top = tmp_path.resolve()
    for folder in ("project/src", "project-evil", "outside"):
        (top / folder).mkdir(parents=True)
    (top / "project/src/a.py").touch()
    links = {
        "project/out": top / "outside",
        "project/relative": Path("../outside"),
        "project/dangling": top / "outside/later",
        "project/circle": top / "project/circle",
        "project/in": top / "project/src",
        "entry": top / "project",
    }
    for name, target in links.items():
        (top / name).symlink_to(target)
    return top


@pytest.mark.parametrize(
    ("given", "leads_to"),
    [
        ("src/a.py", "project/src/a.py"),
        ("./src//a.py", "project/src/a.py"),
        ("src/new.py", "project/src/new.py"),
        ("new/deep/file", "project/new/deep/file"),
        ("in/new.py", "project/src/new.py"),
        ("../entry/src", "project/src"),
        ("../project-evil/x", "project-evil/x"),
        ("..", ""),
        ("out/new.txt", "outside/new.txt"),
        ("out/new/deep.txt", "outside/new/deep.txt"),
        ("relative/new.txt", "outside/new.txt"),
        ("out/../x", "x"),
        ("missing/../out/new.txt", "outside/new.txt"),
        ("dangling", "outside/later"),
        ("dangling/x", "outside/later/x"),
    ],
)
def test_path_leads_where_its_links_lead(place: Path, given: str, leads_to: str) -> None:
    cwd = place / "project"
    resolved = resolve_path(given, cwd)
    assert resolved == str(place / leads_to)
    assert below(resolved, (str(cwd),)) is leads_to.startswith("project/")
    assert resolve_path(str(cwd / given), Path("/")) == resolved


def test_working_folder_may_be_a_link_itself(place: Path) -> None:
    assert resolve_path("new", place / "project/out") == str(place / "outside/new")


@pytest.mark.parametrize("given", ["circle", "circle/x", "src/a.py/x", "a\0b"])
def test_path_that_leads_nowhere_is_refused(place: Path, given: str) -> None:
    with pytest.raises(PathError) as refused:
        resolve_path(given, place / "project")
    assert refused.value.path == given


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_path_behind_a_closed_folder_is_refused(place: Path) -> None:
    (place / "project/src").chmod(0)
    with pytest.raises(PathError):
        resolve_path("src/a.py", place / "project")
    (place / "project/src").chmod(0o700)


def test_start_must_be_absolute() -> None:
    with pytest.raises(PathError):
        resolve_path("x", Path("project"))
