"""The Python that the lab shows prints what is on screen, line by line of each explanation too; and the slide of d_k says what torch says."""

import contextlib
import io
import re

import pytest
import torch

from tests.browser.lab_page import open_lab, random_states, show
from tests.browser.visit import tab

STATES = [state for state in random_states(60, seed=1) if state["row"] >= 0][:24]


@pytest.fixture(scope="module")
def told(site, server, browser):
    with tab(browser) as page:
        open_lab(page, server)
        return [(state, show(page, state)) for state in STATES]


def ran(program):
    """What a program prints, and the names that it leaves."""
    names, printed = {}, io.StringIO()
    with torch.random.fork_rng(devices=[]), contextlib.redirect_stdout(printed):
        exec(compile(program, "attention.py", "exec"), names)
    return printed.getvalue(), names


def numbers(text):
    return [float(number) for number in re.findall(r"(?<![\w.])-?(?:inf|\d+\.\d{4})(?![\w.])", text)]


def test_at_least_twenty_programs_print_the_map_on_screen(told):
    assert len(told) >= 20
    for state, page in told:
        printed, names = ran(page["program"])
        shown = [float(number) for row in page["rows"] for number in row[: len(page["columns"]) - 2 * (state["view"] == "weights")]]
        large = names["scaled"].abs().max().item()
        said = numbers(printed)
        assert len(said) == len(shown), (state, printed)
        # Both are rounded to four decimals, so they may differ by one step of the last.
        assert all(a == b or abs(a - b) <= 1.01e-4 + 3e-7 * large + 5e-6 * abs(b) for a, b in zip(shown, said, strict=True)), (state, printed)


def test_each_step_of_an_explanation_is_what_its_line_of_python_gives(told):
    for state, page in told:
        _, names = ran(page["program"])
        large = names["scaled"].abs().max().item()
        for step in page["steps"]:
            given = eval(step["python"], names)
            expected = torch.as_tensor(given).detach().flatten().tolist()
            assert len(step["numbers"]) == len(expected), (state, step)
            for said, number in zip(map(float, step["numbers"]), expected, strict=True):
                assert said == number or abs(said - number) <= 5.1e-5 + 3e-7 * large + 5e-6 * abs(number), (state, step)


def slid(seed, d_k):
    """The weights of the first query, the means over all, and the spread of the scores, by torch."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        query, key = torch.randn(16, 1024), torch.randn(16, 1024)
    scores = query[:, :d_k].double() @ key[:, :d_k].double().mT
    softmaxes = {"unscaled": scores.softmax(-1), "scaled": (scores / d_k**0.5).softmax(-1)}
    return softmaxes, scores.std().item()


def test_the_slide_shows_the_spike_form_and_the_scaled_softmax_stay(server, browser):
    bars = """() => Object.fromEntries(['unscaled', 'scaled'].map(name => [name, [...document
        .querySelectorAll(`.lab-bar.lab-${name}`)].map(bar => Number(bar.getAttribute('height')) / 90)]))"""
    with tab(browser) as page:
        page.set_default_timeout(10_000)
        open_lab(page, server)
        page.locator(".lab-slide > summary").click()
        page.get_by_text("At d_k 64 the scores spread").wait_for()  # a worker draws them
        slider = page.get_by_role("slider", name="d_k")
        seen = {}
        for place in (0, 130, 301, 500, 700, 901, 1000):
            slider.fill(str(place))
            d_k = int(slider.get_attribute("aria-valuetext"))
            softmaxes, spread = slid(123, d_k)
            drawn = page.evaluate(bars)
            for name, weights in softmaxes.items():
                assert drawn[name] == pytest.approx(weights[0].tolist(), abs=5e-6)
            largest = {name: weights.max(-1).values.mean().item() for name, weights in softmaxes.items()}
            entropy = {name: torch.special.entr(weights).sum(-1).mean().item() for name, weights in softmaxes.items()}
            said = [float(number) for number in re.findall(r"\d+\.\d{4}", page.locator(".lab-slide-sentence").inner_text())]
            expected = [spread, d_k**0.5, largest["unscaled"], entropy["unscaled"], largest["scaled"], entropy["scaled"]]
            assert said == pytest.approx(expected, abs=6e-5), page.locator(".lab-slide-sentence").inner_text()
            for chart, pair in (("largest weight", largest), ("entropy", entropy)):
                words = page.locator(f".lab-charts svg[aria-label*='mean {chart}']").get_attribute("aria-label")
                assert [float(number) for number in re.findall(r"\d+\.\d{4}", words)] == pytest.approx([pair["unscaled"], pair["scaled"]], abs=6e-5)
            seen[d_k] = largest
        assert list(seen)[0] == 1
        assert list(seen)[-1] == 1024
        assert seen[1024]["unscaled"] > 0.9 > 0.5 > seen[1024]["scaled"]


def test_the_curves_go_through_torchs_numbers(server, browser):
    with tab(browser) as page:
        open_lab(page, server)
        page.locator(".lab-slide > summary").click()
        page.get_by_text("At d_k 64 the scores spread").wait_for()  # a worker draws them
        lines = page.evaluate("[...document.querySelectorAll('.lab-charts .lab-line')].map(line => [line.getAttribute('class'), line.getAttribute('d')])")
        points = page.evaluate("[...document.querySelectorAll('.lab-point')].map(point => Number(point.getAttribute('cy')))")
    assert [name for name, _ in lines] == ["lab-line lab-unscaled", "lab-line lab-scaled"] * 2 + ["lab-line lab-theory"]
    measures = ((lambda weights: weights.max(-1).values.mean(), 1), (lambda weights: torch.special.entr(weights).sum(-1).mean(), torch.tensor(16.0).log()))
    for k, (measure, most) in enumerate(measures):
        for name, (_, path) in zip(("unscaled", "scaled"), lines[2 * k : 2 * k + 2], strict=True):
            places = [tuple(map(float, place.split())) for place in re.split("[ML]", path)[1:]]
            for d_k, (_, y) in ((1, places[0]), (1024, places[-1])):
                assert (146 - y) / 136 == pytest.approx(float(measure(slid(123, d_k)[0][name]) / most), abs=1e-3)
    expected = [slid(123, 2**k)[1] for k in range(11)]
    assert [2 ** ((146 - y) / 136 * 7 - 1) for y in points] == pytest.approx(expected, rel=0.01)
