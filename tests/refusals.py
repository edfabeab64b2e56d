"""How a refusal is tested: a sentence that holds the offending values, given before anything is computed or drawn."""

from contextlib import contextmanager

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode


class Computed(AssertionError):
    """Something was computed before the refusal."""


class _NothingComputed(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func is not torch.ops.aten.detach.default:  # another name for the same numbers
            raise Computed(f"{func} ran before the refusal")
        return func(*args, **kwargs or {})


@contextmanager
def refused(error: type[Exception], *words: object):
    """The block must raise ``error`` with each of the ``words`` in its sentence, and run no op of torch before."""
    state = torch.get_rng_state()
    with _NothingComputed(), pytest.raises(error) as caught:
        yield
    assert type(caught.value) is error, f"{type(caught.value).__name__} in place of {error.__name__}"
    missing = [str(word) for word in words if str(word) not in str(caught.value)]
    assert not missing, f"{missing} not in: {caught.value}"
    assert torch.equal(torch.get_rng_state(), state), "the random state has moved"
