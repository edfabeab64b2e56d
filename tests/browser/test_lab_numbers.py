"""What the lab shows in a state is what torch computes for it: tables, colours, legend, sums, favourites and every step to a cell."""

import math

import pytest
import torch

from attention_book.lab.states import heads_of, trace_of
from attention_book.lab.tables import limits
from attention_book.tables import viridis
from tests.browser.lab_page import open_lab, random_states, show
from tests.browser.visit import tab

STATES = list(random_states(210))
MOST = 40  # columns and rows that a table shows at once
NAMES = {"scores": "score", "scaled": "scaled score", "masked": "masked score", "weights": "weight", "output": "output"}
GREY = (0x8C, 0x8C, 0x8C)


@pytest.fixture(scope="module")
def told(site, server, browser):
    """Each state, torch's trace of it, and what the page shows."""
    with tab(browser) as page:
        complaints = []
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        told = []
        for k, state in enumerate(STATES):
            if k % 60 == 0:  # browsers slow a page down that changes its address hundreds of times
                open_lab(page, server)
            told.append((state, trace_of(state), show(page, state)))
        assert complaints == []
    return told


def tolerance(expected, steps):
    """Half a step of the last decimal, and 5e-6 for what is computed; softmax of large scores passes on their rounding."""
    large = steps.scaled.abs().max().item()
    return 5e-5 + 5e-6 * max(1.0, abs(expected)) + 3e-7 * large


def close(said, expected, steps):
    said = float(said)
    if math.isinf(expected):
        return said == expected
    return abs(said - expected) <= tolerance(expected, steps)


def shown_map(state, steps):
    maps = heads_of(getattr(steps, state["view"]))
    return maps, min(state["head"], len(maps) - 1)


def test_no_state_is_refused(told):
    assert [(state, page["complaint"]) for state, _, page in told if page["complaint"]] == []


def test_every_number_of_every_table_is_torchs(told):
    wrong = []
    for state, steps, page in told:
        maps, head = shown_map(state, steps)
        expected = maps[head][:MOST, :MOST]
        assert len(page["rows"]) == len(expected)
        for i, row in enumerate(expected.tolist()):
            assert len(page["rows"][i]) == len(row) + 2 * (state["view"] == "weights")
            wrong += [(state, i, j, said, number) for j, (said, number) in enumerate(zip(page["rows"][i], row, strict=False)) if not close(said, number, steps)]
    assert wrong == []


def test_hidden_cells_are_marked_and_no_others(told):
    for state, steps, page in told:
        for i, row in enumerate(page["hidden"]):
            shows_mask = state["view"] in ("masked", "weights") and state["causal"]
            expected = [shows_mask and i < j < len(steps.tokens) for j in range(len(row))]  # not the sum and the favourite
            assert row == expected, state


def test_rows_are_queries_and_columns_keys_in_the_order_of_the_sequence(told):
    for state, steps, page in told:
        assert page["names"] == list(steps.tokens), state
        keys = [str(k) for k in range(steps.output.shape[-1])][:MOST] if state["view"] == "output" else list(steps.tokens)
        assert page["columns"] == keys + ["row sum", "likes most"] * (state["view"] == "weights"), state


def test_row_sums_and_favourites_are_torchs(told):
    seen = 0
    for state, steps, page in told:
        if state["view"] != "weights":
            continue
        weights = heads_of(steps.weights)[state["head"]]
        for i, row in enumerate(weights):
            total, favourite = page["rows"][i][-2:]
            assert close(total, row.sum().item(), steps)
            # Of nearly equal weights either may come first.
            likes = [j for j, token in enumerate(steps.tokens) if token == favourite]
            assert max(row[j].item() for j in likes) >= row.max().item() - 1e-5, state
            assert page["facts"][i] == f"{total}, most to {favourite}"
            seen += 1
    assert seen > 100


def test_the_legend_tells_the_ends_of_the_scale(told):
    for state, steps, page in told:
        maps, _ = shown_map(state, steps)
        low, high = limits(state["view"], maps)
        words = page["legend"].removeprefix("Colours: ").removesuffix(".")
        name, ends = words.split(", ")[:2]
        first, last = ends.split(" to ")
        assert name == NAMES[state["view"]]
        assert close(first, low, steps), (state, words)
        assert close(last, high, steps), (state, words)


def test_every_pixel_has_the_colour_of_its_number_on_one_scale_for_all_heads(told):
    for state, steps, page in told:
        maps, head = shown_map(state, steps)
        low, high = limits(state["view"], maps)
        drawn = [page["map"]] + page["heads"]
        assert len(page["heads"]) == (len(maps) if len(maps) > 1 else 0)
        for matrix, (width, height, data) in zip([maps[head], *maps], drawn, strict=False):
            assert (height, width) == tuple(matrix.shape)
            numbers = matrix.flatten().tolist()
            for k, number in enumerate(numbers):
                i, j = divmod(k, width)
                hidden = state["causal"] and j > i and state["view"] in ("masked", "weights")
                share = (number - low) / (high - low) if high > low else 0.5
                colour = GREY if hidden else viridis(share)
                seen = data[4 * k : 4 * k + 3]
                assert max(abs(a - b) for a, b in zip(seen, colour, strict=True)) <= 4, (state, i, j, number, seen, colour)


def test_the_sentence_about_a_cell_names_query_key_and_number(told):
    seen = 0
    for state, steps, page in told:
        if state["row"] < 0:
            assert page["reading"] == "Point at a cell to read it."
            continue
        i, j = state["row"], state["column"]
        maps, head = shown_map(state, steps)
        number = maps[head][i, j].item()
        query, rest = page["reading"].split(", ", 1)
        assert query == f"query {steps.tokens[i]}"
        if state["view"] == "output":
            assert rest.startswith(f"output {j}, ")
            said = rest.removeprefix(f"output {j}, ")
        else:
            start = f"key {steps.tokens[j]}, {NAMES[state['view']]} "
            assert rest.startswith(start), (state, rest)
            said = rest.removeprefix(start).split("; ")[0].split(", ")[0].replace("minus infinity", "-inf")
        assert close(said, number, steps), (state, page["reading"], number)
        seen += 1
    assert seen > 100


def steps_by_torch(state, steps):
    """Every step to a weight, by torch's own operations."""
    i, j = state["row"], state["column"]
    one = {name: heads_of(getattr(steps, name))[state["head"]] for name in ("query", "key", "value", "scores", "scaled", "masked", "weights")}
    below = torch.exp(one["masked"][i] - one["masked"][i].max())
    return {
        "query": one["query"][i], "key": one["key"][j], "products": one["query"][i] * one["key"][j], "scores": one["scores"][i, j],
        "scaled": one["scaled"][i, j],
        "masked": one["masked"][i, j], "exponential": below[j], "sum": below.sum(), "weights": one["weights"][i, j], "value": one["value"][j],
        "part": one["weights"][i, j] * one["value"][j], "output": one["weights"][i] @ one["value"],
    }


def test_every_step_to_a_cell_has_torchs_numbers(told):
    seen = 0
    for state, steps, page in told:
        if state["row"] < 0 or state["view"] == "output":
            continue
        expected = steps_by_torch(state, steps)
        assert [step["name"] for step in page["steps"]] == list(expected)
        for step in page["steps"]:
            numbers = expected[step["name"]].flatten().tolist()
            assert len(step["numbers"]) == len(numbers)
            assert all(close(said, number, steps) for said, number in zip(step["numbers"], numbers, strict=True)), (state, step, numbers)
            assert step["python"]
        seen += 1
    assert seen > 80


def test_a_number_of_the_output_is_explained_too(told):
    seen = 0
    for state, steps, page in told:
        if state["row"] >= 0 and state["view"] == "output":
            assert page["steps"][-1]["name"] == "output"
            [said] = page["steps"][-1]["numbers"]
            assert close(said, steps.output[state["row"], state["column"]].item(), steps)
            seen += 1
    assert seen > 15
