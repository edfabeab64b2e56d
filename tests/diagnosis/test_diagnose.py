"""``diagnose``: right code is accepted in any hand, each mistake is named, and nothing else is."""

import itertools
import random
import re

import numpy
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from attention_book import (
    MISTAKES,
    CausalAttention,
    MultiHeadAttention,
    MultiHeadAttentionWrapper,
    SelfAttention_v1,
    SelfAttention_v2,
    diagnose,
    scaled_dot_product_attention,
)
from attention_book.diagnosis.probes import CAUSAL, PLAIN, function_probes
from attention_book.diagnosis.projections import prepare
from attention_book.diagnosis.verdict import EXACT, NAMED_BY_NUMBERS, apart
from attention_book.mistakes import RIGHT
from tests.diagnosis import zoo

EACH = pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
IN_FUNCTIONS = [mistake for mistake in MISTAKES if mistake.attend is not RIGHT.attend or mistake.name == "averaged weights"]


def named(mistake):
    """A function of (query, key, value, mask) that makes a mistake."""

    def attention(query, key, value, mask=None):
        output, weights = mistake.attend(query, key, value, mask)
        return output, mistake.report_weights(weights)

    return attention


# Right code


@pytest.mark.parametrize("function", [*zoo.RIGHT_FUNCTIONS, scaled_dot_product_attention], ids=lambda f: f.__name__)
def test_right_functions_are_accepted(function):
    found = diagnose(function)
    assert found.ok, found
    assert found.mistake is None
    assert found.first_departure is None
    assert found.largest_difference < 1e-5
    assert str(found).startswith("Right.")


MODULES = {
    "SelfAttention_v1": lambda: SelfAttention_v1(3, 2),
    "SelfAttention_v1, square": lambda: SelfAttention_v1(4, 4),
    "SelfAttention_v2": lambda: SelfAttention_v2(3, 2, qkv_bias=True),
    "CausalAttention": lambda: CausalAttention(3, 2, 6, 0.5),
    "CausalAttention of four tokens": lambda: CausalAttention(3, 2, 4, 0.5),
    "MultiHeadAttentionWrapper": lambda: MultiHeadAttentionWrapper(3, 2, 6, 0.5, 2),
    "MultiHeadAttention": lambda: MultiHeadAttention(10, 12, 6, 0.5, 3),
    "MultiHeadAttention, fused": lambda: MultiHeadAttention(10, 12, 6, 0.5, 3, fused=True),
    "the project's": lambda: MultiHeadAttention(64, 64, 40, 0.0, 4, causal=False, out_bias=False),
    "official": lambda: nn.MultiheadAttention(12, 3),
    "official, batch first": lambda: nn.MultiheadAttention(12, 3, batch_first=True, bias=False),
    "official, wrapped": lambda: zoo.Wrapper(average_attn_weights=False),
    "packed": zoo.Packed,
    "packed by head": lambda: zoo.Packed(by_head=True),
    "matrices": zoo.Matrices,
    "matrices, transposed": lambda: zoo.Matrices(turned=True),
    "matrices, square and transposed": lambda: zoo.Matrices(turned=True, d_in=4, width=4),
    "a list of layers": zoo.Clones,
    "layers, heads guessed": lambda: zoo.ByLayers(RIGHT, declared=False),
    "layers, no last one": lambda: zoo.ByLayers(RIGHT, last=False),
    "no layers": zoo.WithoutLayers,
    "half precision": lambda: SelfAttention_v2(3, 2).half(),
}


@pytest.mark.parametrize("name", MODULES)
def test_right_modules_are_accepted(name):
    found = diagnose(MODULES[name]())
    assert found.ok, found
    assert found.largest_difference < 1e-9


def test_a_module_that_keeps_its_weights_from_an_earlier_call_is_accepted():
    module = SelfAttention_v2(3, 2)
    module.kept = module(torch.rand(4, 3), need_weights=True)[1]  # carries a gradient: deepcopy alone refuses it
    assert diagnose(module).ok


def test_a_causal_mask_of_its_own_is_told():
    assert "It hides later tokens." in diagnose(zoo.causal_by_itself).hint
    assert "hides" not in diagnose(zoo.softmaxed).hint


def test_heads_one_number_wide_are_told_because_a_missing_scale_does_not_show():
    assert "one number wide" in diagnose(MultiHeadAttention(3, 2, 6, 0.0, 2)).hint


# Masks of other kinds


@pytest.mark.parametrize("kind", [zoo.Padded, zoo.PaddedNeeded])
def test_a_padding_mask_is_not_handed_in_and_right_code_is_told_so(kind):
    found = diagnose(kind())
    assert found.ok, found
    assert "Its padding mask was not checked" in found.hint
    assert found.first_departure is None


@pytest.mark.parametrize("kind", [zoo.Padded, zoo.PaddedNeeded])
def test_a_mistake_beside_a_padding_mask_is_named(kind):
    found = diagnose(kind(scale=1.0))
    assert found.mistake == "no scale"
    assert "padding" not in found.hint


def test_a_padding_mask_beside_another_mask_leaves_the_other_one_checked():
    def attention(query, key, value, padding_mask, attn_mask):
        assert padding_mask is None
        return zoo.fused(query, key, value, attn_mask)

    assert str(diagnose(attention)) == "Right. Its padding mask was not checked: it was called without padding_mask."
    assert diagnose(lambda query, key, value, pad, allowed: attention(query, key, value, pad, ~allowed)).mistake == "inverted mask"


@pytest.mark.parametrize(("hides", "meaning"), [(True, "hidden"), (False, "may look")])
def test_a_mask_of_one_row_for_each_sample_is_tried_in_both_meanings(hides, meaning):
    found = diagnose(zoo.PaddedUnsaid(hides=hides))
    assert str(found) == f"Right. That is for a padding mask of shape (b, n) in which True means {meaning}."
    assert not diagnose(zoo.PaddedUnsaid(hides=hides, scale=1.0)).ok


@pytest.mark.parametrize("needed", [True, False])
def test_a_function_with_one_row_for_each_sample_is_accepted(needed):
    def attention(query, key, value, mask):
        scores = query @ key.mT / key.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask[:, None, None, :], -torch.inf)
        return scores.softmax(-1) @ value

    found = diagnose(attention if needed else lambda query, key, value, mask=None: attention(query, key, value, mask))
    assert found.ok, found
    assert found.hint.startswith("That is for a padding mask of shape (b, n) in which True means may look.")


ADDED = "That is for masks that are added; a boolean mask is added as 0 and 1."


@pytest.mark.parametrize("needed", [True, False])
def test_right_code_for_masks_that_are_added_is_accepted_and_told(needed):
    def attention(query, key, value, mask):
        scores = query @ key.mT / key.shape[-1] ** 0.5
        return (scores if mask is None else scores + mask).softmax(-1) @ value

    found = diagnose(attention if needed else lambda query, key, value, mask=None: attention(query, key, value, mask))
    assert found.ok, found
    assert str(found).startswith("Right, except: a query that may look at nothing gets NaN")
    assert "weights.masked_fill(mask.isneginf().all(dim=-1, keepdim=True), 0.0)" in found.hint
    assert str(found).endswith(ADDED)


def test_a_right_module_for_masks_that_are_added_is_accepted_and_told():
    found = diagnose(zoo.Added())
    assert found.ok, found
    assert str(found).endswith(ADDED)


def test_masks_that_are_added_wrongly_are_not_accepted():
    assert not diagnose(zoo.Added(scale=1.0)).ok
    assert not diagnose(lambda query, key, value, mask: (query @ key.mT / key.shape[-1] ** 0.5 - mask).softmax(-1) @ value).ok
    assert not diagnose(lambda query, key, value, mask: (query @ key.mT / key.shape[-1] ** 0.5 + mask.mT).softmax(-1) @ value).ok


def test_code_that_takes_both_kinds_is_right_for_both():
    assert str(diagnose(zoo.fused)) == "Right."


HANDED_IN = (
    "diagnose hands in masks in which True means may look; if yours means hidden, as in nn.MultiheadAttention, the code is right: see Conventions."
)


def test_an_inverted_mask_that_is_handed_in_is_told_what_true_means():
    inverted = next(mistake for mistake in MISTAKES if mistake.name == "inverted mask")
    found = diagnose(named(inverted))
    assert found.mistake == "inverted mask"
    assert HANDED_IN in found.hint
    own = diagnose(zoo.ByLayers(inverted, causal=True))
    assert own.mistake == "inverted mask"
    assert "hands in" not in own.hint  # its own mask is not handed in


# Each mistake


@pytest.mark.parametrize("mistake", IN_FUNCTIONS, ids=lambda mistake: mistake.name)
def test_each_mistake_is_named_in_a_function(mistake):
    found = diagnose(named(mistake))
    assert not found.ok
    assert found.mistake == mistake.name
    assert mistake.hint in str(found)
    assert found.first_departure is not None


@pytest.mark.parametrize("causal", [False, True], ids=["plain", "causal"])
@pytest.mark.parametrize("declared", [True, False], ids=["declared", "guessed"])
@EACH
def test_each_mistake_is_named_inside_a_module_of_several_heads(mistake, causal, declared):
    if mistake.needs == "mask" and not causal:
        assert diagnose(zoo.ByLayers(mistake, declared=declared)).ok  # nothing is hidden, so nothing is wrong
        return
    found = diagnose(zoo.ByLayers(mistake, causal=causal, declared=declared))
    assert found.mistake == mistake.name, found
    assert not found.ok


@pytest.mark.parametrize("kind", ["no scale", "softmax over queries", "mask hides itself", "lower triangle", "keys as values"])
def test_a_mistake_is_named_in_a_function_with_a_causal_mask_of_its_own(kind):
    mistake = next(mistake for mistake in MISTAKES if mistake.name == kind)

    def attention(query, key, value):
        n = query.shape[-2]
        return mistake.attend(query, key, value, torch.ones(n, n).tril().bool())[0]

    assert diagnose(attention).mistake == kind


def test_every_pair_of_mistakes_is_told_apart_by_the_hidden_inputs():
    probes = function_probes(4, True, False)
    for one, other in itertools.combinations([m for m in IN_FUNCTIONS if m in NAMED_BY_NUMBERS], 2):
        far = [(a - b).abs().nan_to_num(0.0).max().item() if a.shape == b.shape else 9.0
               for probe in probes for a, b in zip(probe.expects(PLAIN, one), probe.expects(PLAIN, other), strict=True)]  # fmt: skip
        assert max(far) > 0.01, f"{one.name} and {other.name}"


def test_no_mistake_leaves_so_many_rows_unknown_that_anything_would_fit():
    for probe, reading, mistake in itertools.product(function_probes(4, True, False), (PLAIN,), (*NAMED_BY_NUMBERS, RIGHT)):
        output, _ = probe.expects(reading, mistake)
        assert output.isnan().double().mean() < 0.5, f"{mistake.name} {probe.says}"


def test_averaged_weights_of_the_official_module_are_named():
    found = diagnose(zoo.Wrapper())
    assert found.mistake == "averaged weights"
    assert "average_attn_weights=False" in found.hint


def test_a_mistake_that_these_sizes_cannot_tell_from_another_is_named_with_the_other():
    mistake = next(mistake for mistake in MISTAKES if mistake.name == "scale by d_model")
    found = diagnose(zoo.ByLayers(mistake, width=16, heads=4))
    assert {"scale by d_k", "scale by d_model"} <= set(re.findall(r"scale by d_\w+", str(found)))


def test_dropout_is_named_however_it_is_called():
    def fresh(query, key, value):
        return nn.Dropout(0.3)(torch.softmax(query @ key.mT / key.shape[-1] ** 0.5, -1)) @ value

    def op(query, key, value):
        return F.scaled_dot_product_attention(query, key, value, dropout_p=0.1)

    for function in (fresh, op):
        assert diagnose(function).mistake == "dropout in evaluation"


def test_a_second_mistake_under_dropout_is_told_too():
    found = diagnose(lambda query, key, value: F.dropout(torch.softmax(query @ key.mT, -1)) @ value)
    assert found.mistake == "dropout in evaluation"
    assert "no scale" in found.hint


def test_the_first_axis_counted_from_the_front_is_softmax_over_queries():
    for dim in (0, 1):
        found = diagnose(lambda query, key, value, dim=dim: torch.softmax(query @ key.mT / key.shape[-1] ** 0.5, dim) @ value)
        assert found.mistake == "softmax over queries"


def test_keys_that_are_not_turned_at_all_are_named():
    found = diagnose(lambda query, key, value: torch.softmax(query @ key / key.shape[-1] ** 0.5, -1) @ value)
    assert found.mistake == "keys not transposed"
    assert "cannot be multiplied" in found.hint


# And nothing else


def test_of_ten_thousand_random_wrong_functions_none_is_named():
    # A mistake is named only if it fits every probe: here it is not to fit even two, without a mask and with a causal one.
    probes = [probe for probe in function_probes(3, True, False) if probe.reads_weights][:2]
    functions = [zoo.wrong_function(seed) for seed in range(10_000)]
    given = [torch.stack([function(*probe.tensors, probe.mask) for function in functions]) for probe in probes]
    for mistake in (RIGHT, *NAMED_BY_NUMBERS):
        fits = torch.ones(len(functions), dtype=torch.bool)
        for probe, output in zip(probes, given, strict=True):
            expected, _ = probe.expects(PLAIN, mistake)
            fits &= (((output - expected).abs() <= EXACT) | expected.isnan()).flatten(1).all(dim=1)
        assert not fits.any(), f"{mistake.name} would be said of the functions {fits.nonzero().flatten().tolist()[:9]}"
        expected, _ = probes[0].expects(CAUSAL, mistake)
        fits = (((given[0] - expected).abs() <= EXACT) | expected.isnan()).flatten(1).all(dim=1)
        assert not fits.any(), f"{mistake.name} with a causal mask would be said of {fits.nonzero().flatten().tolist()[:9]}"


@pytest.mark.parametrize("seed", range(0, 10_000, 500))
def test_a_random_wrong_function_is_told_where_it_departs(seed):
    found = diagnose(zoo.wrong_function(seed))
    assert not found.ok
    assert found.mistake is None, found
    assert found.first_departure == "weights", found
    assert re.search(r"row \d, key \d.*: \S+ where \S+ belongs", found.hint), found


# What is seen when no mistake fits


def test_the_first_departure_gives_the_number_seen_and_the_number_that_belongs_there():
    probe = function_probes(4, False, False)[0]
    belongs = probe.expects(PLAIN, RIGHT)[1][0, 0, 0, 0].item()

    def attention(query, key, value):
        weights = torch.softmax(query @ key.mT / key.shape[-1] ** 0.5, -1) * 1.5
        return weights @ value

    found = diagnose(attention)
    assert f"row 0, key 0 (counted from 0): {1.5 * belongs:.4f} where {belongs:.4f} belongs" in found.hint
    assert "sum to between 1.5000 and 1.5000, not to 1" in found.hint
    assert found.first_departure == "weights"


@pytest.mark.parametrize("far", [1e-2, 2e-4, 3e-5])
def test_numbers_that_differ_are_printed_with_as_many_digits_as_it_takes(far):
    found = diagnose(lambda q, k, v: zoo.softmaxed(q, k, v) * (1 + far))
    seen, belongs = re.search(r"(\S+) where (\S+) belongs", found.hint).groups()
    assert seen != belongs
    assert float(seen) == pytest.approx(float(belongs) * (1 + far), rel=far)
    assert len(belongs) <= 8  # and no more digits than that
    sums = re.search(r"sum to between (\S+) and (\S+), not to 1", found.hint).groups()
    assert min(abs(float(x) - 1) for x in sums) > far / 2, sums


def test_numbers_apart_keep_their_kind_and_equal_ones_stay_short():
    assert apart(0.5, 0.25) == ("0.5000", "0.2500")
    assert apart(-0.49041, -0.49044) == ("-0.49041", "-0.49044")
    assert apart(1.00001e-5, 1.00002e-5) == ("1.00001e-05", "1.00002e-05")
    assert apart(123456.0, 123457.0) == ("123456", "123457")
    assert apart(0.0, 4e-6) == ("0.0000", "4e-06")
    assert apart(float("nan"), 0.5) == ("NaN", "0.5000")
    assert apart(0.5, 0.5) == ("0.5000", "0.5000")


def _scores(query, key):
    return query @ key.mT / key.shape[-1] ** 0.5


SEEN = {
    "divided by 2.2361; the root of d_k is 2.6458": lambda q, k, v: (q @ k.mT / q.shape[-2] ** 0.5).softmax(-1) @ v,
    "the mask is not used": lambda q, k, v, mask: _scores(q, k).softmax(-1) @ v,
    "Keys that are hidden with a causal mask get weight, up to": lambda q, k, v, mask: (_scores(q, k) + 1.0 * mask).sigmoid().softmax(-1) @ v,
    "not to 1": lambda q, k, v: _scores(q, k).sigmoid() @ v,
    "none below 0": lambda q, k, v: _scores(q, k).tanh() @ v,
    "Every key gets the weight 0.2000": lambda q, k, v: (0 * _scores(q, k)).softmax(-1) @ v,
    "rows of its weights are NaN": lambda q, k, v: _scores(q, k).log().softmax(-1) @ v,
}


@pytest.mark.parametrize("words", SEEN)
def test_what_can_be_seen_is_said(words):
    found = diagnose(SEEN[words])
    assert words in found.hint, found
    assert not found.ok
    assert found.mistake is None


def test_weights_that_do_not_belong_to_the_output_are_found():
    found = diagnose(lambda q, k, v: (_scores(q, k).softmax(-1) @ v, _scores(q, k)))
    assert found.first_departure == "returned weights"


def test_a_module_that_mixes_samples_departs_in_its_output():
    found = diagnose(zoo.Wrapper(batch_first=False, average_attn_weights=False))
    assert not found.ok
    assert found.mistake is None


NORM = "It holds a norm or a residual: give diagnose the attention alone, as in diagnose(block.attention)."


@pytest.mark.parametrize("norm", [nn.LayerNorm, nn.RMSNorm, zoo.ScaleNorm])
@pytest.mark.parametrize("first", [True, False])
def test_a_block_around_the_attention_is_told_to_give_the_attention_alone(norm, first):
    found = diagnose(zoo.Block(norm, first))
    assert not found.ok
    assert found.mistake is None
    assert found.hint.endswith(NORM)
    assert "the mask is not used" not in found.hint
    assert diagnose(zoo.Block(norm, first).attention).ok


def test_a_block_with_layers_that_cannot_be_placed_is_told_too():
    found = diagnose(zoo.Block(more=5))
    assert "It has 9 layers, and 3 or 4 are expected" in found.hint
    assert found.hint.endswith(NORM)
    assert NORM not in str(diagnose(nn.Linear(4, 4)))


@pytest.mark.parametrize("norm", [nn.LayerNorm, nn.RMSNorm, zoo.ScaleNorm])
def test_the_weights_of_a_norm_stay_one(norm):
    copied = prepare(zoo.Block(norm))
    for name, parameter in copied.norm.named_parameters():
        assert set(parameter.tolist()) == {1.0 if name == "weight" else 0.0}


def test_an_output_that_does_not_depend_on_x_is_not_said_to_leave_the_mask_unused():
    found = diagnose(zoo.Zeros())
    assert not found.ok
    assert "the mask is not used" not in found.hint


# What keeps a candidate from being compared


def _changes_in_place(q, k, v):
    return q.mul_(2) @ k.mT @ v


def _changes_its_mask(q, k, v, mask):
    mask.fill_(True)
    return v


def _without_end(q, k, v):
    return _without_end(q, k, v)


def _needs_a_rate(q, k, v, dropout):
    return v


REFUSED = {
    "It takes 1 argument (x), and 3 or 4 are given": ("call", lambda x: x),
    "It takes 5 arguments (a, b, c, d, e)": ("call", lambda a, b, c, d, e: a),
    "tokens and their matrices": ("call", lambda x, W_q, W_k, W_v: x),
    "It needs dropout, which nobody can guess": ("call", _needs_a_rate),
    "It raised ZeroDivisionError: division by zero": ("call", lambda q, k, v: 1 / 0),
    "It raised SystemExit: 3": ("call", lambda q, k, v: exit(3)),
    "It calls itself without an end": ("call", _without_end),
    "It returned nothing": ("result", lambda q, k, v: None),
    "It returned a list": ("result", lambda q, k, v: [1]),
    "It returned a tuple of 3 (Tensor, Tensor, Tensor)": ("result", lambda q, k, v: (q, k, v)),
    "It returned (weights, output)": ("result", lambda q, k, v: scaled_dot_product_attention(q, k, v)[::-1]),
    "Its output is torch.int64": ("dtype", lambda q, k, v: v.long()),
    "Its output is torch.float32 where the inputs are torch.float64": ("dtype", lambda q, k, v: zoo.softmaxed(q, k, v).float()),
    "Its output has shape (5, 1) where (5, 7) belongs": ("shape", lambda q, k, v: v[..., :1]),
    "Its weights have shape (2, 3, 5, 1) where (2, 3, 5, 5) belongs": ("returned weights", lambda q, k, v: (zoo.softmaxed(q, k, v), v[..., :1])),
    "It changes its input query in place": ("inputs", _changes_in_place),
    "It changes its input mask in place": ("inputs", _changes_its_mask),
    "it depends on the random state": ("randomness", lambda q, k, v: v + torch.rand_like(v)),
    "with float32 inputs it stops: RuntimeError": ("dtype", lambda q, k, v: zoo.softmaxed(q, k, v @ torch.eye(v.shape[-1], dtype=torch.float64))),
    "Its output is torch.float64 where the inputs are torch.float32": ("dtype", lambda q, k, v: zoo.softmaxed(q, k, v).double()),
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_cannot_be_compared_is_told_in_a_sentence(words):
    step, function = REFUSED[words]
    found = diagnose(function)
    assert words in str(found)
    assert found.first_departure == step
    assert not found.ok
    assert found.mistake is None


class _Layers(nn.Module):
    def __init__(self, **layers):
        super().__init__()
        for name, layer in layers.items():
            self.add_module(name, layer)

    def forward(self, x):
        return x


REFUSED_MODULES = {
    "It has 1 layers, and 3 or 4 are expected": lambda: nn.Linear(4, 4),
    "Its queries are 4 wide but its keys 2": lambda: _Layers(query=nn.Linear(3, 4), key=nn.Linear(3, 2), value=nn.Linear(3, 4)),
    "It has 2 layers for queries, 1 for keys": lambda: _Layers(
        query=nn.ModuleList([nn.Linear(3, 4), nn.Linear(3, 4)]), key=nn.Linear(3, 4), value=nn.Linear(3, 4)
    ),
    "on the meta device": lambda: SelfAttention_v2(3, 2).to("meta"),
    "another width than its queries": lambda: nn.MultiheadAttention(12, 3, kdim=5),
}


@pytest.mark.parametrize("words", REFUSED_MODULES)
def test_a_module_that_cannot_be_read_is_told_in_a_sentence(words):
    found = diagnose(REFUSED_MODULES[words]())
    assert words in str(found)
    assert not found.ok


@pytest.mark.parametrize("candidate", [3, None, "attention", MultiHeadAttention])
def test_what_is_no_function_and_no_module_is_refused(candidate):
    with pytest.raises(TypeError, match="give an instance of it" if isinstance(candidate, type) else type(candidate).__name__):
        diagnose(candidate)


# After right numbers


def _minus_infinity(q, k, v, mask=None):
    scores = _scores(q, k)
    return (scores if mask is None else scores.masked_fill(~mask, -torch.inf)).softmax(-1) @ v


def _large_negative(q, k, v, mask=None):
    scores = _scores(q, k)
    return (scores if mask is None else scores.masked_fill(~mask, -1e9)).softmax(-1) @ v


def test_minus_infinity_alone_is_right_except_for_a_query_that_may_look_at_nothing():
    found = diagnose(_minus_infinity)
    assert found.ok
    assert found.first_departure == "empty row"
    assert found.largest_difference is None
    assert str(found).startswith("Right, except: a query that may look at nothing gets NaN, where zeros belong: ")
    assert str(found).endswith("Clear such rows after softmax: weights.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0).")


def test_a_mask_without_a_default_is_no_reason_to_see_large_scores_in_an_empty_row():
    assert str(diagnose(lambda q, k, v, mask: _minus_infinity(q, k, v, mask))).startswith("Right, except: a query that may look at nothing gets NaN")


def test_a_large_negative_number_for_minus_infinity_is_right_except_for_a_query_that_may_look_at_nothing():
    found = diagnose(_large_negative)
    assert found.ok
    assert found.mistake is None
    assert found.first_departure == "empty row"
    assert found.largest_difference > 0.1
    assert str(found).startswith("Right, except: a query that may look at nothing gets an average of what is hidden from it, where zeros belong: ")
    assert "In float16 it stops: RuntimeError: value cannot be converted to type" in found.hint
    assert "torch.finfo" not in found.hint


def test_a_large_negative_number_that_float16_holds_is_not_said_to_stop_there():
    found = diagnose(lambda q, k, v, mask: _scores(q, k).masked_fill(~mask, torch.finfo(q.dtype).min).softmax(-1) @ v)
    assert str(found).startswith("Right, except:")
    assert "float16" not in found.hint


def test_what_is_right_except_for_empty_rows_may_be_wrong_elsewhere():
    found = diagnose(lambda q, k, v, mask: _large_negative(q, k, v, mask).double())
    assert not found.ok
    assert found.first_departure == "dtype"


def test_a_module_is_right_except_too():
    class Filled(zoo.Clones):
        def forward(self, query, key, value, mask):
            b = query.size(0)
            heads = [layer(x).view(b, -1, self.h, self.d_k).transpose(1, 2) for layer, x in zip(self.linears[:3], (query, key, value), strict=True)]
            return self.linears[-1](_large_negative(*heads, mask).transpose(1, 2).flatten(-2))

    found = diagnose(Filled())
    assert str(found).startswith("Right, except: a query that may look at nothing gets an average")
    assert found.ok


def test_where_a_query_may_look_at_something_a_large_negative_number_gives_a_weight_of_exactly_zero():
    scores = torch.randn(100, 7, generator=torch.Generator().manual_seed(0)) * 30
    hidden = torch.arange(7) > 3
    assert (scores.masked_fill(hidden, -1e9).softmax(-1)[:, hidden] == 0).all()
    with pytest.raises(RuntimeError, match="without overflow"):
        scores.half().masked_fill(hidden, -1e9)


def test_exp_that_overflows_in_float32_is_told():
    def naive(q, k, v):
        exps = _scores(q, k).exp()
        return exps / exps.sum(-1, keepdim=True) @ v

    found = diagnose(naive)
    assert found.first_departure == "large scores"
    assert "exp overflows above 88" in found.hint


def test_keys_counted_by_the_queries_are_told():
    found = diagnose(lambda q, k, v: zoo.softmaxed(q, k[..., : q.shape[-2], :], v[..., : q.shape[-2], :]))
    assert found.first_departure == "other sizes"
    assert "With 5 queries of width 7, 11 keys and values of width 13" in found.hint


def test_right_code_for_one_sequence_is_right_and_told_how_to_take_batches():
    found = diagnose(lambda q, k, v: torch.softmax(q @ k.T / k.shape[-1] ** 0.5, -1) @ v)
    assert found.ok
    assert "single sequence" in found.hint
    assert "key.mT" in found.hint


def test_a_part_in_float32_is_right_and_told():
    found = diagnose(zoo.softmax_in_float32)
    assert found.ok
    assert "computed in float32" in found.hint


def test_a_mask_that_is_not_cut_to_the_tokens_is_right_and_told():
    class Uncut(SelfAttention_v2):
        def __init__(self):
            super().__init__(3, 2)
            self.register_buffer("future", torch.triu(torch.ones(6, 6), 1).bool())

        def forward(self, x):
            query, key, value = self.project(x)
            return (query @ key.mT / key.shape[-1] ** 0.5).masked_fill(self.future, -torch.inf).softmax(-1) @ value

    found = diagnose(Uncut())
    assert found.ok
    assert "mask[:n, :n]" in found.hint


# Nothing is left behind


@pytest.mark.parametrize("candidate", [_minus_infinity, zoo.softmaxed, lambda q, k, v: torch.rand(0) / 0, _without_end], ids=range(4))
@pytest.mark.parametrize("grad", [True, False])
def test_the_random_states_the_grad_mode_and_the_default_dtype_are_left_as_they_were(candidate, grad):
    torch.manual_seed(7)
    random.seed(7)
    numpy.random.seed(7)
    torch.set_default_dtype(torch.bfloat16)
    torch.set_grad_enabled(grad)
    states = torch.get_rng_state(), random.getstate(), numpy.random.get_state()[1].tolist()

    def meddles(q, k, v):
        torch.set_grad_enabled(not grad)
        torch.set_default_dtype(torch.float16)
        torch.rand(1), random.random(), numpy.random.rand()
        return candidate(q, k, v)

    diagnose(meddles)
    assert torch.equal(torch.get_rng_state(), states[0])
    assert random.getstate() == states[1]
    assert numpy.random.get_state()[1].tolist() == states[2]
    assert torch.is_grad_enabled() is grad
    assert torch.get_default_dtype() is torch.bfloat16


@pytest.mark.parametrize("training", [True, False])
def test_the_callers_module_is_left_as_it_was(training):
    module = MultiHeadAttention(10, 12, 6, 0.5, 3).train(training)
    before = {name: x.clone() for name, x in module.state_dict().items()}
    diagnose(module)
    assert module.training is training
    assert all(part.training is training for part in module.modules())
    for name, x in module.state_dict().items():
        assert torch.equal(x, before[name])
        assert x.dtype == torch.float32


def test_the_answer_does_not_depend_on_the_global_seed():
    texts = set()
    for seed in range(3):
        torch.manual_seed(seed)
        texts.add(str(diagnose(zoo.wrong_function(3))))
    assert len(texts) == 1


def test_a_candidate_runs_under_autocast_and_inference_mode_as_without():
    with torch.autocast("cpu", dtype=torch.bfloat16), torch.inference_mode():
        assert diagnose(zoo.softmaxed).ok
    assert diagnose(zoo.softmaxed).ok
