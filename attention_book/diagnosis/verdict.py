"""Judges what a candidate gave: right, the one mistake that gives exactly these numbers, or where it departs and what can be seen there."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from attention_book.diagnosis.candidates import Answer, Refusal
from attention_book.diagnosis.probes import Probe, Reading
from attention_book.mistakes import MISTAKES, RIGHT, Mistake

EXACT = 1e-7  # float64 on both sides
IN_FLOAT32 = 1e-5  # right, though a part of it is computed in float32

# Dropout gives other numbers each time: it is found by turning it off.
NAMED_BY_NUMBERS = [mistake for mistake in MISTAKES if mistake.name != "dropout in evaluation"]


@dataclass(frozen=True)
class Observation:
    """One call of a candidate and what it answered."""

    probe: Probe
    answer: Answer

    def fits(self, reading: Reading, mistake: Mistake, tolerance: float = EXACT) -> bool:
        """Whether these are exactly the mistake's numbers."""
        output, weights = self.probe.expects(reading, mistake)
        returned = self.answer.weights
        return agree(self.answer.output, output, tolerance) and (returned is None or agree(returned, weights, tolerance))


@dataclass(frozen=True)
class Verdict:
    """The mistakes that fit every observation (``RIGHT`` alone if right), and the reading under which they do."""

    fitting: tuple[Mistake, ...]
    reading: Reading


def judge(observations: Sequence[Observation], readings: Sequence[Reading]) -> Verdict:
    """Right if that fits, else every mistake that does; without any, the reading whose right numbers are nearest."""

    def fit(mistake: Mistake, reading: Reading, tolerance: float = EXACT) -> bool:
        return all(observation.fits(reading, mistake, tolerance) for observation in observations)

    for reading in readings:
        if fit(RIGHT, reading):
            return Verdict((RIGHT,), reading)
    masked = any(observation.probe.mask is not None for observation in observations)
    # What needs a mask is right without one, and right it is not.
    tried = [(mistake, reading) for mistake in NAMED_BY_NUMBERS for reading in readings if mistake.needs != "mask" or masked or reading.causal]
    found = [(mistake, reading) for mistake, reading in tried if fit(mistake, reading)]
    if found:
        return Verdict(tuple(dict.fromkeys(mistake for mistake, _ in found)), found[0][1])
    for reading in readings:
        if fit(RIGHT, reading, IN_FLOAT32):
            return Verdict((RIGHT,), reading)
    return Verdict((), min(readings, key=lambda reading: mean_distance(observations, reading)))


def agree(got: Tensor, expected: Tensor, tolerance: float) -> bool:
    """Whether all numbers that are known are equal; a row that is not a number in the mistake may be anything."""
    got = like(got, expected)
    if got.shape != expected.shape:
        return False
    return bool(((got - expected).abs() <= tolerance).logical_or_(expected.isnan()).all())


def like(weights: Tensor, expected: Tensor) -> Tensor:
    """Weights that only lack, or only flatten, leading axes: one head without its axis, or ``(b * h, n, n)``."""
    if weights.shape == expected.shape or weights.shape[-2:] != expected.shape[-2:] or weights.numel() != expected.numel():
        return weights
    return weights.reshape(expected.shape)


def differences(observation: Observation, reading: Reading) -> list[tuple[str, Tensor, Tensor]]:
    """What can be compared with right numbers, the earlier step first: its name, what is there and what belongs there."""
    output, weights = observation.probe.expects(reading, RIGHT)
    answer = observation.answer
    if answer.output.shape != output.shape:
        if answer.output.shape == weights.shape and answer.weights is not None and answer.weights.shape == output.shape:
            raise Refusal("It returned (weights, output); return (output, weights), in this order.", "result")
        raise Refusal(f"Its output has shape {tuple(answer.output.shape)} where {tuple(output.shape)} belongs{_when(observation)}.", "shape")
    n = weights.shape[-1]
    shown = [("weights", answer.output[..., :n], output[..., :n])] if observation.probe.reads_weights else []
    returned = []
    if answer.weights is not None:
        theirs = like(answer.weights, weights)
        if theirs.shape != weights.shape:
            sentence = f"Its weights have shape {tuple(theirs.shape)} where {tuple(weights.shape)} belongs{_when(observation)}."
            raise Refusal(sentence, "returned weights")
        returned = [("returned weights", theirs, weights)]
    return [*shown, *returned, ("output", answer.output, output)]


def _when(observation: Observation) -> str:
    return f" {observation.probe.says}" if observation.probe.says else ""


def largest_difference(observations: Sequence[Observation], reading: Reading) -> float:
    """The largest difference from right numbers, over those that can be compared."""
    found = [(got - right).abs().nan_to_num(0.0).max().item() for o in observations for _, got, right in differences(o, reading)]
    return max(found)


def mean_distance(observations: Sequence[Observation], reading: Reading) -> float:
    """How far a candidate is from right under a reading: finite, to compare readings."""
    total = 0.0
    for observation in observations:
        output, _ = observation.probe.expects(reading, RIGHT)
        if output.shape != observation.answer.output.shape:
            return math.inf
        total += (observation.answer.output - output).abs().nan_to_num(0.0).clamp(max=100.0).mean().item()
    return total


def first_departure(observations: Sequence[Observation], reading: Reading) -> tuple[str, str]:
    """The first step that departs from right numbers, and a sentence with the numbers at its first place."""
    for observation in observations:
        for step, got, right in differences(observation, reading):
            off = ~((got - right).abs() <= EXACT) & ~right.isnan()
            if not off.any():
                continue
            *lead, row, column = off.nonzero()[0].tolist()
            where = f"row {row}, {'number' if step == 'output' else 'key'} {column}"
            where += f" of [{', '.join(map(str, lead))}]" if any(lead) else ""
            seen, belongs = apart(*(x[(*lead, row, column)].item() for x in (got, right)))
            verb = "departs" if step == "output" else "depart"
            return step, f"Its {step} {verb} first at {where}{_when(observation)} (counted from 0): {seen} where {belongs} belongs."
    return "output", ""


def number(x: float, digits: int = 4) -> str:
    """Four decimals, or as many digits as it takes to see something."""
    if math.isnan(x):
        return "NaN"
    return f"{x:.{digits}f}" if x == 0 or 1e-3 <= abs(x) < 1e5 else f"{x:.{digits - 1}g}"


def apart(one: float, other: float) -> tuple[str, str]:
    """Two numbers with as many digits as it takes to see that they differ."""
    pairs = [(number(one, digits), number(other, digits)) for digits in range(4, 17)]
    return next(((seen, there) for seen, there in pairs if seen != there), pairs[0])
