import pytest

from pmcl.judgement.paths import below


@pytest.mark.parametrize(
    "path",
    ["/project", "/project/", "/project/a/b", "//project//a", "/project/./a", "/project/a..b"],
)
def test_path_below_its_root_is_inside(path: str) -> None:
    assert below(path, ("/srv", "/project"))


@pytest.mark.parametrize(
    "path",
    [
        "/project-evil",
        "/project-evil/a",
        "/",
        "/proj",
        "/Project/a",
        "/project/../etc/passwd",
        "/project/a/../b",
        "project/a",
        "./project",
        "",
        "~/project",
        "/project/a\0.md",
        "\\project\\a",
    ],
)
def test_path_not_plainly_below_its_root_is_outside(path: str) -> None:
    assert not below(path, ("/project",))


@pytest.mark.parametrize("path", ["/", "/a", "/etc/passwd"])
def test_root_slash_covers_every_certain_path(path: str) -> None:
    assert below(path, ("/",))
    assert not below(path + "/..", ("/",))


@pytest.mark.parametrize("root", ["", "project", "/project/..", "/\0"])
def test_uncertain_root_covers_nothing(root: str) -> None:
    assert not below("/project/a", (root,))


def test_no_roots_cover_nothing() -> None:
    assert not below("/", ())
