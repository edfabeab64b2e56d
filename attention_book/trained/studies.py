"""The same experiment from several seeds: what a page says must hold for all of them, not for the prettiest.

Each function trains from one seed and returns the row of a table.
"""

from typing import Any

import torch

from attention_book.trained import induction as ind
from attention_book.trained import storyteller as tell
from attention_book.trained import who_is_it as who
from attention_book.trained.ablate import all_heads, switch_each_off, without
from attention_book.trained.cache import remembered
from attention_book.trained.stories import read, stories

Row = dict[str, Any]
TIRED, SOFT = ("the cat sat on the mat because it was tired".split(), "the cat sat on the mat because it was soft".split())


def who_is_it(seed: int) -> Row:
    """Accuracy with and without heads, where they look, and two controls with one layer."""
    test = who.held_out_set(seed)
    model = remembered(who.train_who_is_it, seed)
    ablations = switch_each_off(model, lambda changed: who.accuracy(changed, test))
    layer, head = ablations.most_needed(1)
    look, before = who.looks(model, test), who.looks(who.new_model(seed), test)
    one_layer = {"num_layers": 1, "head_penalty": 0.0}
    mixed = remembered(who.train_who_is_it, seed, **one_layer)
    easy_test = who.held_out_set(seed, mixed=False)
    easy = remembered(who.train_who_is_it, seed, **one_layer, mixed=False, steps=800)
    return {
        "seed": seed,
        "accuracy": ablations.whole,
        "head": head,
        "right": look.right[layer, head].item(),
        "wrong": look.wrong[layer, head].item(),
        "pick": look.pick[layer, head].item(),
        "without it": ablations.without[layer, head].item(),
        "least of the others": ablations.without[layer, [h for h in range(4) if h != head]].min().item(),
        "without layer 0": who.accuracy(without(model, [each for each in all_heads(model) if each[0] == 0]), test),
        "without layer 1": who.accuracy(without(model, [each for each in all_heads(model) if each[0] == 1]), test),
        "looks as well": ((look.right[1] > 0.5).sum() - (look.right[layer, head] > 0.5).int()).item(),
        "tired": who.answer(model, TIRED)[0],
        "soft": who.answer(model, SOFT)[0],
        "untrained accuracy": who.accuracy(who.new_model(seed), test),
        "untrained right": before.right.max().item(),
        "untrained apart": (before.right - before.wrong).abs().max().item(),
        "one layer": who.accuracy(mixed, test),
        "one layer, easy": who.accuracy(easy, easy_test),
        "one layer, easy, pick": who.looks(easy, easy_test).pick.max().item(),
    }


def induction(seed: int) -> Row:
    """Copying with and without each head, both scores, and the control with one layer."""
    ids = ind.unseen_sequences()
    model, curve = remembered(ind.train_induction, seed)
    control, _ = remembered(ind.train_induction, seed, num_layers=1, num_heads=2)
    with torch.no_grad():
        _, weights = model(ids, need_weights=True)
        _, untrained = ind.new_model(seed)(ids, need_weights=True)
        _, lone = control(ids, need_weights=True)
    loss, accuracy = ind.copying(model, ids)
    return {
        "seed": seed,
        "loss": loss,
        "accuracy": accuracy,
        "induction": ind.induction_scores(weights, ids)[1].max().item(),
        "previous": ind.previous_scores(weights)[0].max().item(),
        "untrained induction": ind.induction_scores(untrained, ids).max().item(),
        "untrained previous": ind.previous_scores(untrained).max().item(),
        "without induction head": ind.copying(without(model, [(1, 0)]), ids)[1],
        "without previous head": ind.copying(without(model, [(0, 0)]), ids)[1],
        "step of loss below 1": next(step for step, loss, *_ in curve if loss < 1),
        "step of induction above half": next(step for step, _, score, _ in curve if score > 0.5),
        "one layer": ind.copying(control, ids)[1],
        "one layer loss": ind.copying(control, ids)[0],
        "one layer induction": ind.induction_scores(lone, ids).max().item(),
    }


def storyteller(seed: int) -> Row:
    """How many of 100 stories hold together, and the head that remembers the thing."""
    model = remembered(tell.train_storyteller, seed)
    told = [tell.tell(model, seed=number) for number in range(100)]
    verdicts = [read(each) for each in told]
    unseen = tell.unseen_stories(150, seed)
    ablations = switch_each_off(model, lambda changed: tell.thing_accuracy(changed, unseen))
    layer, head = divmod(int(ablations.without.argmin()), ablations.without.shape[1])
    known = {tuple(each) for each in stories(tell.STORIES, seed=seed + 1000)}
    return {
        "seed": seed,
        "grammar": sum(each.grammar for each in verdicts) / 100,
        "gender": sum(each.gender for each in verdicts) / 100,
        "memory": sum(each.memory for each in verdicts) / 100,
        "whole": sum(each.whole for each in verdicts) / 100,
        "copied": sum(tuple(each) in known for each in told),
        "layer": layer,
        "head": head,
        "thing": ablations.whole,
        "without it": ablations.without[layer, head].item(),
        "looks": tell.thing_looks(model, unseen)[layer, head].item(),
    }


STUDIES = {"who_is_it": who_is_it, "induction": induction, "storyteller": storyteller}
