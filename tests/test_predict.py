"""Questions to the reader: their answers are computed, and one that is wrongly put fails the build."""

import json
import math
import re
import sys
import warnings
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from tests.asking_book import asking_book, built_asking_book

sys.path.insert(0, str(Path(__file__).parent.parent / "docs" / "_ext"))
from answers import compute, compute_on_page, file_of
from question import Question, questions, rounded

REST = """\
Text before.

.. predict:: How many
   are there?
   :answer: len(
       "two  spaces")
   :tolerance: 1

   As many as that.

   A second paragraph.
Text after.

.. quiz::

   .. predict:: Which?
      :choices: a | b
      :answer: 1

      The other.
"""


@pytest.mark.parametrize(
    ("value", "tolerance", "text"),
    [
        (6.1134, 1, "6.11"),
        (0.15687, 0.05, "0.157"),
        (0.15687, 0.001, "0.1569"),
        (-6.0891, 0.5, "-6.09"),
        (123456.7, 1000, "123457"),
        (1.1921e-07, 1e-7, "1.19e-7"),
        (-0.00003, 1e-7, "-3.000e-5"),
        (64, 0, "64"),
        (1.0, 0.1, "1"),
        (0.0, 0.1, "0"),
    ],
)
def test_a_number_is_shown_as_far_as_its_digits_matter(value, tolerance, text):
    assert rounded(value, tolerance) == text
    assert abs(float(text) - value) <= tolerance / 10  # so what is shown would itself count as right


def test_questions_are_read_from_the_text_of_a_script():
    first, second = questions(REST)
    assert first.text == "How many are there?"
    assert eval(first.answer) == len("two  spaces")
    assert (first.tolerance, first.choices) == ("1", ())
    assert first.explanation == "As many as that.\n\nA second paragraph."
    assert second == Question("Which?", "1", "", ("a", "b"), "The other.")


@pytest.mark.parametrize(
    ("options", "value", "problem"),
    [
        ({"tolerance": "1"}, 6.1, ""),
        ({"tolerance": "0"}, 6, ""),
        ({"choices": "a | b"}, 1, ""),
        ({}, 6.1, "a number needs a :tolerance:"),
        ({"tolerance": "1"}, None, "has not been computed"),
        ({"tolerance": "one"}, 6.1, "the tolerance is 'one'"),
        ({"tolerance": "-1"}, 6.1, "the tolerance is '-1'"),
        ({"tolerance": "nan"}, 6.1, "the tolerance is 'nan'"),
        ({"tolerance": "1"}, math.nan, "its answer is nan"),
        ({"tolerance": "1"}, -math.inf, "its answer is -inf"),
        ({"tolerance": "0"}, 6.1, "not a whole number"),
        ({"tolerance": "1", "choices": "a | b"}, 1, "both :choices: and a :tolerance:"),
        ({"choices": "a"}, 0, "it has one choice"),
        ({"choices": "a | b"}, 2, "the index of the right choice is 2, and the choices are numbered 0 to 1"),
        ({"choices": "a | b"}, -1, "the index of the right choice is -1"),
        ({"choices": "a | b"}, 1.0, "the index of the right choice is 1.0"),
    ],
)
def test_a_question_that_is_wrongly_put_says_what_is_wrong(options, value, problem):
    found = Question.of("?", {"answer": "x"} | options, "Because.").problem(value)
    assert found == problem if not problem else problem in found


def test_a_question_without_answer_or_explanation_is_wrongly_put():
    assert Question.of("?", {"tolerance": "1"}, "Because.").problem(1) == "it has no :answer:"
    assert "explains" in Question.of("?", {"tolerance": "1", "answer": "x"}, " ").problem(1)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("x", {"value": 2}),
        ("x > 1", {"value": 1}),
        ("x / 4", {"value": 0.5}),
        ("[x for x in (1, 3)][1]", {"value": 3}),
        ("(x := 5)", {"value": 5}),
        ("y", {"error": "NameError: name 'y' is not defined"}),
        ("x +", {"error": "SyntaxError: invalid syntax (<string>, line 1)"}),
        ("'3'", {"error": "TypeError: '3' is text and not a number"}),
        ("__import__('warnings').warn('beware')", {"error": "UserWarning: beware"}),
    ],
)
def test_an_answer_is_computed_or_says_why_not(expression, expected):
    names = {"x": 2}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as a build does, which pytest does not
        assert compute(expression, names) == expected
    assert names["x"] == 2


def test_an_answer_on_a_page_is_always_the_same_and_leaves_the_generator_alone():
    import torch

    first = compute_on_page("torch.rand(1)", "")
    torch.rand(1)
    state = torch.get_rng_state()
    assert 0 < first["value"] < 1
    assert compute_on_page("torch.rand(1)", "") == first
    assert torch.equal(torch.get_rng_state(), state)


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """Built once; no test changes it."""
    return built_asking_book(tmp_path_factory.getbasetemp())


def asked(book, page):
    return BeautifulSoup(book.page(page), "html.parser").select(".predict")


def answers(book, page):
    """What unfolds under each question, up to its explanation."""
    return [question.select_one("details > p").get_text() for question in asked(book, page)]


def test_answers_are_computed_on_a_page_and_at_the_end_of_a_script(book):
    assert answers(book, "one") == [
        "Answer: 6.11 (within 1 is right)", "Answer: -3.00e-6 (within 1e-7 is right)", "Answer: twice(2)", "Answer: yes", "Answer: 2",
    ]  # fmt: skip
    # `grown` is 1 where the first question stands, and 4 at the end.
    assert answers(book, "gallery/acts/second") == ["Answer: 0.571 (within 0.05 is right)", "Answer: four", "Answer: 4"]


def test_without_javascript_a_question_and_its_folded_answer_stay(book):
    number, *_, choice = asked(book, "one")[:3]
    for question in number, choice:
        assert not question.details.has_attr("open")
        assert question.details.summary.get_text() == "Show the answer"
        assert question.button.has_attr("hidden")
        assert question.button.has_attr("disabled")  # else Enter in a radio button would send the form
    assert number.legend.get_text() == "How large is twice(3), roughly?"
    assert number.legend.em
    assert number.select_one(".predict-why strong")
    assert number.find("input").find_parent(hidden=True)
    assert [label.get_text() for label in choice("label")] == ["twice of one", "twice(2)", "2"]
    assert choice.find(hidden=True) is choice.button  # the choices can be read


def test_a_reader_can_type_every_answer_on_a_phone(book):
    # The keyboard "decimal" has no minus and no e.
    assert [field["inputmode"] for field in BeautifulSoup(book.page("one"), "html.parser").select("input[type=text]")] == ["decimal", "text", "decimal"]


def test_a_quiz_is_an_ordered_list_of_its_questions(book):
    for page, number in ("one", 3), ("gallery/acts/second", 2):
        quiz = BeautifulSoup(book.page(page), "html.parser").select_one(".quiz")
        assert len(quiz.select("ol > li > .predict")) == number
        assert quiz.select_one(".quiz-count").get_text() == f"0 of {number} right"


def test_only_pages_that_ask_load_the_files_for_it(book):
    for page, loads in ("one", True), ("gallery/acts/second", True), ("two", False), ("gallery/acts/first", False), ("search", False):
        text = book.page(page)
        assert ("predict.js" in text, "predict.css" in text) == (loads, loads), page


def test_a_notebook_asks_in_markdown(book):
    cells = json.loads((book.folder / "docs/gallery/acts/second.ipynb").read_text("utf-8"))["cells"]
    first, last = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"][1:]
    assert first == (
        "Before the code, a reader predicts. It says `grown`.\n\n"
        "**Predict.** How large will `grown` be, by `attention_book.twice`?\n\n"
        "<details><summary>Show the answer</summary>\n\nAnswer: 0.571 (within 0.05 is right)\n\n"
        "It is doubled twice,\nand then divided: $4 / 7$.\n\n* Once here,\n* once later.\n\n</details>\n\nAfter the question."
    )
    assert last == (
        "**Question 1.** Which of them is it?\n\n- two\n- `four`\n\n"
        "<details><summary>Show the answer</summary>\n\nAnswer: `four`\n\nFour.\n\n</details>\n\n"
        "**Question 2.** And now?\n\n<details><summary>Show the answer</summary>\n\nAnswer: 4\n\nStill four.\n\n</details>\n\nThe end."
    )


def test_answers_follow_the_library_and_the_script(tmp_path):
    book = asking_book(tmp_path)
    assert book.build().returncode == 0
    book.change("attention_book/__init__.py", "FACTOR = 2", "FACTOR = 3")
    book.change("gallery/acts/second.py", "[2, 4].index(grown)", "[2, 9].index(grown)")
    book.change("docs/one.md", "twice(7) % 2 == 0", "twice(7) % 2 == 1")
    assert book.build().returncode == 0
    assert answers(book, "one")[0] == "Answer: 9.11 (within 1 is right)"
    assert answers(book, "gallery/acts/second") == ["Answer: 1.29 (within 0.05 is right)", "Answer: four", "Answer: 9"]
    # A script that changes alone, and only in a comment.
    book.change("gallery/acts/second.py", "/ 7)", "/ 10)")
    result = book.build()
    assert result.returncode == 0
    assert answers(book, "gallery/acts/second")[0] == "Answer: 0.900 (within 0.05 is right)"
    assert "Answer: 0.900" in (book.folder / "docs/gallery/acts/second.ipynb").read_text("utf-8")
    # And one that asks no more.
    book.write("gallery/acts/second.py", re.sub(r"(?m)^#.*\n", "", (book.folder / "gallery/acts/second.py").read_text("utf-8")))
    assert book.build().returncode == 0
    assert not file_of(book.folder / "docs/gallery/acts/second.rst").exists()


def test_a_build_with_wrong_questions_fails_and_names_page_and_question(tmp_path):
    book = asking_book(tmp_path)
    book.change("docs/one.md", ":answer: twice(3) + 0.1134", ":answer: thrice(3)")
    book.change("docs/one.md", "root = torch", "root = torche")
    book.change("docs/one.md", ":answer: twice(7) % 2 == 0", ":answer: twice(7)")
    book.write("docs/two.md", "# Two\n\n:::{quiz}\nOnly text.\n:::\n")
    book.change("gallery/acts/second.py", "(grown\n", "(grow\n")
    book.change("gallery/acts/second.py", "#       Four.", "#       .. math:: 4")
    book.change("gallery/acts/second.py", "#       :tolerance: 0", "#       :tolerance: 0\n#       :setup: x = 1")
    # The second build reads what the first has stored.
    for result in book.build(), book.build():
        assert result.returncode != 0
        for page, told in [
            ("one.md", "predict: How large is `twice(3)`, *roughly*?: its answer, thrice(3), cannot be computed: NameError: name 'thrice' is not defined"),
            ("one.md", "predict: Which is larger?: its answer, numbers.index(max(numbers)), cannot be computed: NameError: name 'torche' is not defined"),
            ("one.md", "predict: Is a double even?: the index of the right choice is 14, and the choices are numbered 0 to 1"),
            ("two.md", "quiz: it holds one predict directive at least, and nothing else"),
            ("second.rst", "its answer, (grow / 7), cannot be computed: NameError: name 'grow' is not defined"),
            ("second.rst", "predict: Which of them is it?: its explanation is more than paragraphs and lists"),
            ("second.rst", "predict: And now?: its answer, grown, cannot be computed: a script has its own variables"),
        ]:
            assert re.search(rf"{page}:\d+: WARNING: .*{re.escape(told)}", result.stderr), (told, result.stderr)
