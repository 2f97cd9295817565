"""The built wheel is complete and works in an environment that has never seen the repository."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SHIPPED = {".css", ".html", ".js", ".py", ".sql", ".svg"}
TIMEOUT_S = 60


def package_dir() -> dict[str, str]:
    table = tomllib.loads((ROOT / "pyproject.toml").read_text())
    mapping: dict[str, str] = table["tool"]["setuptools"]["package-dir"]
    return mapping


def run(*command: str | Path, cwd: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy: setuptools leaves folders in the tree that it builds from."""
    top = tmp_path_factory.mktemp("wheel")
    tree = top / "tree"
    for folder in package_dir().values():
        shutil.copytree(ROOT / folder, tree / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, tree)
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    run(*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", top, tree, cwd=top)
    [built] = top.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel; its dependencies are seen in ours, nothing is fetched."""
    place = tmp_path_factory.mktemp("fresh") / "venv"
    venv.create(place, symlinks=True)
    python = place / "bin/python"
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python)
    run(*pip, "install", "--no-deps", "--no-index", wheel, cwd=place)
    # Named in a .pth, a folder's own .pth files (the editable install among them) are not read.
    [site_packages] = place.glob("lib/python*/site-packages")
    site_packages.joinpath("dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return place


def test_wheel_holds_every_module_query_and_type_mark(wheel: Path) -> None:
    expected = {
        f"{name.replace('.', '/')}/{found.relative_to(ROOT / folder).as_posix()}"
        for name, folder in package_dir().items()
        for found in (ROOT / folder).rglob("*")
        if found.suffix in SHIPPED or found.name == "py.typed"
    }
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert sorted(held) == sorted(expected)


def test_installed_packages_import_from_the_wheel(installed: Path) -> None:
    lines = [f"import {name}; print({name}.__file__)" for name in sorted(package_dir())]
    printed = run(installed / "bin/python", "-c", "\n".join(lines), cwd=installed)
    places = [Path(line) for line in printed.splitlines()]
    assert len(places) == len(package_dir())
    assert all(place.is_relative_to(installed) for place in places)


def test_installed_command_prints_its_help(installed: Path) -> None:
    assert "pmcl" in run(installed / "bin/pmcl", "--help", cwd=installed)
