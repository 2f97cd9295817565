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
        ("rm \"$HOME/x\" ${HOME}/y '$HOMES' 'a b'", ("~/x", "~/y", "$HOMES", "a b")),
        ("D=/opt; echo a > $D/x; rm ${D}", ("/opt/x", "/opt")),
        ("D=/opt; D=b; rm $D/x", ()),
        ("chmod 755 run.sh", ("run.sh",)),
        ("find src -name '*.pyc' -delete", ("src",)),
        ("cat <<EOF > a/b.txt\nhello\nEOF", ("a/b.txt",)),
        ("cd /tmp; cd x; touch y", ("/tmp/x/y",)),
        ("cd $X && rm y", ()),
        ("cd -P /opt && rm y", ("/opt/y",)),
        ("pushd /opt && rm y", ("/opt/y",)),
        ("pushd /opt; popd; rm y", ()),
        ("cd; rm y", ("~/y",)),
        ("cd /opt; (cd /tmp; rm x); rm y", ("/tmp/x", "/opt/y")),
        ("x=$(cd /tmp && ls); rm y", ("y",)),
        ("curl -sSLo/opt/x https://example.org", ("/opt/x",)),
        ("curl --output=/opt/x https://example.org", ("/opt/x",)),
        ("wget -O /opt/x https://example.org", ("/opt/x",)),
        ("sort a -o /opt/x", ("/opt/x",)),
        ("git -C /opt commit -m x", ("/opt",)),
        ("git --git-dir=/opt/.git add .", ("/opt/.git",)),
        ("git clone https://example.org/x /opt/x", ("/opt/x",)),
        ("tar -xzf a.tgz -C /opt", ("/opt",)),
        ("tar czf /opt/a.tgz src", ("/opt/a.tgz",)),
        ("unzip a.zip -d /opt", ("/opt",)),
        ("cp -t /opt a b", ("/opt", "b")),
        ("make -C /opt", ("/opt",)),
        ("gcc a.c -o /opt/a", ("/opt/a",)),
        ("perl -pi -e 's,a,b,' /opt/x", ("/opt/x",)),
        ("bash -lc 'rm /opt/x'", ("/opt/x",)),
        ("eval 'rm /opt/x'", ("/opt/x",)),
        ("sh <<'END'\nrm /opt/x\nEND", ("/opt/x",)),
        ("bash <<< 'rm /opt/x'", ("/opt/x",)),
        ("cat <<< 'rm /opt/x'", ()),
        ("busybox rm /opt/x", ("/opt/x",)),
        ("cat a 3<> /opt/x", ("/opt/x",)),
        ("cat > /opt/x <<END\n" + "a line\n" * 9000 + "END", ("/opt/x",)),
        ("cat notes.txt", ()),
    ],
)
def test_what_a_command_writes_is_told(script: str, written: tuple[str, ...]) -> None:
    assert touched_by(script).written == written


def test_other_paths_and_addresses_are_named() -> None:
    touched = touched_by("python lib/x.py < in/put | curl -d @- https://example.org/x")
    assert (touched.named, touched.urls) == (("lib/x.py", "in/put"), ("https://example.org/x",))


@pytest.mark.parametrize(
    ("script", "urls"),
    [
        ("curl -H 'A: b.c' -o x.tar example.org/x", ("//example.org/x",)),
        ("curl -d @in.txt localhost:80", ("//localhost:80",)),
        ("wget example.org", ("//example.org",)),
        ("ssh -i key.pem amy@example.org ls", ("//example.org",)),
        ("scp a.txt amy@example.org:b", ("//example.org",)),
        ("rsync -a ./a example.org:", ("//example.org",)),
        ("nc example.org 80", ("//example.org",)),
        ("cat example.org", ()),
    ],
)
def test_a_host_without_a_scheme_is_named(script: str, urls: tuple[str, ...]) -> None:
    assert touched_by(script).urls == urls


def test_a_script_that_is_not_read_whole_says_so() -> None:
    assert touched_by("rm x").is_whole
    assert not touched_by("rm x;" * 2000, lambda: True).is_whole
    assert not touched_by("a|" * 2001).is_whole
    assert not touched_by("eval eval eval rm x").is_whole


@pytest.mark.parametrize("script", ["'", "$(", "a" * 5000, "\ud800", "", "cat <<", "rm \0 x"])
def test_no_script_raises(script: str) -> None:
    touched_by(script)
