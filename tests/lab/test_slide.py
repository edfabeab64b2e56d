"""The slide of d_k: its bars and its curves are torch's at every width."""

import math

import pytest
import torch

from tests.lab.by_torch import draws_with_avx2

SEEDS = ["0", "123", "42", "-7", "18446744073709551615"]


def drawn(seed):
    """The two draws of the slide."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(seed))
        return torch.randn(16, 1024), torch.randn(16, 1024)


# Without AVX2 torch draws other last bits, up to 3e-6 a number; sums of 1024 products of such numbers may then be off by some 1e-4.
def near():
    return 1e-11 if draws_with_avx2() else 2e-3


@pytest.mark.parametrize("seed", SEEDS)
def test_the_curves_are_those_of_torch_at_all_1024_widths(ask, seed):
    query, key = drawn(seed)
    curves = ask("curves", [seed])[0]
    scores = (query.double()[:, None] * key.double()[None]).cumsum(dim=-1).permute(2, 0, 1)  # (d, i, j)
    theory = torch.tensor([math.sqrt(d) for d in range(1, 1025)], dtype=torch.float64)  # torch's own root is off by a last bit at times
    for name, values in (("unscaled", scores), ("scaled", scores / theory[:, None, None])):
        weights = values.softmax(dim=-1)
        entropy = torch.special.entr(weights).sum(dim=-1).mean(dim=-1)
        assert torch.allclose(torch.tensor(curves["largest"][name], dtype=torch.float64), weights.max(dim=-1).values.mean(dim=-1), rtol=0, atol=near())
        assert torch.allclose(torch.tensor(curves["entropy"][name], dtype=torch.float64), entropy, rtol=0, atol=near())
    assert torch.allclose(torch.tensor(curves["spread"], dtype=torch.float64), scores.flatten(1).std(dim=-1), rtol=0, atol=near())
    assert curves["theory"] == theory.tolist()


@pytest.mark.parametrize("seed", SEEDS)
def test_the_bars_are_those_of_torch(ask, seed):
    query, key = drawn(seed)
    places = [(d, row) for d in (1, 2, 3, 16, 64, 333, 1024) for row in (0, 7, 15)]
    for (d, row), told in zip(places, ask("bars", [{"seed": seed, "d": d, "row": row} for d, row in places]), strict=True):
        scores = query[row, :d] @ key[:, :d].T  # float32, as a reader would write it
        size = max(1.0, scores.abs().max().item())
        assert torch.allclose(torch.tensor(told["scores"]), scores, rtol=0, atol=max(near(), 5e-6 * size))
        assert torch.allclose(torch.tensor(told["unscaled"]), scores.softmax(dim=-1), rtol=0, atol=max(near(), 5e-6 * size))
        assert torch.allclose(torch.tensor(told["scaled"]), (scores / d**0.5).softmax(dim=-1), rtol=0, atol=max(near(), 5e-6))


def test_the_spike_forms_and_the_scaled_softmax_stays(ask):
    for curves in ask("curves", SEEDS):
        largest, entropy = curves["largest"], curves["entropy"]
        assert largest["unscaled"][1023] > 0.9 > 0.5 > largest["scaled"][1023]
        assert entropy["unscaled"][1023] < 0.3
        assert math.log(16) - 0.6 < entropy["scaled"][1023] < math.log(16)
        assert all(0.8 < measured / theory < 1.2 for measured, theory in zip(curves["spread"][63:], curves["theory"][63:], strict=True))
        assert largest["unscaled"][0] == largest["scaled"][0]  # at d_k = 1 both are one
