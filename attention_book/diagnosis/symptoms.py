"""What can be seen in numbers that no known mistake gives: rows that do not sum to one, hidden keys with weight, another scale."""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from attention_book.diagnosis.probes import Probe, Reading
from attention_book.diagnosis.verdict import Observation, agree, apart, like, number
from attention_book.mistakes import RIGHT

SEEN = 1e-6  # what counts as a difference


def symptoms(observations: Sequence[Observation], reading: Reading, limit: int = 2) -> list[str]:
    """The first few properties that tell something about the cause, as sentences."""
    found: dict[str, str] = {}  # by the first words: each kind once
    if len({id(observation.probe.mask) for observation in observations}) > 1 and _ignores_mask(observations):
        found["mask"] = "It gives the same numbers whatever the mask: the mask is not used."
    for observation in observations:
        for weights, right in _weights(observation, reading):
            for sentence in _seen(observation.probe, reading, weights, right):
                found.setdefault(sentence[:8], sentence)
    return [*found.values()][:limit]


def _ignores_mask(observations: Sequence[Observation]) -> bool:
    """Whether the same inputs give the same numbers under every mask, unless every token gets the same: then nothing is used."""
    rows = [observation.answer.output.flatten(0, -2) for observation in observations]
    if all(torch.equal(each, each[:1].expand_as(each)) for each in rows):
        return False
    first = {observation.probe.reads_weights: observation.answer.output for observation in observations[::-1]}
    return all(torch.equal(observation.answer.output, first[observation.probe.reads_weights]) for observation in observations)


def _weights(observation: Observation, reading: Reading) -> Iterator[tuple[Tensor, Tensor]]:
    """The weights that can be seen in an answer, and those that belong there."""
    _, right = observation.probe.expects(reading, RIGHT)
    if observation.probe.reads_weights:
        yield observation.answer.output[..., : right.shape[-1]], right
    if observation.answer.weights is not None and like(observation.answer.weights, right).shape == right.shape:
        yield like(observation.answer.weights, right), right


def _seen(probe: Probe, reading: Reading, weights: Tensor, right: Tensor) -> Iterator[str]:
    known = ~right.isnan().any(dim=-1)  # (..., n): rows of queries that may look at something
    rows = weights[known]
    if rows.isnan().any():
        yield f"{int(rows.isnan().any(dim=-1).sum())} of {len(rows)} rows of its weights are NaN."
        return
    visible = probe.visible(reading)
    hidden = None if visible is None else weights.masked_fill(visible, 0.0)[known]
    if hidden is not None and hidden.abs().max() > SEEN:
        seen, when = number(hidden.abs().max().item()), probe.says or "as later tokens"
        yield f"Keys that are hidden {when} get weight, up to {seen}; their scores must be -inf before softmax."
    if rows.min() < -SEEN:
        yield f"Its weights go down to {number(rows.min().item())}; softmax gives none below 0."
    sums = rows.sum(dim=-1)
    if (sums - 1).abs().max() > SEEN:
        yield f"The rows of its weights sum to between {apart(sums.min().item(), 1.0)[0]} and {apart(sums.max().item(), 1.0)[0]}, not to 1."
    elif rows.shape[-1] > 1 and rows.std(dim=-1).max() < SEEN:
        yield f"Every key gets the weight {number(rows[0, 0].item())}: its scores are all the same."
    elif hidden is None:
        yield from _another_scale(probe, weights, right)


def _another_scale(probe: Probe, weights: Tensor, right: Tensor) -> Iterator[str]:
    """Whether the scores are the right ones, times one number."""
    clear = ((weights > 1e-12) & (right > 1e-12)).all(dim=-1)
    seen, there = ((x[clear].log() - x[clear].log().mean(dim=-1, keepdim=True)) for x in (weights, right))
    if not len(seen) or there.square().sum() < SEEN:
        return
    factor = (seen * there).sum() / there.square().sum()
    if len(probe.tensors) == 3 and factor > 0 and abs(factor - 1) > SEEN and agree(seen, factor * there, 1e-5):
        root = probe.tensors[0].shape[-1] ** 0.5
        divisor, belongs = apart(root / factor.item(), root)
        yield f"Its scores are as if divided by {divisor}; the root of d_k is {belongs} here."
