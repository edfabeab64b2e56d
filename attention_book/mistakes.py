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

The steps are in ``steps.py``; what the six tokens give under each mistake is in ``fingerprints.py``.
"""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from attention_book import steps
from attention_book.steps import Attend, Pair


@dataclass(frozen=True, eq=False)
class Mistake:
    """One way to get attention wrong. Its sentences mark code with backticks.

    Attributes:
        name: a short name, as ``diagnose`` says it.
        title: what is wrong, in a sentence.
        cause: where it comes from.
        hint: what to change.
        notice: what a reader would notice in its fingerprint; ``fingerprints.noticed`` puts the numbers in.
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
    notice: str
    report: str
    also: str = ""
    needs: str = ""
    attend: Attend = steps.right_attend
    split: Callable[[Tensor, int], Tensor] = steps.right_split
    merge: Callable[[Tensor], Tensor] = steps.right_merge
    finish: Callable[[Tensor, Callable[[Tensor], Tensor]], Tensor] = steps.right_finish
    report_weights: Callable[[Tensor], Tensor] = steps.right_report

    @property
    def anchor(self) -> str:
        """Its place on the page of the zoo, as in ``"no-scale"``."""
        return self.name.replace(" ", "-")

    def multi_head(
        self, query: Tensor, key: Tensor, value: Tensor, num_heads: int, out_proj: Callable[[Tensor], Tensor], mask: Tensor | None
    ) -> Pair:
        """The mistake inside a multi-head module: projected tokens ``(b, n, h * d)`` in, output ``(b, n, h * d)`` and weights out."""
        heads, weights = self.attend(self.split(query, num_heads), self.split(key, num_heads), self.split(value, num_heads), mask)
        return self.finish(self.merge(heads), out_proj), self.report_weights(weights)


#: No mistake at all: every step right. A query that may look at nothing gets zeros.
RIGHT = Mistake("right", "Right", "", "", "", "")

#: The sixteen mistakes, in the order in which code meets them.
MISTAKES: tuple[Mistake, ...] = (
    Mistake(
        "no scale",
        "The scores are not scaled",
        "The division by the root of d_k is missing.",
        "Divide the scores by key.shape[-1] ** 0.5 before softmax; without it, wide vectors make a spike of the weights.",
        "The largest weight of a row is {here.peak:.2f} on average, where {right.peak:.2f} belongs: more than two thirds of each row go to one key.",
        "https://github.com/PAIR-code/tiny-transformers/issues/71",
        attend=steps.no_scale,
    ),
    Mistake(
        "scale by d_k",
        "The scores are divided by d_k, not by its root",
        "The root is missing: `** 0.5` or `math.sqrt` was dropped.",
        "Divide by `key.shape[-1] ** 0.5`; dividing by the width itself makes the weights nearly flat.",
        "The largest weight of a row is {here.peak:.2f} on average, where {right.peak:.2f} belongs: each row is closer to an even share, "
        "which is {right.even:.2f}.",
        "https://github.com/YutaroOgawa/pytorch_advanced/issues/174",
        attend=steps.scale_by_width,
    ),
    Mistake(
        "scale by d_model",
        "The scores are divided by the root of the model's width, not of the head's",
        "With several heads each one compares `d_model / num_heads` numbers, but the scale was taken before the split.",
        "Divide by the root of the last axis after the split: `query.shape[-1] ** 0.5`. With one head both are the same.",
        "The largest weight of a row is {here.peak:.2f} on average, where {right.peak:.2f} belongs: every head is flatter than it should be.",
        "https://github.com/lucidrains/vit-pytorch/issues/65",
        needs="heads",
        attend=steps.scale_by_model_width,
    ),
    Mistake(
        "keys not transposed",
        "The keys are reshaped where they should be transposed",
        "A reshape to `(d, n)` has the right shape and mixes the numbers of different tokens.",
        "Turn the last two axes: `key.mT`, or `key.transpose(-2, -1)`. A view or reshape is no transpose.",
        'Each row sums to one and none looks broken, but all have their largest weight on "{here.favourite}", where it belongs on "{right.favourite}".',
        "https://github.com/pytorch/pytorch/pull/64180",
        also="`key.view(d, n)`; with as many tokens as numbers, `query @ key`",
        attend=steps.keys_not_transposed,
    ),
    Mistake(
        "softmax over queries",
        "Softmax runs over the queries, not over the keys",
        "`dim=-2` or `dim=0` makes the columns sum to one, and the rows do not.",
        "Use `dim=-1`: each query, a row, spreads a total of one over the keys.",
        "The rows sum to anything between {here.least_sum:.2f} and {here.largest_sum:.2f}; the columns sum to one.",
        "https://github.com/labmlai/annotated_deep_learning_paper_implementations/issues/146",
        also="`softmax(dim=0)` on a single sequence, `softmax(dim=1)` on a batch",
        attend=steps.softmax_over_queries,
    ),
    Mistake(
        "inverted mask",
        "The mask is the wrong way round",
        "`True` means 'may look' here and in `F.scaled_dot_product_attention`, and 'hidden' in `nn.MultiheadAttention`.",
        "Put a `~` before the mask: hide where it is `False`.",
        "Each token sees later tokens alone, which get up to {here.ahead:.2f} of its weight, and the last row is NaN: no token comes later.",
        "https://github.com/pytorch/pytorch/pull/170415",
        also="`masked_fill(mask, -inf)` for a mask that is `True` where a query may look; `tril` in place of `triu(diagonal=1)`",
        needs="mask",
        attend=steps.inverted_mask,
    ),
    Mistake(
        "lower triangle",
        "The earlier tokens are hidden and the later ones seen",
        "The triangle of the causal mask is the other one: `tril` where `triu` belongs, or the mask transposed.",
        "Hide strictly above the diagonal: `torch.triu(torch.ones(n, n), diagonal=1)`. A token sees itself and earlier tokens.",
        "Each token sees itself and later tokens, which get up to {here.ahead:.2f} of its weight; the last token, which should see all, sees only itself.",
        "https://github.com/rasbt/LLMs-from-scratch/issues/1061",
        also="`mask.mT` in place of `mask`; hiding `tril(diagonal=-1)`",
        needs="mask",
        attend=steps.lower_triangle,
    ),
    Mistake(
        "mask hides itself",
        "A token may not look at itself",
        "The triangle starts on the diagonal (`diagonal=0`), so the first token sees nothing and its row is NaN.",
        "Start one above the diagonal: `torch.triu(..., diagonal=1)`.",
        'The first row is NaN, and NaN spreads to whatever is computed from it; "journey", which sees one earlier token, gives it all, '
        'where {right.journey[0]:.2f} belongs.',
        "https://github.com/pbloem/former/issues/10",
        needs="mask",
        attend=steps.mask_hides_itself,
    ),
    Mistake(
        "mask after softmax",
        "The mask is applied after softmax, and the rows no longer sum to one",
        "Hidden weights were set to zero after they had taken their share.",
        "Set the hidden scores to `-inf` before softmax, or divide each row by its sum afterwards.",
        "Nothing hidden gets a weight, but the rows sum to less than one, the first to {here.least_sum:.2f}; only the last, which sees all tokens, is whole.",
        "https://github.com/hyunwoongko/transformer/issues/10",
        also="`weights.masked_fill(~mask, 0)` in place of `weights * mask`",
        needs="mask",
        attend=steps.mask_after_softmax,
    ),
    Mistake(
        "zero for minus infinity",
        "Hidden scores are filled with zero, or something near it",
        "e to the 0 is 1: a score of zero is a score like any other and keeps its weight.",
        "Fill with `-inf`, which is `float('-inf')`, so that the weight is exactly 0.",
        "Later tokens keep weight, up to {here.ahead:.2f} each, all alike in a row.",
        "https://github.com/hyunwoongko/transformer/issues/10",
        also="`scores * mask`; a fill of `1e-9`, where `-1e9` was meant",
        needs="mask",
        attend=steps.zeros_for_infinity,
    ),
    Mistake(
        "keys as values",
        "The keys are averaged, not the values",
        "The last product takes `key` where `value` belongs.",
        "Write `weights @ value`.",
        "The weights are right and the output is not: it is off by up to {here.far:.2f}.",
        "https://github.com/ruvnet/agentic-flow/issues/191",
        attend=steps.keys_as_values,
    ),
    Mistake(
        "dropout in evaluation",
        "Dropout is still on when the model is only used",
        "A functional call such as `F.dropout(weights, p)` or `dropout_p=p` does not know about `model.eval()`.",
        "Use `nn.Dropout`, or pass `training=self.training` (or `dropout_p=p if self.training else 0.0`).",
        "Other numbers at each call. In this one {here.zeros} of 36 weights are zero, and the others twice as large as they should be.",
        "https://github.com/pytorch/pytorch/issues/124464",
        also="a fresh `nn.Dropout(p)` at each call, which starts in training mode",
        attend=steps.dropout_in_evaluation,
    ),
    Mistake(
        "split by view",
        "Heads are cut by view alone, which mixes tokens",
        "`view(b, h, n, d)` has the right shape, but it deals out the numbers in the order in which they lie.",
        "Cut first, then turn: `x.view(b, n, h, d).transpose(1, 2)`.",
        'Each row sums to one and none looks broken, but the weights are not those of the tokens: in head 0 "journey" gives itself '
        '{here.journey[1]:.2f}, where {right.journey[1]:.2f} belongs.',
        "https://github.com/reczoo/FuxiCTR/issues/30",
        needs="heads",
        split=steps.view_for_split,
    ),
    Mistake(
        "merge without transpose",
        "Heads are joined without turning them back, which mixes tokens",
        "The head axis still stands before the token axis when the shape is flattened.",
        "Turn first, then join: `heads.transpose(1, 2).reshape(b, n, h * d)`.",
        "The weights are right and the output is not: it is off by up to {here.far:.2f}. Its first three rows are made by head 0 alone and "
        "the last three by head 1.",
        "https://github.com/jsbaan/transformer-from-scratch/pull/6",
        also="`heads.view(b, n, h * d)`",
        needs="heads",
        merge=steps.merge_without_transpose,
    ),
    Mistake(
        "no output projection",
        "The last layer, which mixes the heads, is missing",
        "The joined heads are returned as they are.",
        "Return `self.out_proj(context)`.",
        "The weights are right and the output is not: it is off by up to {here.far:.2f}. Each of its numbers comes from one head alone.",
        "https://github.com/Kyubyong/transformer/issues/117",
        needs="heads",
        finish=steps.no_output_projection,
    ),
    Mistake(
        "averaged weights",
        "The weights that are returned are the mean over the heads",
        "`nn.MultiheadAttention` does so unless told not to; a map drawn from it is no head's map.",
        "Return the weights per head, `(b, h, n, n)`; with PyTorch's module pass `average_attn_weights=False`.",
        'One map comes back where there are two, and it is neither: "journey" gives "Your" {here.journey[0]:.2f} in it, '
        '{right.journey[0]:.2f} in head 0 and {right.last_head[0]:.2f} in head 1.',
        "https://github.com/pytorch/pytorch/issues/34537",
        also="`weights.mean(dim=1)`",
        needs="heads",
        report_weights=steps.average_over_heads,
    ),
)


def mistake(name: str) -> Mistake:
    """The mistake of that name.

    Raises:
        ValueError: there is none.

    Example:
        >>> from attention_book.mistakes import mistake
        >>> mistake("no scale").title
        'The scores are not scaled'
    """
    for each in MISTAKES:
        if each.name == name:
            return each
    raise ValueError(f"{name!r} is no mistake of the zoo; it has {', '.join(each.name for each in MISTAKES)}")
