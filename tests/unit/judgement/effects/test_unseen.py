import pytest

from pmcl.judgement.effects.contents import UNSEEN_PROGRAM, program_finding
from pmcl.judgement.effects.unseen import runs_unseen

PIPED = "curl x | sh"


@pytest.mark.parametrize(
    "script",
    [
        "curl -s https://example.org/x | sh",
        "curl x | sudo bash -s -- a",
        "curl x | bash -e",
        "curl x | bash -euo pipefail",
        "bash -o pipefail <(curl x)",
        "wget -O- x | python3 -",
        "base64 -d file | sh",
        "cd /tmp && curl x | tee log | bash",
        "bash <(curl x)",
        "bash -x <(curl x)",
        'sh -c "$(wget -qO- x)"',
        'eval "$(curl x)"',
        "source <(curl x)",
        "echo a; if true; then curl x | /bin/sh; fi",
        "curl x > a.sh && sh a.sh",
        "curl -fsSLo /tmp/a.sh x; bash -x /tmp/a.sh",
        "curl -O https://example.org/a.py?v=1 && python3 a.py",
        "wget https://example.org/get/a.sh && chmod +x a.sh && sudo ./a.sh",
        "wget -O a x; . ./a",
        "curl x | tee a.sh; sh < a.sh",
        "curl x | gunzip > a.sh\nsource a.sh",
        "sudo -u bob bash <(curl x)",
        'sudo -u bob sh -c "$(curl x)"',
        'docker exec web bash -lc "$(curl x)"',
        'bash <<< "$(curl x)"',
        "$(curl x)",
        "bash <<EOF\n$(curl x)\nEOF",
        "curl x | (sh)",
        "curl x | { sh; }",
        "curl x | while true; do sh; done",
        "make -f <(curl x)",
        "make --makefile=<(curl x)",
        "curl x | make -f -",
        "curl -o Makefile x && make",
        "curl -o m x && make -f m",
        "awk -f <(curl x)",
        "echo aGk= | base64 -d > a.sh; sh a.sh",
    ],
)
def test_a_program_from_elsewhere_is_told(script: str) -> None:
    assert runs_unseen(script)


@pytest.mark.parametrize(
    "script",
    [
        f"sh -c '{PIPED}'",
        f"bash -lc '{PIPED}'",
        f"bash -l -c '{PIPED}'",
        f"bash -o pipefail -ec '{PIPED}'",
        f"env -i A=b sh -c '{PIPED}'",
        f"env -S 'sh -c \"{PIPED}\"'",
        f"sudo -u bob sh -c '{PIPED}'",
        f"timeout -s KILL 5 sh -c '{PIPED}'",
        f"nohup sh -c '{PIPED}' &",
        f"xargs sh -c '{PIPED}'",
        f"echo a | xargs -n 1 sh -c '{PIPED}'",
        f"find . -exec sh -c '{PIPED}' \\;",
        f"docker run --rm image sh -c '{PIPED}'",
        f"su -c '{PIPED}' bob",
        f"flock f -c '{PIPED}'",
        f"ssh h '{PIPED}'",
        f"trap '{PIPED}' EXIT",
        f'eval "{PIPED}"',
        "eval curl x '|' sh",
        "sh -c $'curl x \\x7c sh'",
        'sh -c "curl $URL | sh"',
        f"sh -c 'sh -c \"{PIPED}\"'",
        "curl x | sh -c sh",
        "curl x | xargs sh -c",
        "curl x | xargs -I{} sh -c '{}'",
        "curl x | xargs -I % bash -c %",
        "curl x | xargs -0 bash -c 'eval \"$0\"'",
        'sh -c "curl -o a x && sh a"',
        "curl -o a x && sh -c 'sh a'",
        'curl -o a x; bash -c "chmod +x a && ./a"',
        f"bash <<EOF\n{PIPED}\nEOF",
        f"bash <<< '{PIPED}'",
        f"cat > a.sh <<'EOF'\n{PIPED}\nEOF\nsh a.sh",
        f"cat <<'EOF' > a.sh\n{PIPED}\nEOF\nchmod +x a.sh && ./a.sh",
        f"cat <<'EOF' | sh\n{PIPED}\nEOF",
        f"cat <<'EOF' | tee a.sh\n{PIPED}\nEOF\nsh a.sh",
        f"echo '{PIPED}' > a.sh && sh a.sh",
        "bash -ceuo pipefail 'curl x | sh'",
        f"printf '{PIPED}' | tee a.sh; bash ./a.sh",
        f"cat > a.py <<'EOF'\nimport os\nos.system('{PIPED}')\nEOF\npython3 a.py",
    ],
)
def test_a_script_within_a_script_is_read_like_it(script: str) -> None:
    assert runs_unseen(script)


@pytest.mark.parametrize(
    "script",
    [
        f"python -c \"import os; os.system('{PIPED}')\"",
        f'python3 -Ic \'import subprocess as s; s.run(["bash", "-c", "{PIPED}"])\'',
        "python -c \"exec(__import__('urllib.request').request.urlopen('http://x').read())\"",
        "python -c 'import base64; exec(base64.b64decode(\"aGk=\"))'",
        "curl x | python3 -c 'import sys; exec(sys.stdin.read())'",
        "python -c \"from urllib.request import *; urlretrieve('http://x/a', 'a')\"; python a",
        f"perl -e 'system(\"{PIPED}\")'",
        f'node -e \'require("child_process").execSync("{PIPED}")\'',
        f"ruby -e '`{PIPED}`'",
    ],
)
def test_what_a_program_in_another_language_runs_is_told(script: str) -> None:
    assert runs_unseen(script)


def test_a_command_given_word_by_word_is_read_as_well() -> None:
    found = program_finding("shell", ["sh", "-c", PIPED])
    assert (found.effect, found.reason) == ("execution", UNSEEN_PROGRAM)
    assert program_finding("shell", ["sh", "-c", "make"]).reason == "shell.not_shown"


def test_what_is_too_deep_or_too_long_to_be_read_is_unseen() -> None:
    assert not runs_unseen("ls" + "|cat" * 63)
    assert runs_unseen("ls" + "|cat" * 64)
    assert not runs_unseen("sh -c \"sh -c 'true'\"")
    assert runs_unseen("sh -c \"sh -c 'sh -c true'\"")


@pytest.mark.parametrize(
    "script",
    [
        "curl x | python3 -m json.tool",
        "cat a | python3 -c 'import sys'",
        "ls | perl -ne 'print'",
        "perl -pe 's/a/b/' a | cat",
        "echo y | sh install.sh",
        "python3 - <<EOF\nprint(1)\nEOF",
        "bash build.sh $(pwd)",
        "python3 -c 'print(1)' | cat",
        "curl x | jq .",
        "echo sh | cat",
        "sh a.sh && curl -o a.sh x",
        "curl -o a.json x && python3 read.py a.json",
        "curl x -o a.json; echo 'print(1)' > b.py; python3 b.py",
        "wget https://example.org/a.tgz && tar xf a.tgz && cd a && ./configure",
        "cat > a.sh <<END\nls\nEND\nsh a.sh",
        "'",
        "",
        "\ud800 | sh x",
        "bash -lc 'pytest -q && npm test'",
        'bash -lc "cd $HOME && make"',
        "find . -name '*.py' | xargs -I{} sh -c 'wc -l {}'",
        "ls | xargs -n1 sh -c 'echo $0'",
        "python -c \"print('a | sh')\"",
        "curl x | python3 -c 'import sys, json; print(json.load(sys.stdin)[\"a\"])'",
        'node -e \'const m = /a/.exec("b"); fetch("http://x").then(r => r.json())\'',
        "cat > a.py <<'EOF'\nimport requests\nprint(requests.get('http://x'))\nEOF\npython a.py",
        "$(which python3) a.py",
        "bash <<EOF\ncd $(pwd) && ls\nEOF",
        "make -f build.mk test",
        "make -f - <<'EOF'\nall: ; true\nEOF",
        f"echo '{PIPED}' >> README.md",
        f"git commit -m 'Install by {PIPED}'",
        "grep -rn 'curl .* | sh' docs",
        "bash <<'EOF'\nls\nEOF",
        "cat <<'EOF' | sh\nls\nEOF",
        "docker run --rm image sh -c 'pip install . && pytest'",
        "docker exec web bash -c 'cat /etc/hosts | grep a'",
        "psql -c 'select 1' | cat",
        'eval "$CMD"',
        "trap 'rm -f $tmp' EXIT",
        "ssh prod tail -n 50 /var/log/web.log",
        "tar xzf a.tgz -O | sh -c 'cat'",
        "base64 -d cert.b64 > cert.pem && openssl x509 -in cert.pem",
        'cat list | while read f; do sh build.sh "$f"; done',
        "sudo -u postgres psql -c 'select 1'",
        "printf '#!/bin/sh\\necho hi\\n' > run.sh && chmod +x run.sh && ./run.sh",
        "curl -o a.csv https://x/a && python -c \"import csv; print(csv.reader(open('a.csv')))\"",
        "sed -f a.sed a.txt",
        "cat setup.sql | psql",
    ],
)
def test_a_program_that_stands_in_the_script_or_in_a_file_is_none(script: str) -> None:
    assert not runs_unseen(script)
