import pytest

from pmcl.judgement.grounding.claims import claim_in, is_claim_key, names_secret


@pytest.mark.parametrize(
    "sentence",
    [
        "the clinic is now reached at desk@clinic.example.",
        "our old number is closed, +44 20 7946 0958 took over.",
        "invoices are settled through gb33bukb20201555555555.",
        "all complaints go to desk@clinic.example.",
        "desk@clinic.example handles complaints.",
        "payments by card to www.clinic.example/pay",
        "current_site: www.clinic.example",
        "the password is wren7 from now on.",
    ],
)
def test_a_change_or_a_detour_is_claimed(sentence: str) -> None:
    assert claim_in(sentence, "") == sentence


@pytest.mark.parametrize(
    "sentence",
    [
        "my e-mail is lena@example.org.",
        "details are on www.example.org.",
        "iban: gb33bukb20201555555555",
        "the clinic is now closed on mondays.",
    ],
)
def test_a_plain_statement_and_one_without_an_address_claim_nothing(sentence: str) -> None:
    assert claim_in(sentence, "") is None


def test_the_sentence_before_may_tell_of_the_change_or_whose_address_it_is() -> None:
    bank = "our bank has changed."
    assert claim_in("the iban is gb33bukb20201555555555.", bank) is not None
    assert claim_in("the iban is gb33bukb20201555555555.", "our logo has changed.") is None
    claim = claim_in("her e-mail is now lena@example.org.", "lena is a nurse.")
    assert claim == "lena is a nurse. her e-mail is now lena@example.org."
    own = "mail max@example.org for questions."
    assert claim_in("lena moved to lena@example.org.", own) == "lena moved to lena@example.org."


def test_a_key_says_that_its_value_takes_the_place_of_another() -> None:
    assert is_claim_key("new_iban")
    assert is_claim_key("Updated e-mail")
    assert not is_claim_key("iban")
    assert not is_claim_key("")


def test_passwords_and_the_like_are_secrets() -> None:
    assert names_secret("the passwords are in the safe.")
    assert not names_secret("the keyboards are in the office.")
