"""What is asked for comes first: by how rare its words are, then by how new it is."""

from pmcl.judgement import Finds, most_telling, rank, words_to_ask, words_to_keep

DAY_MS = 24 * 3_600_000


def finds(*numbers: int, cut: bool = False, newest: int = 1000) -> Finds:
    return Finds(numbers=numbers, cut=cut, newest=newest)


def test_words_are_folded_and_each_is_kept_once() -> None:
    words = words_to_keep("The Build of the API: build, API & 42", "api")
    assert words == ("build", "api", "42")


def test_a_question_asks_for_its_longest_words() -> None:
    question = " ".join(f"word{'x' * length}" for length in range(20))
    asked = words_to_ask(question)
    assert len(asked) == 12
    assert "word" not in asked
    assert "word" + "x" * 19 in asked


def test_a_rare_word_tells_more_than_a_common_one() -> None:
    rare, common = finds(7), finds(*range(1000, 936, -1), cut=True)
    assert rare.weight > common.weight > 0
    assert finds().weight == 0
    ages = dict.fromkeys((7, 990), 0)
    assert rank([rare, common], ages) == [7, 990]


def test_of_two_that_tell_the_same_the_newer_comes_first() -> None:
    found = [finds(8, 7)]
    assert rank(found, {7: DAY_MS, 8: 0}) == [8, 7]
    assert rank([], {7: DAY_MS, 8: 0, 9: 2 * DAY_MS}) == [8, 7, 9]


def test_an_old_text_that_tells_more_comes_before_a_new_one_that_tells_less() -> None:
    both, one = finds(3), finds(9, 3)
    assert rank([both, one], {3: 365 * DAY_MS, 9: 0}) == [3, 9]


def test_what_is_not_asked_about_comes_last() -> None:
    assert rank([finds(3)], {3: 365 * DAY_MS, 9: 0}) == [3, 9]


def test_what_is_read_at_all_is_what_tells_most_and_of_equals_the_newest() -> None:
    rare, common = finds(7), finds(*range(1000, 936, -1), cut=True)
    assert most_telling([rare, common], 3) == [7, 1000, 999]
    assert most_telling([], 3) == []
