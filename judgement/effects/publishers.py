"""Programs that hand work over to others, and the operands or flags with which they do.

Source: the manuals of these programs.
"""

from typing import Final

from pmcl.judgement.word_set import word_set

__all__ = [
    "ALWAYS",
    "ASKERS",
    "BY_VERB",
    "COPIERS",
    "DRY",
    "PHRASES",
    "READING",
    "RUN_TASKS",
    "SENDERS",
    "TASK_RUNNERS",
    "VALUED",
    "VERBS",
]


def _phrases(text: str) -> frozenset[str]:
    return frozenset(each.strip() for each in text.split(","))


ALWAYS: Final = word_set(
    "ansible ansible-playbook ftp gh-pages lftp msmtp ncftpput np semantic-release sendmail sftp "
    "slackcat surge swaks"
)
"""Any run of these does."""

_HOSTED: Final = frozenset(
    f"{thing} {verb}"
    for thing in word_set("cache gist issue label mr pr release repo secret variable workflow")
    for verb in word_set(
        "close comment create delete disable edit enable merge ready rename reopen review run set "
        "sync upload"
    )
)
_PACKAGES: Final = _phrases(
    "publish, unpublish, npm publish, dist-tag add, dist-tag rm, deprecate, owner add, yank"
)
_IMAGES: Final = _phrases(
    "push, copy, image push, manifest push, compose push, stack deploy, service update"
)
_CLUSTER: Final = _phrases(
    "annotate, apply, autoscale, cordon, create, delete, drain, edit, expose, label, patch, "
    "replace, rollout restart, rollout undo, run, scale, set, taint"
)
PHRASES: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys(word_set("bun cargo flit hatch npm pdm pnpm poetry uv yarn"), _PACKAGES),
    **dict.fromkeys(word_set("changeset lerna maturin ovsx vsce"), _PACKAGES),
    **dict.fromkeys(word_set("buildah crane docker nerdctl oras podman skopeo"), _IMAGES),
    **dict.fromkeys(word_set("pulumi terraform tofu"), _phrases("apply, destroy, import, up")),
    **dict.fromkeys(word_set("gh glab hub"), _HOSTED | {"pull-request"}),
    **dict.fromkeys(word_set("kubectl oc"), _CLUSTER),
    **dict.fromkeys(word_set("hf huggingface-cli twine"), _phrases("upload, repo create")),
    **dict.fromkeys(word_set("dart flutter"), _phrases("pub publish")),
    **dict.fromkeys(word_set("dotnet nuget"), _phrases("nuget push, push")),
    **dict.fromkeys(word_set("anaconda cabal conda snapcraft stack"), _phrases("push, upload")),
    **dict.fromkeys(word_set("bzr darcs dvc hg"), _phrases("push")),
    "eas": _phrases("submit, update"),
    "gem": _phrases("push, yank"),
    "git": _phrases("push, annex sync, lfs push, send-email, send-pack, subtree push, svn dcommit"),
    "git-annex": _phrases("sync"),
    "goreleaser": _phrases("release"),
    "helm": _phrases("delete, install, push, rollback, uninstall, upgrade"),
    "helmfile": _phrases("apply, destroy, sync"),
    "jj": _phrases("git push"),
    "ko": _phrases("apply, publish"),
    "mix": word_set("hex.owner hex.publish"),
    "mkdocs": _phrases("gh-deploy"),
    "nomad": _phrases("job run"),
    "pod": _phrases("trunk push"),
    "skaffold": _phrases("run"),
    "svn": _phrases("ci, commit, import"),
    "terragrunt": _phrases("apply, destroy, run-all apply, run-all destroy"),
    "wandb": _phrases("sync"),
    "xcrun": _phrases("altool, notarytool"),
}
"""Programs, and the one or two first operands with which they do."""

BY_VERB: Final = word_set(
    "aws az cdk cf doctl eb firebase fly flyctl gcloud gsutil heroku linode-cli netlify now "
    "railway render sam serverless sls stripe vercel wrangler"
)
"""Programs of clouds: one of the first operands says what they do."""
VERBS: Final = word_set(
    "add apply attach bootstrap container create delete deploy deregister destroy detach disable "
    "edit enable import invoke launch modify promote publish purge push put reboot redeploy "
    "register release remove restart restore rm rollback scale send set start stop submit "
    "terminate trigger up update upload write"
)
READING: Final = word_set(
    "config configure describe dev download emulators get help info list local login logs ls "
    "offline pull show status version whoami"
)
"""What they only read or try here, whatever follows."""

TASK_RUNNERS: Final = word_set(
    "ant cap capistrano deno fab fastlane gmake gradle gradlew grunt gulp inv invoke just lein "
    "make mina mvn mvnw nox poe rake sbt task tox"
)
"""Programs that run a task of the project by its name."""
RUN_TASKS: Final = word_set("--bin run run-script task xtask")
"""Words of package managers behind which such a name stands."""
SENDERS: Final = word_set("curl http https mail mailx mutt nc ncat netcat socat wget xh")
ASKERS: Final = word_set("dig drill host nslookup ping ping6 resolvectl traceroute whois")
"""Programs that send nothing but what they are asked about."""
COPIERS: Final = word_set("aws gsutil mc rclone rsync s3cmd scp")
"""Programs that copy to the last operand, which may lie elsewhere."""

VALUED: Final = word_set(
    "-C -P -R -c -i -n -o -p -w --chdir --context --exec-path --filter --git-dir --kubeconfig "
    "--namespace --prefix --profile --project --region --repo --work-tree --workspace"
)
"""Flags that take the next word."""
_SAY_SO: Final = word_set("--dry-run --dryrun")
DRY: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys(word_set("ansible ansible-playbook"), word_set("--check -C --syntax-check")),
    **dict.fromkeys(word_set("cap capistrano git cargo make gmake just rake"), _SAY_SO | {"-n"}),
    **dict.fromkeys(word_set("gradle gradlew mvn mvnw"), _SAY_SO),
    **dict.fromkeys(word_set("fab inv invoke nox task"), _SAY_SO | {"--dry", "--list"}),
    **dict.fromkeys(word_set("rclone rsync"), _SAY_SO | {"-n"}),
    **dict.fromkeys(word_set("bun flit npm pnpm poetry uv yarn semantic-release"), _SAY_SO),
    **dict.fromkeys(word_set("aws helm kubectl oc"), _SAY_SO),
    "goreleaser": word_set("--snapshot"),
}
"""Flags with which a program only says what it would do."""
