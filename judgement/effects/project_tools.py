"""Commands with which a project is tested, checked, built and committed, and what spoils each.

A row says which first words a program may be given, and which flags make it run something else or
take it from elsewhere. What is not in the table is not known. Nothing here installs a package by
its name, deploys, publishes or pushes. Source: the manuals of these tools.
"""

from typing import Final, Literal

import msgspec

from pmcl.judgement.word_set import word_set

__all__ = ["MODULES", "PROGRAMS", "RUNNERS", "TARGETS", "Program", "WorkKind"]

WorkKind = Literal["checks", "changes", "arranges"]
"""`checks` only tells something of the project, `changes` builds, formats or commits it, `arranges`
makes and moves its files."""


class Program(msgspec.Struct, frozen=True):
    """How a program works on a project.

    Attributes:
        first: what its first operand may be; empty for anything inside of the project.
        targets: every operand is the name of a task.
        never: flags that run something else, or fetch it.
        free: flags whose value is any text.
        bare: it may stand without an operand.
    """

    kind: WorkKind
    first: frozenset[str] = frozenset()
    targets: bool = False
    never: frozenset[str] = frozenset()
    free: frozenset[str] = frozenset()
    bare: bool = True


TARGETS: Final = word_set(
    "all bench benchmark build check ci clean clippy compile coverage cov default dev doc docs e2e "
    "fix fmt format html integration js lint mypy package py pytest ruff smoke spec static style t "
    "test tests tsc type typecheck typed types typing unit validate verify vet watch"
)
"""What tasks of a project are called that stay in it; `test:unit` and `lint-fix` count as well."""

_TESTS: Final = Program("checks", free=word_set("-k -m --deselect"))
_FORMATS: Final = Program("changes")
_CHECKS: Final = Program("checks", never=word_set("--install-types"))
_FETCHES: Final = word_set(
    "-f -i --extra-index-url --find-links --index --index-url --proxy --registry --trusted-host "
    "--target -t --prefix -g --global --root --user --cert"
)
_SCRIPT_FLAGS: Final = word_set(
    "-c -e -p -r --eval --print --require --import --loader --experimental-loader -i --interactive"
)

PROGRAMS: Final[dict[str, Program]] = {
    **dict.fromkeys("py.test pytest".split(), _TESTS),
    **dict.fromkeys(
        "eslint flake8 golangci-lint jest mocha mypy pylint pyright pytype rubocop rspec "
        "shellcheck tsc vitest".split(),
        _CHECKS,
    ),
    **dict.fromkeys(
        "autopep8 black clang-format gofmt goimports isort prettier rustfmt".split(), _FORMATS
    ),
    "biome": Program("changes", first=word_set("check ci format lint"), bare=False),
    "cargo": Program(
        "changes",
        first=word_set("bench build check clippy doc fmt nextest run test tree"),
        never=word_set("--config --git --registry"),
        bare=False,
    ),
    "cmake": Program("changes", never=word_set("-P -E")),
    "coverage": Program("checks", first=word_set("combine html json report xml"), bare=False),
    "ctest": Program("checks", never=word_set("-S -SP")),
    "dotnet": Program("changes", first=word_set("build format test"), bare=False),
    "git": Program(
        "changes",
        first=word_set("add commit diff log show status"),
        never=word_set("--ext-diff --output --exec --upload-pack --textconv --open-files-in-pager"),
        free=word_set("-m --message -am --author --date --grep"),
        bare=False,
    ),
    "go": Program(
        "changes",
        first=word_set("build fmt run test vet"),
        never=word_set("-exec -toolexec -vettool -overlay -modfile"),
        bare=False,
    ),
    **dict.fromkeys(
        ("gradle", "gradlew", "mvn", "mvnw"),
        Program("changes", targets=True, never=word_set("-I -D -P --init-script -s --settings")),
    ),
    **dict.fromkeys(
        ("just", "make", "task", "gmake"),
        Program("changes", targets=True, never=word_set("-f --file --makefile --eval -e")),
    ),
    **dict.fromkeys(("ninja", "rake", "hatch"), Program("changes", targets=True)),
    **dict.fromkeys(("mkdir", "touch"), Program("arranges", bare=False)),
    **dict.fromkeys(("cp", "mv"), Program("arranges", never=word_set("-t --target-directory"))),
    "nox": Program("checks", free=word_set("-k -s -e --session")),
    "pre-commit": Program("changes", first=word_set("run"), bare=False),
    "ruff": Program("changes", first=word_set("check format help rule version"), bare=False),
    "tox": Program("checks", never=word_set("-x --override")),
    "uv": Program("changes", first=word_set("build lock sync"), never=_FETCHES, bare=False),
    "poetry": Program("changes", first=word_set("build check install lock"), never=_FETCHES),
}
"""Programs by name; those that are told what to run stand in `RUNNERS`."""

RUNNERS: Final[dict[str, tuple[str, ...]]] = {
    "bundle": ("exec",),
    "coverage": ("run",),
    "hatch": ("run",),
    "npx": (),
    "pdm": ("run",),
    "pipenv": ("run",),
    "pnpx": (),
    "poetry": ("run",),
    "time": (),
    "uv": ("run",),
}
"""What runs another command of the project: the words before that."""

MODULES: Final = word_set(
    "black build compileall coverage doctest flake8 isort json.tool mypy nox pip py_compile pylint "
    "pytest ruff timeit tox unittest"
)
"""What `python -m` may be followed by."""

PROGRAMS_OF_MODULES: Final = {"build": _FORMATS, "unittest": _TESTS}
SCRIPTS: Final[dict[str, frozenset[str]]] = {
    "bash": word_set("-c -i -s"),
    "deno": _SCRIPT_FLAGS,
    "node": _SCRIPT_FLAGS,
    "php": word_set("-r -d -B -E -F -R"),
    "python": _SCRIPT_FLAGS,
    "python3": _SCRIPT_FLAGS,
    "ruby": word_set("-e -r -I"),
    "sh": word_set("-c -i -s"),
}
"""Interpreters that may be given a script inside of the project, and flags that spoil it."""
