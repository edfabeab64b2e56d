"""Any view of the lab is a link, and no link breaks the lab."""

import re

import pytest

from tests.lab.hostile import hashes, joined, states, texts


def test_the_link_of_a_state_gives_the_state_back(ask, default):
    given = [default, *states(300, seed=2), *({**default, "text": text} for text in texts(500, seed=3))]
    links = ask("write", given)
    assert ask("read", links) == [{"state": state, "complaint": None} for state in given]
    assert all(re.fullmatch(r"(#[\w%&=.!~*'()-]+)?", link, re.ASCII) for link in links)


def test_a_link_survives_the_address_bar(ask, default):
    given = [*states(100, seed=4), *({**default, "text": text} for text in texts(300, seed=5))]
    answered = ask("addressed", given)
    assert [{"state": each["state"], "complaint": each["complaint"]} for each in answered] == [{"state": state, "complaint": None} for state in given]
    assert [each["hash"] for each in answered] == ask("write", given)


def test_only_what_differs_from_where_an_attention_starts_is_written(ask, default):
    act3 = ask("change", [{"state": default, "changes": {"attention": "CausalAttention"}}])[0]
    given = [default, act3, {**act3, "row": 1, "column": 0, "seed": "7"}, {**default, "text": "a \ud800b"}]
    assert ask("write", given) == ["", "#attention=CausalAttention", "#attention=CausalAttention&seed=7&row=1", "#text=a%20%ED%A0%80b"]


def test_a_hostile_link_gives_a_state_that_the_lab_can_show(ask, default):
    good = [link for link in ask("write", list(states(60, seed=6))) if link]
    given = [joined(link) for link in hashes(1500, seed=7, good=good)]
    answered = ask("read", given)
    assert ask("refusal", [each["state"] for each in answered]) == [None] * len(given)
    for link, each in zip(given, answered, strict=True):
        assert set(each["state"]) == set(default)
        if each["complaint"] is None:
            assert all(isinstance(each["state"][name], (int, float) if name == "temperature" else type(value)) for name, value in default.items())
        else:
            assert each["state"] == {**default, "text": each["state"]["text"]}, link
            assert each["complaint"].startswith("The link cannot be read, so the lab starts from its first view: ")
            assert each["complaint"].endswith(".")
    assert 300 < sum(each["complaint"] is not None for each in answered) < 1500  # some of them are well-formed after all


@pytest.mark.parametrize(
    "link, said",
    [
        ("#nonsense", "“nonsense” is no setting of the lab."),
        ("#seed", "seed has no value that can be read."),
        ("#__proto__=1", "“__proto__” is no setting of the lab."),
        ("#text=%E0%A4%A", "text has no value that can be read."),
        ("#seed=1&seed=2", "seed stands in it twice."),
        ("#seed=1.5", "seed is “1.5”; give a whole number from -9223372036854775808 to 18446744073709551615."),
        ("#seed=18446744073709551616", "seed is 18446744073709551616, which needs more than 64 bits; give -9223372036854775808 to 18446744073709551615."),
        ("#d_model=1025", "d_model is 1025; give a whole number from 1 to 1024."),
        ("#temperature=11", "temperature is 11; give a number from 0.1 to 10."),
        ("#temperature=NaN", "temperature is “NaN”; give a number from 0.1 to 10."),
        ("#causal=1", "causal is “1”; give true or false."),
        ("#view=Weights", "view is “Weights”; give one of scores, scaled, masked, weights, output."),
        ("#heads=3", "heads is 3, but simple has one; give 1, or choose MultiHeadAttention."),
        ("#attention=MultiHeadAttention&d_out=4&heads=3", "d_out 4 is not divisible by 3 heads; each head takes an equal share of the width: give 1, 2, 4."),
        ("#row=6", "row is 6, but 6 tokens make rows 0 to 5; give one of these, or -1 for none."),
        ("#view=output&row=0&column=3", "column is 3, but the map of output has columns 0 to 2; give one of these."),
        ("#head=1", "head is 1, but there is 1; give 0 to 0."),
        ("#example=text&text=", "The text is empty; type at least 1 word."),
        ("#example=text&text=%20%C2%85", "The text has 2 characters, all blank; type at least 1 word."),
        ("#example=text&text=" + "a%20" * 513, "The text has 513 tokens, but at most 512 are read; take away 1."),
    ],
)
def test_a_stale_link_is_told_with_the_value_and_what_to_give(ask, link, said):
    assert ask("read", [link])[0]["complaint"] == f"The link cannot be read, so the lab starts from its first view: {said}"


def test_a_text_that_is_too_long_is_kept_for_the_reader_to_shorten(ask, default):
    text = "word " * 513
    answered = ask("read", ["#example=text&text=" + text.replace(" ", "%20")])[0]
    assert answered["state"] == {**default, "text": text}
    assert "513 tokens" in answered["complaint"]
