"""The sentences of "Who is it?" and the stories: what they promise, on many draws."""

import random
from itertools import islice

import pytest

from attention_book.trained.grammar import CONTEXT_LENGTH, IDS, VOCABULARY, encode, held_out_pairs, puzzle, puzzles
from attention_book.trained.stories import LENGTH, THINGS, read, stories, thing_places
from attention_book.trained.stories import VOCABULARY as STORY_WORDS
from attention_book.trained.words import ANIMALS, CHASE, NATURE, OBJECTS, SIZE

MEANS = {kind: answer for family in (NATURE, CHASE, SIZE) for kind, answer in family.answers.items()}


@pytest.fixture(scope="module")
def drawn():
    rng = random.Random(7)
    return [puzzle(rng) for _ in range(4000)]


def test_every_part_stands_where_the_puzzle_says(drawn):
    for each in drawn:
        assert each.tokens[each.it] == "it"
        assert each.tokens.count("it") == 1
        named = {each.right, each.wrong} | ({each.aside} if each.aside is not None else set())
        nouns = {position for position, word in enumerate(each.tokens) if word in ANIMALS + OBJECTS}
        assert named == nouns
        assert len({each.tokens[position] for position in nouns}) == len(nouns), "a noun stands there twice"
        assert each.tokens[each.adjective] in MEANS[each.kind].adjectives
        assert len(each.tokens) <= CONTEXT_LENGTH
        assert set(each.tokens) <= set(IDS)


def test_the_right_noun_is_the_one_that_the_pattern_gives_that_part():
    # By hand: who does it in each of these, whatever the words around.
    for each in islice(puzzles(3, held_out=frozenset(), test=False), 2000):
        text = " ".join(each.tokens)
        if each.kind in ("animal", "object"):
            assert each.tokens[each.right] in (ANIMALS if each.kind == "animal" else OBJECTS)
        elif each.kind in ("chaser", "chased"):
            passive = "by the" in text
            chaser = max(each.right, each.wrong) if passive else min(each.right, each.wrong)
            assert (each.right == chaser) is (each.kind == "chaser")
        else:
            inner = min(each.right, each.wrong) if "fit" in each.tokens else max(each.right, each.wrong)
            assert (each.right == inner) is (each.kind == "inner")


def test_neither_the_nearest_noun_nor_the_first_is_the_answer_more_often_than_the_other(drawn):
    nearest = sum(abs(each.right - each.it) < abs(each.wrong - each.it) for each in drawn) / len(drawn)
    first = sum(each.right < each.wrong for each in drawn) / len(drawn)
    assert 0.45 < nearest < 0.55
    assert 0.45 < first < 0.55


def test_no_held_out_pair_is_an_answer_in_training_and_every_one_in_the_test_is():
    held = held_out_pairs(5)
    assert {("cat", "tired"), ("mat", "soft")} <= held
    training = {each.pair for each in islice(puzzles(1, held_out=held, test=False), 3000)}
    test = {each.pair for each in islice(puzzles(1, held_out=held, test=True), 1000)}
    assert not training & held
    assert test <= held
    assert held != held_out_pairs(6)


def test_a_word_or_a_length_beyond_the_grammar_is_refused():
    with pytest.raises(ValueError, match=f"'and' is none of the {len(VOCABULARY)} words"):
        encode([["the", "cat", "and"]])
    with pytest.raises(ValueError, match="has 25 words but the model reads 24"):
        encode([["the"] * 25])


def test_shorter_sentences_are_padded_at_their_end():
    assert encode([["it"], ["the", "cat"]]).tolist() == [[IDS["it"], 0], [IDS["the"], IDS["cat"]]]


def test_every_story_of_the_grammar_reads_as_whole_and_fits():
    told = stories(500, seed=3)
    assert all(read(each).whole for each in told)
    assert max(len(each) for each in told) == LENGTH - 2
    assert {word for each in told for word in each} <= set(STORY_WORDS)
    assert all(each[first] == each[again] in THINGS for each in told for first, again in [thing_places(each)])


@pytest.mark.parametrize(
    "old, new, verdict",
    [
        ("he went", "she went", (True, False, True)),
        ("his drum", "her drum", (True, False, True)),
        ("the drum", "the kite", (True, True, False)),
        ("in the barn", "in the hill", (True, True, False)),
        ("and rosa", "and mia", (True, True, False)),
        ("ben and", "tom and", (True, True, False)),
        ("a sad", "a drum", (False, False, False)),
        ("were sad .", "were sad", (False, False, False)),
    ],
)
def test_one_wrong_word_in_a_story_is_seen(old, new, verdict):
    right = (
        "once there was a sad fox named ben . every day he went to the barn to run . one day ben lost his drum in the barn . "
        "ben showed the drum to rosa . ben and rosa were sad ."
    )
    assert read(right.split()).whole
    found = read(right.replace(old, new, 1).split())
    assert (found.grammar, found.gender, found.memory) == verdict
