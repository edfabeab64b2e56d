"""How well the writing of a figure stands out from what is behind it, read off a screenshot."""

import io

import numpy
from PIL import Image


def luminance(pixels):
    """Relative luminance as the accessibility guidelines define it, from 8-bit sRGB `(..., 3)`."""
    share = pixels / 255
    linear = numpy.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    return linear @ numpy.array([0.2126, 0.7152, 0.0722])


def contrast(png: bytes, edge: int) -> float:
    """The highest contrast to the background that at least 20 pixels reach within `edge` pixels of the border.

    A figure has its title and its labels there, and nothing else that would stand out in their place.
    """
    lit = luminance(numpy.asarray(Image.open(io.BytesIO(png)).convert("RGB"), dtype=float))
    inner = numpy.zeros(lit.shape, dtype=bool)
    inner[edge:-edge, edge:-edge] = True
    border = lit[~inner]
    # The commonest shade of the border is what lies behind.
    shades, counts = numpy.unique(border.round(4), return_counts=True)
    behind = shades[counts.argmax()]
    lighter, darker = numpy.maximum(border, behind), numpy.minimum(border, behind)
    ratios = numpy.sort((lighter + 0.05) / (darker + 0.05))
    return float(ratios[-20])
