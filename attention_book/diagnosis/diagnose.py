"""Runs somebody's attention on hidden inputs and says whether it is right, which mistake it makes, or where it departs.

A mistake is named only if the candidate gives exactly that mistake's numbers on every probe, in float64.
"""

import random
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from attention_book.diagnosis.candidates import Refusal, function_form
from attention_book.diagnosis.examine import Candidate, Diagnosis
from attention_book.diagnosis.of_function import diagnose_function
from attention_book.diagnosis.of_module import diagnose_module

__all__ = ["Diagnosis", "diagnose"]


def diagnose(candidate: Callable[..., Any] | nn.Module) -> Diagnosis:
    """Compares an attention with right code on hidden inputs, and names the mistake that gives its numbers.

    Args:
        candidate: a function of ``(query, key, value)`` or ``(query, key, value, mask)``, where a boolean mask is ``True`` where a query
            may look; or a module of ``(x)`` with layers for query, key and value, with a causal mask of its own or none. It returns
            the output, or ``(output, weights)``. It is run on copies; the module, the random state, the grad mode and the default
            dtype stay as they were.

    Returns:
        A ``Diagnosis``; its text says what to change. What keeps the candidate from being compared is told there too.

    Raises:
        TypeError: ``candidate`` is neither a function nor a module.

    Example:
        >>> import torch
        >>> from attention_book import diagnose
        >>> def attention(query, key, value):
        ...     scores = query @ key.mT
        ...     return torch.softmax(scores, dim=-1) @ value
        >>> print(diagnose(attention))
        Not yet: no scale. Divide the scores by key.shape[-1] ** 0.5 before softmax; without it, wide vectors make a spike of the weights.
    """
    if isinstance(candidate, type):
        raise TypeError(f"candidate is the class {candidate.__name__}; give an instance of it, or a function")
    if not callable(candidate):
        raise TypeError(f"candidate is a {type(candidate).__name__}; give a function of (query, key, value), or a module")
    with _as_it_was():
        try:
            if isinstance(candidate, nn.Module):
                return diagnose_module(candidate)
            return diagnose_function(Candidate(candidate, function_form(candidate)))
        except Refusal as refusal:
            return Diagnosis(False, hint=str(refusal), first_departure=refusal.step)


@contextmanager
def _as_it_was() -> Iterator[None]:
    """Leaves the random states, the grad mode and the default dtype as the caller had them, whatever a candidate does."""
    grad, dtype, state = torch.is_grad_enabled(), torch.get_default_dtype(), random.getstate()
    numpy = sys.modules.get("numpy")
    numpy_state = numpy.random.get_state() if numpy else None
    try:
        with torch.random.fork_rng(devices=[]), torch.autocast("cpu", enabled=False), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch's advice to the candidate's author, who did not ask here
            torch.set_grad_enabled(False)
            yield
    finally:
        torch.set_grad_enabled(grad)
        torch.set_default_dtype(dtype)
        random.setstate(state)
        if numpy:
            numpy.random.set_state(numpy_state)
