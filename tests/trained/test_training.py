"""Training, much shortened: it learns, leaves global state alone, gives the same weights again, and its heads are found."""

import sys
import types

import pytest
import torch

from attention_book.trained import induction, who_is_it
from attention_book.trained.ablate import switch_each_off, without
from attention_book.trained.stories import read
from attention_book.trained.storyteller import tell, train_storyteller
from attention_book.trained.train import head_sizes, rate, train
from attention_book.trained.transformer import Transformer


@pytest.fixture(scope="module")
def copier():
    return induction.train_induction(3, steps=300)


@pytest.fixture(scope="module")
def easy():
    return who_is_it.train_who_is_it(3, mixed=False, steps=400, head_penalty=0.1)


def test_two_layers_learn_to_copy_and_both_heads_are_needed(copier):
    model, curve = copier
    ids = induction.unseen_sequences(64)
    with torch.no_grad():
        _, weights = model(ids, need_weights=True)
    assert induction.copying(model, ids)[1] > 0.95
    assert induction.induction_scores(weights, ids)[1, 0] > 0.8
    for head in [(0, 0), (1, 0)]:
        assert induction.copying(without(model, [head]), ids)[1] < 0.3
    assert [step for step, *_ in curve] == list(range(0, 301, 20))
    assert curve[0][1] > 3.5 > 1 > curve[-1][1]


def test_the_model_names_the_noun_on_pairs_that_training_never_held_and_ablation_finds_its_head(easy):
    test = who_is_it.held_out_set(3, mixed=False, count=500)
    ablations = switch_each_off(easy, lambda model: who_is_it.accuracy(model, test))
    assert ablations.whole > 0.9
    head = ablations.most_needed(1)
    assert ablations.without[head] < ablations.whole - 0.1
    look = who_is_it.looks(easy, test)
    assert look.right[head] > look.wrong[head] + 0.2
    assert who_is_it.accuracy(who_is_it.new_model(3), test) < 0.1


def test_where_a_head_looks_is_measured_at_it_and_the_noun_and_padding_gets_nothing(easy):
    test = who_is_it.held_out_set(3, mixed=False, count=40)
    look = who_is_it.looks(easy, test)
    one_by_one = []
    for each in test.sentences:
        _, probabilities, weights = who_is_it.answer(easy, each.tokens)
        one_by_one.append(weights[:, :, each.it, each.right])
        assert probabilities.sum().item() == pytest.approx(1, abs=1e-5)
    torch.testing.assert_close(look.right, torch.stack(one_by_one).mean(dim=0), rtol=0, atol=1e-5)


def test_a_storyteller_learns_grammar_first():
    model = train_storyteller(3, steps=250)
    assert sum(read(tell(model, seed=number)).grammar for number in range(20)) > 10


def test_training_leaves_the_callers_generator_alone_and_gives_the_same_weights_again():
    torch.manual_seed(5)
    before = torch.get_rng_state()
    one, again = (induction.train_induction(1, steps=15)[0] for _ in range(2))
    assert torch.equal(torch.get_rng_state(), before)
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), again.parameters(), strict=True))


def test_the_rate_rises_falls_and_ends_at_a_twentieth():
    rates = [rate(step, 1000) for step in range(1000)]
    assert rates[0] == pytest.approx(0.01)
    assert max(rates) == rates[100] == 1
    assert rates == sorted(rates[:100]) + sorted(rates[100:], reverse=True)
    assert rates[-1] == pytest.approx(0.05, abs=1e-3)


def test_the_dearness_of_heads_is_the_length_of_what_each_can_hand_over():
    model = Transformer(words=3, d_model=6, num_heads=2, num_layers=2, context_length=2, causal=False)
    expected = 0.0
    for block in model.each_block():
        for part in (slice(0, 3), slice(3, 6)):
            both = torch.cat([block.attention.W_value.weight[part].flatten(), block.attention.out_proj.weight[:, part].flatten()])
            expected += both.norm().item()
    assert head_sizes(model).item() == pytest.approx(expected, rel=1e-6)


def test_a_dear_head_that_nothing_needs_shrinks():
    model = Transformer(words=3, d_model=6, num_heads=2, num_layers=1, context_length=2, causal=False)
    size = head_sizes(model).item()
    train(model, lambda model: 0 * model(torch.tensor([[1, 2]])).sum(), steps=60, weight_decay=0.0, head_penalty=1.0)
    assert head_sizes(model).item() < 0.9 * size


@pytest.mark.parametrize("watcher", ["a terminal", "a notebook", "nobody"])
def test_who_watches_sees_training_count_up_and_nobody_else_does(watcher, capsys, monkeypatch):
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    if watcher == "a notebook":
        monkeypatch.setitem(sys.modules, "ipykernel", types.ModuleType("ipykernel"))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: watcher == "a terminal", raising=False)
    train_storyteller(0, steps=50)
    told = capsys.readouterr().err
    assert ("training: step 50 of 50" in told) is (watcher != "nobody")
