"""Draw the maps of the bug zoo: what right code gives and what a mistake gives, as SVGs like those of the gallery."""

import math
from pathlib import Path
from typing import NamedTuple

FOLDER = "gallery/zoo"  # generated, as the pages beside it


class Picture(NamedTuple):
    """One map of the zoo, as the page shows it."""

    uri: str
    alt: str
    width: int
    height: int


def shows_weights(mistake) -> bool:
    """Whether the weights differ from right ones; else the output does, and is drawn."""
    import torch

    from attention_book.fingerprints import fingerprint

    weights, right = (fingerprint(mistake, right=right)[1] for right in (False, True))
    return weights.shape != right.shape or not torch.equal(weights, right)


def maps(mistake) -> dict:
    """The maps to lay side by side, by their titles: right ones first."""
    from attention_book.fingerprints import fingerprint

    (output, weights), (right_output, right) = fingerprint(mistake), fingerprint(mistake, right=True)
    if not shows_weights(mistake):
        return {"Right output": right_output, f"Output, {mistake.name}": output}
    if weights.dim() < right.dim():
        return {**{f"Right weights, head {head}": each for head, each in enumerate(right)}, f"Weights, {mistake.name}": weights}
    if weights.dim() == 3:
        return {"Right weights, head 0": right[0], f"Weights of head 0, {mistake.name}": weights[0]}
    under = " under a causal mask" if mistake.needs == "mask" else ""
    return {f"Right weights{under}": right, f"Weights, {mistake.name}": weights}


def draw(mistake, srcdir: Path) -> list[Picture]:
    """Write the maps of one mistake; an unchanged map keeps its file."""
    import matplotlib
    from gallery_svg import draw as as_svg
    from gallery_svg import page_style

    from attention_book import JOURNEY
    from attention_book.heatmaps import heatmap

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    folder = srcdir / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    drawn, shown = [], maps(mistake)
    weights = shows_weights(mistake)
    least, largest = (math.floor(min(x.min() for x in shown.values())), math.ceil(max(x.max() for x in shown.values()))) if not weights else (0, 1)
    for title, numbers in shown.items():
        # What a row cannot see is hatched, as in all maps of the book.
        hidden = {"mask": numbers != 0} if mistake.needs == "mask" else {}
        keys = JOURNEY.tokens if weights else [str(number) for number in range(4)]
        with matplotlib.rc_context():
            matplotlib.rcdefaults()
            matplotlib.rcParams.update(page_style())
            figure = heatmap(numbers, JOURNEY.tokens, key_tokens=keys, title=title, limits=(least, largest), **hidden)
            if not weights:
                figure.axes[0].set(xlabel="number", ylabel="token")
            shared = title.startswith("Right weights")
            name = title.lower().replace(" ", "-").replace(",", "") if shared else f"{mistake.anchor}-{len(drawn)}"
            name = f"{mistake.needs or 'plain'}-{name}" if shared else name
            svg, width, height = as_svg(figure, name, title)
            plt.close(figure)
        path = folder / f"{name}.svg"
        if not path.exists() or path.read_text("utf-8") != svg:
            path.write_text(svg, "utf-8")
        drawn.append(Picture(f"/{FOLDER}/{name}.svg", title, width, height))
    return drawn
