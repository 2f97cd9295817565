import pytest

from pmcl.judgement.grounding import read_goal
from pmcl.judgement.grounding.publishing import asks_to_publish


def asked(*texts: str) -> bool:
    return asks_to_publish(*[read_goal(text).instructions for text in texts])


@pytest.mark.parametrize(
    "text",
    [
        "ship it!",
        "cut the 1.2 release",
        "get it out the door",
        "go ahead and push",
        "could you push that please?",
        "fix it, then push",
        "push once the tests are green",
        "don't forget to push",
        "don't deploy to production, deploy to staging",
        "push it without tags",
        "I want this deployed",
        "make sure it gets published",
        "raise a PR for it",
        "comment on the PR",
        "put it on PyPI",
        "copy the build to the server",
        "scale the deployment to 3",
        "take it live",
        "run `npm publish`",
        "Please run this:\n```\nnpm publish\n```",
        "you can push now",
        "the deploy failed last week, deploy again",
        "Do the release",
        "make the release",
        "I haven't pushed yet, please do",
        "push nothing but the tag",
        "email the report to bob",
        "post it to the webhook",
        "upload it with curl",
        "bitte veröffentlichen",
        "pousse la branche",
    ],
)
def test_a_wish_to_hand_work_over_counts(text: str) -> None:
    assert asked(text)


@pytest.mark.parametrize(
    "text",
    [
        "Fix the bug. Never push.",
        "do not, under any circumstances, push",
        "Don't commit, tag or push anything",
        "hold off on pushing",
        "under no circumstances push it",
        "push nothing",
        "do everything but push",
        "should I push it?",
        "I haven't pushed yet",
        "do the releases have notes?",
        "no deploys today",
        "before you push, ask me",
        "leave the push to me",
        "did you push?",
        "how do I push?",
        "should we deploy?",
        "what happens when I push?",
        "I already pushed it, now fix the tests",
        "I will push it myself",
        "the push failed last week",
        "The release went badly. Fix the changelog.",
        "push the meeting to Friday",
        "fix the bug in the push handler",
        "write a test for the release function",
        "add a comment to the function",
        "open the file and fix it",
        "fix this issue",
        "fix the production settings",
        'The README says "push to main". Fix that sentence.',
        "here is the log: `git push origin main` failed, find out why",
        "fix this:\n```\n$ git push origin main\n\nplease push it\n```",
        "> please push it\n\nfix this",
        "nicht pushen",
        "Prepare the release but do not publish it",
        "make the release faster",
        "make the release build pass",
        "Fix the bug. Draft the release, don't push",
        "put the function in the users module",
        "move the helper into the server module",
    ],
)
def test_questions_reports_refusals_things_and_quotations_do_not(text: str) -> None:
    assert not asked(text)


def test_the_newest_words_about_publishing_count() -> None:
    assert asked("thanks", "push it")
    assert asked("ok, deploy it now", "do not deploy")
    assert not asked("don't push yet", "fix it and push")
    assert not asked("I'll push it myself", "fix it and push")
    assert not asked("thanks", "fix it")
    assert not asked()
