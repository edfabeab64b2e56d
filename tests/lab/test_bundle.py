"""One classic script of all modules: in order, the same each time, and nothing but the plain form."""

import re
import shutil
import subprocess

import pytest

from attention_book.lab.bundle import HERE, bundle

MODULES = {
    "tools/a.js": '// @ts-check\n/**\n * Twice.\n */\nexport function twice(x) {\n    // a remark\n    return 2 * x; // another\n}\n',
    "b.js": 'import { twice } from "./tools/a.js";\n\nexport const text = `\n    ${twice(2)} kept  \n`;\nexport class Box {}\n',
    "page.js": 'import { Box, text } from "./b.js";\n\nexport function start(source) {\n    console.log(text, new Box(), source.program.length > 0);\n}\n',
    "worker.js": 'import { twice } from "./tools/a.js";\n\nconsole.log("worker", twice(3));\n',
}


@pytest.fixture
def folder(tmp_path):
    def write(**changes):
        for name, text in (MODULES | changes).items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text)
        return tmp_path

    return write


def joined(folder):
    return bundle(folder, page="page.js", worker="worker.js")


def run(script):
    node = shutil.which("node")
    if node is None:
        import quickjs

        said = []
        context = quickjs.Context()
        context.add_callable("print", lambda *words: said.append(" ".join(map(str, words))))
        context.eval("const console = {log: (...words) => print(...words.map(word => typeof word === 'object' ? 'Box {}' : word))}")
        context.eval(script)
        return "\n".join(said) + "\n"
    return subprocess.run([node, "-e", script], capture_output=True, text=True, check=True).stdout


def test_it_runs_as_a_worker_where_there_is_no_document_and_as_a_page_where_there_is(folder):
    script = joined(folder())
    assert run(script) == "worker 6\n"
    page = 'globalThis.document = {currentScript: {src: "here"}};\n' + script
    assert run(page) == "\n    4 kept  \n Box {} true\n"


def test_comments_are_left_out_and_templates_stay(folder):
    script = joined(folder())
    assert "remark" not in script
    assert "another" not in script
    assert "Twice." not in script
    assert "`\n    ${twice(2)} kept  \n`" in script


def test_each_module_stands_before_those_that_need_it_and_once(folder):
    script = joined(folder())
    assert script.index("function twice") < script.index("class Box") < script.index("new Box")
    assert script.count("function twice") == 1


@pytest.mark.parametrize(("name", "text", "sentence"), [
    ("b.js", 'import a from "./tools/a.js";', "b.js, line 1: .*; write import { a, b } from"),
    ("b.js", "export default 3;", "b.js, line 1: .*; write export function f"),
    ("b.js", 'import { c } from "./c.js";', r"b.js, line 1: there is no ./c.js; correct the name"),
    ("b.js", "export const text = `\n// kept?\n`;", "stands in a template and looks like a comment"),
    ("b.js", "/* one\n two */ export const text = 1;", "has code behind a comment of several lines"),
    ("tools/a.js", 'import { text } from "../b.js";\nexport const twice = text;', "tools/a.js needs b.js needs tools/a.js: no module may need itself"),
])
def test_another_form_is_refused_in_a_sentence(folder, name, text, sentence):
    with pytest.raises(ValueError, match=sentence):
        joined(folder(**{name: text + "\n"}))


def test_the_lab_is_one_script_the_same_each_time_without_eval_or_markup():
    script = bundle()
    assert script == bundle()
    assert not re.search(r"^(?:import|export)\b", script, re.MULTILINE)
    assert not re.search(r"\beval\(|new Function|innerHTML|outerHTML|insertAdjacentHTML|document\.write|setAttribute\(\"style\"", script)
    assert {path.relative_to(HERE).as_posix() for path in HERE.rglob("*.js")} >= {"worker.js", "view/start.js"}
