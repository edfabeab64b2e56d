"""
A head learns to copy, all at once
==================================

A model that predicts the next word sees "... seven kite ... seven", and says "kite". Two heads must work together for
that. When do they appear?
"""

import matplotlib.pyplot as plt
import torch

from attention_book.heatmaps import compare
from attention_book.trained import induction
from attention_book.trained.ablate import without
from attention_book.trained.cache import remembered
from attention_book.trained.results import committed
from attention_book.trained.train import WARM_UP

SEED = 0
test = induction.unseen_sequences()
print(test[0].tolist())

# %%
# A block of random words, here numbers, is repeated until forty places are full. Nothing can be known about the first
# round. From the second on, everything can: look for the last time this word stood here, and say what came after it.
# Each sequence has a block of its own length, or a fixed distance would do.
before = induction.new_model(SEED)
after, curve = remembered(induction.train_induction, SEED)
control, control_curve = remembered(induction.train_induction, SEED, num_layers=1, num_heads=2)

steps, loss, score, previous = zip(*curve, strict=True)
figure, (above, below) = plt.subplots(2, figsize=(6.5, 5), sharex=True, layout="constrained")
above.plot(steps, loss, color="#3d8fc4", label="two layers")
above.plot(steps, [each[1] for each in control_curve], color="#3d8fc4", linestyle="--", label="one layer")
above.set(ylabel="loss on known words", title="Loss while copying is learned")
below.plot(steps, score, color="#d1495b", label="looks after the earlier copy (layer 1)")
below.plot(steps, previous, color="#7a9a3a", label="looks at the previous token (layer 0)")
below.set(xlabel="training step", ylabel="mean weight", title="What the two heads look at meanwhile")
for ax in (above, below):
    ax.legend(frameon=False)
plt.show()

# %%
# For a while almost nothing happens. Then, within some dozens of steps, the loss falls, and in the same steps a head
# begins to look at the place after the earlier copy. The model with one layer, drawn dashed, has no such moment: it
# stays where a reader would stay who knows only which words have been there.
fall = next(step for step, wrong in zip(steps, loss, strict=True) if wrong < 1)
rise = next(step for step, weight in zip(steps, score, strict=True) if weight > 0.5)
assert loss[0] > 3.5
assert loss[-1] < 0.1
assert abs(fall - rise) <= 60
assert loss[steps.index(fall - 60)] > 2
assert control_curve[-1][1] > 1.5
print(f"loss below 1 from step {fall}, induction above one half from step {rise}")

# %%
# The two heads
# -------------
#
# Each layer has a single head here, so that there is nothing to choose. Here they read a block of nine words, twice:
with torch.no_grad():
    _, weights = after(test, need_weights=True)  # (layer, b, h, n, n)
    _, untrained = before(test, need_weights=True)
block = 9
n = 1 + 2 * block
chosen = next(number for number, ids in enumerate(test) if torch.equal(ids[1 : 1 + block], ids[1 + block : n]))
labels = [str(word) for word in test[chosen, :n].tolist()]
maps = {f"layer {layer}": weights[layer, chosen, 0, :n, :n] for layer in range(2)}
mask = torch.ones(n, n, dtype=torch.bool).tril()
compare(maps, labels, mask=mask, annotate=False, title="The two trained heads on a block of nine words, read twice")
plt.show()

# %%
# The head of layer 0 leans to the diagonal below the main one: each word looks at the one before it, though not at it
# alone. The head of layer 1 waits for the second round. Then it looks at a single place, one step after the earlier
# copy: the bright line.
second_round = torch.arange(1 + block, n)
assert (maps["layer 1"][second_round, second_round - block + 1] > 0.7).all()
found, prior = induction.induction_scores(weights, test), induction.previous_scores(weights)
untrained_found = induction.induction_scores(untrained, test).max()
untrained_prior = induction.previous_scores(untrained).max()
assert found[1, 0] > 0.9
assert prior[0, 0] > 2 * untrained_prior
assert 0.15 < prior[0, 0] < 0.7
assert untrained_found < 0.15
print(f"layer 1 after the earlier copy: {found[1, 0]:.2f}, untrained {untrained_found:.2f}")
print(f"layer 0 at the previous token:  {prior[0, 0]:.2f}, untrained {untrained_prior:.2f}")

# %%
# Why two? In layer 0 each word takes along who stood before it. Layer 1 then asks for the word that came after this
# one: "who has stood behind my like?" A single layer can compare words, but no word yet knows its neighbour.
#
# Switched off
# ------------
accuracy = {
    "both heads": induction.copying(after, test)[1],
    "without the head of layer 1": induction.copying(without(after, [(1, 0)]), test)[1],
    "without the head of layer 0": induction.copying(without(after, [(0, 0)]), test)[1],
    "one layer, two heads": induction.copying(control, test)[1],
    "untrained": induction.copying(before, test)[1],
}
for name, value in accuracy.items():
    print(f"{value:.3f}  {name}")
assert accuracy["both heads"] > 0.99
assert accuracy["without the head of layer 1"] < 0.1
assert accuracy["without the head of layer 0"] < 0.25
assert accuracy["one layer, two heads"] < 0.4

# %%
# Here looking and doing agree: both heads are needed, and without the one of layer 1 the model knows no more than an
# untrained one.
assert abs(accuracy["without the head of layer 1"] - accuracy["untrained"]) < 0.05

# %%
# Five seeds
# ----------
file = committed("induction")
rows = file["rows"]
print(f"made by: {file['command']}")
print("seed  accuracy  induction  previous  without it  without layer 0  one layer")
for each in rows:
    names = ("accuracy", "induction", "previous", "without induction head", "without previous head", "one layer")
    shown = "  ".join(f"{each[name]:{width}.2f}" for name, width in zip(names, (8, 9, 8, 10, 15, 9), strict=True))
    print(f"{each['seed']:4}  {shown}")

# %%
# All five learn it, and all five fall within a few dozen steps of one another, soon after the warm-up of the learning
# rate.
falls = [each["step of loss below 1"] for each in rows]
assert len(rows) == 5
assert all(each["accuracy"] > 0.99 and each["induction"] > 0.9 and each["one layer"] < 0.4 for each in rows)
assert all(each["without induction head"] < 0.1 and each["without previous head"] < 0.25 for each in rows)
assert max(falls) - min(falls) <= 80
assert min(falls) >= WARM_UP
assert max(falls) <= 2 * WARM_UP + 40

# %%
# A model that can copy is not yet one that can tell. Can one as small write stories, and which of its heads would
# remember whom they are about? The next script: :doc:`A small model writes stories, and one head remembers the thing
# <trained_3_left_to_right>`.
