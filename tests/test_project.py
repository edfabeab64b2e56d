"""Build it yourself: each step's code so far runs as shown, and takes whatever sentence a reader puts in its one line."""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from textwrap import dedent

import pytest

STEPS = sorted((Path(__file__).parent.parent / "gallery" / "project").glob("*.py"))
FULL_CODE = re.compile(r"# The full code so far\n# -+\n#\n# \.\. code-block:: python\n#\n((?:#.*\n)+)")
LINE = 'sentence = "The cat sat on the mat because it was tired"'
SENTENCES = ["Hello", "the the 猫 $x_1$ <b>bold</b> it", " ".join(f"word{i}" for i in range(40))]


def run(program: str, folder: Path) -> str:
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-W", "ignore:FigureCanvasAgg", "-c", program],
        cwd=folder, env=os.environ | {"MPLBACKEND": "agg", "OMP_NUM_THREADS": "1"}, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr[-3000:]
    return ran.stdout


def test_there_are_seven_steps_and_each_but_the_last_shows_its_code_so_far():
    assert len(STEPS) == 7
    assert [bool(FULL_CODE.search(step.read_text())) for step in STEPS] == [True] * 6 + [False]


@pytest.mark.parametrize("step", STEPS[:6], ids=lambda step: step.stem)
def test_the_full_code_so_far_runs_as_shown_and_prints_what_its_step_prints(step, tmp_path):
    block = FULL_CODE.search(step.read_text())[1]
    program = dedent("\n".join(line.removeprefix("#").removeprefix(" ") for line in block.splitlines()))
    with ThreadPoolExecutor(2) as pool:
        alone, whole = pool.map(lambda text: run(text, tmp_path).splitlines(), (program, step.read_text()))
    assert set(alone) <= set(whole)


@pytest.mark.parametrize("sentence", SENTENCES, ids=["one word", "repeated words and markup", "forty words"])
def test_every_step_follows_the_readers_own_sentence(sentence, tmp_path):
    programs = [step.read_text() for step in STEPS]
    assert all(program.count(LINE) >= 1 for program in programs)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda program: run(program.replace(LINE, f"sentence = {sentence!r}"), tmp_path), programs))
