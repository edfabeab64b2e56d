"""Attention for the tests of the bug zoo: right code in many hands, mistakes inside modules, random wrong functions."""

import math
import random
from functools import partial

import torch
from torch import nn
from torch.nn import functional as F

from attention_book import causal_mask


def softmaxed(query, key, value):
    return torch.softmax(query @ key.mT / math.sqrt(key.shape[-1]), dim=-1) @ value


def einsum(query, key, value):
    weights = torch.einsum("...id,...jd->...ij", query, key).div(query.size(-1) ** 0.5).softmax(-1)
    return torch.einsum("...ij,...je->...ie", weights, value), weights


def bmm(query, key, value):
    weights = torch.softmax(torch.bmm(query, key.transpose(1, 2)) / query.size(2) ** 0.5, dim=2)
    return torch.bmm(weights, value), weights


def loops(query, key, value):
    output = torch.zeros(len(query), value.shape[1])
    for i in range(len(query)):
        scores = torch.stack([query[i] @ key[j] / query.shape[1] ** 0.5 for j in range(len(key))])
        exps = torch.exp(scores - scores.max())
        for j in range(len(key)):
            output[i] += exps[j] / exps.sum() * value[j]
    return output


def fused(query, key, value, mask=None):
    return F.scaled_dot_product_attention(query, key, value, attn_mask=mask)


def root_as_a_float32_tensor(query, key, value):
    return torch.softmax(query @ key.mT / torch.sqrt(torch.tensor(key.shape[-1], dtype=torch.float32)), -1) @ value


def softmax_in_float32(query, key, value):
    return torch.softmax((query @ key.mT / key.shape[-1] ** 0.5).float(), -1).type_as(query) @ value


def cleared(query, key, value, mask=None):
    scores = query @ key.mT / key.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    weights = scores.softmax(dim=-1)
    if mask is not None:
        weights = weights * mask.any(dim=-1, keepdim=True)
    return weights @ value, weights


def keyword_mask(query, key, value, *, attn_mask):
    return fused(query, key, value, attn_mask)


def causal_by_itself(query, key, value):
    n = query.shape[-2]
    scores = query @ key.mT / key.shape[-1] ** 0.5
    return scores.masked_fill(torch.triu(torch.ones(n, n), 1).bool(), -torch.inf).softmax(-1) @ value


def causal_by_the_op(query, key, value):
    return F.scaled_dot_product_attention(query, key, value, is_causal=True)


RIGHT_FUNCTIONS = [
    softmaxed, einsum, bmm, loops, fused, F.scaled_dot_product_attention, root_as_a_float32_tensor, softmax_in_float32, cleared,
    keyword_mask, causal_by_itself, causal_by_the_op,
]  # fmt: skip


class ByLayers(nn.Module):
    """Three layers and a last one, with any mistake; the number of heads is declared or has to be guessed."""

    def __init__(self, mistake, *, d_in=10, width=12, heads=3, causal=False, declared=True, last=True):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(d_in, width) for _ in range(3))
        self.out_proj = nn.Linear(width, width) if last else nn.Identity()
        self.causal = causal
        if declared:
            self.num_heads = heads
        self.run = partial(mistake.multi_head, num_heads=heads)

    def forward(self, x):
        mask = causal_mask(x.shape[1]) if self.causal else None
        return self.run(self.q_proj(x), self.k_proj(x), self.v_proj(x), out_proj=self.out_proj, mask=mask)


class Packed(nn.Module):
    """One layer for all three, its rows by role ``(3, h, d)`` or by head ``(h, 3, d)``."""

    def __init__(self, by_head=False, heads=3, width=12):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.n_head, self.by_head = heads, by_head

    def forward(self, x):
        b, n, width = x.shape
        qkv = self.c_attn(x)
        if self.by_head:
            query, key, value = qkv.view(b, n, self.n_head, -1).transpose(1, 2).chunk(3, dim=-1)
        else:
            query, key, value = (part.view(b, n, self.n_head, -1).transpose(1, 2) for part in qkv.split(width, dim=2))
        context = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.c_proj(context.transpose(1, 2).contiguous().view(b, n, width))


class Matrices(nn.Module):
    """Bare parameters, ``(in, out)`` or transposed; one sequence at a time."""

    def __init__(self, turned=False, d_in=3, width=2):
        super().__init__()
        shape = (width, d_in) if turned else (d_in, width)
        self.Wq, self.Wk, self.Wv = (nn.Parameter(torch.rand(shape)) for _ in range(3))
        self.turned = turned

    def forward(self, x):
        query, key, value = (x @ (w.T if self.turned else w) for w in (self.Wq, self.Wk, self.Wv))
        return torch.softmax(query @ key.T / query.shape[-1] ** 0.5, dim=-1) @ value


class Padded(nn.Module):
    """Layers and a parameter for a padding mask, ``(b, n)``, by any name and in either meaning; each thing wrong can be had too."""

    def __init__(self, hides=True, scale=2.0):
        super().__init__()
        self.num_heads, self.hides, self.scale = 3, hides, scale
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(12, 12) for _ in range(4))

    def forward(self, x, key_padding_mask=None):
        return self.attend(x, key_padding_mask)

    def attend(self, x, mask):
        b, n, _ = x.shape
        query, key, value = (layer(x).view(b, n, self.num_heads, -1).transpose(1, 2) for layer in (self.q_proj, self.k_proj, self.v_proj))
        scores = query @ key.mT / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask[:, None, None, :] == self.hides, -torch.inf)
        return self.out_proj((scores.softmax(-1) @ value).transpose(1, 2).reshape(b, n, -1))


class PaddedUnsaid(Padded):
    """The same, where nothing but its use says that the mask is one of padding."""

    def forward(self, x, mask=None):
        return self.attend(x, mask)


class Added(Padded):
    """The same, with a mask that is added to the scores."""

    def forward(self, x, attn_mask=None):
        b, n, _ = x.shape
        query, key, value = (layer(x).view(b, n, self.num_heads, -1).transpose(1, 2) for layer in (self.q_proj, self.k_proj, self.v_proj))
        scores = query @ key.mT / self.scale
        if attn_mask is not None:
            scores = scores + attn_mask
        return self.out_proj((scores.softmax(-1) @ value).transpose(1, 2).reshape(b, n, -1))


class PaddedNeeded(Padded):
    """The same, where the padding mask has no default."""

    def forward(self, x, src_key_padding_mask):
        return self.attend(x, src_key_padding_mask)


class ScaleNorm(nn.Module):
    """A norm of one's own, with a weight and a shift."""

    def __init__(self, width):
        super().__init__()
        self.weight, self.beta = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))

    def forward(self, x):
        return x / x.norm(dim=-1, keepdim=True) * self.weight + self.beta


class Block(nn.Module):
    """Attention with a norm and a residual, before or after; with more layers if wanted."""

    def __init__(self, norm=nn.LayerNorm, first=False, more=0):
        super().__init__()
        self.attention, self.norm, self.first = Clones(), norm(12), first
        self.more = nn.ModuleList(nn.Linear(12, 12) for _ in range(more))

    def forward(self, x, mask=None):
        y = self.norm(x) if self.first else x
        y = x + self.attention(y, y, y, mask)
        return y if self.first else self.norm(y)


class Zeros(nn.Module):
    """What gives the same whatever goes in, with layers that could be attention's."""

    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(12, 12) for _ in range(3))

    def forward(self, x, mask=None):
        return torch.zeros_like(x)


class Clones(nn.Module):
    """Four layers in a list, called with query, key, value and a mask, as the Annotated Transformer has it; empty rows cleared."""

    def __init__(self, h=3, d_model=12):
        super().__init__()
        self.h, self.d_k = h, d_model // h
        self.linears = nn.ModuleList(nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, query, key, value, mask=None):
        if mask is not None:
            mask = mask.unsqueeze(1)
        b = query.size(0)
        heads = [layer(x).view(b, -1, self.h, self.d_k).transpose(1, 2) for layer, x in zip(self.linears[:3], (query, key, value), strict=True)]
        context = fused(*heads, mask)
        return self.linears[-1](context.transpose(1, 2).contiguous().view(b, -1, self.h * self.d_k))


class Wrapper(nn.Module):
    """PyTorch's module behind a forward of one argument; its weights are averaged unless told not to."""

    def __init__(self, batch_first=True, **options):
        super().__init__()
        self.attention, self.options = nn.MultiheadAttention(12, 3, batch_first=batch_first), options

    def forward(self, x):
        return self.attention(x, x, x, **self.options)


class WithoutLayers(nn.Module):
    """A module that owns no weights: a function in another dress."""

    def forward(self, query, key, value, mask=None):
        return fused(query, key, value, mask)


def away_from(rng, low, high, *places):
    """A number on a logarithmic scale, at least a hundredth of itself away from each place."""
    while True:
        x = math.exp(rng.uniform(math.log(low), math.log(high)))
        if all(abs(math.log(x / place)) > 0.01 for place in places):
            return x


def wrong_function(seed):
    """A random function of (query, key, value, mask) that is neither right nor one of the zoo's mistakes."""
    rng = random.Random(seed)
    kind = rng.choice(["scale", "activation", "power", "noise", "shuffle", "distance", "window", "fill", "axis", "mix", "residual"])
    root = 7**0.5
    divisor = away_from(rng, 0.05, 50, 1, root, 7) if kind == "scale" else rng.choice([1, root, 7, away_from(rng, 0.05, 50)])
    amount, how, order = rng.choice([-1, 1]) * away_from(rng, 1e-3, 3, 1), rng.randrange(4), rng.choice([[1, 0, 2, 4, 3], [4, 3, 2, 1, 0], [2, 3, 4, 0, 1]])
    fill, generator = -away_from(rng, 0.05, 4), torch.Generator().manual_seed(seed)
    noise = torch.randn(5, 5, generator=generator, dtype=torch.float64)

    def attention(query, key, value, mask=None):
        scores = query @ key.mT / divisor
        if kind == "distance":
            scores = -((query[..., :, None, :] - key[..., None, :, :]) ** 2).sum(-1) / divisor
        if kind == "noise":
            scores = scores + amount * noise
        if kind == "shuffle" and how < 2:
            scores = scores[..., order] if how else scores[..., order, :]
        if kind == "window":
            allowed = noise > 0.3
            scores = scores.masked_fill(~(allowed | torch.eye(5, dtype=torch.bool)), -torch.inf)
        if mask is not None:
            scores = scores.masked_fill(~mask, fill if kind == "fill" else -torch.inf)
        if kind == "activation":
            weights = [scores.sigmoid, scores.tanh, scores.relu, scores.abs][how]()
            weights = weights if mask is None else weights * mask
        elif kind == "axis":
            weights = scores.softmax(0) if how < 2 else scores.flatten(-2).softmax(-1).view_as(scores)
        else:
            weights = scores.softmax(-1)
        if kind == "power":
            weights = weights ** (1 + abs(amount))
        output = weights @ (value[..., order, :] if kind == "shuffle" and how >= 2 else value)
        if kind == "mix":
            output = (1 - amount) * output + amount * value.mean(-2, keepdim=True)
        if kind == "residual":
            output = output + amount * (value if how < 2 else query)
        if kind == "fill" and mask is None:
            output = output * (1 + amount)
        return output

    return attention
