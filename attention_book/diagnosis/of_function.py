"""``diagnose`` for functions of query, key and value."""

from collections.abc import Callable

from attention_book.diagnosis.after_right import empty_rows, in_float32, other_sizes
from attention_book.diagnosis.by_kind import by_kind
from attention_book.diagnosis.candidates import Refusal
from attention_book.diagnosis.examine import Candidate, Diagnosis, examine
from attention_book.diagnosis.mask_kinds import MaskKind
from attention_book.diagnosis.probes import CAUSAL, PLAIN, N, Probe, function_probes, qkv

AXES = {4: "(b, h, n, d)", 3: "(b, n, d)", 2: "(n, d)"}


def diagnose_function(candidate: Candidate) -> Diagnosis:
    """What a function of query, key and value gives on its probes, with heads, with a batch, or for one sequence."""
    return by_kind(candidate.form, lambda form, kind: _with_kind(Candidate(candidate.function, form), kind))


def _with_kind(candidate: Candidate, kind: MaskKind) -> Diagnosis:
    form = candidate.form

    def attempt(rank: int) -> Diagnosis:
        probes = function_probes(rank, form.mask is not None, form.mask_needed, kind)
        diagnosis, reading = examine(candidate, probes, [PLAIN] if form.mask else [PLAIN, CAUSAL])
        if not diagnosis.ok:
            return diagnosis
        float32 = Probe(tuple(x.float() for x in qkv(rank, large=300.0)), probes[0].mask if form.mask_needed else None, kind=kind)
        sizes = other_sizes(candidate, rank, probes[-1]) if not reading.causal else "It hides later tokens."
        rows = empty_rows(candidate, probes, reading)
        found = (rows, in_float32(candidate, float32), sizes)
        wrong = next((each for each in found if isinstance(each, Diagnosis) and not each.ok), None)
        return wrong or (rows or Diagnosis(True, largest_difference=diagnosis.largest_difference)).told(diagnosis.hint, str(sizes), form.unchecked)

    try:
        return by_axes(attempt, (4, 3) if kind.padding else (4, 3, 2))
    except Refusal as refusal:
        if refusal.step != "call":
            raise
        # Keys that are not turned at all only run where there are as many tokens as numbers.
        try:
            square, _ = examine(candidate, function_probes(2, form.mask is not None, form.mask_needed, square=True), [PLAIN])
        except Refusal:
            raise refusal from None
        if square.mistake == "keys not transposed":
            return square.told(f"With {N} tokens of another width {refusal.stops()}")
        raise refusal


def by_axes(attempt: Callable[[int], Diagnosis], ranks: tuple[int, ...]) -> Diagnosis:
    """Tries inputs with most axes first. What stops there may work with fewer; what is wrong there may be named with fewer."""
    stopped: dict[int, Refusal] = {}
    unnamed: tuple[int, Diagnosis] | None = None
    for rank in ranks:
        try:
            found = attempt(rank)
        except Refusal as refusal:
            if refusal.step not in ("call", "shape"):  # these may be the number of axes; what else is wrong stays wrong
                raise
            stopped[rank] = refusal
            continue
        if unnamed is None and (found.ok or found.mistake or rank == ranks[-1]):
            return found.told(_why_fewer(stopped, rank) if found.ok else "")
        if unnamed and found.mistake:
            return found.told(f"So it is for inputs of shape {AXES[rank]}.")
        if unnamed and found.ok:
            both = f"For inputs of shape {AXES[rank]} it is right, for {AXES[unnamed[0]]} not"
            return unnamed[1].told(f"{both}: count axes from the end, as in dim=-1 and key.mT.")
        unnamed = unnamed or (rank, found)
    if unnamed:
        return unnamed[1]
    raise stopped[ranks[-1]]


def _why_fewer(stopped: dict[int, Refusal], rank: int) -> str:
    """That right code stops on a batch, kindly."""
    batch = stopped.get(3) if rank == 2 else None
    if batch is None:
        return ""
    return (
        f"That is for a single sequence, {AXES[2]}. With a batch, {AXES[3]}, {batch.stops()} "
        f"Count axes from the end, key.mT or key.transpose(-2, -1) in place of key.T, and it takes both."
    )
