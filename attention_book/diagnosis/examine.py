"""One candidate on its probes, from the first call to a ``Diagnosis``."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from attention_book.diagnosis.candidates import Answer, Form, Refusal, WithoutDropout, call
from attention_book.diagnosis.probes import Probe, Reading
from attention_book.diagnosis.symptoms import symptoms
from attention_book.diagnosis.verdict import EXACT, Observation, Verdict, first_departure, judge, largest_difference
from attention_book.mistakes import RIGHT, mistake

DROPOUT = mistake("dropout in evaluation")
INVERTED = mistake("inverted mask")
HANDED_IN = (
    "diagnose hands in masks in which True means may look; if yours means hidden, as in nn.MultiheadAttention, the code is right: see Conventions."
)


@dataclass(frozen=True)
class Diagnosis:
    """What became of a candidate; its text says it in words.

    Attributes:
        ok: whether it is right wherever a query may look at something; if only there, ``first_departure`` is ``"empty row"``.
        mistake: the name of the mistake that gives exactly these numbers, or ``None``.
        hint: what to change, or what is worth knowing.
        first_departure: the first step that departs from right code (``"call"``, ``"weights"``, ``"output"``, ``"empty row"``, ...), or ``None``.
        largest_difference: the largest difference from the right numbers, over those that are numbers; ``None`` if nothing could be compared.
    """

    ok: bool
    mistake: str | None = None
    hint: str = ""
    first_departure: str | None = None
    largest_difference: float | None = None

    def __str__(self) -> str:
        right = "Right, except:" if self.first_departure else "Right."
        start = right if self.ok else f"Not yet: {self.mistake}." if self.mistake else "Not yet."
        return f"{start} {self.hint}".strip()

    def told(self, *sentences: str) -> "Diagnosis":
        """The same, with more to say."""
        return replace(self, hint=" ".join(filter(None, (self.hint, *sentences))))


@dataclass(frozen=True)
class Candidate:
    """Something to call, and how."""

    function: Callable[..., Any]
    form: Form

    def run(self, probe: Probe, seed: int = 0) -> Answer:
        """One call, under a seed, in the probe's dtype."""
        torch.manual_seed(seed)
        random.seed(seed)
        torch.set_default_dtype(probe.tensors[0].dtype)  # so that a plain torch.zeros(n, d) inside fits the inputs
        options = {str(self.form.ask_weights): True} if probe.ask_weights else {}
        return call(self.function, self.form, probe.tensors, probe.handed(), **options)


def examine(candidate: Candidate, probes: Sequence[Probe], readings: Sequence[Reading]) -> tuple[Diagnosis, Reading]:
    """What a candidate gives on its probes, and how it is read best.

    Raises:
        Refusal: it cannot be compared.
    """
    first = candidate.run(probes[0])
    if not _depends_on_seed(candidate, probes[0], first):
        observations = [Observation(probes[0], first), *(Observation(probe, candidate.run(probe)) for probe in probes[1:])]
        verdict = judge(observations, readings)
        return _told(observations, verdict), verdict.reading
    with WithoutDropout() as mode:
        steady = candidate.run(probes[0])
        if not mode.met or _depends_on_seed(candidate, probes[0], steady):
            raise Refusal("Two calls on the same inputs give different numbers: it depends on the random state.", "randomness")
        observations = [Observation(probe, candidate.run(probe)) for probe in probes]
    verdict = judge(observations, readings)
    without = _told(observations, verdict)
    far = largest_difference([Observation(probes[0], first)], verdict.reading)
    diagnosis = Diagnosis(False, DROPOUT.name, DROPOUT.hint, "weights", far)
    return (diagnosis if without.ok else diagnosis.told(f"And with dropout off: {str(without).removeprefix('Not yet: ')}")), verdict.reading


def _depends_on_seed(candidate: Candidate, probe: Probe, first: Answer) -> bool:
    again = candidate.run(probe, seed=1)
    return not (_same(first.output, again.output) and _same(first.weights, again.weights))


def _same(one: Tensor | None, other: Tensor | None) -> bool:
    if one is None or other is None:
        return one is other
    return one.shape == other.shape and torch.allclose(one, other.to(one.dtype), rtol=0, atol=1e-12, equal_nan=True)


def _told(observations: Sequence[Observation], verdict: Verdict) -> Diagnosis:
    """A verdict in words."""
    if verdict.fitting and verdict.fitting[0] is not RIGHT:
        mistake, *others = verdict.fitting
        step, far = _step(observations, verdict.reading)
        handed_in = HANDED_IN if mistake is INVERTED and any(observation.probe.mask is not None for observation in observations) else ""
        also = f"(With these sizes the same numbers come from: {', '.join(other.name for other in others)}.)" if others else ""
        return Diagnosis(False, mistake.name, mistake.hint, step, far).told(handed_in, also)
    far = largest_difference(observations, verdict.reading)
    for observation in observations:
        for name, x in (("output", observation.answer.output), ("weights", observation.answer.weights)):
            if x is not None and x.dtype != observation.probe.tensors[0].dtype:
                sentence = f"Its {name} is {x.dtype} where the inputs are {observation.probe.tensors[0].dtype}; keep the dtype of the inputs."
                return Diagnosis(False, None, sentence, "dtype", far)
    if verdict.fitting:
        rounded = f"A part of it is computed in float32: with float64 inputs it is off by {far:.0e}." if far > EXACT else ""
        return Diagnosis(True, largest_difference=far).told(rounded)
    step, sentence = first_departure(observations, verdict.reading)
    return Diagnosis(False, None, sentence, step, far).told(*symptoms(observations, verdict.reading))


def _step(observations: Sequence[Observation], reading: Reading) -> tuple[str, float | None]:
    """The step that departs and by how much, where shapes allow to say so."""
    try:
        return first_departure(observations, reading)[0], largest_difference(observations, reading)
    except Refusal as refusal:
        return refusal.step, None
