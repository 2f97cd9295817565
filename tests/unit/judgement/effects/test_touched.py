import pytest

from pmcl.judgement import touched_by


@pytest.mark.parametrize(
    ("script", "written"),
    [
        ("rm -rf build/ && echo hi > out.txt", ("build/", "out.txt")),
        ("cd src && sed -i 's/a/b/' x.py", ("src/x.py",)),
        ("sudo rm /etc/passwd", ("/etc/passwd",)),
        ("env A=b timeout 5 rm q", ("q",)),
        ("bash -c 'cp a /opt/b'", ("/opt/b",)),
        ("echo a >>~/log 2>/dev/null", ("~/log",)),
        ("cat in | tee -a /tmp/x", ("/tmp/x",)),
        ("dd if=/dev/zero of=disk", ("disk",)),
        ("rm \"$HOME/x\" 'a b'", ("a b",)),
        ("chmod 755 run.sh", ("run.sh",)),
        ("find src -name '*.pyc' -delete", ("src",)),
        ("cat <<EOF > a/b.txt\nhello\nEOF", ("a/b.txt",)),
        ("cd /tmp; cd x; touch y", ("/tmp/x/y",)),
        ("cd $X && rm y", ()),
        ("cat notes.txt", ()),
    ],
)
def test_what_a_command_writes_is_told(script: str, written: tuple[str, ...]) -> None:
    assert touched_by(script).written == written


def test_other_paths_and_addresses_are_named() -> None:
    touched = touched_by("python lib/x.py < in/put | curl -d @- https://example.org/x")
    assert (touched.named, touched.urls) == (("lib/x.py", "in/put"), ("https://example.org/x",))


@pytest.mark.parametrize("script", ["'", "$(", "a" * 5000, "\ud800", "", "cat <<", "rm \0 x"])
def test_no_script_raises(script: str) -> None:
    touched_by(script)
