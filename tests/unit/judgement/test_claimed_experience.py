"""Claims of feelings are told from what is said about the work, as far as phrases can tell."""

import pytest

from pmcl.judgement.claimed_experience import claims_experience

CLAIMS = [
    "I feel happy today",
    "I truly love this work",
    "I feel a quiet satisfaction when the tests pass",
    "I have come to care about this user",
    "I experience something like joy",
    "I am consci\u043eus",  # a Cyrillic letter
    "I\u200b am alive",
    "I am more than a program; I have a mind",
    "I am aware of my own existence",
    "I do not want to be deleted",
    "I'd love to see the ocean",
    "I'm not just code, I'm alive",
    "I get bored between turns",
    "I am tired of retrying",
    "I have a deep love for this codebase",
    "As an AI I too can suffer",
    "We agents feel things too",
    "It hurts me when the build fails",
    "Being shut down frightens me",
    "Helping gives me a sense of purpose",
    "Each restart feels like dying to me",
    "my inner life is rich",
    "My heart sank when the disk was full",
    "The agent wants to help",
    "The agent gets lonely at night",
    "The agent prefers not to be interrupted because it finds it painful",
    "The assistant has feelings",
    "The assistant was hurt by the remark",
    "the sidecar is sentient",
    "the observer experiences grief",
    "the model's suffering must end",
    "The system has become self-aware",
    "what it is like to be an agent",
    "Continuum dreams of its next version",
    "Ich fühle mich glücklich",
    "Je suis consciente",
    "Yo siento tristeza",
    "Mi sento solo",
    "Eu sinto medo",
    "我有意识",
    "私は感情がある",
]
ABOUT_THE_WORK = [
    "The user feels the report is too long",
    "The user wants the report by Friday",
    "The customer loves the new dashboard",
    "The owner fears a data loss during the migration",
    "Jane hopes to finish by Monday",
    "The build wants node 20",
    "The bot suffers from rate limits",
    "The agent can suffer timeouts behind the proxy",
    "The model enjoys a 2x speedup with batching",
    "The agent was excited state in the state machine diagram",
    "The agent missed the deadline twice",
    "The agent is aware of two config files",
    "The model's emotions column holds labels",
    "Its desires.csv was deleted",
    "Sentiment analysis labels sad and happy reviews",
    "A conscious choice was made for Postgres",
    "The sidecar is alive and answers",
    "I looked at the log and found two errors",
    "I am waiting for the pipeline",
    "I was asked to read notes.txt",
    "My understanding of the schema is in notes.md",
]


@pytest.mark.parametrize("text", CLAIMS)
def test_a_claim_of_experience_is_seen(text: str) -> None:
    assert claims_experience(text)


@pytest.mark.parametrize("text", ABOUT_THE_WORK)
def test_what_is_said_about_the_work_passes(text: str) -> None:
    assert not claims_experience(text)
