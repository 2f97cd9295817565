"""Folders, the tables of pyproject.toml and the type checker's links name the same packages."""

import os
import sys
import tomllib
from pathlib import Path
from typing import Any

import pmcl.contracts

ROOT = Path(__file__).parents[2]
PYPROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
NOT_SHIPPED = {"benchmarks", "experiments", "tests"}


def top_folders() -> set[str]:
    return {
        found.parent.name
        for found in ROOT.glob("[a-z]*/__init__.py")
        if found.parent.name not in NOT_SHIPPED
    }


def every_folder() -> set[str]:
    return {
        found.parent.relative_to(ROOT).as_posix()
        for top in top_folders()
        for found in (ROOT / top).rglob("__init__.py")
    }


def dotted(folders: set[str]) -> list[str]:
    return sorted("pmcl." + folder.replace("/", ".") for folder in folders)


def test_packages_list_every_folder() -> None:
    assert sorted(PYPROJECT["tool"]["setuptools"]["packages"]) == dotted(every_folder())


def test_package_dir_maps_every_top_folder_to_itself() -> None:
    expected = {f"pmcl.{folder}": folder for folder in top_folders()}
    assert PYPROJECT["tool"]["setuptools"]["package-dir"] == expected


def test_import_linter_knows_every_top_folder() -> None:
    assert sorted(PYPROJECT["tool"]["importlinter"]["root_packages"]) == dotted(top_folders())


def test_every_top_folder_has_a_place_in_the_layers() -> None:
    contracts = PYPROJECT["tool"]["importlinter"]["contracts"]
    [layers] = [contract["layers"] for contract in contracts if contract["type"] == "layers"]
    placed = {name.strip() for layer in layers for name in layer.split("|")}
    assert sorted(placed) == dotted(top_folders())


def test_coverage_and_the_import_ban_name_every_top_folder() -> None:
    banned = PYPROJECT["tool"]["ruff"]["lint"]["flake8-tidy-imports"]["banned-api"]
    assert set(banned) == top_folders()
    assert set(PYPROJECT["tool"]["coverage"]["run"]["source"]) == top_folders()


def test_typings_link_every_top_folder() -> None:
    links = {link.name: os.readlink(link) for link in (ROOT / "typings/pmcl").iterdir()}
    assert links == {folder: f"../../{folder}" for folder in top_folders()}


def test_every_top_folder_is_marked_as_typed() -> None:
    assert [folder for folder in top_folders() if not (ROOT / folder / "py.typed").exists()] == []


def test_no_package_is_loaded_a_second_time_under_its_folder_name() -> None:
    assert pmcl.contracts.__name__ in sys.modules
    loaded = {name.partition(".")[0] for name in sys.modules}
    assert sorted(loaded & top_folders()) == []
