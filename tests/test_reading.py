"""Any sentence: the recipe repeated by hand, torch's own numbers, and figures and tables for any word."""

import dataclasses
import json
import math
import subprocess
import sys
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from bs4 import BeautifulSoup
from torch import nn
from torch.nn import functional as F

from attention_book import CAT, CausalAttention, MultiHeadAttention, Reading, SelfAttention_v2, attend
from tests.refusals import refused

NUMBERS = json.loads((Path(__file__).parent / "reference" / "project_numbers.json").read_text())
HARD = (
    "the the internationalization $x_1^2$ $ \\(x\\) <img/src=x/onerror=alert(1)> \ud800 \u202eabc \x1b[31mred שלום مرحبا 2024 你好 한국 "
    "😀 👩\u200d👩\u200d👧 ❤\ufe0f 🇫🇷 👍🏽 e\u0301 \u0301 हिन्दी می\u200cروم &amp; \"'"
)
LONG = " ".join(f"w{i}" for i in range(512))


@pytest.fixture(autouse=True)
def fresh_matplotlib():
    mpl.use("Agg")
    mpl.rcdefaults()
    yield
    plt.close("all")


def close(actual, expected, atol=1e-5):
    torch.testing.assert_close(actual, torch.as_tensor(expected), rtol=0, atol=atol)


def entropy(weights):
    return -(weights * weights.log()).sum(dim=-1).mean().item()


def legend(figure):
    return " ".join(figure.axes[-1].get_xlabel().split())


def pinned(value):
    return pytest.approx(value, abs=NUMBERS["tolerance"])


# The numbers


def test_the_cat_gives_the_scores_that_torch_gives():
    scores = attend(NUMBERS["sentence"]).scores[0]
    expected = NUMBERS["raw_scores"]
    assert scores.min().item() == pinned(expected["min"])
    assert scores.max().item() == pinned(expected["max"])
    assert scores.std().item() == pinned(expected["std"])
    assert scores[1].tolist() == pinned(expected["row_cat"])


def test_the_cat_gives_the_weights_and_the_output_that_torch_gives():
    reading = attend(NUMBERS["sentence"], seed=42)
    expected, weights = NUMBERS["scaled"], reading.weights[0]
    assert reading.embeddings[0, :4].tolist() == pinned(NUMBERS["X_first_row_first_4"])
    assert weights[1].max().item() == pinned(expected["cat_max"])
    assert weights[1].min().item() == pinned(expected["cat_min"])
    assert weights.max(dim=-1).values.tolist() == pinned(expected["row_max"])
    assert entropy(weights) == pinned(expected["mean_entropy_nats"])
    assert reading.output[1, :4].tolist() == pinned(NUMBERS["output_row_cat_first_4"])


def test_the_cat_gives_the_unscaled_weights_that_torch_gives():
    expected, figure = NUMBERS["unscaled"], attend(NUMBERS["sentence"]).compare_scaling()
    unscaled = torch.from_numpy(np.asarray(figure.axes[0].images[0].get_array()))
    assert unscaled[1].max().item() == pinned(expected["cat_max"])
    assert unscaled[1].min().item() == pinned(expected["cat_min"])
    assert unscaled[1].argmax().item() == expected["cat_argmax"]
    assert unscaled.max(dim=-1).values.tolist() == pinned(expected["row_max"])
    assert entropy(unscaled) == pinned(expected["mean_entropy_nats"])


def test_the_cat_has_the_embeddings_of_the_running_example():
    assert torch.equal(attend(" ".join(CAT.tokens)).embeddings, CAT.embeddings)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("heads", [1, 3])
def test_a_reader_who_follows_the_recipe_by_hand_gets_the_same(heads, causal):
    n, width, d = 5, 21, 21 // heads
    torch.manual_seed(7)
    x = torch.randn(n, width)
    query, key, value = (nn.Linear(width, width, bias=False)(x) for _ in range(3))
    weights, outputs = [], []
    for head in range(heads):
        part = slice(head * d, (head + 1) * d)
        scores = query[:, part] @ key[:, part].T / math.sqrt(d)
        if causal:
            scores = scores.masked_fill(torch.ones(n, n).triu(1).bool(), -math.inf)
        weights.append(torch.softmax(scores, dim=-1))
        outputs.append(weights[-1] @ value[:, part])
    output = torch.cat(outputs, dim=-1)
    if heads > 1:
        output = nn.Linear(width, width, bias=False)(output)
    reading = attend("one two three four five", d_model=width, num_heads=heads, seed=7, causal=causal)
    assert torch.equal(reading.embeddings, x)
    close(reading.weights, torch.stack(weights).detach())
    close(reading.output, output.detach())


@pytest.mark.parametrize(
    "heads, causal, make",
    [
        (1, False, lambda: SelfAttention_v2(21, 21)),
        (1, True, lambda: CausalAttention(21, 21, 5, 0.0)),
        (3, False, lambda: MultiHeadAttention(21, 21, 5, 0.0, 3, causal=False, out_bias=False)),
        (3, True, lambda: MultiHeadAttention(21, 21, 5, 0.0, 3, causal=True, out_bias=False)),
    ],
)
def test_the_modules_of_the_library_give_the_same(heads, causal, make):
    torch.manual_seed(7)
    x = torch.randn(5, 21)
    output, weights = make()(x, need_weights=True)
    reading = attend("one two three four five", d_model=21, num_heads=heads, seed=7, causal=causal)
    close(reading.output, output.detach())
    close(reading.weights, weights.detach().reshape(heads, 5, 5))


@pytest.mark.parametrize("causal", [False, True])
def test_torch_gives_the_same_context_vectors_from_the_scores(causal):
    reading = attend("one two three four five", d_model=21, num_heads=1, causal=causal)
    bias = reading.scores[0] / math.sqrt(21)
    nothing = torch.zeros(5, 1)
    value = torch.eye(5)
    hidden = torch.zeros(5, 5) if reading.mask is None else torch.zeros(5, 5).masked_fill(~reading.mask, -math.inf)
    close(F.scaled_dot_product_attention(nothing, nothing, value, attn_mask=bias + hidden), reading.weights[0])


def test_a_causal_reading_never_looks_at_a_later_token():
    weights = attend("one two three four five", num_heads=4, causal=True).weights
    later = torch.ones(5, 5).triu(1).bool()
    assert (weights[:, later] == 0).all()
    assert (weights[:, ~later] > 0).all()
    close(weights.sum(dim=-1), torch.ones(4, 5))


# The words


@pytest.mark.parametrize(
    "sentence, tokens",
    [
        ("The dog slept", ("The", "dog", "slept")),
        ("  The\tdog\n\nslept. ", ("The", "dog", "slept.")),
        ("one", ("one",)),
        ("the the The", ("the", "the", "The")),
        ("你好\u3000世界 no\u00a0break", ("你好", "世界", "no", "break")),
        ("zero\u200bwidth 👩\u200d👩\u200d👧", ("zero\u200bwidth", "👩\u200d👩\u200d👧")),
    ],
)
def test_the_tokens_are_those_of_split(sentence, tokens):
    reading = attend(sentence)
    assert reading.tokens == tokens == tuple(sentence.split())
    assert reading.weights.shape == (1, len(tokens), len(tokens))


def test_one_word_looks_at_itself():
    assert attend("one", num_heads=4, causal=True).weights.tolist() == [[[1.0]]] * 4


def test_a_repeated_word_has_an_embedding_for_each_place():
    embeddings = attend("the the").embeddings
    assert not torch.equal(embeddings[0], embeddings[1])


@pytest.mark.parametrize("seed", [-(2**63), -1, 0, 2**64 - 1])
def test_every_seed_that_torch_takes_is_taken(seed):
    torch.manual_seed(seed)
    assert torch.equal(attend("a b", seed=seed).embeddings, torch.randn(2, 64))


# The caller's settings


def test_the_caller_notices_nothing():
    state = torch.get_rng_state()
    reading = attend("The dog slept", num_heads=2)
    assert torch.equal(torch.get_rng_state(), state)
    assert not any(x.requires_grad for x in (reading.embeddings, reading.scores, reading.weights, reading.output))
    assert torch.is_grad_enabled()


def test_no_setting_of_the_caller_changes_a_number():
    before = attend("The dog slept", num_heads=2, causal=True)
    torch.manual_seed(5)
    torch.set_default_dtype(torch.float64)
    with torch.device("meta"), torch.autocast("cpu", dtype=torch.bfloat16):
        after = attend("The dog slept", num_heads=2, causal=True)
    for name in ("embeddings", "scores", "weights", "output"):
        assert torch.equal(getattr(after, name), getattr(before, name)), name
    torch.set_default_dtype(torch.float32)


def test_a_reading_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        attend("The dog slept").seed = 1


def test_a_reading_keeps_its_settings_and_says_them():
    reading = attend("The dog slept", d_model=12, num_heads=3, seed=5, causal=True)
    assert (reading.d_model, reading.num_heads, reading.seed, reading.causal) == (12, 3, 5, True)
    assert repr(reading) == "3 tokens, 3 heads, d_model 12, seed 5, causal: random weights, not trained"
    assert repr(attend("one")) == "1 token, 1 head, d_model 64, seed 42: random weights, not trained"


# Refusals


@pytest.mark.parametrize(
    "error, sentence, options, words",
    [
        (TypeError, ["The", "dog"], {}, ["sentence", "list"]),
        (TypeError, b"The dog", {}, ["sentence", "bytes"]),
        (TypeError, None, {}, ["sentence", "NoneType"]),
        (ValueError, "", {}, ["sentence", "empty"]),
        (ValueError, " \t\n", {}, ["sentence", "3 characters"]),
        (ValueError, LONG + " more", {}, [513, 512]),
        (ValueError, "a", {"num_heads": 3}, [64, 3]),
        (ValueError, "a", {"d_model": 10, "num_heads": 20}, [10, 20]),
        (ValueError, "a", {"num_heads": 0}, ["num_heads", 0]),
        (ValueError, "a", {"d_model": -1}, ["d_model", -1]),
        (ValueError, "a", {"d_model": 4097}, ["d_model", 4097, 4096]),
        (TypeError, "a", {"d_model": 64.0}, ["d_model", "64.0"]),
        (TypeError, "a", {"num_heads": True}, ["num_heads", "True"]),
        (ValueError, "a", {"seed": 2**64}, ["seed", 2**64, 2**64 - 1]),
        (ValueError, "a", {"seed": -(2**63) - 1}, ["seed", -(2**63) - 1, -(2**63)]),
        (TypeError, "a", {"seed": "42"}, ["seed", "'42'"]),
        (TypeError, "a", {"seed": False}, ["seed", "False"]),
        (TypeError, "a", {"causal": 1}, ["causal", "1"]),
        (ValueError, LONG, {"d_model": 4096, "num_heads": 4096}, [4096, 512, 4096 * 512**2, 2**26]),
    ],
)
def test_what_cannot_be_read_is_refused_in_a_sentence(error, sentence, options, words):
    with refused(error, *words):
        attend(sentence, **options)


@pytest.mark.parametrize("method", ["heatmap", "compare_scaling"])
@pytest.mark.parametrize("error, head, words", [(ValueError, 4, [4, 3]), (ValueError, -1, [-1, 3]), (TypeError, 1.0, ["1.0"]), (TypeError, True, ["True"])])
def test_a_head_that_is_not_there_is_refused_in_a_sentence(method, error, head, words):
    reading = attend("The dog slept", num_heads=4)
    with refused(error, "head", *words):
        getattr(reading, method)(head)
    assert not plt.get_fignums()


@pytest.mark.parametrize("error, width", [(ValueError, 0), (TypeError, 80.0)])
def test_a_width_that_is_none_is_refused_in_a_sentence(error, width):
    reading = attend("The dog slept")
    with refused(error, "width", width):
        reading.table(width=width)


# Figures


def drawn(ax):
    return torch.from_numpy(np.ma.filled(ax.images[0].get_array(), 0.0)).float()


def test_the_heatmap_shows_the_weights_of_the_head_asked_for():
    reading = attend("The dog slept", num_heads=4)
    figure = reading.heatmap(2)
    close(drawn(figure.axes[0]), reading.weights[2])
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["The", "dog", "slept"]
    assert "".join(figure.axes[0].get_title().split("\n")).replace(" ", "") == '"Thedogslept":weightsofhead2of4,random(seed42)'


def test_heads_shows_every_head_in_its_order():
    reading = attend("The dog slept", num_heads=4, causal=True)
    figure = reading.heads()
    assert len(figure.axes) == 5
    for head in range(4):
        close(drawn(figure.axes[head]), reading.weights[head])
    assert "hatched: hidden" in legend(figure)


@pytest.mark.parametrize("causal", [False, True])
def test_the_comparison_shows_one_query_and_key_without_and_with_the_scale_from_0_to_1(causal):
    reading = attend("The dog slept", num_heads=4, causal=causal)
    figure = reading.compare_scaling(3)
    unscaled, scaled, _ = figure.axes
    assert (unscaled.get_title(), scaled.get_title()) == ("unscaled", "scaled by 1/sqrt(16)")
    hidden = torch.zeros(3, 3).masked_fill(torch.ones(3, 3).triu(1).bool(), -math.inf if causal else 0.0)
    close(drawn(unscaled), torch.softmax(reading.scores[3] + hidden, dim=-1))
    close(drawn(scaled), torch.softmax(reading.scores[3] / 4 + hidden, dim=-1))
    assert {(ax.images[0].norm.vmin, ax.images[0].norm.vmax) for ax in (unscaled, scaled)} == {(0.0, 1.0)}


@pytest.mark.parametrize("words, top", [(20, 1.0), (21, 4 / 21), (512, 4 / 512)])
def test_a_long_sentence_is_coloured_from_0_to_four_even_shares_and_says_so(words, top):
    reading = attend(" ".join(["word"] * words))
    for figure in (reading.heatmap(), reading.heads()):
        norm = figure.axes[0].images[0].norm
        assert (norm.vmin, norm.vmax) == (0.0, top)
        assert f"0 to {top:g}" in legend(figure)
        assert ("too many cells to print their numbers" in legend(figure)) == (words > 20)
        assert len(figure.axes[0].texts) == (400 if words == 20 else 0)


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_any_word_is_drawn_without_a_warning(kind, tmp_path, recwarn):
    reading = attend(HARD, num_heads=2, causal=True)
    for figure in (reading.heatmap(1), reading.heads(), reading.compare_scaling()):
        figure.savefig(tmp_path / f"map.{kind}")
    assert not recwarn.list


def test_matplotlib_is_not_needed_until_something_is_drawn():
    code = (
        "import sys, attention_book, attention_book.__main__\n"
        "reading = attention_book.attend('The dog slept')\n"
        "reading.table(), repr(reading), reading._repr_html_()\n"
        "print('matplotlib' in sys.modules)\n"
        "reading.heatmap()\n"
        "print('matplotlib' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.stdout.split() == ["False", "True"], ran.stderr


# Notebooks


def test_a_notebook_shows_each_head_as_a_table_and_leaves_no_figure_open():
    reading = attend("The dog slept", num_heads=2, causal=True)
    page = BeautifulSoup(reading._repr_html_(), "html.parser")
    tables = page.find_all("table")
    assert [table.caption.text.split(":")[0] for table in tables] == ["head 0", "head 1"]
    for head, table in enumerate(tables):
        assert [cell.text for cell in table.thead.find_all("th", scope="col")] == list(reading.tokens)
        for i, row in enumerate(table.tbody.find_all("tr")):
            assert row.find("th", scope="row").text == reading.tokens[i]
            expected = [f"{reading.weights[head, i, j]:.3f}" if j <= i else "-" for j in range(3)]
            assert [cell.text for cell in row.find_all("td")] == expected
    assert repr(reading) in page.text
    assert '"-": hidden' in page.text
    assert not plt.get_fignums()


def test_a_notebook_shows_the_start_of_a_long_sentence_and_says_so():
    html = attend(LONG, num_heads=2)._repr_html_()
    page = BeautifulSoup(html, "html.parser")
    assert len(page.find_all("table")) == 1
    assert len(page.tbody.find_all("tr")) == 40
    assert len(page.tbody.tr.find_all("td")) == 40
    assert "first 40 of 512 tokens" in page.text
    assert "1 of 2 heads" in page.text
    assert len(html) < 200_000


def test_jupyter_finds_the_tables():
    from IPython.core.formatters import DisplayFormatter

    shown, _ = DisplayFormatter().format(attend(HARD))
    assert "<table" in shown["text/html"]
    json.dumps(shown).encode()
    shown["text/html"].encode()


def test_a_reading_is_what_attend_returns():
    assert type(attend("a")) is Reading
