"""``diagnose`` for modules that own their layers."""

import itertools

from torch import Tensor, nn

from attention_book.diagnosis.after_right import empty_rows, in_float32
from attention_book.diagnosis.by_kind import by_kind
from attention_book.diagnosis.candidates import Form, Refusal, function_form, module_form
from attention_book.diagnosis.examine import Candidate, Diagnosis, examine
from attention_book.diagnosis.mask_kinds import MaskKind
from attention_book.diagnosis.of_function import by_axes, diagnose_function
from attention_book.diagnosis.probes import ModuleReading, N, Probe, Reading, module_probes
from attention_book.diagnosis.projections import norm_layers, prepare, readings

BLOCK = "It holds a norm or a residual: give diagnose the attention alone, as in diagnose(block.attention)."


def diagnose_module(module: nn.Module) -> Diagnosis:
    """What a copy of a module gives on its probes, with a batch or for one sequence; without layers it is run as a function."""
    copied = prepare(getattr(module, "_orig_mod", module))  # what torch.compile wraps
    if not any(parameter.dim() > 1 for parameter in copied.parameters()):
        return diagnose_function(Candidate(copied, function_form(copied.forward)))
    form = Form(3) if isinstance(copied, nn.MultiheadAttention) else module_form(copied.forward)
    around = BLOCK if norm_layers(copied) else ""
    try:
        found = by_kind(form, lambda form, kind: _with_kind(copied, form, kind))
    except Refusal as refusal:
        if refusal.step not in ("layers", "shape"):
            raise
        raise Refusal(f"{refusal} {around}".strip(), refusal.step) from None
    return found if found.ok or found.mistake else found.told(around)


def _with_kind(copied: nn.Module, form: Form, kind: MaskKind) -> Diagnosis:
    layers = readings(copied)
    widths = [*dict.fromkeys(one.d_in for one in layers)]
    # A mask that is kept and not cut fits one length only.
    lengths = [N, *sorted({x.shape[-1] for x in copied.buffers() if x.dim() >= 2 and 2 <= x.shape[-1] <= 64} - {N}), 3, 2]
    sizes = {size for parameter in copied.parameters() for size in parameter.shape}
    batch = next(b for b in (3, 2, 7, 11, 13) if b not in sizes or b == 13)  # unlike any width, so that no axes can be swapped

    def attempt(rank: int) -> Diagnosis:
        stopped: Refusal | None = None
        answered: Diagnosis | None = None
        # Modules differ in how many axes a mask has: (n, n), (1, n, n), (1, 1, n, n).
        for tokens, d_in, axes in itertools.product(lengths, widths, (2, 3, 4) if form.mask and not kind.padding else (2,)):
            probes = module_probes(form, d_in, tokens, batch if rank == 3 else None, axes, kind)
            fitting = [ModuleReading(causal, one) for causal in (False, True) for one in layers if one.d_in == d_in]
            try:
                found, reading = examine(_as_candidate(copied, form), probes, fitting)
            except Refusal as refusal:
                if refusal.step != "call":
                    raise
                stopped = stopped or refusal
                continue
            found = _after(found, reading, stopped if tokens > N else None, probes)
            if found.ok or found.mistake or found.first_departure == "empty row" or not form.mask:
                return found
            answered = answered or found
        if answered:
            return answered
        raise stopped or Refusal("It takes none of the inputs.")

    def _after(diagnosis: Diagnosis, reading: Reading, stopped: Refusal | None, probes: tuple[Probe, ...]) -> Diagnosis:
        if not diagnosis.ok:
            return diagnosis
        large = tuple(x.float() * 4.0 for x in probes[0].tensors)
        rows = empty_rows(_as_candidate(copied, form), probes, reading)
        mask = probes[0].mask if form.mask_needed else None  # the causal one, which leaves no row empty
        float32 = in_float32(_as_candidate(copied.float(), form), Probe(large, mask, mask_axes=probes[0].mask_axes, kind=kind))
        copied.double()
        for wrong in (rows, float32):
            if wrong and not wrong.ok:
                return wrong
        narrow = isinstance(reading, ModuleReading) and reading.narrow
        width = "Its heads are one number wide, so that a missing scale does not show; try a width of two or more." if narrow else ""
        length = f"With {N} tokens {stopped.stops()} Cut the mask to the number of tokens: mask[:n, :n]." if stopped else ""
        if rows:
            diagnosis = rows.told(diagnosis.hint)
        return diagnosis.told("It hides later tokens." if reading.causal else "", width, length, form.unchecked)

    return by_axes(attempt, (3,) if kind.padding else (3, 2))


def _as_candidate(module: nn.Module, form: Form) -> Candidate:
    if not isinstance(module, nn.MultiheadAttention):
        return Candidate(module, form)

    def official(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        turn = query.dim() == 3 and not module.batch_first
        tensors = [x.transpose(0, 1) for x in (query, key, value)] if turn else [query, key, value]
        output, weights = module(*tensors, need_weights=True, average_attn_weights=False)
        return (output.transpose(0, 1) if turn else output), weights

    return Candidate(official, form)
