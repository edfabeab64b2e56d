"""Heatmaps: what a reader sees, measured on the drawn pixels and on the artists that make them."""

import base64
import io
import itertools
import random
import re
import subprocess
import sys
import time
import unicodedata

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.colors import to_rgba
from matplotlib.font_manager import FontProperties, findfont, get_font
from PIL import Image

from attention_book import CAT, JOURNEY, causal_mask, simple_attention
from attention_book.heatmaps import cells, compare, fonts, head_grid, heatmap
from attention_book.heatmaps.labels import literal

INF, NAN = float("inf"), float("nan")
LIGHT_PAGE, DARK_PAGE = "#ffffff", "#131416"
HARD = [
    *("the", "the", "internationalization", "$x_1^2$", "$", "a_b%", "C:\\new", "\\frac{", "line\nbreak", "tab\tbed", "\x00\x07"),
    *(
        "",
        " ",
        " the",
        "\ud800",
        "\udfff!",
        "\u202eabc",
        "\u2028",
        "\ue000",
        "\ufdd0",
        "e\u0301",
        "你\u0302",
        "z" + "\u0335" * 40,
    ),
    *("你好", "한국어", "日本語", "ไทย", "हिन्दी", "مرحبا", "שלום", "می\u200cروم", "Ġthe", "▁the", "##ing"),
    *("😀", "🤖", "👩\u200d👩\u200d👧", "❤\ufe0f", "🇫🇷", "👍🏽", "\u0301"),
]


@pytest.fixture(autouse=True)
def fresh_matplotlib():
    mpl.use("Agg")
    mpl.rcdefaults()
    yield
    plt.close("all")
    mpl.rcdefaults()


def softmax(*shape: int) -> torch.Tensor:
    return torch.softmax(3 * torch.randn(*shape, generator=torch.Generator().manual_seed(7)), dim=-1)


def pixels(figure) -> np.ndarray:
    """The figure as it is drawn, row 0 at the top, RGBA from 0 to 255."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.array(canvas.buffer_rgba())


def cell_colours(figure, i: int, j: int, panel: int = 0) -> set[tuple[int, ...]]:
    """The colours in the upper part of a cell, above its number."""
    image = pixels(figure)
    xs, ys = figure.axes[panel].transData.transform([(j - 0.35, i - 0.4), (j + 0.35, i - 0.3)]).T
    rows = np.round(image.shape[0] - ys).astype(int)
    columns = np.round(xs).astype(int)
    patch = image[min(rows) : max(rows) + 1, min(columns) : max(columns) + 1]
    return {tuple(colour) for colour in patch.reshape(-1, 4).tolist()}


def painted(value: float) -> tuple[int, ...]:
    """The colour of a weight."""
    return tuple(int(channel) for channel in mpl.colormaps["viridis"](value, bytes=True))


RED = tuple(round(255 * channel) for channel in to_rgba(cells.NOT_A_NUMBER))


def words(figure) -> str:
    """Everything that the figure says outside its cells, on one line."""
    texts = [figure.get_suptitle()]
    for ax in figure.axes:
        texts += [ax.get_title(), ax.get_xlabel(), ax.get_ylabel()]
    return " ".join(" ".join(texts).split())


def labels(figure, panel: int = 0) -> tuple[list[str], list[str]]:
    ax = figure.axes[panel]
    return [label.get_text() for label in ax.get_yticklabels()], [label.get_text() for label in ax.get_xticklabels()]


def numbers(figure, panel: int = 0) -> dict[tuple[int, int], str]:
    return {(round(t.get_position()[1]), round(t.get_position()[0])): t.get_text() for t in figure.axes[panel].texts}


def contrast(one, other) -> float:
    def luminance(colour):
        channels = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgba(colour)[:3]]
        return np.dot([0.2126, 0.7152, 0.0722], channels)

    dark, light = sorted([luminance(one), luminance(other)])
    return (light + 0.05) / (dark + 0.05)


# What a cell shows


def test_the_first_query_is_on_top_and_the_first_key_comes_first():
    figure = heatmap(torch.tensor([[0.0, 1.0], [0.0, 0.0]]), ["a", "b"], annotate=False)
    assert cell_colours(figure, 0, 1) == {painted(1.0)}
    for i, j in [(0, 0), (1, 0), (1, 1)]:
        assert cell_colours(figure, i, j) == {painted(0.0)}
    to_pixels = figure.axes[0].transData.transform
    assert to_pixels((0, 0))[1] > to_pixels((0, 1))[1]
    assert to_pixels((0, 0))[0] < to_pixels((1, 0))[0]
    assert labels(figure) == (["a", "b"], ["a", "b"])
    assert (figure.axes[0].get_ylabel(), figure.axes[0].get_xlabel()) == ("query", "key")


def test_no_setting_of_the_reader_turns_the_map_upside_down_or_blurs_it():
    mpl.rcParams.update({"image.origin": "lower", "image.interpolation": "bilinear", "axes.grid": True, "image.cmap": "jet"})
    test_the_first_query_is_on_top_and_the_first_key_comes_first()


@pytest.mark.parametrize("page", [LIGHT_PAGE, DARK_PAGE])
def test_zero_hidden_and_nan_are_three_different_looks(page):
    weights = torch.tensor([[0.0, 0.0, NAN], [0.0, -INF, INF], [0.5, 0.0, 1.0]])
    mask = torch.tensor([[True, False, True], [True, True, True], [True, True, True]])
    figure = heatmap(weights, mask=mask)
    figure.set_facecolor(page)
    zero, hidden, nan = (cell_colours(figure, 0, j) for j in range(3))
    assert zero == {painted(0.0)}
    assert len(hidden) > 2, "the hatch has lines and a ground"
    assert not zero & hidden
    assert not zero & nan
    assert not hidden & nan
    masked_score, infinite = cell_colours(figure, 1, 1), cell_colours(figure, 1, 2)
    assert not masked_score & (zero | nan)
    assert masked_score & hidden
    assert infinite == nan == {RED}
    scale = {painted(k / 255) for k in range(256)}
    assert not (hidden | nan) & scale, "no number has the colour of a hidden cell or of NaN"
    assert numbers(figure)[0, 2] == "NaN"
    assert numbers(figure)[1, 2] == "inf"
    assert (0, 1) not in numbers(figure)
    assert (1, 1) not in numbers(figure)
    assert "hatched: hidden" in words(figure)
    assert "red: NaN or inf" in words(figure)
    assert contrast(cells.HIDDEN, page) > 3
    assert "hatched" not in words(heatmap(torch.eye(2)))
    assert "red" not in words(heatmap(torch.eye(2)))


def test_a_fault_shows_even_where_the_mask_hides():
    weights = torch.tensor([[1.0, NAN], [INF, -INF]])
    figure = heatmap(weights, mask=torch.tensor([[True, False], [False, False]]))
    assert cell_colours(figure, 0, 1) == cell_colours(figure, 1, 0) == {RED}
    assert numbers(figure) == {(0, 0): "1.00", (0, 1): "NaN", (1, 0): "inf"}


def test_a_map_with_nothing_to_show_is_drawn_all_the_same():
    for value in (NAN, INF, -INF):
        for limits in ((0.0, 1.0), None):
            figure = heatmap(torch.full((3, 3), value), limits=limits)
            assert len(pixels(figure))
            assert "beyond" not in words(figure)
    assert "no finite value to show" in words(heatmap(torch.full((3, 3), NAN), limits=None))


def test_hidden_cells_stay_hidden_on_a_transparent_figure():
    figure = heatmap(torch.tensor([[1.0, 0.0], [0.5, 0.5]]), mask=causal_mask(2))
    file = io.BytesIO()
    figure.savefig(file, transparent=True, dpi=figure.dpi)
    image = np.asarray(Image.open(file))
    assert image[0, 0, 3] == 0, "the page shows through around the map"
    x, y = np.round(figure.axes[0].transData.transform((1, 0))).astype(int)
    assert (image[image.shape[0] - y - 5 : image.shape[0] - y + 5, x - 5 : x + 5, 3] == 255).all()


def test_each_head_may_have_its_own_mask():
    mask = torch.stack([causal_mask(3), torch.ones(3, 3, dtype=torch.bool)])
    for figure in (
        head_grid(torch.full((2, 3, 3), 0.3), mask=mask),
        compare({"a": torch.full((3, 3), 0.3), "b": torch.full((3, 3), 0.3)}, mask=mask),
    ):
        assert len(numbers(figure, 0)) == 6
        assert len(numbers(figure, 1)) == 9
    assert len(numbers(head_grid(torch.full((1, 3, 3), 0.3), mask=mask[:1]))) == 6


# The scale


def test_maps_side_by_side_share_one_scale_and_one_legend():
    nearly_even, sharp = torch.full((3, 3), 1 / 3) + torch.linspace(0, 1e-6, 9).reshape(3, 3), torch.eye(3)
    figure = compare({"even": nearly_even, "sharp": sharp}, annotate=False)
    first, second = (ax.images[0] for ax in figure.axes[:2])
    assert first.norm is second.norm
    assert (first.norm.vmin, first.norm.vmax) == (0, 1)
    assert len(figure.axes) == 3, "two maps and one legend"
    assert not cell_colours(figure, 0, 0, 0) & cell_colours(figure, 0, 0, 1)
    assert "weight, 0 to 1, one scale for all maps" in words(figure)


@pytest.mark.parametrize("draw", [lambda w: heatmap(w[0]), head_grid], ids=["heatmap", "head_grid"])
def test_equal_numbers_have_equal_colours_in_all_figures(draw):
    one, other = softmax(2, 4, 4), torch.zeros(2, 4, 4)
    one[0, 2, 1] = other[0, 2, 1] = 0.37
    assert cell_colours(draw(one), 2, 1) == cell_colours(draw(other), 2, 1)


def test_a_constant_map_is_not_painted_as_zero():
    for limits in ((0.0, 1.0), None):
        for weights in (torch.ones(1, 1), torch.full((3, 3), 1 / 3), torch.full((2, 2), -1e30)):
            if weights.min() >= 0 or limits is None:
                assert cell_colours(heatmap(weights, limits=limits, annotate=False), 0, 0) != {painted(0.0)}


def test_a_range_of_its_own_is_stated():
    scores = torch.tensor([[-2.0, 3.5], [-INF, NAN]])
    figure = heatmap(scores, limits=None)
    assert figure.axes[0].images[0].get_clim() == (-2, 3.5)
    assert "value, -2 to 3.5, this map's own range" in words(figure)
    assert "weight" not in words(figure)
    both = compare({"a": scores, "b": torch.full((2, 2), 7.0)}, limits=None)
    assert [ax.images[0].get_clim() for ax in both.axes[:2]] == [(-2, 7), (-2, 7)]
    assert "value, -2 to 7, the range of these maps together" in words(both)
    assert "value, -5 to 5, one scale for all maps" in words(heatmap(scores, limits=(-5, 5)))


def test_hidden_cells_do_not_stretch_the_range():
    figure = heatmap(torch.tensor([[1.0, 1e9], [2.0, 3.0]]), mask=causal_mask(2), limits=None)
    assert figure.axes[0].images[0].get_clim() == (1, 3)


@pytest.mark.parametrize(("weights", "extend"), [([[0.0, 2.0]], "max"), ([[-1.0, 0.5]], "min"), ([[-1.0, 2.0]], "both"), ([[0.0, 1.0]], "neither")])
def test_values_beyond_the_scale_are_told(weights, extend):
    figure = heatmap(torch.tensor(weights), ["q"], key_tokens=["a", "b"])
    assert figure.axes[-1]._colorbar.extend == extend
    assert ("beyond the scale" in words(figure)) == (extend != "neither")


def test_lightness_only_rises_along_the_colour_map():
    light = [cells.luminance(colour) for colour in mpl.colormaps[cells.COLOUR_MAP](np.arange(256))]
    assert all(earlier < later for earlier, later in itertools.pairwise(light))
    assert contrast(mpl.colormaps[cells.COLOUR_MAP](0), mpl.colormaps[cells.COLOUR_MAP](255)) > 10


@pytest.mark.parametrize("low", [torch.finfo(torch.float32).min, -1e9, torch.finfo(torch.float64).min])
def test_huge_numbers_are_drawn_without_a_warning(low):
    scores = torch.tensor([[1.0, low], [-low, 0.0]], dtype=torch.float64)
    for limits in ((0.0, 1.0), None):
        figure = heatmap(scores, limits=limits)
        pixels(figure)
        figure.savefig(io.BytesIO(), format="svg")
        assert len(numbers(figure)) == 4


# The numbers


def test_every_cell_carries_its_number():
    output, weights = simple_attention(JOURNEY.embeddings)
    shown = numbers(heatmap(weights, JOURNEY.tokens))
    assert shown == {(i, j): f"{weights[i, j].item():.2f}" for i in range(6) for j in range(6)}
    assert numbers(heatmap(weights, JOURNEY.tokens, decimals=4))[1, 1] == "0.2379"
    assert all(len(numbers(head_grid(weights.expand(3, 6, 6)), panel)) == 36 for panel in range(3))


def test_a_rounded_zero_has_no_sign():
    assert numbers(heatmap(torch.tensor([[-0.001, -0.0], [-0.006, 1e-9]]))) == {
        (0, 0): "0.00",
        (0, 1): "0.00",
        (1, 0): "-0.01",
        (1, 1): "0.00",
    }


def test_numbers_stand_out_from_their_cells_by_four_and_a_half_to_one():
    ramp = torch.linspace(0, 1, 256).reshape(16, 16)
    ramp[3, 3], ramp[4, 4] = NAN, INF
    figure = heatmap(ramp)
    image = pixels(figure)
    texts = figure.axes[0].texts
    assert len(texts) == 256
    for text in texts:
        j, i = text.get_position()
        x, y = figure.axes[0].transData.transform((j - 0.4, i - 0.4)).round().astype(int)
        assert contrast(text.get_color(), image[image.shape[0] - y, x] / 255) >= 4.5, text


@pytest.mark.parametrize("decimals", [0, 2, 4, 10])
@pytest.mark.parametrize("scale", [1, -1000])
def test_numbers_fit_into_their_cells(decimals, scale):
    figure = heatmap(scale * softmax(4, 4), decimals=decimals, limits=None)
    pixels(figure)
    assert len(figure.axes[0].texts) == 16
    cell = figure.axes[0].get_window_extent().width / 4
    assert all(text.get_window_extent().width <= 0.95 * cell for text in figure.axes[0].texts)


def test_numbers_are_printed_while_legible_and_the_figure_says_when_not():
    small = heatmap(softmax(20, 20))
    assert len(numbers(small)) == 400
    assert "too many" not in words(small)
    large = heatmap(softmax(21, 21))
    assert numbers(large) == {}
    assert "21 x 21: too many cells to print their numbers" in words(large)
    assert "30 x 512: too many cells to print their numbers" in words(heatmap(torch.zeros(30, 512)))
    assert "8 maps of 24 x 24: too many cells" in words(head_grid(softmax(8, 24, 24)))


def test_numbers_are_printed_or_left_out_on_request():
    assert len(numbers(heatmap(softmax(25, 25), annotate=True))) == 625
    quiet = heatmap(softmax(30, 30), annotate=False)
    assert numbers(quiet) == {}
    assert "too many" not in words(quiet)
    assert numbers(heatmap(softmax(3, 3), annotate=False)) == {}


def test_small_axes_of_the_caller_get_no_numbers():
    small, large = plt.figure(figsize=(1, 1)).add_subplot(), plt.figure(figsize=(9, 7)).add_subplot()
    assert numbers(heatmap(softmax(6, 6), ax=small)) == {}
    assert len(numbers(heatmap(softmax(6, 6), ax=large))) == 36


def test_a_large_map_takes_little_longer_than_a_plain_image():
    weights, tokens, mask = softmax(512, 512), [f"word{k}" for k in range(512)], causal_mask(512)

    def plain():
        figure, ax = plt.subplots()
        figure.colorbar(ax.imshow(weights.numpy()))
        return figure

    def seconds(draw) -> float:
        start = time.process_time()
        pixels(draw())
        return time.process_time() - start

    drawn = [(seconds(lambda: heatmap(weights, tokens, mask=mask)), seconds(plain)) for _ in range(3)]
    ours, theirs = (min(times) for times in zip(*drawn, strict=True))
    assert ours < 12 * theirs, f"{ours / theirs:.1f} times a plain image"


def test_cells_below_a_pixel_are_averaged_and_never_dropped():
    mpl.rcParams["figure.dpi"] = 20  # so that 300 cells share at most 200 pixels
    for column in range(150, 153):
        weights = torch.zeros(300, 300)
        weights[:, column] = 1.0
        figure = heatmap(weights)
        image = pixels(figure)
        assert "smaller than a pixel" in words(figure)
        box = figure.axes[0].get_window_extent()
        row = image[image.shape[0] // 3, round(box.x0) + 3 : round(box.x1) - 3]
        assert len({tuple(colour) for colour in row.tolist()}) > 1, "the bright column can be seen"
    assert max(figure.get_size_inches()) < 15


# The labels


def test_repeated_tokens_keep_their_own_rows_and_columns():
    figure = heatmap(torch.eye(5), ["the", "cat", "saw", "the", "dog"])
    assert labels(figure) == (["the", "cat", "saw", "the", "dog"],) * 2
    assert list(figure.axes[0].get_yticks()) == list(figure.axes[0].get_xticks()) == [0, 1, 2, 3, 4]
    assert figure.axes[0].images[0].get_array().shape == (5, 5)
    assert labels(heatmap(torch.eye(3), ["the"] * 3)) == (["the"] * 3,) * 2


def test_keys_may_have_labels_of_their_own():
    figure = heatmap(torch.rand(2, 3), ["q0", "q1"], key_tokens=["a", "b", "c"])
    assert labels(figure) == (["q0", "q1"], ["a", "b", "c"])
    assert labels(heatmap(torch.rand(2, 3), key_tokens=["a", "b", "c"])) == (["0", "1"], ["a", "b", "c"])
    assert labels(heatmap(torch.rand(2, 3))) == (["0", "1"], ["0", "1", "2"])
    assert labels(compare({"w": torch.rand(2, 3)}, ["q0", "q1"], key_tokens=["a", "b", "c"]))[1] == ["a", "b", "c"]
    assert labels(head_grid(torch.rand(2, 2, 3), ["q0", "q1"], key_tokens=["a", "b", "c"]), 1)[1] == ["a", "b", "c"]


@pytest.mark.parametrize("text", ["$x_1^2$", "$", "a_b%", "C:\\new", "\\frac{", "{}", "^", "#&~"])
def test_marks_of_tex_are_literal_text(text):
    figure = heatmap(torch.eye(2), [text, "b"], title=text)
    pixels(figure)
    assert labels(figure)[0][0] == labels(figure)[1][0] == figure.axes[0].get_title() == text
    label = figure.axes[0].get_yticklabels()[0]
    width = label.get_window_extent().width
    plain = figure.text(0, 0, text, fontsize=label.get_fontsize(), parse_math=False)
    assert width == pytest.approx(plain.get_window_extent().width, abs=1)
    assert label.get_usetex() is False
    assert figure.axes[0].title.get_parse_math() is False


@pytest.mark.parametrize(
    ("token", "label"),
    [
        ("line\nbreak", "line↵break"),
        ("tab\tbed", "tab⇥bed"),
        ("\x00\x07", "<U+0000><U+0007>"[:8] + "…"),
        ("\r", "<U+000D>"),
        ("a\ud800", "a<U+D800>"),
        ("\u202eabc", "<U+202E>abc"),
        ("\ue000", "<U+E000>"),
        ("a\xa0b", "a<U+00A0>b"),
        (" the", "␣the"),
        ("the  ", "the␣␣"),
        ("a  b", "a  b"),
        ("   ", "␣␣␣"),
        ("", "(empty)"),
        ("C:\\n", "C:\\n"),
        ("abcdefghijklmn", "abcdefghijklmn"),
        ("abcdefghijklmno", "abcdefghijklm…"),
        ("abcdefghijkle\u0301\u0301nop", "abcdefghijkl…"),
    ],
)
def test_what_cannot_be_seen_is_shown(token, label):
    figure = heatmap(torch.eye(2), [token, "b"])
    assert labels(figure) == ([label, "b"], [label, "b"])


def test_long_tokens_keep_their_rows():
    figure = heatmap(torch.eye(3), ["a" * 500, "a" * 600, "你" * 500])
    rows, columns = labels(figure)
    assert len(rows) == len(columns) == 3
    assert all(label.endswith("…") and len(label) <= 14 for label in rows)
    assert max(figure.get_size_inches()) < 6


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_no_token_breaks_a_build_whose_warnings_are_errors(kind, recwarn):
    for tokens in (HARD[:20], HARD[20:40], HARD[40:]):
        figure = heatmap(torch.eye(len(tokens)), tokens, title=" ".join(tokens), annotate=False)
        figure.savefig(io.BytesIO(), format=kind)
        assert len(labels(figure)[0]) == len(labels(figure)[1]) == len(tokens)
    assert not recwarn.list


def test_no_mixture_of_characters_breaks_a_build():
    drawn = random.Random(5)
    ranges = [(0, 0x250), (0x300, 0x370), (0x590, 0x700), (0x900, 0xE80), (0x1100, 0x1200), (0x2000, 0x2100)]
    ranges += [(0x2600, 0x2800), (0x3000, 0x3200), (0x4E00, 0x4F00), (0xFE00, 0xFE10), (0x1F300, 0x1FA00), (0x0, 0x110000)]
    for _ in range(150):
        token = "".join(chr(drawn.randrange(*drawn.choice(ranges))) for _ in range(4))
        text = literal(token)
        plt.figure(1).text(0, 0, text, **fonts.text_style(text, 9)).get_window_extent()  # lays the text out: warns of lost glyphs


def has_glyph(family: str, character: str) -> bool:
    return bool(get_font(findfont(FontProperties(family=[family]))).get_char_index(ord(character)))


def test_a_font_that_has_the_character_is_found():
    has = get_font(findfont(FontProperties(family=["STIXGeneral"]))).get_charmap()
    # Bundled with matplotlib, so that this holds on a machine without any other font.
    character = next(chr(c) for c in sorted(has) if c > 0x3000 and not has_glyph("DejaVu Sans", chr(c)) and c < 0xD800 or c > 0x1D400)
    assert not has_glyph("DejaVu Sans", character)
    assert unicodedata.category(character) not in ("Co", "Cn")
    figure = heatmap(torch.eye(1), [character])
    assert labels(figure)[0] == [character]
    families = figure.axes[0].get_yticklabels()[0].get_fontfamily()
    assert families[: len(mpl.rcParams["font.family"])] == mpl.rcParams["font.family"], "the reader's own font comes first"
    assert any(has_glyph(family, character) for family in families if family != "sans-serif")
    assert "no installed font" not in words(figure)


def test_a_character_without_a_font_is_shown_by_code_and_the_figure_says_so(monkeypatch, recwarn):
    monkeypatch.setattr(fonts, "_installed", list)
    fonts._search.cache_clear()
    try:
        figure = heatmap(torch.eye(7), ["a", "🤖", "ไทย", "हि", "你", "好", "🤖"], title="🤖")
        pixels(figure)
        assert labels(figure)[0] == ["a", "<U+1F916>", "<U+0E44>…", "<U+0939>…", "<U+4F60>", "<U+597D>", "<U+1F916>"]
        assert figure.axes[0].get_title() == "<U+1F916>"
        said = "token 1, token 2, token 3, token 4 and 3 more: no installed font draws all characters"
        assert said in words(figure)
        assert "key token 0: no installed" in words(heatmap(torch.eye(1), ["a"], key_tokens=["你"]))
    finally:
        fonts._search.cache_clear()
    assert not recwarn.list


def inked(text, shape: tuple[int, int], dpi: float) -> np.ndarray:
    """The pixels that one label covers."""
    renderer = RendererAgg(*shape, dpi)
    text.draw(renderer)
    return np.asarray(renderer.buffer_rgba())[..., 3] > 0


def overlapping(figure) -> list[tuple[str, str]]:
    figure.canvas.draw()
    shape = tuple(int(side) for side in figure.bbox.size)
    pairs = []
    for ax in figure.axes:
        for axis_labels in (ax.get_xticklabels(), ax.get_yticklabels()):
            shown = [label for label in axis_labels if label.get_visible() and label.get_text()]
            ink = [inked(label, shape, figure.dpi) for label in shown]
            pairs += [(shown[k].get_text(), shown[k + 1].get_text()) for k in range(len(ink) - 1) if (ink[k] & ink[k + 1]).any()]
    return pairs


@pytest.mark.parametrize("n", [1, 6, 20, 64, 200])
@pytest.mark.parametrize("word", ["word{}", "internationalization"])
def test_labels_never_overlap(n, word):
    assert overlapping(heatmap(torch.zeros(n, n), [word.format(k) for k in range(n)], annotate=False)) == []


def test_labels_never_overlap_in_any_arrangement():
    assert overlapping(heatmap(torch.zeros(1, 64))) == []
    assert overlapping(heatmap(torch.zeros(64, 1))) == []
    assert overlapping(heatmap(torch.zeros(20, 20), HARD[20:40], annotate=False)) == []
    assert overlapping(head_grid(torch.zeros(3, 40, 40), [f"word{k}" for k in range(40)], annotate=False)) == []
    assert overlapping(compare({"a": torch.zeros(10, 10), "b": torch.zeros(10, 10)}, CAT.tokens, annotate=False)) == []
    for size in [(3, 2), (5, 4), (10, 5)]:
        figure, ax = plt.subplots(figsize=size)
        assert overlapping(heatmap(torch.zeros(10, 10), CAT.tokens, ax=ax, annotate=False)) == []


def test_labels_left_out_are_told():
    assert "one label for every" not in words(heatmap(torch.zeros(20, 20)))
    figure = heatmap(torch.zeros(512, 512), [f"word{k}" for k in range(512)])
    step = int(re.search(r"one label for every (\d+) tokens", words(figure))[1])
    rows, columns = labels(figure)
    assert rows == columns == [f"word{k}" for k in range(0, 512, step)]
    assert list(figure.axes[0].get_xticks()) == list(range(0, 512, step))
    wide = words(heatmap(torch.zeros(2, 200)))
    assert re.search(r"one label for every \d+ keys", wide)
    assert "queries" not in wide


# The figure


FIGURES = {
    "one cell": lambda: heatmap(torch.ones(1, 1), ["a"]),
    "one query": lambda: heatmap(softmax(1, 64)),
    "one key": lambda: heatmap(softmax(9, 1), ["internationalization"] * 9, key_tokens=["internationalization"]),
    "all notes": lambda: heatmap(torch.tensor([[NAN, 9.0], [-INF, INF]]), title="a title that is very much longer than the map is wide, so it wraps " * 2),
    "compare": lambda: compare({"unscaled": softmax(6, 6), "scaled": softmax(6, 6)}, JOURNEY.tokens, title="What scaling does"),
    "compare long": lambda: compare({"internationalization " * 3: softmax(2, 2), "b": softmax(2, 2)}, ["a", "b"]),
    "five heads": lambda: head_grid(softmax(5, 6, 6), ["internationalization"] * 6),
    "64 tokens": lambda: heatmap(softmax(64, 64), [f"word{k}" for k in range(64)]),
    "twelve heads": lambda: head_grid(softmax(12, 24, 24)),
}


@pytest.mark.parametrize("name", FIGURES)
def test_nothing_is_cut_and_nothing_collides(name):
    figure = FIGURES[name]()
    pixels(figure)
    outer = figure.bbox
    boxes = [ax.get_tightbbox() for ax in figure.axes]
    boxes += [text.get_window_extent() for text in figure.texts]
    for box in boxes:
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= outer.x1
        assert box.y1 <= outer.y1
    for one, other in itertools.combinations(boxes, 2):
        assert not one.overlaps(other)


@pytest.mark.parametrize("name", ["one cell", "compare", "five heads"])
def test_every_figure_has_a_title_for_those_who_cannot_see_it(name):
    figure = FIGURES[name]()
    assert figure.get_suptitle() or figure.axes[0].get_title()


def test_default_titles_say_the_shape():
    assert heatmap(softmax(2, 5)).axes[0].get_title() == "Attention, 2 x 5 (query x key)"
    assert compare({"a": softmax(2, 5)}).get_suptitle() == "1 maps, 2 x 5 (query x key)"
    assert head_grid(softmax(3, 2, 5)).get_suptitle() == "3 heads, 2 x 5 (query x key)"


def test_heads_are_titled_and_wrap_into_even_rows():
    figure = head_grid(softmax(4, 6, 6), JOURNEY.tokens, title="Four heads")
    assert [ax.get_title() for ax in figure.axes] == ["head 0", "head 1", "head 2", "head 3", ""]
    assert figure.get_suptitle() == "Four heads"
    corners = [ax.get_position().p0 for ax in figure.axes[:4]]
    assert corners[0][0] == corners[2][0] < corners[1][0] == corners[3][0]
    assert corners[0][1] == corners[1][1] > corners[2][1] == corners[3][1]
    assert labels(figure)[0] == list(JOURNEY.tokens)


def test_heads_show_their_own_weights():
    weights = softmax(3, 4, 4)
    figure = head_grid(weights)
    for head in range(3):
        assert numbers(figure, head)[1, 2] == f"{weights[head, 1, 2].item():.2f}"


def test_six_tokens_are_legible_on_a_phone():
    figure = heatmap(softmax(6, 6), JOURNEY.tokens)
    shrunk = min(1, (390 - 32) / (figure.get_size_inches()[0] * 96))
    assert all(text.get_fontsize() * 96 / 72 * shrunk >= 10 for text in figure.axes[0].texts)


def test_everything_outside_the_cells_is_in_the_readers_ink_and_nothing_inside():
    ink = "#12ab34"
    names = ["text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"]
    with plt.rc_context(dict.fromkeys(names, ink)):
        figure = compare({"a": torch.tensor([[0.1, 0.9], [NAN, -INF]]), "b": torch.rand(2, 2)}, ["a", "b"], title="t")
    outside = [figure.texts[0]]
    for ax in figure.axes:
        outside += [ax.title, ax.xaxis.label, ax.yaxis.label, *ax.get_xticklabels(), *ax.get_yticklabels()]
        assert all(to_rgba(spine.get_edgecolor()) == to_rgba(ink) for spine in ax.spines.values())
    assert all(to_rgba(text.get_color()) == to_rgba(ink) for text in outside)
    inside = [text for ax in figure.axes for text in ax.texts]
    assert {text.get_color() for text in inside} == {cells.DARK_INK, cells.LIGHT_INK}
    assert cells.DARK_INK != "#000000", "a page may recolour all that is plain black"


def test_the_map_in_an_svg_has_one_pixel_for_each_cell():
    figure = heatmap(softmax(6, 6), JOURNEY.tokens, mask=causal_mask(6))
    file = io.BytesIO()
    figure.savefig(file, format="svg")
    text = file.getvalue().decode()
    images = [Image.open(io.BytesIO(base64.b64decode(data))).size for data in re.findall(r"base64,([^\"]+)", text)]
    assert (6, 6) in images
    assert "image-rendering:crisp-edges;image-rendering:pixelated" in text
    assert len(text) < 150_000


def test_axes_of_the_caller_are_filled():
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5))
    assert heatmap(softmax(3, 3), ["a", "b", "c"], ax=right, title="here") is figure
    assert plt.get_fignums() == [figure.number]
    assert right.get_title() == "here"
    assert not left.images
    assert tuple(figure.get_size_inches()) == (12, 5)
    assert "weight, 0 to 1, one scale for all maps" in words(figure)


def test_a_figure_is_known_to_pyplot():
    for draw in (lambda: heatmap(softmax(2, 2)), lambda: compare({"a": softmax(2, 2)}), lambda: head_grid(softmax(2, 2, 2))):
        plt.close("all")
        assert draw() is plt.gcf()
        assert len(plt.get_fignums()) == 1


# What goes in, and what must not change


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int64, torch.uint8, torch.bool])
def test_every_real_dtype_is_drawn(dtype):
    weights = torch.tensor([[1, 0], [0, 1]], dtype=dtype)
    assert numbers(heatmap(weights)) == {(0, 0): "1.00", (0, 1): "0.00", (1, 0): "0.00", (1, 1): "1.00"}
    assert len(numbers(head_grid(weights[None]))) == len(numbers(compare({"a": weights}))) == 4


def test_gradients_strides_and_views_do_not_matter():
    weights = softmax(4, 4).requires_grad_()
    layouts = [weights * 1, weights.T, weights[:, ::2], weights[:1].expand(3, 4), torch.nn.Parameter(weights[1:])]
    for layout in layouts:
        shown = numbers(heatmap(layout))
        assert shown == {(i, j): f"{layout[i, j].item():.2f}" for i, j in itertools.product(*map(range, layout.shape))}
    heads = softmax(4, 2, 4).transpose(0, 1).requires_grad_()
    assert numbers(head_grid(heads), 1)[2, 3] == f"{heads[1, 2, 3].item():.2f}"


def test_inputs_settings_and_random_state_stay_as_they_are():
    weights, tokens = softmax(3, 3), ["a", "b\n", "🤖"]
    weights[0, 1] = NAN
    mask, maps = causal_mask(3), {"x": weights}
    before = weights.clone(), mask.clone(), list(tokens), dict(mpl.rcParams)
    states = torch.get_rng_state(), random.getstate(), np.random.get_state()[1].copy()
    figures = heatmap(weights, tokens, mask=mask), compare(maps, tokens, mask=mask), head_grid(weights[None], tokens)
    shown = [pixels(figure) for figure in figures]
    assert torch.equal(weights.nan_to_num(5), before[0].nan_to_num(5))
    assert torch.equal(mask, before[1])
    assert tokens == before[2]
    assert dict(mpl.rcParams) == before[3]
    assert torch.equal(torch.get_rng_state(), states[0])
    assert random.getstate() == states[1]
    assert (np.random.get_state()[1] == states[2]).all()
    weights.zero_()
    assert all((pixels(figure) == old).all() for figure, old in zip(figures, shown, strict=True)), "a map keeps its numbers"


def test_importing_the_library_imports_no_matplotlib():
    code = "import sys, attention_book; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


W = torch.eye(3)
REFUSED = [
    (lambda: heatmap(None), TypeError, "weights is None: a fused attention op returns no weights"),
    (lambda: head_grid(None), TypeError, "weights is None"),
    (lambda: compare({"a": W, "b": None}), TypeError, r"maps\['b'\] is None"),
    (lambda: heatmap([[1.0]]), TypeError, "weights is a list; give a torch.Tensor"),
    (lambda: heatmap(W * 1j), TypeError, "complex64"),
    (lambda: heatmap(W[0]), ValueError, r"1 axes, shape \(3,\), but 2 are drawn"),
    (lambda: heatmap(W[None]), ValueError, r"3 axes, shape \(1, 3, 3\), but 2 are drawn: .*head_grid"),
    (lambda: head_grid(W), ValueError, r"2 axes, shape \(3, 3\), but 3 are drawn"),
    (lambda: head_grid(W[None, None]), ValueError, r"4 axes, shape \(1, 1, 3, 3\), but 3 are drawn.*batch"),
    (lambda: heatmap(torch.zeros(0, 3)), ValueError, r"shape \(0, 3\), so there is no cell"),
    (lambda: head_grid(torch.zeros(0, 3, 3)), ValueError, r"shape \(0, 3, 3\), so there is no cell"),
    (lambda: heatmap(W.to("meta")), ValueError, "'meta' device"),
    (lambda: heatmap(W, mask=(W > 0).to("meta")), ValueError, "mask is on the 'meta' device"),
    (lambda: heatmap(W, ["a", "b"]), ValueError, "tokens has 2 labels but the map has 3 queries"),
    (lambda: heatmap(W, list("abc"), key_tokens=list("abcd")), ValueError, "key_tokens has 4 labels but the map has 3 keys"),
    (lambda: heatmap(W[:2], ["a", "b"]), ValueError, "2 queries but 3 keys; give key_tokens"),
    (lambda: heatmap(W, "abc"), TypeError, "tokens is one string"),
    (lambda: heatmap(W, [1, 2, 3]), TypeError, r"tokens\[0\] is 1, a int"),
    (lambda: heatmap(W, mask=W), TypeError, "mask is torch.float32; give a boolean"),
    (lambda: heatmap(W, mask=[[True]]), TypeError, "mask is a list"),
    (lambda: heatmap(W, mask=torch.ones(2, 3, dtype=torch.bool)), ValueError, r"mask has shape \(2, 3\) but .* \(3, 3\)"),
    (lambda: head_grid(W[None], mask=torch.ones(2, 3, 3, dtype=torch.bool)), ValueError, r"\(2, 3, 3\) but .* \(3, 3\)"),
    (lambda: heatmap(W, limits=(1, 0)), ValueError, "from 1.0 to 0.0"),
    (lambda: heatmap(W, limits=(1, 1)), ValueError, "from 1.0 to 1.0"),
    (lambda: heatmap(W, limits=(0, INF)), ValueError, "from 0.0 to inf"),
    (lambda: heatmap(W, limits=(NAN, 1)), ValueError, "from nan to 1.0"),
    (lambda: heatmap(W, limits=(1,)), TypeError, r"limits is \(1,\)"),
    (lambda: heatmap(W, limits=5), TypeError, "limits is 5"),
    (lambda: heatmap(W, decimals=-1), ValueError, "decimals is -1"),
    (lambda: heatmap(W, decimals=1.5), ValueError, "decimals is 1.5"),
    (lambda: heatmap(W, title=5), TypeError, "5 is a int; give a string"),
    (lambda: compare({1: W}), TypeError, "1 is a int; give a string"),
    (lambda: heatmap(torch.zeros(64, 64), annotate=True), ValueError, "64 x 64 makes 4096 numbers, but at most 2048"),
    (lambda: heatmap(torch.zeros(1, 65), annotate=True), ValueError, "makes 65 numbers, .*at most 64 in a row"),
    (lambda: heatmap(W, ax="axes"), TypeError, "ax is a str"),
    (lambda: compare([W, W]), TypeError, "maps is a list"),
    (lambda: compare({}), ValueError, "maps is empty"),
    (lambda: compare({"a": W, "b": W[:2]}), ValueError, r"b has shape \(2, 3\) but a has \(3, 3\)"),
    (lambda: head_grid(torch.zeros(145, 2, 2)), ValueError, "145 maps are too many for one figure: at most 144"),
]


@pytest.mark.parametrize(("draw", "error", "sentence"), REFUSED, ids=range(len(REFUSED)))
def test_what_cannot_be_drawn_is_refused_in_a_sentence_before_anything_is_drawn(draw, error, sentence):
    with pytest.raises(error, match=sentence):
        draw()
    assert plt.get_fignums() == []


def test_a_refused_map_leaves_the_callers_axes_empty():
    figure, ax = plt.subplots()
    with pytest.raises(ValueError, match="tokens has 2 labels"):
        heatmap(W, ["a", "b"], ax=ax)
    assert not ax.has_data()
