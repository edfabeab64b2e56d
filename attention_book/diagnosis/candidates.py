"""Finds out how somebody's attention wants to be called, calls it, and reads what it answers.

Whatever goes wrong on the way becomes a ``Refusal``: a sentence for its author.
"""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode


class Refusal(Exception):
    """What keeps a candidate from being compared, as a sentence for its author, and the step at which it happens."""

    def __init__(self, sentence: str, step: str = "call") -> None:
        super().__init__(sentence)
        self.step = step

    def stops(self) -> str:
        """The same, to stand behind "where" in a sentence: "it stops: RuntimeError: ..."."""
        told = str(self).removeprefix("It raised ")
        return f"it stops: {told}" if told.endswith((".", "!", "?")) else f"it stops: {told}."


@dataclass(frozen=True)
class Answer:
    """What a candidate gave: its output, and its weights if it returned any."""

    output: Tensor
    weights: Tensor | None


@dataclass(frozen=True)
class Form:
    """How a candidate takes its arguments.

    Attributes:
        tensors: how many tensors it takes first: three, or one for a module of ``x``.
        mask: how it takes a mask: ``"fourth"`` for one that comes after the tensors, or its keyword, or ``None``.
        mask_needed: whether it cannot be called without.
        ask_weights: the keyword that makes it return its weights, if it has one.
        padding: its parameters for padding masks, which get no mask: theirs has another shape and, in some hands, another meaning.
        none: those of them that have no default, and get ``None``.
    """

    tensors: int
    mask: str | None = None
    mask_needed: bool = False
    ask_weights: str | None = None
    padding: tuple[str, ...] = ()
    none: tuple[str, ...] = ()

    @property
    def unchecked(self) -> str:
        """What right code is told of its padding masks."""
        return f"Its padding mask was not checked: it was called without {' and '.join(self.padding)}." if self.padding else ""


class WithoutDropout(TorchFunctionMode):
    """Turns every dropout off while it is entered, and remembers whether one was on."""

    met = False

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if func in (F.dropout, torch.dropout):
            given = dict(zip(("input", "p", "training"), args, strict=False)) | kwargs
            on = given.get("training", given.get("train", True))  # torch.dropout says "train"
            self.met |= bool(on and given.get("p", 0.5) > 0)
            return given["input"]
        if func is F.scaled_dot_product_attention:
            self.met |= bool(kwargs.pop("dropout_p", 0.0) > 0 or (len(args) > 4 and args[4] > 0))
            args = (*args[:4], 0.0, *args[5:]) if len(args) > 4 else args
        return func(*args, **kwargs)


def function_form(function: Callable[..., Any]) -> Form:
    """How a function of ``(query, key, value)`` is called.

    Raises:
        Refusal: it does not take query, key and value.
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # built-in functions have no signature; PyTorch's own op takes its mask fourth
        return Form(3, "fourth")
    positional, needed, star = _positional(parameters)
    needed = [p for p in needed if not _padding(p)]
    if (len(positional) < 3 and not star) or len(needed) > 4:
        takes = positional if len(positional) < 3 else needed
        names = ", ".join(p.name for p in takes) or "none"
        raise Refusal(
            f"It takes {len(takes)} argument{'s' if len(takes) != 1 else ''} ({names}), and 3 or 4 are given: "
            f"write a function of (query, key, value) or (query, key, value, mask)."
        )
    names = ", ".join(p.name for p in positional)
    if re.search(r", ?[wW]_?(q|query|Q), ", names):
        raise Refusal(f"It takes ({names}), tokens and their matrices; give a function of (query, key, value), or a module of (x).")
    return _with_mask(parameters, positional, needed, 3)


def module_form(forward: Callable[..., Any]) -> Form:
    """How a module is called: with ``x`` once, or three times as query, key and value.

    Raises:
        Refusal: it takes neither one argument nor three.
    """
    parameters = list(inspect.signature(forward).parameters.values())
    positional, needed, star = _positional(parameters)
    tensors = 1 if star else sum(_mask_name(p) is None and not _padding(p) for p in needed)
    if tensors not in (1, 3):
        names = ", ".join(p.name for p in needed) or "nothing"
        raise Refusal(f"Its forward needs {len(needed)} arguments ({names}); give it one, x, or three: query, key and value.")
    return _with_mask(parameters, positional, needed, tensors)


def _positional(parameters: list[inspect.Parameter]) -> tuple[list[inspect.Parameter], list[inspect.Parameter], bool]:
    """The parameters that take a place, those of them without a default, and whether there may be any number."""
    kinds = inspect.Parameter
    positional = [p for p in parameters if p.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)]
    return positional, [p for p in positional if p.default is kinds.empty], any(p.kind is kinds.VAR_POSITIONAL for p in parameters)


def _mask_name(parameter: inspect.Parameter) -> str | None:
    switch = parameter.annotation in (bool, "bool") or isinstance(parameter.default, bool)
    return parameter.name if "mask" in parameter.name.lower() and not switch else None


def _padding(parameter: inspect.Parameter) -> bool:
    empty = parameter.default is inspect.Parameter.empty or parameter.default is None
    return empty and parameter.annotation not in (bool, "bool") and bool(re.search(r"padding|(^|_)pad(_?mask)?$", parameter.name.lower()))


def _with_mask(parameters: list[inspect.Parameter], positional: list[inspect.Parameter], needed: list[inspect.Parameter], tensors: int) -> Form:
    """Where the mask goes and how weights are asked for; what else is needed is refused."""
    kinds = inspect.Parameter
    ask = next((p.name for p in parameters if re.match(r"(need|return|output|with)_.*(weight|attn|attention)", p.name)), None)
    rest = [p for p in parameters if p not in positional[:tensors] and p.kind not in (kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD)]
    padding = [p for p in rest if _padding(p) and p.kind is not kinds.POSITIONAL_ONLY]
    without, none = tuple(p.name for p in padding), tuple(p.name for p in padding if p.default is kinds.empty)
    rest, needed = [p for p in rest if p not in padding], [p for p in needed if p not in padding]
    masks = [p for p in rest if _mask_name(p) and p.kind is not kinds.POSITIONAL_ONLY]
    masks.sort(key=lambda p: p.default is not kinds.empty)
    fourth = needed[tensors] if len(needed) > tensors else None
    if fourth and not masks and not re.search(r"drop|scale|d_?k|heads?|temperature|^p$", fourth.name):
        return Form(tensors, fourth.name if padding else "fourth", True, ask, without, none)  # a mask by another name
    for parameter in rest:
        if parameter.default is kinds.empty and parameter not in masks[:1]:
            raise Refusal(f"It needs {parameter.name}, which nobody can guess; give it a default.")
    if not masks:
        return Form(tensors, ask_weights=ask, padding=without, none=none)
    return Form(tensors, masks[0].name, masks[0].default is kinds.empty, ask, without, none)


def call(function: Callable[..., Any], form: Form, tensors: tuple[Tensor, ...], mask: Tensor | None, **options: bool) -> Answer:
    """Runs a candidate on copies, and refuses one that raises, or changes what it was given."""
    copies, mask_copy = [x.clone() for x in tensors], None if mask is None else mask.clone()
    given: dict[str, Any] = {} if mask_copy is None or form.mask in (None, "fourth") else {str(form.mask): mask_copy}
    given |= dict.fromkeys(form.none)
    try:
        result = function(*copies, *([mask_copy] if form.mask == "fourth" and mask is not None else []), **given, **options)
    except RecursionError:
        raise Refusal("It calls itself without an end (RecursionError).") from None
    except (Exception, SystemExit) as error:
        told = str(error).strip().splitlines()
        raise Refusal(f"It raised {type(error).__name__}: {told[0] if told else 'no message'}") from error
    names = ("query", "key", "value") if len(tensors) > 1 else ("x",)
    before_and_after = [*zip(names, tensors, copies, strict=True)]
    if mask is not None and mask_copy is not None:
        before_and_after.append(("mask", mask, mask_copy))
    for name, before, after in before_and_after:
        if not torch.equal(before, after):
            raise Refusal(f"It changes its input {name} in place; work on a copy, for example masked_fill in place of masked_fill_.", "inputs")
    return read_answer(result)


def read_answer(result: Any) -> Answer:
    """The output and the weights in whatever a candidate returned."""
    parts = result if isinstance(result, tuple) and len(result) == 2 else (result, None)
    output, weights = parts
    if not isinstance(output, Tensor) or not (weights is None or isinstance(weights, Tensor)):
        kinds = [type(part).__name__ for part in result] if isinstance(result, tuple) else [type(result).__name__]
        found = f"a tuple of {len(kinds)} ({', '.join(kinds)})" if isinstance(result, tuple) else f"a {kinds[0]}"
        raise Refusal(f"It returned {'nothing' if result is None else found}; return the output, or (output, weights), as tensors.", "result")
    for name, tensor in (("output", output), ("weights", weights)):
        if tensor is not None and not tensor.is_floating_point():
            raise Refusal(f"Its {name} is {tensor.dtype}; it must hold floating-point numbers, as the inputs do.", "dtype")
        if tensor is not None and tensor.device.type != "cpu":
            raise Refusal(f"Its {name} is on {tensor.device}, but the inputs are on the CPU.", "device")
    return Answer(output.detach(), None if weights is None else weights.detach())
