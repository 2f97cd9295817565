import pytest

from pmcl.judgement.effects import publishes


@pytest.mark.parametrize(
    "script",
    [
        "git push",
        "git push origin main --force",
        "git -C ../other push",
        "cd x && pytest -q && git push -u origin HEAD",
        "sudo -u ci git push",
        "GIT_SSH_COMMAND=ssh git push",
        "bash -lc 'git push'",
        "eval git push",
        "xargs sh -c 'git push'",
        "if true; then npm publish; fi",
        "gh pr create --fill",
        "gh --repo a/b release upload v1 x.tar.gz",
        "twine upload dist/*",
        "docker push registry.example/app:1",
        "kubectl -n web apply -f k8s/",
        "terraform apply -auto-approve",
        "make deploy",
        "ansible-playbook site.yml",
        "/usr/bin/git push",
    ],
)
def test_what_hands_work_to_others(script: str) -> None:
    assert publishes(script)


@pytest.mark.parametrize(
    "script",
    [
        "git commit -m 'push it'",
        "git stash push",
        "git log origin/main",
        "git pull",
        "echo git push",
        "gh pr view 3",
        "gh issue list",
        "npm ci",
        "docker build -t app .",
        "kubectl get pods",
        "terraform plan",
        "make test",
        "",
        "git",
        "(((",
    ],
)
def test_what_keeps_it_here(script: str) -> None:
    assert not publishes(script)
