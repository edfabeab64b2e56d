"""How well the title of a figure stands out from what is behind it, read off a screenshot."""

import io

import numpy
from PIL import Image

TITLE = 24  # the first rows of a figure hold its title, and nothing that could stand out in its place


def luminance(pixels):
    """Relative luminance as the accessibility guidelines define it, from 8-bit sRGB `(..., 3)`."""
    share = pixels / 255
    linear = numpy.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    return linear @ numpy.array([0.2126, 0.7152, 0.0722])


def contrast(png: bytes) -> float:
    """The contrast to the background that at least 20 pixels of the title reach."""
    lit = luminance(numpy.asarray(Image.open(io.BytesIO(png)).convert("RGB"), dtype=float)[:TITLE]).round(4)
    shades, counts = numpy.unique(lit, return_counts=True)
    behind = shades[counts.argmax()]
    ratios = (numpy.maximum(lit, behind) + 0.05) / (numpy.minimum(lit, behind) + 0.05)
    return float(numpy.sort(ratios, axis=None)[-20])
