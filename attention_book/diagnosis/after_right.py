"""What right code is asked once its numbers hold: empty rows, other sizes, float32."""

from collections.abc import Sequence
from dataclasses import replace

import torch

from attention_book.diagnosis.candidates import Refusal
from attention_book.diagnosis.examine import Candidate, Diagnosis
from attention_book.diagnosis.probes import PLAIN, D, E, M, N, Probe, Reading, qkv
from attention_book.diagnosis.verdict import IN_FLOAT32, agree, number
from attention_book.mistakes import RIGHT


def empty_rows(candidate: Candidate, probes: Sequence[Probe], reading: Reading) -> Diagnosis | None:
    """A query that may look at nothing belongs to get zeros; code that gives it something else is right but for that."""
    for probe in probes:
        empty = probe.empty_rows(reading)
        if empty is None:
            continue
        answer, (right, _) = candidate.run(probe), reading.gives(probe, RIGHT)
        got, belongs = (x.masked_select(empty) for x in (answer.output, right))
        if agree(got, belongs, IN_FLOAT32):
            continue
        if got.isnan().any():
            seen, why, far = "NaN", "softmax of a row of -inf is NaN, and NaN spreads in training. Clear", None
        else:
            seen, far = "an average of what is hidden from it", (got - belongs).abs().max().item()
            why = f"a large negative number in place of -inf leaves such a row its weights. {_in_float16(candidate, probe)}Fill with -inf, and clear"
        hint = f"a query that may look at nothing gets {seen}, where zeros belong: {why} such rows after softmax: {probe.kind.clear}."
        return Diagnosis(True, None, hint, "empty row", far)
    return None


def _in_float16(candidate: Candidate, probe: Probe) -> str:
    """Whether the number that is filled in is too large for half precision."""
    try:
        candidate.run(replace(probe, tensors=tuple(x.half() for x in probe.tensors), ask_weights=False))
    except Refusal as refusal:
        return f"In float16 {refusal.stops()} " if "overflow" in str(refusal) else ""
    return ""


def other_sizes(candidate: Candidate, rank: int, like: Probe) -> Diagnosis | str:
    """A function on more keys than queries and wide values: what is wrong, or what to say about it."""
    everything = None if like.mask is None else torch.ones(*like.mask.shape[:-1], M, dtype=torch.bool, device="cpu")
    probe = Probe(qkv(rank, keys=M, width=E), everything if candidate.form.mask_needed else None, kind=like.kind)
    sizes = f"With {N} queries of width {D}, {M} keys and values of width {E}"
    wrong = f"It is right for as many keys as queries. {sizes}, its output"
    try:
        answer = candidate.run(probe)
    except Refusal as refusal:
        if refusal.step != "call":
            raise
        return f"{sizes}, as when one text looks at another, {refusal.stops()}"
    right, _ = probe.expects(PLAIN, RIGHT)
    if answer.output.shape != right.shape:
        return Diagnosis(False, None, f"{wrong} has shape {tuple(answer.output.shape)} where {tuple(right.shape)} belongs.", "other sizes")
    if agree(answer.output, right, IN_FLOAT32):
        return ""
    far = (answer.output - right).abs().nan_to_num(0.0).max().item()
    return Diagnosis(False, None, f"{wrong} is off by up to {number(far)}: take the number of keys from key.shape[-2].", "other sizes", far)


def in_float32(candidate: Candidate, probe: Probe) -> Diagnosis | None:
    """The dtype of the inputs must come back, and large scores must stay finite."""
    try:
        answer = candidate.run(probe)
    except Refusal as refusal:
        return Diagnosis(False, None, f"It is right in float64, but with float32 inputs {refusal.stops()}", "dtype")
    if answer.output.dtype != torch.float32:
        return Diagnosis(False, None, f"Its output is {answer.output.dtype} where the inputs are torch.float32; keep the dtype of the inputs.", "dtype")
    if not answer.output.isfinite().all():
        return Diagnosis(
            False,
            None,
            "It is right for small scores, but in float32 a row of large ones is not finite: exp overflows above 88. "
            "Subtract each row's largest score first, or use torch.softmax, which does.",
            "large scores",
        )
    return None
