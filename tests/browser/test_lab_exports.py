"""What is exported never freezes the page: a worker writes it, and the page itself only where a browser refuses workers."""

import json
from pathlib import Path

import pytest
import torch

from attention_book.lab.states import DEFAULT, trace_of
from tests.browser.lab_page import GO, LOOK, WATCH, hash_of, open_lab
from tests.browser.test_lab_slide import REFUSALS
from tests.browser.visit import tab

LARGE = DEFAULT | {
    "example": "text", "text": "word " * 500, "attention": "MultiHeadAttention", "seed": "42", "d_model": 64, "heads": 4, "causal": True, "scale": True,
}
SMALL = LARGE | {"text": 'six "quoted" words <b>and one</b> =1+1', "view": "masked", "head": 2}


def take(page, kind):
    with page.expect_download() as coming:
        page.get_by_role("button", name=kind, exact=True).click()
    return Path(coming.value.path())


def test_the_page_lives_on_while_json_of_4_heads_and_500_tokens_is_written(server, browser):
    with tab(browser) as page:
        page.set_default_timeout(120_000)
        open_lab(page, server)
        page.evaluate(GO, hash_of(LARGE))
        page.wait_for_timeout(1000)  # all heads are painted
        with page.expect_download() as coming:
            page.evaluate(WATCH)
            page.get_by_role("button", name="JSON", exact=True).click()
            page.get_by_role("status").filter(has_text="Writing the JSON…").wait_for(timeout=20_000)
        frames = page.evaluate(LOOK)
        page.get_by_role("status").filter(has_text="The JSON is written.").wait_for()
        assert frames >= 15  # in the half second before the line, and until it came
        read = json.loads(Path(coming.value.path()).read_text("utf-8"))
    assert read["tokens"] == ["word"] * 500
    assert read["weights"]["shape"] == [4, 500, 500]
    assert torch.tensor(read["weights"]["data"]) == pytest.approx(trace_of(LARGE).weights.flatten(), abs=5e-6)


@pytest.mark.parametrize("when", REFUSALS)
def test_where_workers_are_refused_the_page_writes_the_same_files(server, browser, when):
    written = []
    for script in ("", REFUSALS[when]):
        with tab(browser) as page:
            page.set_default_timeout(10_000)
            page.add_init_script(f"window.begun = 0; window.Worker = class extends Worker {{ constructor(from) {{ super(from); begun += 1 }} }};{script}")
            open_lab(page, server, SMALL)
            written.append({kind: take(page, kind).read_bytes() for kind in ("CSV", "JSON", "SVG")})
            assert page.evaluate("begun") == (0 if script else 1)  # one worker for all of them
    assert written[0] == written[1]
    assert json.loads(written[0]["JSON"])["tokens"] == SMALL["text"].split()
