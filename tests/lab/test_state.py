"""The lab's state: where each attention starts, what goes together, what is refused; and undo, redo, reset."""

import random

import pytest
import torch

from attention_book import JOURNEY, attend
from tests.lab.by_torch import ATTENTIONS, reference
from tests.lab.hostile import states

# What the acts print for these modules, act by act.
ACTS = {
    "simple": [0.4419, 0.6515, 0.5683],
    "SelfAttention_v1": [0.3061, 0.8210],
    "SelfAttention_v2": [-0.0748, 0.0703],
    "CausalAttention": [-0.5874, 0.0058],
    "MultiHeadAttentionWrapper": [-0.5874, 0.0058, 0.5891, 0.3257],
    "MultiHeadAttention": [0.2943, 0.3897],
}


@pytest.mark.parametrize("attention", ATTENTIONS)
def test_on_the_six_tokens_an_attention_starts_as_its_act_has_it(ask, default, attention):
    other = {**default, "attention": "CausalAttention" if attention == "simple" else "simple"}
    state = ask("change", [{"state": other, "changes": {"attention": attention, "view": "output"}}])[0]
    journey = ask("map", [state])[0]
    _, steps = reference({**state, "tokens": JOURNEY.tokens})
    assert torch.allclose(torch.tensor(journey["data"]).view(journey["shape"]), steps.output, atol=5e-6)
    assert [round(number, 4) for number in journey["data"][journey["shape"][1] :][: journey["shape"][1]]] == ACTS[attention]


def test_on_a_text_several_heads_start_as_attend_reads_it(ask, default):
    state = ask("change", [{"state": default, "changes": {"example": "text", "attention": "MultiHeadAttention"}}])[0]
    reading = attend(state["text"], num_heads=4)
    weights = ask("map", [state])[0]
    assert torch.allclose(torch.tensor(weights["data"]).view(weights["shape"]), reading.weights, atol=5e-6)


def test_a_change_keeps_what_still_fits_and_lets_go_of_a_cell_that_is_no_more(ask, default):
    start = {**default, "attention": "MultiHeadAttentionWrapper", "heads": 3, "head": 2, "row": 5, "column": 5}
    changes = [{"temperature": 2}, {"heads": 2}, {"example": "text", "text": "a b c"}, {"view": "output"}, {"attention": "simple", "scale": True}]
    kept, fewer, text, output, simple = ask("change", [{"state": start, "changes": each} for each in changes])
    assert kept == {**start, "temperature": 2}
    assert (fewer["head"], fewer["row"], fewer["column"]) == (0, 5, 5)
    assert (text["seed"], text["row"], text["column"]) == ("42", -1, 0)
    assert (output["row"], output["column"]) == (5, 5)  # three heads, 2 wide each: six columns
    assert (simple["heads"], simple["head"], simple["scale"], simple["row"]) == (1, 0, True, 5)


def test_every_state_that_the_tests_draw_is_taken(ask):
    given = list(states(400, seed=8))
    assert ask("refusal", given) == [None] * len(given)


@pytest.mark.parametrize(
    "changes, said",
    [
        ({"example": "text", "text": ""}, "The text is empty; type at least 1 word."),
        ({"example": "text", "text": "\u3000"}, "The text has 1 character, all blank; type at least 1 word."),
        ({"example": "text", "text": "a " * 600}, "The text has 600 tokens, but at most 512 are read; take away 88."),
        ({"example": "text", "text": "a" * 20001}, "The text has 20001 characters, but at most 20000 are read; shorten it."),
        ({"d_model": 0}, "d_model is 0; give a whole number from 1 to 1024."),
        ({"d_model": 2.5}, "d_model is 2.5; give a whole number from 1 to 1024."),
        ({"d_model": None}, "d_model is null; give a whole number from 1 to 1024."),
        ({"seed": "seven"}, "seed is “seven”; give a whole number from -9223372036854775808 to 18446744073709551615."),
        ({"seed": "-9223372036854775809"}, "seed is -9223372036854775809, which needs more than 64 bits; give -9223372036854775808 to 18446744073709551615."),
        (
            {"attention": "MultiHeadAttention", "example": "text", "d_model": 64, "heads": 7},
            "d_model 64 is not divisible by 7 heads; each head takes an equal share of the width: give 1, 2, 4, 8, 16, 32, 64.",
        ),
        (
            {"attention": "MultiHeadAttention", "example": "text", "text": "a " * 512, "heads": 32},
            "32 heads of 512 x 512 make 8388608 weights, but at most 4194304 are drawn; give at most 16 heads.",
        ),
        (
            {"attention": "MultiHeadAttentionWrapper", "example": "text", "d_model": 1024, "heads": 4},
            "4 heads of width 1024 hold 12582912 parameters, but at most 8388608 are drawn; give at most 2 heads, or a smaller d_model.",
        ),
    ],
)
def test_what_the_lab_cannot_show_is_refused_with_the_number_and_what_to_do(ask, default, changes, said):
    assert ask("refusal", [{**default, **changes}]) == [said]


@pytest.mark.parametrize(
    "changes",
    [{"text": "a " * 512}, {"text": "a" * 20000}, {"seed": "18446744073709551615"}, {"seed": "-9223372036854775808"}, {"d_model": 1024}, {"temperature": 0.1}],
)
def test_the_limits_themselves_are_taken(ask, default, changes):
    assert ask("refusal", [{**default, "example": "text", **changes}]) == [None]


def test_undo_redo_and_reset_follow_a_list_of_states(ask, default):
    dice, first = random.Random(9), default
    past, now, future, moves, expected = [], first, [], [], []
    for _ in range(400):
        move = dice.choice(["record", "record", "undo", "undo", "redo", "reset", "joined"])
        state = {**default, "d_k": dice.randint(1, 4)}
        moves.append(["record" if move == "joined" else move, state, move == "joined"])
        if move in ("record", "joined", "reset"):
            state = first if move == "reset" else state
            if state != now:
                past, now, future = [*past, *([] if move == "joined" else [now])], state, []
        elif move == "undo" and past:
            past, now, future = past[:-1], past[-1], [*future, now]
        elif move == "redo" and future:
            past, now, future = [*past, now], future[-1], future[:-1]
        expected.append({"now": now, "past": len(past), "future": len(future)})
    assert ask("history", [{"first": first, "moves": moves}]) == [expected]


def test_a_history_forgets_its_oldest_steps(ask, default):
    moves = [["record", {**default, "d_k": d_k}, False] for d_k in range(1, 301) if d_k != default["d_k"]]
    assert ask("history", [{"first": default, "moves": moves}])[0][-1]["past"] == 200
