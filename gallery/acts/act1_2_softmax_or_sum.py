"""
Dividing by the sum breaks on a negative score, softmax does not
================================================================

Scores become weights when each row sums to 1. Dividing by the sum does that in one step; why does attention take the
exponential first?
"""

import matplotlib.pyplot as plt
import torch

from attention_book import JOURNEY, simple_attention, trace

scores = trace(simple_attention, JOURNEY.embeddings).scores  # (i, j)


def share(scores):
    """Weights by plain division."""
    return scores / scores.sum(dim=-1, keepdim=True)


def bars(scores, title):
    """Both kinds of weights of one query, side by side."""
    figure, ax = plt.subplots(figsize=(6.5, 3), layout="constrained")
    place = torch.arange(len(scores)).numpy()
    ax.bar(place - 0.2, share(scores).numpy(), 0.4, label="divided by the sum", color="#e08214")
    ax.bar(place + 0.2, scores.softmax(dim=-1).numpy(), 0.4, label="softmax", color="#3d8fc4")
    ax.axhline(0, color=plt.rcParams["text.color"], linewidth=0.8)
    ax.set_xticks(place, JOURNEY.tokens)
    ax.set(xlabel="key", ylabel="weight", title=title)
    ax.legend(frameon=False)
    plt.show()


journey = scores[JOURNEY.tokens.index("journey")]  # (j,)
bars(journey, 'Weights of "journey": divided by the sum, and by softmax')

# %%
# On these six scores the two hardly differ: both sum to 1, both keep the order, and no weight moves by more than 0.02.
# Softmax is a little sharper here: its largest weight is larger.
for weights in (share(journey), journey.softmax(dim=-1)):
    assert abs(weights.sum() - 1) < 1e-6
    assert weights.argsort().tolist() == journey.argsort().tolist()
assert (share(journey) - journey.softmax(dim=-1)).abs().max() < 0.02
assert journey.softmax(dim=-1).max() > share(journey).max()

# %%
# Sharper is no law, though. The division weighs ratios, softmax weighs differences, and in this sentence softmax is the
# flatter of the two for four queries of six. Make all scores four times as large and softmax is the sharper one for all;
# the division does not notice.
sharper = scores.softmax(dim=-1).amax(dim=-1) > share(scores).amax(dim=-1)  # (i,)
assert sharper.sum() == 2
assert ((4 * scores).softmax(dim=-1).amax(dim=-1) > share(4 * scores).amax(dim=-1)).all()
assert torch.allclose(share(4 * scores), share(scores))
print("softmax is sharper for:", ", ".join(t for t, s in zip(JOURNEY.tokens, sharper.tolist(), strict=True) if s))

# %%
# A negative score
# ----------------
#
# All scores of this example happen to be positive, but nothing keeps a score above 0. Take 1 from each, which changes no
# difference between them:
assert (scores > 0).all()
bars(journey - 1, 'Weights of "journey" when every score is 1 less')

# %%
# Softmax gives what it gave before. The division still sums to 1, yet three of its weights are negative and two are above
# 0.8: that is no average any more. And where the scores sum to 0, it has nothing to divide by.
assert torch.allclose((journey - 1).softmax(dim=-1), journey.softmax(dim=-1))
assert abs(share(journey - 1).sum() - 1) < 1e-5
assert (share(journey - 1) < 0).sum() == 3
assert (share(journey - 1) > 0.8).sum() == 2
assert share(torch.tensor([1.0, -1.0])).isinf().all()
print("divided by the sum:", share(journey - 1))
print("softmax:           ", (journey - 1).softmax(dim=-1))

# %%
# A large score
# -------------
#
# The exponential has its own limit. Written as the formula says, it overflows, and infinity divided by infinity is not a
# number. PyTorch takes the largest score from all of them first; as above, that changes no weight.
large = torch.tensor([1000.0, 999.0])
naive = large.exp() / large.exp().sum()
assert large.exp().isinf().all()
assert naive.isnan().all()
assert torch.allclose(large.softmax(dim=-1), torch.tensor([1.0, 0.0]).softmax(dim=-1))
print("as written:", naive)
print("by torch:  ", large.softmax(dim=-1))

# %%
# So far a token has one vector for everything: it asks with it, is asked by it, and hands it over. Must one vector do
# all three? The next script: :doc:`Query, key and value are three views of one token <act2_1_three_views>`.
