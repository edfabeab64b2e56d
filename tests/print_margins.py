"""How far is each printed number from printing otherwise? Runs the doctests of pages, and prints what it saw as JSON.

A processor that adds in another order gives other last bits. A number that stands close to where its last shown digit turns
would then print another digit. The distance is counted in steps of float32 (units in the last place, ULP).
"""

import doctest
import json
import math
import sys

import numpy
import torch
from torch import _tensor_str


def margin(value: float, decimals: int) -> float:
    """Steps of float32 from ``value`` to the nearest number at which its rounding to ``decimals`` turns."""
    scaled = abs(value) * 10**decimals
    return abs(scaled - math.floor(scaled) - 0.5) / 10**decimals / float(numpy.spacing(numpy.float32(abs(value))))


def to_integer(value: float) -> float:
    """Steps of float32 from ``value`` to the nearest integer: a tensor of integers alone prints without decimals."""
    return abs(value - round(value)) / float(numpy.spacing(numpy.float32(abs(value))))


def watch() -> tuple[list[tuple[float, int]], set[float]]:
    """From now on, each finite number that a tensor prints, with its decimals; and each number that was drawn, which is exact."""
    printed: list[tuple[float, int]] = []
    drawn: set[float] = set()
    form = _tensor_str._Formatter.format

    def noted(self, value):
        if isinstance(value, float) and math.isfinite(value) and not self.sci_mode:
            printed.append((value, 0 if self.int_mode else _tensor_str.PRINT_OPTS.precision))
        return form(self, value)

    def noting(draw):
        def drawing(*arguments, **keywords):
            values = draw(*arguments, **keywords)
            if values.numel() < 1000:  # more are not printed
                drawn.update(values.flatten().tolist())
            return values

        return drawing

    _tensor_str._Formatter.format = noted
    torch.rand, torch.randn = noting(torch.rand), noting(torch.randn)
    return printed, drawn


def main() -> None:
    printed, drawn = watch()
    seen = []
    for page in sys.argv[1:]:
        if doctest.testfile(page, module_relative=False).failed:
            sys.exit(f"{page}: its doctests fail")
        seen += [(page, value, decimals) for value, decimals in printed if value not in drawn]
        printed.clear()
    json.dump(seen, sys.stdout)


if __name__ == "__main__":
    main()
