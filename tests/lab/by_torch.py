"""What torch and the library give for the jobs that the lab's engine does: the oracle."""

import math
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attention_book import (
    JOURNEY,
    CausalAttention,
    MultiHeadAttention,
    MultiHeadAttentionWrapper,
    SelfAttention_v1,
    SelfAttention_v2,
    Trace,
    causal_mask,
    simple_attention,
    trace,
)
from attention_book.functional import hide, masked_softmax

ATTENTIONS = ("simple", "SelfAttention_v1", "SelfAttention_v2", "CausalAttention", "MultiHeadAttentionWrapper", "MultiHeadAttention")
STEPS = ("query", "key", "value", "scores", "scaled", "masked", "weights", "output")

DRAWS = {
    "rand": lambda *shape: torch.rand(shape),
    "randn": lambda *shape: torch.randn(shape),
    "uniform": lambda count, low, high: torch.empty(count).uniform_(low, high),
    "normal": lambda count, mean, std: torch.empty(count).normal_(mean, std),
    "embedding": lambda rows, width: nn.Embedding(rows, width).weight,
    "linear": lambda i, o, bias: dict(nn.Linear(i, o, bias=bias).named_parameters()),
    "dropout": lambda values, p: F.dropout(torch.tensor(values), p),
    "mha": lambda width, heads: _multihead(nn.MultiheadAttention(width, heads)),
    "bernoulli_": lambda count, p: torch.empty(count).bernoulli_(p),
    "bernoulli_tensor": lambda count, p: torch.bernoulli(torch.full((count,), p)),
    "exponential": lambda count, rate: torch.empty(count).exponential_(rate),
    "randint": lambda low, high, count: torch.randint(low, high, (count,)),
    "randperm": lambda n: torch.randperm(n),
    "multinomial": lambda p, count: torch.multinomial(torch.tensor(p), count),
}


def _multihead(module: nn.MultiheadAttention) -> dict[str, Tensor]:
    return {name: parameter for name, parameter in module.named_parameters() if name != "in_proj_bias"}


def draws_with_avx2() -> bool:
    """Whether torch here draws the very bits that the lab draws; without AVX2 some last bits differ."""
    return "AVX" in torch.backends.cpu.get_cpu_capability()


def drawn(seed: int, ops: list[list[Any]]) -> list[Any]:
    """What one seed gives, op by op: a tensor, or several by their names."""
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(seed)
        return [DRAWS[name](*rest) for name, *rest in ops]


def reference(settings: dict[str, Any], taken: dict[str, Tensor] | None = None) -> tuple[dict[str, Tensor], Trace]:
    """What was drawn (``x`` and the parameters), and every step.

    ``taken`` stands in for what torch draws itself.
    """
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(int(settings["seed"]))
        journey = settings["example"] == "journey"
        tokens = JOURNEY.tokens if journey else tuple(settings["tokens"])
        x = JOURNEY.embeddings if journey else torch.randn(len(tokens), settings["d_model"])
        attention = _module(settings, x)
        parameters = dict(attention.state_dict()) if isinstance(attention, nn.Module) else {}
        own = {"x": x.clone(), **{name: parameter.clone() for name, parameter in parameters.items()}}
        if taken is not None:
            x = taken["x"]
            for name, parameter in parameters.items():
                parameter.copy_(taken[name])
        width = trace(attention, x).query.shape[-1]
        scale = (1 / math.sqrt(width) if settings["scale"] else 1) / settings["temperature"]
        return own, _masked(trace(attention, x, tokens=tokens, scale=scale), attention, settings["causal"])


def _module(settings: dict[str, Any], x: Tensor) -> Any:
    n, d_in = x.shape
    journey = settings["example"] == "journey"
    d_out, heads = settings["d_out"] if journey else d_in, settings["heads"]
    return {
        "simple": lambda: simple_attention,
        "SelfAttention_v1": lambda: SelfAttention_v1(d_in, d_out),
        "SelfAttention_v2": lambda: SelfAttention_v2(d_in, d_out),
        "CausalAttention": lambda: CausalAttention(d_in, d_out, n, 0.0),
        "MultiHeadAttentionWrapper": lambda: MultiHeadAttentionWrapper(d_in, d_out, n, 0.0, heads),
        "MultiHeadAttention": lambda: MultiHeadAttention(d_in, d_out, n, 0.0, heads, causal=settings["causal"], out_bias=journey),
    }[settings["attention"]]()


def _masked(steps: Trace, attention: Any, causal: bool) -> Trace:
    """The lab switches the mask of every attention on and off; the classes each know one of the two."""
    if steps.masked.isneginf().any() == (causal and steps.masked.shape[-1] > 1):
        return steps
    allowed = causal_mask(steps.scores.shape[-1]) if causal else None
    weights = masked_softmax(steps.scaled, allowed)
    context = weights @ steps.value
    output = attention.merge(context) if hasattr(attention, "merge") else context
    return replace(steps, masked=hide(steps.scaled, allowed), weights=weights, output=output)


def tolerances(steps: Trace, each: float) -> dict[str, float]:
    """How far float32 may lead from one step to the next, when ``each`` number of size 1 may be that far off.

    A score of 1000 has its last digit at 6e-5, and what softmax makes of it shows that; a score of 1 has not.
    """
    largest = {name: max(1.0, getattr(steps, name).nan_to_num(neginf=0.0).abs().max().item()) for name in STEPS}
    score, scaled = each * largest["scores"], each * max(1.0, largest["scores"] * steps.scale)
    allowed = {name: each * largest[name] for name in ("query", "key", "value")}
    return {**allowed, "scores": score, "scaled": scaled, "masked": scaled, "weights": scaled, "output": scaled * largest["value"]}
