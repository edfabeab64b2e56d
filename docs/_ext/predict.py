"""Ask the reader: `predict` asks for a number or a choice, `quiz` is a list of such questions.

    .. predict:: What is the largest raw score, roughly?
       :answer: scores.max().item()
       :tolerance: 1

       It is the largest of a hundred sums of 64 products each.

A choice has `:choices: a | b | c` in place of the tolerance, and its answer is the index of the right one, from 0 on. On a
page without a script, `:setup:` may hold lines of code that run before the answer. Without JavaScript a page shows the
question and the folded answer; `predict.js` adds the rest.
"""

from hashlib import sha256
from pathlib import Path

from answers import compute_on_page, file_of, stored
from docutils import nodes
from docutils.parsers.rst import directives
from question import Question
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

logger = logging.getLogger(__name__)
# What `notebook_text.py` can carry over into a notebook.
SIMPLE = (nodes.paragraph, nodes.bullet_list, nodes.enumerated_list)


class tag(nodes.General, nodes.TextElement):
    """An element of HTML that docutils has no node for; it may hold text and links."""

    def __init__(self, kind="", *children, **attributes):
        super().__init__("", "", *children, kind=kind, html={name.rstrip("_").replace("_", "-"): said for name, said in attributes.items()})


def visit(translator, node):
    translator.body.append(f"<{node['kind']}")
    for name, said in node["html"].items():
        translator.body.append(f" {name}" if said is True else f' {name}="{translator.attval(said)}"')
    translator.body.append(">")


def depart(translator, node):
    if node["kind"] != "input":
        translator.body.append(f"</{node['kind']}>")


class Predict(SphinxDirective):
    """Ask one question."""

    required_arguments, final_argument_whitespace, has_content = 1, True, True
    option_spec = dict.fromkeys(("answer", "tolerance", "choices", "setup"), directives.unchanged)

    def run(self) -> list[nodes.Node]:
        question = Question.of(self.arguments[0], self.options, "\n".join(self.content))
        answer = self._answer(question)
        explanation = self.parse_content_to_nodes()
        problem = question.problem(answer.get("value"), answer.get("error", ""))
        if not problem and self._in_gallery() and not all(isinstance(node, SIMPLE) for node in explanation):
            problem = "its explanation is more than paragraphs and lists, which no notebook could show"
        if problem:
            logger.warning("predict: %s: %s", question.text, problem, location=self.get_location(), type="predict")
            return []
        name = self._name(question)
        return [tag("div", self._form(question, answer["value"], name), self._details(question, answer["value"], explanation), class_="predict")]

    def _in_gallery(self):
        return self.env.docname.startswith("gallery/")

    def _answer(self, question):
        if not self._in_gallery():
            return compute_on_page(question.answer, self.options.get("setup", "")) if question.answer else {}
        if "setup" in self.options:
            return {"error": "a script has its own variables, write :setup: there as code"}
        page = Path(self.env.doc2path(self.env.docname))
        self.env.note_dependency(str(file_of(page)))
        return stored(page).get(question.answer, {})

    def _name(self, question):
        """What is said elsewhere, or was said before the question changed, is no answer to this one."""
        asked = (self.env.docname, self.env.new_serialno("predict"), question.text, question.choices)
        return f"predict-{sha256(repr(asked).encode()).hexdigest()[:10]}"

    def _inline(self, text):
        found, messages = self.parse_inline(text, lineno=self.lineno)
        return found + messages

    def _form(self, question, value, name):
        asked = tag("legend", *self._inline(question.text))
        right = str(value) if question.choices else question.right(value)
        form = {"class_": "predict-form", "id": name, "data_answer": right, "autocomplete": "off", "novalidate": True}
        if question.choices:
            said = [self._choice(choice, name, index) for index, choice in enumerate(question.choices)]
        else:
            form["data_tolerance"] = question.tolerance
            # A phone's decimal keyboard has neither a minus nor an exponent.
            keyboard = "decimal" if question.right(value).replace(".", "").isdecimal() else "text"
            field = tag("input", type="text", name="said", inputmode=keyboard, maxlength="40", disabled=True, aria_describedby=f"{name}-result")
            within = question.within()
            label = tag("label", nodes.Text(f"Your number ({within})" if within else "Your number"), field, class_="predict-number")
            said = [tag("div", label, hidden=True)]
        check = tag("button", nodes.Text("Check"), type="submit", disabled=True, hidden=True)
        result = tag("div", class_="predict-result", id=f"{name}-result")
        return tag("form", tag("fieldset", asked, *said, check), result, **form)

    def _choice(self, choice, name, index):
        words = tag("span", *self._inline(choice))
        # Read out from its MathML, a root of two would be called "2".
        spoken = {"aria_label": words.astext()} if words.next_node(nodes.math) else {}
        return tag("label", tag("input", type="radio", name=name, value=str(index), **spoken), words, class_="predict-choice")

    def _details(self, question, value, explanation):
        within = question.within()
        right = [*self._inline(question.right(value)), nodes.Text(f" ({within})" if within else "")]
        shown = nodes.paragraph("", "", nodes.Text("Answer: "), *right)
        summary = tag("summary", nodes.Text("Show the answer"))
        return tag("details", summary, shown, tag("div", *explanation, class_="predict-why"), class_="predict-answer")


class Quiz(SphinxDirective):
    """Ask several questions and count."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        asked = self.parse_content_to_nodes()
        if not asked or not all(isinstance(node, tag) for node in asked):
            logger.warning("quiz: it holds one predict directive at least, and nothing else", location=self.get_location(), type="predict")
            return []
        items = nodes.enumerated_list("", *(nodes.list_item("", node) for node in asked), enumtype="arabic", prefix="", suffix=".")
        count = tag("p", nodes.Text(f"0 of {len(asked)} right"), class_="quiz-count", hidden=True)
        forget = tag("button", nodes.Text("Forget my answers"), type="button", disabled=True, hidden=True)
        kept = tag("p", nodes.Text("What you answer stays in this browser. "), forget, class_="quiz-kept", hidden=True)
        return [tag("div", items, count, kept, class_="quiz")]


def add_files(app, pagename, templatename, context, doctree):
    """Only to the pages that ask."""
    if doctree is not None and doctree.next_node(tag):
        app.add_css_file("predict.css")
        app.add_js_file("predict.js", loading_method="defer")


def setup(app) -> ExtensionMetadata:
    app.add_node(tag, html=(visit, depart))
    app.add_directive("predict", Predict)
    app.add_directive("quiz", Quiz)
    app.connect("html-page-context", add_files)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
