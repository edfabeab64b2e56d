"""The small transformer computes what this book's attention computes, and leaves the caller's things alone."""

import pytest
import torch
from torch import nn

from attention_book import scaled_dot_product_attention
from attention_book.masks import causal_mask
from attention_book.trained.ablate import all_heads, switch_each_off, switch_off_in_turn, without
from attention_book.trained.generate import next_scores, write
from attention_book.trained.induction import answers, induction_scores, new_model, previous_scores, unseen_sequences
from attention_book.trained.transformer import Transformer


def small(causal=True, mlp=0, seed=0):
    return Transformer(words=13, d_model=12, num_heads=3, num_layers=2, context_length=7, causal=causal, mlp=mlp, seed=seed)


IDS = torch.tensor([[1, 5, 2, 11, 7], [3, 3, 12, 0, 6]])


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("mlp", [0, 10])
def test_the_model_is_embedding_blocks_and_unembedding_around_the_books_attention(causal, mlp):
    model = small(causal, mlp).double()
    x = model.embedding.weight[IDS] + model.positions.weight[:5]
    for block in model.each_block():
        r = block.norm(x)
        query, key, value = block.attention.project(r)
        found, _ = scaled_dot_product_attention(query, key, value, mask=causal_mask(5) if causal else None)
        x = x + found.transpose(1, 2).flatten(2) @ block.attention.out_proj.weight.T
        if mlp:
            norm, widen, _, narrow = block.mlp
            x = x + narrow(nn.functional.gelu(widen(norm(x))))
    torch.testing.assert_close(model(IDS), model.norm(x) @ model.unembedding.weight.T)
    scores, weights = model(IDS, need_weights=True)
    torch.testing.assert_close(scores, model(IDS))
    assert weights.shape == (2, 2, 3, 5, 5)


def test_a_model_is_drawn_from_its_seed_and_the_callers_generator_stays_where_it_was():
    torch.manual_seed(5)
    before = torch.get_rng_state()
    one, same, other = small(seed=3), small(seed=3), small(seed=4)
    assert torch.equal(torch.get_rng_state(), before)
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), same.parameters(), strict=True))
    assert not torch.equal(one.embedding.weight, other.embedding.weight)


def test_a_head_that_is_switched_off_hands_over_nothing_and_the_model_itself_is_unchanged():
    model = small().double()
    state = {name: value.clone() for name, value in model.state_dict().items()}
    changed = without(model, [(1, 2)])
    assert all(torch.equal(value, state[name]) for name, value in model.state_dict().items())
    block = list(model.each_block())[1]
    x, _ = next(iter(model.each_block()))(model.embed(IDS))
    query, key, value = block.attention.project(block.norm(x))
    value[:, 2] = 0  # the same, at the other end of the head
    found, _ = scaled_dot_product_attention(query, key, value, mask=causal_mask(5))
    expected = model.unembedding(model.norm(x + block.attention.merge(found)))
    torch.testing.assert_close(changed(IDS), expected)


def test_a_head_that_is_not_there_cannot_be_switched_off():
    with pytest.raises(ValueError, match="no head 3 in layer 1; the model has 2 layers of 3 heads"):
        without(small(), [(1, 3)])


def test_switching_off_finds_the_one_head_that_a_measure_rests_on():
    model = small()
    with torch.no_grad():
        for layer, block in enumerate(model.each_block()):
            for head in range(3):
                if (layer, head) != (1, 1):
                    block.attention.out_proj.weight[:, 4 * head : 4 * head + 4] *= 1e-3
    whole = model(IDS)

    def likeness(changed):
        return -(changed(IDS) - whole).abs().max().item()

    found = switch_each_off(model, likeness)
    assert found.most_needed(1) == (1, 1)
    assert found.whole == 0
    assert found.without.shape == (2, 3)
    assert [head for head, _ in switch_off_in_turn(model, likeness, layer=1)][0] == (1, 1)
    assert len(all_heads(model)) == 6


def test_a_head_built_by_hand_to_look_after_the_last_copy_scores_one_and_no_other_does():
    ids = unseen_sequences(5)
    where = answers(ids).double()
    none = where.sum(dim=-1, keepdim=True) == 0
    weights = torch.where(none, torch.eye(40).double(), where / where.sum(dim=-1, keepdim=True).clamp(min=1))
    assert induction_scores(weights[None, :, None], ids).item() == pytest.approx(1)
    back = torch.zeros(1, 5, 1, 40, 40)
    back[..., torch.arange(1, 40), torch.arange(39)] = 1
    assert previous_scores(back).item() == 1
    assert induction_scores(back, ids).item() < 0.1
    assert previous_scores(weights[None, :, None]).item() < 0.1


def test_the_answers_are_the_places_right_after_earlier_copies_and_never_the_future():
    found = answers(torch.tensor([[0, 7, 5, 7, 5, 7]]))[0]
    expected = torch.zeros(6, 6, dtype=torch.bool)
    for query, key in [(3, 2), (4, 3), (5, 2), (5, 4)]:
        expected[query, key] = True
    assert torch.equal(found, expected)


@pytest.mark.parametrize("mlp", [0, 10])
def test_kept_keys_and_values_give_the_words_scores_and_weights_of_computing_all_again(mlp):
    model = small(mlp=mlp).double()
    begin = torch.tensor([4, 9])
    for temperature in (0.0, 1.5):
        kept, again = (write(model, begin, 5, keep=keep, temperature=temperature, seed=2) for keep in (True, False))
        assert torch.equal(kept.ids, again.ids)
        assert len(kept.ids) == 7
        torch.testing.assert_close(kept.scores, again.scores)
        for one, other in zip(kept.rows, again.rows, strict=True):
            torch.testing.assert_close(one, other)
    scores, weights = model(kept.ids[None, :-1], need_weights=True)
    torch.testing.assert_close(kept.scores, scores[0, 1:])
    torch.testing.assert_close(kept.rows[-1], weights[:, 0, :, -1])
    assert torch.equal(begin, torch.tensor([4, 9]))


def test_writing_draws_from_its_own_generator_and_stops_where_told():
    torch.manual_seed(5)
    before = torch.get_rng_state()
    free = write(small(), torch.tensor([4]), 6, keep=True, temperature=2.0, seed=1)
    assert torch.equal(torch.get_rng_state(), before)
    stop = int(free.ids[3])
    first = free.ids[1:].tolist().index(stop) + 2
    assert write(small(), torch.tensor([4]), 6, keep=True, temperature=2.0, seed=1, stop=stop).ids.tolist() == free.ids[:first].tolist()


def test_more_words_than_there_is_room_for_and_two_after_kept_ones_are_refused():
    with pytest.raises(ValueError, match="3 words and 5 new ones make 8, but the model has room for 7"):
        write(small(), torch.tensor([1, 2, 3]), 5, keep=True)
    _, _, kept = next_scores(small(), torch.tensor([[1, 2]]))
    with pytest.raises(ValueError, match="2 new words follow kept ones"):
        next_scores(small(), torch.tensor([[1, 2]]), kept)


def test_the_untrained_induction_model_looks_at_nothing_in_particular():
    ids = unseen_sequences(64)
    _, weights = new_model(0)(ids, need_weights=True)
    assert induction_scores(weights, ids).max() < 0.15


def test_too_many_words_are_refused_with_both_numbers():
    with pytest.raises(ValueError, match="reach position 8, but the model has room for 7"):
        small()(torch.zeros(1, 8, dtype=torch.long))
    with pytest.raises(ValueError, match="reach position 9, but the model has room for 7"):
        small().embed(torch.zeros(1, 2, dtype=torch.long), start=7)
