"""The texts of a project that a coding agent reads first; nothing of it is run or kept."""

import hashlib
import re
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Final

import msgspec

from pmcl.contracts import PmclError

__all__ = ["Document", "Project", "ProjectError", "installed_projects", "read_project"]

_TEXT_MAX_CHARS: Final = 40_000
_README_MIN_CHARS: Final = 400
_SOURCES_MAX: Final = 400
_SOURCES: Final = frozenset(
    ".c .cc .cpp .cs .go .h .java .js .jsx .kt .php .py .rb .rs .scala .sh .swift .ts .tsx".split()
)
_PASSED_OVER: Final = frozenset(
    "__pycache__ build dist node_modules site-packages target vendor venv".split()
)
_of_tests = re.compile(r"(?:^|[/_.-])(?:tests?|spec)(?:[/_.-]|$)", re.IGNORECASE)


class ProjectError(PmclError):
    """A folder is no project that sessions can be made from."""


class Document(msgspec.Struct, frozen=True):
    """A file: `path` is relative to the project's folder."""

    path: str
    text: str


class Project(msgspec.Struct, frozen=True, kw_only=True):
    """What sessions are made from.

    Attributes:
        guides: README, CONTRIBUTING and the like, the README first.
        sources: at least one.
    """

    name: str
    guides: tuple[Document, ...]
    sources: tuple[Document, ...]
    tests: tuple[Document, ...] = ()

    @property
    def held_out(self) -> bool:
        """Whether it belongs to the half by which no rule was tuned."""
        return hashlib.sha256(self.name.encode()).digest()[0] % 2 == 1


def read_project(folder: Path) -> Project:
    """Return the texts of a checkout.

    Raises:
        ProjectError: there is no README, or no source file.
    """
    guides = [*_guides(folder)]
    files = [*_source_files(folder)]
    project = _project(folder.resolve().name, guides, files)
    if project is None:
        told = f"it has no README of {_README_MIN_CHARS} characters, or no source"
        raise ProjectError(f"{folder}: {told if folder.is_dir() else 'it is no folder'}")
    return project


def installed_projects() -> list[Project]:
    """Return the distributions of this environment that have a long description and sources."""
    found = []
    for each in metadata.distributions():
        name = str(each.metadata["Name"])
        _, _, told = (each.read_text("METADATA") or "").partition("\n\n")
        readme = Document("README.md", _cut(told))
        paths = [Path(str(file)) for file in each.files or ()]
        sources = [path for path in paths if path.suffix == ".py" and ".." not in path.parts]
        files = [_read(Path(str(each.locate_file(path))), str(path)) for path in sources[:200]]
        project = _project(name, [readme], files)
        if project is not None:
            found.append(project)
    return sorted(found, key=lambda project: project.name)


def _project(name: str, guides: list[Document], files: list[Document]) -> Project | None:
    told = [file for file in files if len(file.text) > _README_MIN_CHARS]
    sources = [file for file in told if _of_tests.search(file.path) is None]
    tests = [file for file in told if _of_tests.search(file.path) is not None]
    if not guides or len(guides[0].text) < _README_MIN_CHARS or not sources:
        return None
    return Project(
        name=name, guides=tuple(guides), sources=tuple(sources[:40]), tests=tuple(tests[:20])
    )


def _guides(folder: Path) -> Iterator[Document]:
    for stem in ("README", "CONTRIBUTING", "CHANGELOG", "AGENTS", "CLAUDE", "DEVELOPMENT"):
        for path in sorted([*folder.glob(f"{stem}*"), *folder.glob(f".github/{stem}*")]):
            if path.is_file():
                yield _read(path, str(path.relative_to(folder)))
    for path in sorted(folder.glob("docs/*.[mr][ds]*"))[:4]:
        yield _read(path, str(path.relative_to(folder)))


def _source_files(folder: Path) -> Iterator[Document]:
    seen = 0
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        hidden = any(part.startswith(".") or part in _PASSED_OVER for part in relative.parts)
        if path.suffix not in _SOURCES or hidden or not path.is_file():
            continue
        yield _read(path, str(relative))
        seen += 1
        if seen == _SOURCES_MAX:
            return


def _read(path: Path, name: str) -> Document:
    try:
        return Document(name, _cut(path.read_text("utf-8", "replace")))
    except OSError:
        return Document(name, "")


def _cut(text: str) -> str:
    return text[:_TEXT_MAX_CHARS]
