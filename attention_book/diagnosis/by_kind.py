"""Tries the kinds of mask in turn: boolean first, and where that fails those that other right code takes."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from attention_book.diagnosis.candidates import Form, Refusal
from attention_book.diagnosis.examine import Diagnosis
from attention_book.diagnosis.mask_kinds import BOOLEAN, OTHERS, MaskKind

Attempt: TypeAlias = Callable[[Form, MaskKind], Diagnosis]


def by_kind(form: Form, attempt: Attempt) -> Diagnosis:
    """What a candidate gives with boolean masks, unless it is wrong there and right with another kind."""
    found = _tried(attempt, form, BOOLEAN)
    # What is wrong without a mask is wrong with any.
    if not _right(found) and form.mask and (form.mask_needed or _right(_tried(attempt, replace(form, mask=None), BOOLEAN))):
        for kind in OTHERS:
            other = _tried(attempt, form, kind)
            if isinstance(other, Diagnosis) and other.ok:
                return other.told(kind.says)
    if isinstance(found, Refusal):
        raise found
    return found


def _tried(attempt: Attempt, form: Form, kind: MaskKind) -> Diagnosis | Refusal:
    try:
        return attempt(form, kind)
    except Refusal as refusal:
        return refusal


def _right(found: Diagnosis | Refusal) -> bool:
    return isinstance(found, Diagnosis) and found.ok
