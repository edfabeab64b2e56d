"""The pins computed again by the lab: all agree, and each kind of wrong number is found and named."""

import copy

import pytest

from attention_book.lab.pins import numbers_in, pins
from tests.lab.rig import engine_in


@pytest.fixture(scope="module")
def pinned():
    return pins()


@pytest.fixture(scope="module")
def recheck(browser):
    with engine_in(browser) as engine:
        yield lambda pinned: engine("recheck", pins=pinned)


def test_every_pin_agrees(recheck, pinned):
    found = recheck(pinned)
    assert [each["name"] for each in found] == [*(f"Draws of seed {each['seed']}" for each in pinned["draws"]), *(each["name"] for each in pinned["traces"])]
    assert [each for each in found if each["apart"]] == []
    for each, pin in zip(found, [*pinned["draws"], *pinned["traces"]], strict=True):
        assert each["exact"] + each["near"] == numbers_in(pin), each["name"]


def spoilt(pinned, change):
    other = copy.deepcopy(pinned)
    change(other)
    return other


def draw(pinned, line):
    return next(step for step in pinned["draws"][2]["steps"] if step["line"] == line)["tensors"]


def steps(pinned, name):
    return next(trace for trace in pinned["traces"] if trace["name"] == name)


def set_one(tensor, place, value):
    tensor["data"][place] = value


@pytest.mark.parametrize(
    ("change", "first"),
    [
        (lambda pinned: set_one(draw(pinned, "torch.rand(10)")["drawn"], 3, 7.0), "torch.rand(10)[3] is 0.959305644 here and 7 in the book"),
        (lambda pinned: set_one(draw(pinned, "nn.Linear(3, 2)")["weight"], 4, 7.0), "nn.Linear(3, 2).weight[1, 1] is "),
        (lambda pinned: set_one(steps(pinned, "Two heads, split")["steps"]["weights"], 71, 0.5), "weights[1, 5, 5] is "),
        (lambda pinned: set_one(steps(pinned, "Two heads, split")["steps"]["masked"], 1, 0.5), "masked[0, 0, 1] is -Infinity here and 0.5 in the book"),
        (lambda pinned: set_one(steps(pinned, "Weight matrices")["drawn"]["W_key"], 5, 0.25), "W_key[2, 1] is 0.687106669 here and 0.25 in the book"),
        (lambda pinned: steps(pinned, "Weight matrices")["drawn"].update(W_none={"shape": [1], "data": [1.0]}), "W_none[0] is missing here and 1 in the book"),
    ],
)
def test_a_wrong_number_is_found_and_named(recheck, pinned, change, first):
    found = [each for each in recheck(spoilt(pinned, change)) if each["apart"]]
    assert [each["apart"] for each in found] == [1]
    assert found[0]["first"].startswith(first)


def test_what_is_drawn_must_agree_to_the_last_bit_and_what_is_computed_need_not(recheck, pinned):
    exact = {**pinned, "within": {"drawn": 0, "computed": 5e-6}}
    place = steps(exact, "Linear layers")

    def nudge(tensor, by):
        return lambda other: set_one(tensor(other), 0, tensor(other)["data"][0] + by)

    drawn, computed = (lambda other: steps(other, "Linear layers")["drawn"]["W_key.weight"]), (lambda other: steps(other, "Linear layers")["steps"]["output"])
    assert place["drawn"]["W_key.weight"]["data"][0]

    def apart(change):
        return sum(each["apart"] for each in recheck(spoilt(exact, change)))

    own = apart(lambda other: None)  # on a processor without AVX2 not 0
    assert apart(nudge(drawn, 1e-6)) == own + 1
    assert apart(nudge(computed, 1e-6)) == own
    assert apart(nudge(computed, 1e-4)) == own + 1
