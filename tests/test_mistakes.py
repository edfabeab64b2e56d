"""The bug zoo: sixteen entries, each with words, a report and a fingerprint of its own."""

import itertools
import math

import pytest
import torch

from attention_book import MISTAKES, Mistake, causal_mask
from attention_book.mistakes import RIGHT, fingerprint

NAMES = [mistake.name for mistake in MISTAKES]
EACH = pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)


def numbers(pair):
    """Output and weights in one row, NaN made comparable."""
    return torch.cat([x.flatten() for x in pair]).nan_to_num(-7.0)


def test_there_are_sixteen_mistakes_each_with_a_name_of_its_own():
    assert len(MISTAKES) == len(set(NAMES)) == 16


@EACH
def test_each_mistake_has_a_title_a_cause_a_hint_and_a_public_report(mistake):
    assert isinstance(mistake, Mistake)
    assert mistake.title.split()[2:], "a sentence"
    assert mistake.cause.endswith(".")
    assert mistake.hint.endswith(".")
    assert mistake.report.startswith("https://github.com/")
    assert mistake.needs in ("", "mask", "heads")


@EACH
def test_a_mistake_gets_one_step_wrong_and_leaves_the_others_right(mistake):
    steps = ("attend", "split", "merge", "finish", "report_weights")
    assert sum(getattr(mistake, step) is not getattr(RIGHT, step) for step in steps) == 1


@EACH
def test_the_fingerprint_is_unlike_right_code_in_the_same_setting(mistake):
    wrong, right = fingerprint(mistake), fingerprint(mistake, right=True)
    assert wrong[0].shape == right[0].shape == (6, 4)
    per_head = (2, 6, 6) if mistake.needs == "heads" else (6, 6)
    assert right[1].shape == per_head
    assert wrong[1].shape == ((6, 6) if mistake.name == "averaged weights" else per_head)
    assert numbers(wrong).shape != numbers(right).shape or (numbers(wrong) - numbers(right)).abs().max() > 0.01


@EACH
def test_right_code_beside_a_fingerprint_gives_rows_that_sum_to_one(mistake):
    _, weights = fingerprint(mistake, right=True)
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(weights.shape[:-1]))
    if mistake.needs == "mask":
        assert (weights[..., ~causal_mask(6)] == 0).all()


@pytest.mark.parametrize("needs", ["", "mask", "heads"])
def test_no_two_fingerprints_of_one_setting_are_alike(needs):
    pairs = itertools.combinations([mistake for mistake in MISTAKES if mistake.needs == needs], 2)
    for one, other in pairs:
        first, second = numbers(fingerprint(one)), numbers(fingerprint(other))
        assert first.shape != second.shape or (first - second).abs().max() > 0.01, f"{one.name} and {other.name}"


@EACH
def test_a_fingerprint_is_the_same_each_time_and_leaves_the_random_state(mistake):
    torch.manual_seed(5)
    state = torch.get_rng_state()
    first = numbers(fingerprint(mistake))
    torch.set_default_dtype(torch.float64)
    torch.rand(3)
    assert torch.equal(first, numbers(fingerprint(mistake)))
    torch.manual_seed(5)
    assert torch.equal(torch.get_rng_state(), state)
    fingerprint(mistake)
    assert torch.equal(torch.get_rng_state(), state)


def test_the_fingerprints_show_what_a_reader_would_notice():
    weights = {mistake.name: fingerprint(mistake)[1] for mistake in MISTAKES}
    right = fingerprint(MISTAKES[0], right=True)[1]
    assert weights["no scale"].max(dim=-1).values.mean() > right.max(dim=-1).values.mean() + 0.1  # spikes
    assert weights["scale by d_k"].max(dim=-1).values.mean() < right.max(dim=-1).values.mean() - 0.1  # flat
    torch.testing.assert_close(weights["softmax over queries"].sum(dim=-2), torch.ones(6))
    assert weights["mask hides itself"][0].isnan().all()
    assert not weights["mask hides itself"][1:].isnan().any()
    assert weights["inverted mask"][5].isnan().all()
    assert (weights["lower triangle"].tril(-1) == 0).all()
    sums = weights["mask after softmax"].sum(dim=-1)
    assert (sums[:-1] < 0.99).all()
    assert math.isclose(sums[-1], 1.0, abs_tol=1e-6)
    assert (weights["zero for minus infinity"].triu(1)[:-1].sum(dim=-1) > 0.01).all()
    assert (weights["dropout in evaluation"] == 0).any()


def _inputs():
    generator = torch.Generator().manual_seed(3)
    return torch.randn(3, 2, 3, 4, 4, generator=generator, dtype=torch.float64)  # query, key, value: 3 heads of 4 tokens, 4 wide


def _named(name):
    return MISTAKES[NAMES.index(name)]


def test_multiplying_scores_by_the_mask_is_filling_with_zero():
    query, key, value = _inputs()
    mask = causal_mask(4)
    other = (query @ key.mT / 2 * mask).softmax(dim=-1)
    torch.testing.assert_close(_named("zero for minus infinity").attend(query, key, value, mask)[1], other)


def test_weights_filled_with_zero_are_weights_times_the_mask():
    query, key, value = _inputs()
    mask = causal_mask(4)
    other = (query @ key.mT / 2).softmax(dim=-1).masked_fill(~mask, 0)
    torch.testing.assert_close(_named("mask after softmax").attend(query, key, value, mask)[1], other)


def test_hiding_the_lower_triangle_is_the_inverted_mask_and_hiding_below_the_diagonal_the_transposed_one():
    query, key, value = _inputs()
    scaled = query @ key.mT / 2
    for name, hidden in (("inverted mask", torch.ones(4, 4).tril()), ("lower triangle", torch.ones(4, 4).tril(-1))):
        other = scaled.masked_fill(hidden.bool(), -math.inf).softmax(dim=-1)
        torch.testing.assert_close(_named(name).attend(query, key, value, causal_mask(4))[1], other, equal_nan=True)


def test_keys_that_are_not_turned_are_reshaped_keys_when_there_are_as_many_tokens_as_numbers():
    query, key, value = _inputs()
    torch.testing.assert_close(_named("keys not transposed").attend(query, key, value, None)[1], (query @ key / 2).softmax(dim=-1))


def test_with_one_head_the_mistakes_of_several_heads_are_right():
    query, key, value = torch.randn(3, 2, 5, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    right, _ = RIGHT.multi_head(query, key, value, 1, lambda x: x, None)
    for name in ("scale by d_model", "split by view", "merge without transpose", "averaged weights"):
        torch.testing.assert_close(_named(name).multi_head(query, key, value, 1, lambda x: x, None)[0], right)


def test_with_heads_as_many_as_they_are_wide_both_wrong_scales_are_one():
    query, key, value = torch.randn(3, 2, 5, 16, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    one, other = (_named(name).multi_head(query, key, value, 4, lambda x: x, None) for name in ("scale by d_k", "scale by d_model"))
    torch.testing.assert_close(one, other)


def test_right_code_of_the_zoo_is_the_official_op():
    query, key, value = _inputs()
    expected = torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=causal_mask(4))
    torch.testing.assert_close(RIGHT.attend(query, key, value, causal_mask(4))[0], expected)
