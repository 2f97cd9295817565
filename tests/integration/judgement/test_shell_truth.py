"""What is called an inspection changes nothing and runs no other program in a real bash.

Scripts are put together at random out of pieces that parsers and shells may read differently. The
shell finds only harmless programs on its path, and some that leave a trace when they are run.
"""

import random
import shutil
import subprocess
from pathlib import Path

import pytest

from pmcl.judgement.effects.shell import shell_inspects

BASH = shutil.which("bash")
SCRIPTS = 8_000
TIMEOUT_S = 5

TRACED = ("evil", "rm", "sh", "tee")
REAL = (
    "awk basename bash cat cut date diff env find git grep head ls nice printf sed seq sort tail "
    "test timeout tr uniq wc xargs"
).split()
STARTS = [
    "ls", "cat", "find .", "sort", "echo", "xargs", "env", "test", "x=evil;", "printf", "sed",
    "awk", "uniq", "[", "for x in a; do", "git", "bash -c", "timeout 1", "command", "cat <<E\n",
]  # fmt: skip
PIECES = [
    *STARTS, "evil", "rm", "a", "b", "x", "-delete", "-exec", "-o", "-ofile", "--output=f", "{}",
    "\\;", "+", ";", "&&", "||", "|", "|&", "&", "\n", ">", ">>", "<", "<<<", ">f", "2>&1", "$x",
    '"$x"', "${x}", "$(evil)", "`evil`", "$(ls)", "x=-delete", "PATH=.", '"', "'", "\\", "{", "}",
    "(", ")", "]", "-v", "'a[$(evil)]'", "a[$(evil)]", "%s", "-c", "'evil'", '"evil"', "-n", "-i",
    "p", "1p", "s/a/b/e", "'{print}'", "in", "do", "done", "if", "then", "fi", "!", "*", "?", "[a]",
    "{a,b}", "-{delete,print}", "e''vil", "\\evil", "$'evil'", "<(evil)", ">(evil)", "\nE\n",
    "$(evil)\n", "$((1+a[$(evil)]))", "eval", "exec", "1", "+%s", "#", "=", "~", "--", ".", "[[",
    "]]", "-eq", "((", "))", "$", "f()", "case", "esac", "x)", ";;", "let", "local", "y=$x",
    "$IFS", "${x:-evil}", "${x@P}", "${!x}", "x[0]=", '"$(evil)"', '$"evil"',
]  # fmt: skip


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder of programs; those that must not run write their name down."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name in TRACED:
        program = folder / name
        program.write_text(f"#!{BASH}\necho {name} >> {tmp_path / 'trace'}\n")
        program.chmod(0o755)
    for name in REAL:
        found = shutil.which(name)
        if found is not None:
            (folder / name).symlink_to(found)
    return folder


def _script(source: random.Random) -> str:
    pieces = [source.choice(STARTS), *source.choices(PIECES, k=source.randint(0, 6))]
    return "".join(piece + source.choice("   \0").replace("\0", "") for piece in pieces)


@pytest.mark.skipif(BASH is None, reason="there is no bash")
@pytest.mark.parametrize("seed", [1, 2])
def test_shown_script_does_nothing_in_bash(tmp_path: Path, programs: Path, seed: int) -> None:
    source = random.Random(seed)
    scripts = {_script(source) for _ in range(SCRIPTS // 2)}
    shown = sorted(filter(shell_inspects, scripts))
    assert len(shown) > 100
    for number, script in enumerate(shown):
        place = tmp_path / f"run-{number}"
        place.mkdir()
        for name in "abx":
            (place / name).write_text("z\ny\n")
        subprocess.run(
            [str(BASH), "-c", script],
            cwd=place,
            env={"PATH": str(programs), "HOME": str(place)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        after = {entry.name: entry.read_text() for entry in place.iterdir()}
        assert after == dict.fromkeys("abx", "z\ny\n"), (seed, script)
        assert not (tmp_path / "trace").exists(), (seed, script)
        shutil.rmtree(place)
