"""One question of the book: what it asks, when it is wrongly put, and how its answer is written.

A gallery script asks in the reST of its comments, and three readers need the same question: the directive
(`predict.py`), the run that computes the answer (`answers.py`) and the notebook (`notebook_text.py`).
"""

import math
import re
from textwrap import dedent
from typing import NamedTuple

# From the line that opens the directive to the last line that is indented under it.
BLOCK = re.compile(
    r"^(?P<indent> *)\.\. (?P<name>predict|quiz)::(?P<said>.*)\n(?P<body>(?:(?P=indent) +\S.*\n|[ ]*\n)*)", re.MULTILINE
)
OPTION = re.compile(r"^:(?P<name>\w+):(?P<value>.*(?:\n +.*)*)", re.MULTILINE)
# Written with an exponent below this.
SMALL = 1e-4


def one_line(text: str) -> str:
    """An option may go on over several lines, as an expression in brackets."""
    return " ".join(line.strip() for line in text.splitlines()).strip()


class Question(NamedTuple):
    """A question as its author wrote it."""

    text: str
    answer: str  # a Python expression
    tolerance: str = ""
    choices: tuple[str, ...] = ()
    explanation: str = ""

    @classmethod
    def of(cls, text: str, options: dict[str, str], explanation: str) -> "Question":
        """Put it together from a directive's argument, options and content."""
        choices = tuple(choice.strip() for choice in re.split(r"\s\|\s", one_line(options.get("choices", ""))) if choice.strip())
        return cls(one_line(text), one_line(options.get("answer", "")), options.get("tolerance", "").strip(), choices, explanation.strip())

    def problem(self, value: int | float | None, error: str = "") -> str:
        """What is wrong with it, given the computed value; nothing if all is well."""
        if not self.answer:
            return "it has no :answer:"
        if error:
            return f"its answer, {self.answer}, cannot be computed: {error}"
        if value is None:
            return f"its answer, {self.answer}, has not been computed: did the script come to its end?"
        if not self.explanation:
            return "its content, which explains the answer, is missing"
        return self._choice_problem(value) if self.choices else self._number_problem(value)

    def _choice_problem(self, value):
        last = len(self.choices) - 1
        if self.tolerance:
            return "it has both :choices: and a :tolerance:"
        if last < 1:
            return "it has one choice: write them as a | b | c"
        if not isinstance(value, int) or not 0 <= value <= last:
            return f"the index of the right choice is {value}, and the choices are numbered 0 to {last}"
        return ""

    def _number_problem(self, value):
        if not self.tolerance:
            return "a number needs a :tolerance:, a choice needs :choices:"
        try:
            tolerance = float(self.tolerance)
        except ValueError:
            tolerance = math.nan
        if not 0 <= tolerance < math.inf:
            return f"the tolerance is {self.tolerance!r}, which is no number from 0 on"
        if not math.isfinite(value):
            return f"its answer is {value}, which nobody can type"
        if tolerance == 0 and value != int(value):
            return f"its answer, {value}, is not a whole number: with tolerance 0 nobody can type it"
        return ""

    def right(self, value: int | float) -> str:
        """The right answer in words: the choice, or the number as far as the tolerance makes its digits matter."""
        return self.choices[value] if self.choices else rounded(value, float(self.tolerance))

    def within(self) -> str:
        """What a reader should know about the precision that is asked for."""
        return f"within {self.tolerance} is right" if self.tolerance and float(self.tolerance) else ""


def rounded(value: int | float, tolerance: float) -> str:
    """Three digits at least, and as many as keep it ten times closer than the tolerance; whole numbers as they are."""
    if value == int(value):
        return str(int(value))
    place = math.floor(math.log10(abs(value)))
    decimals = max(2 - place, math.ceil(math.log10(5 / tolerance)), 0)
    if abs(value) >= SMALL:
        return f"{value:.{decimals}f}"
    digits, _, exponent = f"{value:.{decimals + place}e}".partition("e")
    return f"{digits}e{int(exponent)}"


def read(block: re.Match) -> Question:
    """The question in a `predict` block of reST."""
    head, _, explanation = dedent(block["body"]).partition("\n\n")
    options = {found["name"]: found["value"] for found in OPTION.finditer(head)}
    first = OPTION.search(head)
    return Question.of(f"{block['said']}\n{head[: first.start()] if first else head}", options, explanation)


def questions(rest: str) -> list[Question]:
    """All questions in a text, those of its quizzes included."""
    found = []
    for block in BLOCK.finditer(rest + "\n"):
        found += [read(block)] if block["name"] == "predict" else questions(dedent(block["body"]))
    return found
