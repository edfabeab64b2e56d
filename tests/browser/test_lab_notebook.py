"""`attend(...).lab()` and `trace(...).lab()`: one frame, offline, in which any token stays text."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from attention_book import JOURNEY, CausalAttention, MultiHeadAttention, MultiHeadAttentionWrapper, attend, simple_attention, trace
from attention_book.lab import MOST_HEADS, MOST_TOKENS, MOST_WEIGHTS, MOST_WIDTH, lab_of_reading
from attention_book.lab.bundle import HERE
from attention_book.lab.states import DEFAULT, heads_of
from tests.browser.lab_page import READ

HOSTILE = (
    "</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", '"', "'", "\\", "&lt;", "<!--", "--></iframe>", "\ud800", "\udfff\ud800", "\n",
    "\u202e", "=1+1",
    "${alert(1)}", "`", "{{7*7}}", "]]>", "\u2028", "javascript:alert(1)", "<svg/onload=alert(1)>", "\x00", "", " ", "שלום", "🙂",
)


@pytest.fixture
def notebook(browser, tmp_path):
    """Shows a lab as an output cell does, and returns its frame; scripts that a token would run, messages and requests fail the test."""
    context = browser.new_context(viewport={"width": 900, "height": 1200}, offline=True)
    page = context.new_page()
    page.set_default_timeout(10_000)
    told = []
    page.on("console", lambda message: told.append(message.text))
    page.on("pageerror", lambda error: told.append(str(error)))
    page.on("dialog", lambda dialog: (told.append(f"a script ran: {dialog.message}"), dialog.dismiss()))
    page.on("request", lambda request: told.append(request.url) if not request.url.startswith(("file:", "blob:", "about:")) else None)

    def shown(lab):
        file = tmp_path / "cell.html"
        # Half a surrogate pair cannot be in a file; nor can it be in the markup.
        file.write_text(f'<!doctype html><meta charset="utf-8"><title>cell</title>{lab._repr_html_()}', "utf-8")
        page.goto(file.as_uri())
        frame = page.frames[1]
        frame.locator(".lab-live").wait_for()
        return frame

    yield shown
    context.close()
    assert told == []


def read(frame):
    frame.wait_for_function("!document.querySelector('.lab[aria-busy]')")
    return json.loads(frame.evaluate(READ))


def check(said, matrix):
    numbers = [float(number) for row in said["rows"] for number in row[: matrix.shape[1]]]
    assert numbers == pytest.approx(matrix.flatten().tolist(), abs=6e-5)


@pytest.mark.parametrize("options", [{}, {"causal": True}, {"num_heads": 4}, {"num_heads": 2, "causal": True, "seed": 2**64 - 1, "d_model": 6}])
def test_a_reading_shows_its_own_numbers(notebook, options):
    reading = attend("The cat sat on the mat because it was tired", **options)
    frame = notebook(reading.lab())
    for head in range(reading.num_heads):
        if reading.num_heads > 1:
            frame.locator(".lab-head").nth(head).click()
        check(read(frame), reading.weights[head])
    frame.get_by_role("radio", name="output").check(force=True)
    check(read(frame), reading.output[:, :40])
    frame.get_by_role("radio", name="weights").check(force=True)
    frame.get_by_label("Your sentence").fill("another one")
    check(read(frame), attend("another one", **options).weights[reading.num_heads - 1])


def traces():
    torch.manual_seed(5)
    x = torch.randn(7, 6)
    tokens = [f"t{k}" for k in range(7)]
    mask = torch.ones(7, 7, dtype=torch.bool)
    mask[:, 5:] = False  # the last two are padding
    yield trace(simple_attention, JOURNEY.embeddings, tokens=JOURNEY.tokens)
    yield trace(CausalAttention(6, 4, 7, 0.0), x, tokens=tokens)
    yield trace(MultiHeadAttention(6, 4, 7, 0.0, 2, causal=False), x, tokens=tokens, mask=mask)
    yield trace(MultiHeadAttentionWrapper(6, 5, 7, 0.0, 3), x, scale=0.3)
    yield trace(CausalAttention(6, 4, 7, 0.0).half(), x.half())


@pytest.mark.parametrize("which", range(5))
def test_a_trace_of_any_module_shows_its_own_numbers_and_is_driven_from_there(notebook, which):
    steps = list(traces())[which]
    frame = notebook(steps.lab())
    for view in ("scores", "scaled", "masked", "weights", "output"):
        frame.get_by_role("radio", name=view, exact=True).check(force=True)
        check(read(frame), heads_of(getattr(steps, view).float())[0])
    frame.get_by_role("radio", name="weights").check(force=True)
    frame.get_by_role("slider", name="Temperature").fill("1000")
    masked = heads_of(steps.masked.float())[0]
    check(read(frame), torch.softmax(masked / 10, dim=-1))
    frame.get_by_role("slider", name="Temperature").fill("500")
    mask = frame.get_by_label("Mask, as it was traced")
    if mask.count():
        mask.uncheck()
        check(read(frame), torch.softmax(heads_of(steps.scaled.float())[0], dim=-1))
    frame.locator("[role=gridcell]").focus()
    frame.locator("[role=gridcell]").press("Enter")
    assert frame.locator(".lab-steps li").count() == 12


@pytest.mark.parametrize(("which", "left_out"), [
    (0, {"scaled": ["is"], "masked": ["is"]}),
    (1, {"scaled": ["is", "times"], "masked": ["is", "hidden"]}),
    (2, {"scaled": ["is", "times"], "masked": ["is", "hidden"]}),
    (3, {"scaled": ["is", "times"], "masked": ["is", "hidden"]}),
    (4, {"scaled": ["is", "times"], "masked": ["is", "hidden"]}),
])
def test_a_trace_arrives_to_the_last_digit_without_what_follows_from_other_steps(notebook, which, left_out):
    steps = list(traces())[which]
    lab = steps.lab()
    assert {name: list(step) for name, step in lab.given.items() if isinstance(step, dict) and "is" in step} == left_out
    frame = notebook(lab)
    with frame.page.expect_download() as coming:
        frame.get_by_role("button", name="JSON", exact=True).click()
    given = {name: step.float() if isinstance(step, torch.Tensor) else step for name, step in vars(steps).items()}
    named = replace(steps, **(given | {"tokens": tuple(lab.given["tokens"])}))
    assert Path(coming.value.path()).read_text("utf-8") == named.to_json()


def test_numbers_that_follow_from_no_other_step_are_written_out():
    steps = list(traces())[1]
    masked = steps.masked.clone()
    masked[3, 1] += 1
    given = replace(steps, scaled=steps.scaled * 1.0001, masked=masked).lab().given
    assert all("data" in given[name] for name in ("scaled", "masked"))
    assert "is" not in replace(steps, scaled=steps.scaled.clone().fill_(torch.nan)).lab().given["scaled"]


def test_hostile_tokens_stay_text_wherever_they_go(notebook):
    x = torch.randn(len(HOSTILE), 4, generator=torch.Generator().manual_seed(1))
    frame = notebook(trace(simple_attention, x, tokens=HOSTILE).lab())
    for k in range(len(HOSTILE)):
        frame.locator("[role=gridcell]").press("ArrowDown")
        frame.locator("[role=gridcell]").press("Enter")
        assert frame.locator(".lab-steps li").count() == 12, k
    said = read(frame)
    assert len(said["names"]) == len(HOSTILE)
    assert said["names"][:4] == list(HOSTILE[:4])  # markup is there, as text
    assert frame.evaluate("document.querySelectorAll('.lab :is(script, img, iframe, b > *)').length") == 0


def test_hostile_sentences_stay_text_wherever_they_go(notebook):
    words = [word for token in HOSTILE for word in token.split()]
    frame = notebook(attend(" ".join(words), d_model=4).lab())
    said = read(frame)
    assert len(said["names"]) == len(words)
    assert said["names"][0] == "</script><script>alert(1)</script>"
    assert frame.evaluate("document.querySelectorAll('.lab :is(script, img, iframe, b > *)').length") == 0
    assert frame.evaluate("document.querySelector('textarea').value").split()[0] == words[0]


def test_a_large_sentence_is_computed_by_a_worker_inside_the_frame(notebook):
    reading = attend("word " * 300, d_model=64, num_heads=2)
    said = read(notebook(reading.lab()))
    assert [float(number) for number in said["rows"][0][:40]] == pytest.approx(reading.weights[0, 0, :40].tolist(), abs=6e-5)


def test_the_frame_is_sandboxed_and_holds_everything():
    markup = attend("a b").lab()._repr_html_()
    assert markup.startswith('<iframe title="The lab: 2 tokens" sandbox="allow-scripts allow-downloads"')
    assert markup.count("<") == 2  # all inside is text of an attribute
    assert not re.search(r"(?:src|href)=&quot;http", markup)


def test_what_the_lab_cannot_show_is_refused_with_both_numbers():
    for reading, sentence in (
        (attend("a b", d_model=1025), f"d_model is 1025, but the lab shows at most {MOST_WIDTH}"),
        (attend("a b", d_model=130, num_heads=65), f"num_heads is 65, but the lab shows at most {MOST_HEADS}"),
    ):
        with pytest.raises(ValueError, match=sentence):
            reading.lab()
    batch = trace(simple_attention, torch.randn(2, 3, 4))
    with pytest.raises(ValueError, match=r"holds a batch, output \(2, 3, 4\); .* trace x\[0\]"):
        batch.lab()
    with pytest.raises(ValueError, match="513 tokens, but the lab shows at most 512"):
        trace(simple_attention, torch.randn(513, 2)).lab()


def test_limits_and_first_state_are_those_of_the_script():
    table = (HERE / "state.js").read_text("utf-8")
    assert f"MOST_TOKENS = {MOST_TOKENS};" in table
    assert f"d_model: {{ kind: \"whole\", least: 1, most: {MOST_WIDTH} }}" in table
    assert f"heads: {{ kind: \"whole\", least: 1, most: {MOST_HEADS} }}" in table
    assert MOST_WEIGHTS == 2**22
    assert "MOST_WEIGHTS = 2 ** 22;" in table
    first = re.search(r"DEFAULT = Object\.freeze\(\{(.*?)\}\)", table, re.DOTALL)[1]
    said = json.loads("{" + re.sub(r"(\w+): ", r'"\1": ', first.strip().rstrip(",")).strip() + "}")
    assert said == DEFAULT


def test_a_lab_says_what_it_is_where_no_notebook_shows_it():
    assert repr(lab_of_reading(attend("a b"))) == "the lab, 2 tokens: a notebook shows it"
