"""Heatmaps of attention: rows are queries, the first on top; columns are keys; all maps on one stated scale.

The only folder of the library that imports matplotlib. Nothing global is changed: no setting, no random state, no
argument. Everything outside the cells is drawn in the reader's own text and tick colours, so that a page may recolour it;
everything inside the cells has colours of its own. Colour map: viridis, whose lightness only rises (van der Walt and
Smith, 2015), so that it serves colour-blind readers and grey prints too.
"""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from attention_book.heatmaps.figure import draw
from attention_book.heatmaps.maps import as_maps, check

__all__ = ["heatmap", "compare", "head_grid"]


def heatmap(
    weights: Tensor,
    tokens: Sequence[str] | None = None,
    *,
    key_tokens: Sequence[str] | None = None,
    mask: Tensor | None = None,
    title: str | None = None,
    limits: tuple[float, float] | None = (0.0, 1.0),
    decimals: int = 2,
    annotate: bool | None = None,
    ax: Axes | None = None,
) -> Figure:
    r"""Draws one map of attention: how much each query (row) takes from each key (column).

    .. math:: \text{colour}_{ij} = \text{viridis}\left(\frac{\text{weights}_{ij} - lo}{hi - lo}\right)

    Hidden cells (``mask`` is ``False`` there, or the score is ``-inf``) are hatched, never drawn as 0. NaN and ``+inf`` are red,
    hidden or not, for they are faults. The legend under the map says what the scale and these marks mean.

    Args:
        weights: weights or scores, shape ``(i, j)``, any real dtype, on any device that holds numbers.
        tokens: one label for each query, and for each key unless ``key_tokens`` is given; positions if ``None``. Drawn as
            literal text: a character that no installed font has is shown as ``<U+1F916>``, and the legend says so.
        key_tokens: one label for each key.
        mask: boolean, shape ``(i, j)``, ``True`` where a query may look.
        title: says what the map shows; a web page reads it to those who cannot see. Made from the shape if ``None``.
        limits: the values at the two ends of the colour scale; ``None`` takes the map's own range, and the legend says so.
        decimals: digits after the point in the printed numbers, 0 to 10.
        annotate: ``None`` prints the numbers while they are legible, at most 20 cells a side, and else says that it does not;
            ``True`` prints up to 2048 numbers, however large the figure; ``False`` prints none.
        ax: axes to fill, best in a figure with ``layout="constrained"``; a new pyplot figure if ``None``.

    Returns:
        The figure that holds the map.

    Raises:
        TypeError: ``weights`` is ``None`` or not a real tensor, ``mask`` is not boolean, or a label is not a string.
        ValueError: ``weights`` is not two-dimensional, has no cell or no data; a number of labels or a shape disagrees; the
            limits do not rise; or more numbers are asked for than can be printed.

    Example:
        >>> import matplotlib.pyplot as plt
        >>> from attention_book import JOURNEY, simple_attention
        >>> from attention_book.heatmaps import heatmap
        >>> output, weights = simple_attention(JOURNEY.embeddings)
        >>> figure = heatmap(weights, JOURNEY.tokens, title="Six tokens, compared with no dials")
        >>> figure.axes[0].get_title()
        'Six tokens, compared with no dials'
        >>> plt.close(figure)
    """
    check("weights", weights, 2, "give one map, shape (i, j): pick a head, or draw all heads with head_grid")
    rows, columns = weights.shape
    heading = f"Attention, {rows} x {columns} (query x key)" if title is None else title
    return draw(as_maps({heading: weights}, mask), tokens, key_tokens, None, limits, decimals, annotate, ax)


def compare(
    maps: Mapping[str, Tensor],
    tokens: Sequence[str] | None = None,
    *,
    key_tokens: Sequence[str] | None = None,
    mask: Tensor | None = None,
    title: str | None = None,
    limits: tuple[float, float] | None = (0.0, 1.0),
    decimals: int = 2,
    annotate: bool | None = None,
) -> Figure:
    """Draws maps side by side on one scale with one legend, so that equal colours are equal numbers.

    Args:
        maps: the maps by name, each of shape ``(i, j)``; the names become their titles.
        tokens, key_tokens, decimals, annotate: as in :func:`heatmap`.
        mask: boolean, shape ``(i, j)`` for all maps, or ``(len(maps), i, j)``; ``True`` where a query may look.
        title: what the figure shows; made from the shape if ``None``.
        limits: the values at the two ends of the colour scale; ``None`` takes the range of all these maps together.

    Returns:
        A new pyplot figure.

    Raises:
        TypeError: as in :func:`heatmap`, or ``maps`` is not a mapping.
        ValueError: as in :func:`heatmap`, ``maps`` is empty, or two maps differ in shape.

    Example:
        >>> import matplotlib.pyplot as plt
        >>> from attention_book import JOURNEY, scaled_dot_product_attention
        >>> from attention_book.heatmaps import compare
        >>> x = JOURNEY.embeddings
        >>> unscaled, scaled = (scaled_dot_product_attention(x, x, x, scale=scale)[1] for scale in (1.0, None))
        >>> figure = compare({"unscaled": unscaled, "scaled": scaled}, JOURNEY.tokens, title="What scaling does")
        >>> [ax.get_title() for ax in figure.axes]
        ['unscaled', 'scaled', '']
        >>> plt.close(figure)
    """
    if not isinstance(maps, Mapping):
        raise TypeError(f"maps is a {type(maps).__name__}; give a mapping such as {{'unscaled': a, 'scaled': b}}")
    if not maps:
        raise ValueError("maps is empty, so there is nothing to draw; give one map or more")
    first_name, first = next(iter(maps.items()))
    for name, weights in maps.items():
        check(f"maps[{name!r}]", weights, 2, "give one map, shape (i, j)")
        if weights.shape != first.shape:
            raise ValueError(f"{name} has shape {tuple(weights.shape)} but {first_name} has {tuple(first.shape)}")
    heading = f"{len(maps)} maps, {first.shape[0]} x {first.shape[1]} (query x key)"
    title = heading if title is None else title
    return draw(as_maps(maps, mask), tokens, key_tokens, title, limits, decimals, annotate)


def head_grid(
    weights: Tensor,
    tokens: Sequence[str] | None = None,
    *,
    key_tokens: Sequence[str] | None = None,
    mask: Tensor | None = None,
    title: str | None = None,
    limits: tuple[float, float] | None = (0.0, 1.0),
    decimals: int = 2,
    annotate: bool | None = None,
) -> Figure:
    """Draws every head's map on one scale, side by side, in as many rows as legible cells need.

    Args:
        weights: shape ``(h, i, j)``, weights per head, not averaged.
        tokens, key_tokens, decimals, annotate: as in :func:`heatmap`.
        mask: boolean, shape ``(i, j)`` for all heads, or ``(h, i, j)``; ``True`` where a query may look.
        title: what the figure shows; made from the shape if ``None``.
        limits: the values at the two ends of the colour scale; ``None`` takes the range of all heads together.

    Returns:
        A new pyplot figure, each map titled "head 0", "head 1" and so on.

    Raises:
        TypeError: as in :func:`heatmap`.
        ValueError: as in :func:`heatmap`, or ``weights`` is not three-dimensional.

    Example:
        >>> import matplotlib.pyplot as plt
        >>> import torch
        >>> from attention_book.heatmaps import head_grid
        >>> figure = head_grid(torch.eye(3).expand(2, 3, 3), ["a", "b", "c"], title="Two heads, each at itself")
        >>> [ax.get_title() for ax in figure.axes]
        ['head 0', 'head 1', '']
        >>> plt.close(figure)
    """
    check("weights", weights, 3, "give the heads of one sample, shape (h, i, j): pick an item of the batch first")
    heads, rows, columns = weights.shape
    title = f"{heads} heads, {rows} x {columns} (query x key)" if title is None else title
    maps = as_maps({f"head {head}": weights[head] for head in range(heads)}, mask)
    return draw(maps, tokens, key_tokens, title, limits, decimals, annotate)
