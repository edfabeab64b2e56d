"""The bug zoo: sixteen entries, each with words, a report and a fingerprint of its own."""

import dataclasses
import itertools
import math

import pytest
import torch

from attention_book import MISTAKES, Mistake, causal_mask
from attention_book.fingerprints import Seen, fingerprint, noticed
from attention_book.mistakes import RIGHT, mistake

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


def whole(sums):
    return torch.allclose(sums, torch.ones(()))


# What the sentence of each mistake says besides its numbers: true of its fingerprint ``(weights, right weights)``.
CLAIMS = {
    "no scale": lambda seen, right: (seen.amax(-1) > 2 / 3).all() and (seen.amax(-1) > right.amax(-1)).all(),
    "scale by d_k": lambda seen, right: (seen.amax(-1) < right.amax(-1)).all() and (seen.amax(-1) > 1 / 6).all(),
    "scale by d_model": lambda seen, right: (seen.amax(-1).mean(-1) < right.amax(-1).mean(-1)).all(),
    "keys not transposed": lambda seen, right: whole(seen.sum(-1)) and (seen.argmax(-1) == 3).all() and (right.argmax(-1) == 0).all(),
    "softmax over queries": lambda seen, right: whole(seen.sum(-2)) and ((seen.sum(-1) - 1).abs() > 0.01).any(),
    "inverted mask": lambda seen, right: (seen[:-1].tril() == 0).all() and seen[-1].isnan().all() and not seen[:-1].isnan().any(),
    "lower triangle": lambda seen, right: (seen.tril(-1) == 0).all() and seen[-1, -1] == 1 and (right[-1] > 0).all(),
    "mask hides itself": lambda seen, right: seen[0].isnan().all() and not seen[1:].isnan().any() and seen[1, 0] == 1,
    "mask after softmax": lambda seen, right: (seen.triu(1) == 0).all() and (seen[:-1].sum(-1) < 0.99).all() and whole(seen[-1].sum()),
    "zero for minus infinity": lambda seen, right: all((row[i + 1 :] > 0).all() and len(row[i + 1 :].unique()) <= 1 for i, row in enumerate(seen)),
    "keys as values": torch.equal,
    "dropout in evaluation": lambda seen, right: (seen == 0).any() and torch.allclose(seen[seen != 0], 2 * right[seen != 0]),
    "split by view": lambda seen, right: whole(seen.sum(-1)) and ((seen - right).abs() > 0.05).any(-1).all(),
    "merge without transpose": torch.equal,
    "no output projection": torch.equal,
    "averaged weights": lambda seen, right: torch.allclose(seen, right.mean(0)) and len(right) == 2,
}


def test_each_sentence_on_what_a_reader_would_notice_is_true_and_right_code_would_not_show_it():
    assert list(CLAIMS) == NAMES
    for each in MISTAKES:
        (_, seen), (output, right) = fingerprint(each), fingerprint(each, right=True)
        assert CLAIMS[each.name](seen, right), each.name
        if CLAIMS[each.name] is torch.equal:  # right weights, wrong output
            assert (fingerprint(each)[0] - output).abs().max() > 1
        else:
            assert not CLAIMS[each.name](right, right), f"right code shows it too: {each.name}"


def test_the_output_comes_from_the_heads_that_the_sentences_name(monkeypatch):
    def zero(head):
        def attend(query, key, value, mask):
            heads, weights = RIGHT.attend(query, key, value, mask)
            keep = torch.arange(2)[:, None, None] != head
            return heads * keep, weights

        return attend

    merged, unprojected = mistake("merge without transpose"), mistake("no output projection")
    for head in (0, 1):
        rows = fingerprint(dataclasses.replace(merged, attend=zero(head)))[0]
        assert (rows[3 * head : 3 * head + 3] == 0).all()
        assert (rows[3 - 3 * head : 6 - 3 * head] != 0).all()
        columns = fingerprint(dataclasses.replace(unprojected, attend=zero(head)))[0]
        assert (columns[:, 2 * head : 2 * head + 2] == 0).all()
        assert (columns[:, 2 - 2 * head : 4 - 2 * head] != 0).all()


@EACH
def test_the_numbers_of_a_sentence_are_those_of_the_fingerprint(mistake):
    said = noticed(mistake)
    assert said.endswith(".")
    assert "nan" not in said
    right = fingerprint(mistake, right=True)
    unlike = mistake.notice.format(here=Seen(*right, right[0]), right=Seen(*right, right[0]))
    assert said != unlike or mistake.name == "mask hides itself", "a number that right code gives as well tells nothing"


def test_the_numbers_that_catch_the_eye_are_what_their_names_say():
    weights = torch.eye(6) * 0.5
    weights[0, 3] = 0.25
    seen = Seen(torch.zeros(6, 4), weights, torch.full((6, 4), -2.0))
    assert (seen.peak, seen.even, seen.favourite, seen.far) == (0.5, 1 / 6, "with", 2.0)
    assert (seen.least_sum, seen.largest_sum, seen.ahead, seen.zeros) == (0.5, 0.75, 0.25, 29)
    both = Seen(seen.output, torch.stack([weights, torch.ones(6, 6)]), seen.output)
    assert both.journey == [0, 0.5, 0, 0, 0, 0]
    assert both.last_head == [1] * 6


def test_a_mistake_is_found_by_its_name_and_has_a_place_on_the_page():
    assert mistake("no scale") is MISTAKES[0]
    assert mistake("no scale").anchor == "no-scale"
    with pytest.raises(ValueError, match="'no sale' is no mistake of the zoo; it has no scale, scale by d_k"):
        mistake("no sale")


def _inputs():
    generator = torch.Generator().manual_seed(3)
    return torch.randn(3, 2, 3, 4, 4, generator=generator, dtype=torch.float64)  # query, key, value: 3 heads of 4 tokens, 4 wide


def test_multiplying_scores_by_the_mask_is_filling_with_zero():
    query, key, value = _inputs()
    mask = causal_mask(4)
    other = (query @ key.mT / 2 * mask).softmax(dim=-1)
    torch.testing.assert_close(mistake("zero for minus infinity").attend(query, key, value, mask)[1], other)


def test_weights_filled_with_zero_are_weights_times_the_mask():
    query, key, value = _inputs()
    mask = causal_mask(4)
    other = (query @ key.mT / 2).softmax(dim=-1).masked_fill(~mask, 0)
    torch.testing.assert_close(mistake("mask after softmax").attend(query, key, value, mask)[1], other)


def test_hiding_the_lower_triangle_is_the_inverted_mask_and_hiding_below_the_diagonal_the_transposed_one():
    query, key, value = _inputs()
    scaled = query @ key.mT / 2
    for name, hidden in (("inverted mask", torch.ones(4, 4).tril()), ("lower triangle", torch.ones(4, 4).tril(-1))):
        other = scaled.masked_fill(hidden.bool(), -math.inf).softmax(dim=-1)
        torch.testing.assert_close(mistake(name).attend(query, key, value, causal_mask(4))[1], other, equal_nan=True)


def test_keys_that_are_not_turned_are_reshaped_keys_when_there_are_as_many_tokens_as_numbers():
    query, key, value = _inputs()
    torch.testing.assert_close(mistake("keys not transposed").attend(query, key, value, None)[1], (query @ key / 2).softmax(dim=-1))


def test_with_one_head_the_mistakes_of_several_heads_are_right():
    query, key, value = torch.randn(3, 2, 5, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    right, _ = RIGHT.multi_head(query, key, value, 1, lambda x: x, None)
    for name in ("scale by d_model", "split by view", "merge without transpose", "averaged weights"):
        torch.testing.assert_close(mistake(name).multi_head(query, key, value, 1, lambda x: x, None)[0], right)


def test_with_heads_as_many_as_they_are_wide_both_wrong_scales_are_one():
    query, key, value = torch.randn(3, 2, 5, 16, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    one, other = (mistake(name).multi_head(query, key, value, 4, lambda x: x, None) for name in ("scale by d_k", "scale by d_model"))
    torch.testing.assert_close(one, other)


def test_right_code_of_the_zoo_is_the_official_op():
    query, key, value = _inputs()
    expected = torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=causal_mask(4))
    torch.testing.assert_close(RIGHT.attend(query, key, value, causal_mask(4))[0], expected)
