"""The lab splits a text exactly as Python does."""


from tests.lab.hostile import SPACES, texts


def test_the_lab_has_the_spaces_of_python_and_no_other(ask):
    assert ask("spaces", [None]) == [[ord(space) for space in SPACES]]


def test_a_hostile_text_is_split_as_python_splits_it(ask):
    given = ["", " ", "\n\t", *texts(1200, seed=1)]
    assert ask("split", given) == [text.split() for text in given]
