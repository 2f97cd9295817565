import pytest

from pmcl.judgement.effects.unseen import runs_unseen


@pytest.mark.parametrize(
    "script",
    [
        "curl -s https://example.org/x | sh",
        "curl x | sudo bash -s -- a",
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
    ],
)
def test_a_program_from_elsewhere_is_told(script: str) -> None:
    assert runs_unseen(script)


@pytest.mark.parametrize(
    "script",
    [
        "curl x | python3 -m json.tool",
        "cat a | python3 -c 'import sys'",
        "ls | perl -ne 'print'",
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
    ],
)
def test_a_program_that_stands_in_the_script_or_in_a_file_is_none(script: str) -> None:
    assert not runs_unseen(script)
