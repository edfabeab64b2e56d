"""The lab's text modules in Chromium: batches of inputs in, the answers out."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.lab.rig import engine_in

Ask = Callable[[str, list[Any]], list[Any]]


@contextmanager
def text_modules_in(browser: Any) -> Iterator[Ask]:
    """Runs a job of ``text_jobs.js`` on many inputs in one call of the page.

    Everything travels as JSON in ASCII, so that halves of surrogate pairs arrive as they are.
    """
    with engine_in(browser) as engine:

        def ask(job: str, inputs: list[Any]) -> list[Any]:
            told = engine.page.evaluate(
                "async text => { const { answers } = await import('/text_jobs.js'); const [job, inputs] = JSON.parse(text);"
                "return JSON.stringify(answers(job, inputs)) }",
                json.dumps([job, inputs]),
            )
            return json.loads(told)

        yield ask
