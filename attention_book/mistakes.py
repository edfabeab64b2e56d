"""The bug zoo: the classic mistakes of attention code, each in one small function, with its cause and its cure.

A mistake replaces one step of multi-head attention: how queries meet keys (``attend``), how tokens are cut into heads
(``split``), how heads are joined (``merge``), what comes last (``finish``), or what is reported (``report_weights``). All
other steps stay right. Each entry names the public report of somebody who lost hours to it.

Some code looks different and gives the same numbers, whatever goes in; no test can tell it apart, so it shares an entry,
under ``also``. And some mistakes only show where sizes allow it:

- with one head, ``scale by d_model``, ``split by view``, ``merge without transpose`` and ``averaged weights`` are right;
- with heads one number wide, ``no scale`` and ``scale by d_k`` are right, because the root of 1 is 1;
- with as many heads as each is wide (4 heads of 4), ``scale by d_k`` and ``scale by d_model`` are one: the root of 4 * 4 is 4;
- without a mask, the six mistakes that need one are right.

A query that may look at nothing gives NaN in a mistake, as the plain code does that commits it.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor

from attention_book.examples import JOURNEY
from attention_book.functional import hide, masked_softmax
from attention_book.masks import causal_mask

Pair: TypeAlias = tuple[Tensor, Tensor]
Attend: TypeAlias = Callable[[Tensor, Tensor, Tensor, Tensor | None], Pair]


def right_attend(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Pair:
    weights = masked_softmax(query @ key.mT / math.sqrt(query.shape[-1]), mask)
    return weights @ value, weights


def right_split(x: Tensor, num_heads: int) -> Tensor:
    b, n, d_model = x.shape
    return x.view(b, n, num_heads, d_model // num_heads).transpose(1, 2)  # (b, h, n, d)


def right_merge(heads: Tensor) -> Tensor:
    b, h, n, d = heads.shape
    return heads.transpose(1, 2).reshape(b, n, h * d)


def right_finish(merged: Tensor, out_proj: Callable[[Tensor], Tensor]) -> Tensor:
    return out_proj(merged)


def right_report(weights: Tensor) -> Tensor:
    return weights


@dataclass(frozen=True, eq=False)
class Mistake:
    """One way to get attention wrong.

    Attributes:
        name: a short name, as ``diagnose`` says it.
        title: what is wrong, in a sentence.
        cause: where it comes from.
        hint: what to change.
        report: the address of a public report of this kind.
        also: other code that gives the same numbers, whatever goes in.
        needs: what it takes to see it: ``"mask"``, ``"heads"`` (two or more), or nothing.
        attend: how queries meet keys and values.
        split: how tokens are cut into heads.
        merge: how heads are joined.
        finish: what comes last.
        report_weights: which weights are returned. These five are right unless this is the wrong one.
    """

    name: str
    title: str
    cause: str
    hint: str
    report: str
    also: str = ""
    needs: str = ""
    attend: Attend = right_attend
    split: Callable[[Tensor, int], Tensor] = right_split
    merge: Callable[[Tensor], Tensor] = right_merge
    finish: Callable[[Tensor, Callable[[Tensor], Tensor]], Tensor] = right_finish
    report_weights: Callable[[Tensor], Tensor] = right_report

    def multi_head(
        self, query: Tensor, key: Tensor, value: Tensor, num_heads: int, out_proj: Callable[[Tensor], Tensor], mask: Tensor | None
    ) -> Pair:
        """The mistake inside a multi-head module: projected tokens ``(b, n, h * d)`` in, output ``(b, n, h * d)`` and weights out."""
        heads, weights = self.attend(self.split(query, num_heads), self.split(key, num_heads), self.split(value, num_heads), mask)
        return self.finish(self.merge(heads), out_proj), self.report_weights(weights)


def plain(scaled: Tensor, value: Tensor, mask: Tensor | None) -> Pair:
    """Hide, softmax, average, as most code has it: a query that may look at nothing becomes NaN."""
    weights = hide(scaled, mask).softmax(dim=-1)
    return weights @ value, weights


def no_scale(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Pair:
    return plain(query @ key.mT, value, mask)


def scale_by_width(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Pair:
    return plain(query @ key.mT / query.shape[-1], value, mask)


def scale_by_model_width(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Pair:
    num_heads = query.shape[-3] if query.dim() > 3 else 1
    return plain(query @ key.mT / math.sqrt(num_heads * query.shape[-1]), value, mask)


def keys_not_transposed(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Pair:
    reshaped = key.reshape(key.mT.shape)
    return plain(query @ reshaped / math.sqrt(query.shape[-1]), value, mask)


def softmax_over_queries(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Pair:
    weights = hide(query @ key.mT / math.sqrt(query.shape[-1]), mask).softmax(dim=-2)
    return weights @ value, weights


def inverted_mask(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Pair:
    return plain(query @ key.mT / math.sqrt(query.shape[-1]), value, None if mask is None else ~mask)


def lower_triangle(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Pair:
    return plain(query @ key.mT / math.sqrt(query.shape[-1]), value, None if mask is None else mask.mT)


def mask_hides_itself(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Pair:
    others = None if mask is None else mask & ~torch.eye(*mask.shape[-2:], dtype=torch.bool, device=mask.device)
    return plain(query @ key.mT / math.sqrt(query.shape[-1]), value, others)


def mask_after_softmax(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Pair:
    weights = (query @ key.mT / math.sqrt(query.shape[-1])).softmax(dim=-1)
    weights = weights if mask is None else weights * mask
    return weights @ value, weights


def zeros_for_infinity(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Pair:
    scaled = query @ key.mT / math.sqrt(query.shape[-1])
    return plain(scaled if mask is None else scaled.masked_fill(~mask, 0.0), value, None)


def keys_as_values(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Pair:
    return plain(query @ key.mT / math.sqrt(query.shape[-1]), key, mask)


def dropout_in_evaluation(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Pair:
    _, weights = plain(query @ key.mT / math.sqrt(query.shape[-1]), value, mask)
    weights = torch.nn.functional.dropout(weights, p=0.5, training=True)
    return weights @ value, weights


def view_for_split(x: Tensor, num_heads: int) -> Tensor:
    b, n, d_model = x.shape
    return x.reshape(b, num_heads, n, d_model // num_heads)


def merge_without_transpose(heads: Tensor) -> Tensor:
    b, h, n, d = heads.shape
    return heads.reshape(b, n, h * d)


def no_output_projection(merged: Tensor, out_proj: Callable[[Tensor], Tensor]) -> Tensor:
    return merged


def average_over_heads(weights: Tensor) -> Tensor:
    return weights.mean(dim=-3) if weights.dim() > 3 else weights


#: No mistake at all: every step right. A query that may look at nothing gets zeros.
RIGHT = Mistake("right", "Right", "", "", "")

#: The sixteen mistakes, in the order in which code meets them.
MISTAKES: tuple[Mistake, ...] = (
    Mistake(
        "no scale",
        "The scores are not scaled",
        "The division by the root of d_k is missing.",
        "Divide the scores by key.shape[-1] ** 0.5 before softmax; without it, wide vectors make a spike of the weights.",
        "https://github.com/PAIR-code/tiny-transformers/issues/71",
        attend=no_scale,
    ),
    Mistake(
        "scale by d_k",
        "The scores are divided by d_k, not by its root",
        "The root is missing: ** 0.5 or math.sqrt was dropped.",
        "Divide by key.shape[-1] ** 0.5; dividing by the width itself makes the weights nearly flat.",
        "https://github.com/YutaroOgawa/pytorch_advanced/issues/174",
        attend=scale_by_width,
    ),
    Mistake(
        "scale by d_model",
        "The scores are divided by the root of the model's width, not of the head's",
        "With several heads each one compares d_model / num_heads numbers, but the scale was taken before the split.",
        "Divide by the root of the last axis after the split: query.shape[-1] ** 0.5. With one head both are the same.",
        "https://github.com/lucidrains/vit-pytorch/issues/65",
        needs="heads",
        attend=scale_by_model_width,
    ),
    Mistake(
        "keys not transposed",
        "The keys are reshaped where they should be transposed",
        "A reshape to (d, n) has the right shape and mixes the numbers of different tokens.",
        "Turn the last two axes: key.mT, or key.transpose(-2, -1). A view or reshape is no transpose.",
        "https://github.com/pytorch/pytorch/pull/64180",
        also="key.view(d, n); with as many tokens as numbers, query @ key",
        attend=keys_not_transposed,
    ),
    Mistake(
        "softmax over queries",
        "Softmax runs over the queries, not over the keys",
        "dim=-2 or dim=0 makes the columns sum to one, and the rows do not.",
        "Use dim=-1: each query, a row, spreads a total of one over the keys.",
        "https://github.com/labmlai/annotated_deep_learning_paper_implementations/issues/146",
        also="softmax(dim=0) on a single sequence, softmax(dim=1) on a batch",
        attend=softmax_over_queries,
    ),
    Mistake(
        "inverted mask",
        "The mask is the wrong way round",
        "True means 'may look' here and in F.scaled_dot_product_attention, and 'hidden' in nn.MultiheadAttention.",
        "Put a ~ before the mask: hide where it is False.",
        "https://github.com/pytorch/pytorch/pull/170415",
        also="masked_fill(mask, -inf) for a mask that is True where a query may look; tril in place of triu(diagonal=1)",
        needs="mask",
        attend=inverted_mask,
    ),
    Mistake(
        "lower triangle",
        "The earlier tokens are hidden and the later ones seen",
        "The triangle of the causal mask is the other one: tril where triu belongs, or the mask transposed.",
        "Hide strictly above the diagonal: torch.triu(torch.ones(n, n), diagonal=1). A token sees itself and earlier tokens.",
        "https://github.com/rasbt/LLMs-from-scratch/issues/1061",
        also="mask.mT in place of mask; hiding tril(diagonal=-1)",
        needs="mask",
        attend=lower_triangle,
    ),
    Mistake(
        "mask hides itself",
        "A token may not look at itself",
        "The triangle starts on the diagonal (diagonal=0), so the first token sees nothing and its row is NaN.",
        "Start one above the diagonal: torch.triu(..., diagonal=1).",
        "https://github.com/pbloem/former/issues/10",
        needs="mask",
        attend=mask_hides_itself,
    ),
    Mistake(
        "mask after softmax",
        "The mask is applied after softmax, and the rows no longer sum to one",
        "Hidden weights were set to zero after they had taken their share.",
        "Set the hidden scores to -inf before softmax, or divide each row by its sum afterwards.",
        "https://github.com/hyunwoongko/transformer/issues/10",
        also="weights.masked_fill(~mask, 0) in place of weights * mask",
        needs="mask",
        attend=mask_after_softmax,
    ),
    Mistake(
        "zero for minus infinity",
        "Hidden scores are filled with zero, or something near it",
        "e to the 0 is 1: a score of zero is a score like any other and keeps its weight.",
        "Fill with -inf (float('-inf')), so that the weight is exactly 0.",
        "https://github.com/hyunwoongko/transformer/issues/10",
        also="scores * mask; a fill of 1e-9, where -1e9 was meant",
        needs="mask",
        attend=zeros_for_infinity,
    ),
    Mistake(
        "keys as values",
        "The keys are averaged, not the values",
        "The last product takes key where value belongs.",
        "Write weights @ value.",
        "https://github.com/ruvnet/agentic-flow/issues/191",
        attend=keys_as_values,
    ),
    Mistake(
        "dropout in evaluation",
        "Dropout is still on when the model is only used",
        "A functional call such as F.dropout(weights, p) or dropout_p=p does not know about model.eval().",
        "Use nn.Dropout, or pass training=self.training (or dropout_p=p if self.training else 0.0).",
        "https://github.com/pytorch/pytorch/issues/124464",
        also="a fresh nn.Dropout(p) at each call, which starts in training mode",
        attend=dropout_in_evaluation,
    ),
    Mistake(
        "split by view",
        "Heads are cut by view alone, which mixes tokens",
        "view(b, h, n, d) has the right shape, but it deals out the numbers in the order in which they lie.",
        "Cut first, then turn: x.view(b, n, h, d).transpose(1, 2).",
        "https://github.com/reczoo/FuxiCTR/issues/30",
        needs="heads",
        split=view_for_split,
    ),
    Mistake(
        "merge without transpose",
        "Heads are joined without turning them back, which mixes tokens",
        "The head axis still stands before the token axis when the shape is flattened.",
        "Turn first, then join: heads.transpose(1, 2).reshape(b, n, h * d).",
        "https://github.com/jsbaan/transformer-from-scratch/pull/6",
        also="heads.view(b, n, h * d)",
        needs="heads",
        merge=merge_without_transpose,
    ),
    Mistake(
        "no output projection",
        "The last layer, which mixes the heads, is missing",
        "The joined heads are returned as they are.",
        "Return self.out_proj(context).",
        "https://github.com/Kyubyong/transformer/issues/117",
        needs="heads",
        finish=no_output_projection,
    ),
    Mistake(
        "averaged weights",
        "The weights that are returned are the mean over the heads",
        "nn.MultiheadAttention does so unless told not to; a map drawn from it is no head's map.",
        "Return the weights per head, (b, h, n, n); with PyTorch's module pass average_attn_weights=False.",
        "https://github.com/pytorch/pytorch/issues/34537",
        also="weights.mean(dim=1)",
        needs="heads",
        report_weights=average_over_heads,
    ),
)


def fingerprint(mistake: Mistake, *, right: bool = False) -> Pair:
    """What the six tokens of ``JOURNEY`` give when the mistake is made, always the same.

    The embeddings are projected by fixed matrices to one head of width 4, or to two of width 2 and a last layer where the
    mistake needs heads; later tokens are hidden where it needs a mask.

    Args:
        mistake: an entry of ``MISTAKES``.
        right: whether to give what right code gives there, for comparison.

    Returns:
        ``(output, weights)``: shape ``(6, 4)``, and ``(6, 6)`` or, for two heads, ``(2, 6, 6)``; averaged over heads it
        is ``(6, 6)``. Float32; a query that may look at nothing is NaN.

    Example:
        >>> from attention_book.mistakes import MISTAKES, fingerprint
        >>> MISTAKES[0].title
        'The scores are not scaled'
        >>> output, weights = fingerprint(MISTAKES[0])
        >>> weights[1]
        tensor([0.9680, 0.0045, 0.0041, 0.0066, 0.0014, 0.0153])
        >>> output, weights = fingerprint(MISTAKES[0], right=True)
        >>> weights[1]
        tensor([0.7244, 0.0495, 0.0473, 0.0600, 0.0277, 0.0911])
    """
    num_heads = 2 if mistake.needs == "heads" else 1
    mask = causal_mask(6) if mistake.needs == "mask" else None
    generator = torch.Generator().manual_seed(123)
    W_query, W_key, W_value = 2 * torch.randn(3, 3, 4, generator=generator, dtype=torch.float32)
    W_out = torch.randn(4, 4, generator=generator, dtype=torch.float32)
    x = JOURNEY.embeddings[None]  # (1, 6, 3)
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(123)  # for dropout
        output, weights = (RIGHT if right else mistake).multi_head(
            x @ W_query, x @ W_key, x @ W_value, num_heads, lambda heads: heads @ W_out if num_heads > 1 else heads, mask
        )
    weights = weights[0]  # (h, 6, 6), or (6, 6) when averaged
    return output[0], weights[0] if num_heads == 1 else weights
