"""Every test and every doctest page starts from the same settings of torch and numpy, and leaves them so."""

import numpy
import pytest
import torch

FRESH_NUMPY_PRINTING = numpy.get_printoptions()


def wipe() -> None:
    """Undo what a page or a test may have set for itself."""
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float32)
    torch.set_grad_enabled(True)
    torch.set_printoptions(profile="default", sci_mode=None)
    numpy.set_printoptions(**FRESH_NUMPY_PRINTING)


@pytest.fixture(autouse=True)
def clean_slate():
    """Around each test, so that none depends on its neighbours."""
    wipe()
    yield
    wipe()
