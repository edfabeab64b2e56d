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


# What a student types wrong: in which step, the right text, the wrong one, and the mistake that the page's table then names.
SLIPS = {
    "no scale": ("project_4", "/ math.sqrt(query.shape[-1])", "", "no scale"),
    "merged without transpose": ("project_4", "heads.transpose(1, 2).reshape(x.shape)", "heads.reshape(x.shape)", "merge without transpose"),
    "mask upside down": ("project_6", "masked_fill(~mask, -math.inf)", "masked_fill(mask, -math.inf)", "inverted mask"),
    "the other triangle": ("project_6", "dtype=torch.bool).tril()", "dtype=torch.bool).triu()", "lower triangle"),
}


@pytest.mark.parametrize("start, right, wrong, name", SLIPS.values(), ids=SLIPS)
def test_a_slip_is_sent_to_the_table_whose_line_has_the_same_numbers(start, right, wrong, name, tmp_path):
    step = next(step for step in STEPS if step.stem.startswith(start)).read_text()
    shown = step[: step.index("# The full code so far")]
    assert shown.count(right) == 1
    slipped = shown.replace(right, wrong)
    with pytest.raises(AssertionError, match='run the cell under "Seeing something else\\?"'):
        run(slipped, tmp_path)
    # The student goes on to the table, as its cell is the only one left to run.
    unchecked = re.sub(r"^( *)assert .*, HINT$", r"\1pass", slipped, flags=re.MULTILINE).replace("if example:", "if False:")
    table = unchecked[: unchecked.index("# %%\n", unchecked.index("# Seeing something else?"))]
    lines = [line.split(maxsplit=2) for line in run(table, tmp_path).splitlines() if len(line.split(maxsplit=2)) == 3]
    numbers = {cause: values for *values, cause in lines}
    assert numbers["yours"] == numbers[name] != numbers["right"]
