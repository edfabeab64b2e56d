"""Attention once more, in float64 loops that share no code with the library: what its tests compare with."""

import itertools
import math

import torch

#: How far a result may lie from these loops: a few steps of the dtype at numbers of about 1.
TOLERANCE = {torch.float64: 1e-12, torch.float32: 2e-6, torch.float16: 4e-3, torch.bfloat16: 3e-2}


def spread(*shape, phase=0.0, dtype=torch.float64):
    """Numbers between -1 and 1 that differ from place to place, the same on every machine: nothing is drawn."""
    n = torch.arange(math.prod(shape), dtype=torch.float64)
    return torch.sin(0.7 * n * n + 2.3 * n + phase).reshape(shape).to(dtype)


def softmax(scores, allowed):
    """One row of weights over the keys that are allowed; zeros if none is."""
    highest = max((score for score, seen in zip(scores, allowed, strict=True) if seen), default=0.0)
    parts = [math.exp(score - highest) if seen else 0.0 for score, seen in zip(scores, allowed, strict=True)]
    total = sum(parts)
    return [part / total if total else 0.0 for part in parts]


def attention(query, key, value, *, allowed=None, bias=None, scale=None):
    """Output and weights for any batch axes; ``allowed`` and ``bias`` are laid over the scores as torch would."""
    batch = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    i, d, j, e = *query.shape[-2:], *value.shape[-2:]
    scale = 1 / math.sqrt(d) if scale is None else scale
    allowed = torch.ones(i, j, dtype=torch.bool) if allowed is None else allowed
    bias = torch.zeros(i, j) if bias is None else bias
    query, key, value = (x.detach().double().expand(*batch, *x.shape[-2:]) for x in (query, key, value))
    allowed, bias = (x.detach().expand(*batch, i, j) for x in (allowed, bias.double()))
    output, weights = torch.zeros(*batch, i, e).double(), torch.zeros(*batch, i, j).double()
    for at in itertools.product(*map(range, batch)):
        q, k, v = query[at].tolist(), key[at].tolist(), value[at].tolist()
        may, plus = allowed[at].tolist(), bias[at].tolist()
        for row in range(i):
            scores = [dot(q[row], k[col]) * scale + plus[row][col] for col in range(j)]
            share = softmax(scores, may[row])
            weights[at][row] = torch.tensor(share, dtype=torch.float64)
            context = [dot(share, [v[col][c] for col in range(j)]) for c in range(e)]
            output[at][row] = torch.tensor(context, dtype=torch.float64)
    return output, weights


def dot(a, b):
    """Term by term, then the sum."""
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def linear(x, weight, bias=None):
    """One sample ``(n, d_in)`` through a layer that stores ``(d_out, d_in)``."""
    bias = [0.0] * len(weight) if bias is None else bias.tolist()
    rows = [[dot(row, w) + b for w, b in zip(weight.tolist(), bias, strict=True)] for row in x.tolist()]
    return torch.tensor(rows, dtype=torch.float64).reshape(len(x), len(weight))


def module(attention_module, x, *, causal, allowed=None, bias=None):
    """What one of the book's modules must return for ``x``: output, and weights per head where it has heads.

    ``allowed`` and ``bias`` have the shape of the weights, or lie over it as torch would lay them.
    """
    state = {name: weight.detach().double() for name, weight in attention_module.state_dict().items()}
    x = x.detach().double()
    if x.dim() == 3:
        rank = 4 if "out_proj.weight" in state or "heads.0.W_query.weight" in state else 3

        def of(sample, mask):
            return mask if mask is None or mask.dim() < rank else mask[sample if len(mask) > 1 else 0]

        each = [_sample(state, attention_module, x[s], causal, of(s, allowed), of(s, bias)) for s in range(len(x))]
        return torch.stack([o for o, _ in each]), torch.stack([w for _, w in each])
    return _sample(state, attention_module, x, causal, allowed, bias)


def _sample(state, attention_module, x, causal, allowed, bias):
    n = len(x)
    seen = torch.ones(n, n, dtype=torch.bool) if allowed is None else allowed
    if causal:
        seen = seen & torch.tensor([[col <= row for col in range(n)] for row in range(n)], dtype=torch.bool)
    if "W_query" in state:  # stored (d_in, d_out)
        return attention(*(linear(x, state[f"W_{name}"].T) for name in ("query", "key", "value")))
    if "heads.0.W_query.weight" in state:
        heads = [_project(state, x, f"heads.{h}.") for h in range(len(attention_module.heads))]
        found = [attention(*head, allowed=_of_head(seen, h), bias=_of_head(bias, h)) for h, head in enumerate(heads)]
        return torch.cat([o for o, _ in found], dim=1), torch.stack([w for _, w in found])
    query, key, value = _project(state, x, "")
    if "out_proj.weight" not in state:
        return attention(query, key, value, allowed=seen, bias=bias)
    width = query.shape[1] // attention_module.num_heads
    found = []
    for h in range(attention_module.num_heads):
        columns = slice(h * width, (h + 1) * width)
        found.append(attention(query[:, columns], key[:, columns], value[:, columns], allowed=_of_head(seen, h), bias=_of_head(bias, h)))
    joined = torch.cat([o for o, _ in found], dim=1)
    return linear(joined, state["out_proj.weight"], state.get("out_proj.bias")), torch.stack([w for _, w in found])


def _project(state, x, prefix):
    return [linear(x, state[f"{prefix}W_{name}.weight"], state.get(f"{prefix}W_{name}.bias")) for name in ("query", "key", "value")]


def _of_head(mask, h):
    return mask if mask is None or mask.dim() == 2 else mask[h if len(mask) > 1 else 0]
