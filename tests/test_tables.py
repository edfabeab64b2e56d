"""Tables of weights: aligned to the column, any token as text, nothing that a page or a terminal would act on."""

import matplotlib as mpl
import pytest
import torch
from bs4 import BeautifulSoup, NavigableString

from attention_book.tables import columns, html_table, plain, text_table, viridis

# What a terminal shows for each, counted by hand.
WIDTHS = {
    "": 0,
    "the": 3,
    "你好": 4,
    "한국어": 6,
    "ｆｕｌｌ": 8,
    "שלום": 4,
    "مرحبا": 5,
    "e\u0301": 1,
    "z" + "\u0335" * 40: 1,
    "😀": 2,
    "👍🏽": 2,
    "👩\u200d👩\u200d👧": 2,
    "❤\ufe0f": 2,
    "❤": 1,
    "🇫🇷": 2,
    "می\u200cروم": 5,
    "한": 2,
    "ที่": 1,
    "हि": 2,
}
MARK = "\u200e"


def even(n, heads=1):
    return torch.full((heads, n, n), 1 / n)


def cells(line):
    return line.replace(MARK, "").split()


@pytest.mark.parametrize("text, width", WIDTHS.items())
def test_a_terminal_is_counted_as_it_shows_the_text(text, width):
    assert columns(text) == width


@pytest.mark.parametrize(
    "text, shown",
    [
        ("the", "the"),
        ("\ud800", "<U+D800>"),
        ("\u202eabc", "<U+202E>abc"),
        ("\u200e", "<U+200E>"),
        ("a\u200bb", "a<U+200B>b"),
        ("\x1b[31m", "<U+001B>[31m"),
        ("\ue000", "<U+E000>"),
        ("\u0301", "◌\u0301"),
        ("می\u200cروم", "می\u200cروم"),
        ("a\u200d\x1bb", "a\u200d<U+001B>b"),
        ("x" * 20, "x" * 20),
        ("x" * 21, "x" * 19 + "…"),
        ("好" * 11, "好" * 9 + "…"),
        ("e\u0301" * 21, "e\u0301" * 19 + "…"),
    ],
)
def test_every_character_is_seen_or_named(text, shown):
    assert plain(text) == shown
    assert columns(plain(text)) <= 20


def test_a_million_characters_are_cut_too():
    assert plain("x" * 10**6) == "x" * 19 + "…"


def test_every_line_of_a_table_ends_in_one_column():
    tokens = [text for text in WIDTHS if text] + ["\ud800", "x" * 50]
    lines = text_table(even(len(tokens)), tokens).splitlines()
    assert len(lines) == len(tokens) + 1
    assert len({columns(line.replace(MARK, "")) for line in lines}) == 1
    ends = [columns(plain(token)) for token in tokens]
    first = max(ends)
    for token, line in zip(tokens, lines[1:], strict=True):
        assert line.replace(MARK, "").startswith(plain(token) + " " * (first - columns(plain(token))))
        assert cells(line)[1:] == ["0.0500"] * 20


def test_the_numbers_beside_a_word_from_right_to_left_stay_in_order():
    lines = text_table(even(3), ["שלום", "مرحبا", "the"]).splitlines()
    assert [line.count(MARK) for line in lines] == [2, 1, 1, 0]
    assert lines[1].startswith("שלום" + MARK)
    assert lines[0].endswith("the")


def test_a_narrow_terminal_gets_the_columns_in_blocks():
    weights = torch.arange(16.0).reshape(1, 4, 4) / 16
    tokens = ["a", "b", "a-long-token", "d"]
    table = text_table(weights, tokens, width=34)
    assert max(map(len, table.splitlines())) == 34
    assert len(text_table(weights, tokens, width=33).split("\n\n")) == 3
    blocks = [block.splitlines() for block in table.split("\n\n")]
    assert [cells(block[0]) for block in blocks] == [["a", "b"], ["a-long-token", "d"]]
    assert [cells(line)[1:] for line in blocks[1][1:]] == [[f"{weights[0, i, j]:.4f}" for j in (2, 3)] for i in range(4)]


def test_a_terminal_of_one_column_gets_one_key_at_a_time():
    assert len(text_table(even(3), ["a", "b", "c"], width=1).split("\n\n")) == 3


def test_several_heads_are_named_and_one_is_not():
    assert [part.splitlines()[0] for part in text_table(even(2, heads=2), ["a", "b"]).split("\n\n")] == ["head 0", "head 1"]
    assert "head" not in text_table(even(2), ["a", "b"])
    assert "head 0" not in html_table(even(2), ["a", "b"], caption="")


def test_a_hidden_weight_is_no_number():
    mask = torch.ones(2, 2).tril().bool()
    lines = text_table(torch.tensor([[[1.0, 0.0], [0.0, 1.0]]]), ["a", "b"], mask).splitlines()
    assert [cells(line) for line in lines[1:]] == [["a", "1.0000", "-"], ["b", "0.0000", "1.0000"]]
    page = BeautifulSoup(html_table(even(2), ["a", "b"], mask, caption=""), "html.parser")
    hidden, zero = page.tbody.find_all("td")[1], html_table(torch.zeros(1, 1, 1), ["a"], caption="")
    assert hidden.text == "-"
    assert "#8c8c8c" in hidden["style"]
    assert "#8c8c8c" not in zero


TOKENS = ["<img src=x onerror=alert(1)>", "</table><script>", "&amp;", '"', "'", "$x$", "$$", "\\(x\\)", "\\begin{a}", "\ud800", "שלום"]


def test_markup_in_a_token_stays_text():
    page = BeautifulSoup(html_table(even(len(TOKENS)), TOKENS, caption="<b>"), "html.parser")
    assert {tag.name for tag in page.find_all()} == {"div", "p", "table", "caption", "thead", "tbody", "tr", "th", "td", "bdi", "span"}
    assert {name for tag in page.find_all() for name in tag.attrs} == {"style", "scope"}
    assert [cell.text for cell in page.thead.find_all("th")] == [plain(token) for token in TOKENS]
    assert page.p.text == "<b>"


def test_a_notebook_takes_no_token_for_mathematics():
    page = BeautifulSoup(html_table(even(len(TOKENS)), TOKENS, caption="$x$"), "html.parser")
    signs = [text for text in page.find_all(string=True) if "$" in text or "\\" in text]
    assert len(signs) == 2 * (2 + 2 + 2 + 1) + 2
    assert all(isinstance(sign, NavigableString) and len(sign) == 1 for sign in signs)


@pytest.mark.parametrize("heads, n, tables, rows", [(3, 20, 3, 20), (9, 20, 5, 20), (2, 40, 1, 40), (1, 41, 1, 40), (300, 1, 300, 1)])
def test_a_notebook_is_given_as_many_cells_as_it_can_show_and_told_the_rest(heads, n, tables, rows):
    page = BeautifulSoup(html_table(even(n, heads), ["a"] * n, caption=""), "html.parser")
    assert len(page.find_all("table")) == tables
    assert len(page.tbody.find_all("tr")) == rows
    assert (f"{tables} of {heads} heads" in page.p.text) == (tables < heads)
    assert (f"first {rows} of {n} tokens" in page.p.text) == (rows < n)


def test_the_colours_are_those_of_the_heatmaps():
    for k in range(256):
        expected = mpl.colormaps["viridis"](k, bytes=True)[:3]
        assert max(abs(int(a) - int(b)) for a, b in zip(viridis(k / 255), expected, strict=True)) <= 5
    assert viridis(-1.0) == viridis(0.0)
    assert viridis(2.0) == viridis(1.0)


def test_every_number_is_legible_on_its_colour():
    def luminance(colour):
        channels = (int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
        red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    for weight in range(101):
        page = BeautifulSoup(html_table(torch.full((1, 1, 1), weight / 100), ["a"], caption=""), "html.parser")
        ground, ink = (part.split(":")[1] for part in page.tbody.td["style"].split(";"))
        dark, light = sorted([luminance(ground), luminance(ink)])
        assert (light + 0.05) / (dark + 0.05) >= 4.5, weight
