"""``check``: somebody's file, in a process of its own, and one clear sentence whatever is in it."""

import io
import json
import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from attention_book.diagnosis import check_child
from attention_book.diagnosis.check import main

RIGHT = "return torch.softmax(query @ key.mT / key.shape[-1] ** 0.5, dim=-1) @ value"
NO_SCALE = "return torch.softmax(query @ key.mT, dim=-1) @ value"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of its own to work in; what a file adds to the interpreter is taken away again."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "modules", {**sys.modules})
    return tmp_path


@pytest.fixture
def check(folder, capsys):
    """Writes a file, checks it as a reader would, and returns the exit status and what was printed."""

    def run(code, *options):
        write(code)
        status = main(["my_attention.py", *options])
        printed = capsys.readouterr()
        assert not (printed.out and printed.err), "on one of the two"
        text = printed.err if status == 2 else printed.out
        assert len(text.strip().splitlines()) == 1, text
        return status, text.strip()

    return run


@pytest.fixture
def quick_check(folder):
    """The same without a process of its own, which costs seconds."""

    def run(code, name=None):
        write(code)
        (folder / "answer").mkdir(exist_ok=True)
        check_child.main(Path("my_attention.py"), folder / "answer", name)
        return tuple(json.loads((folder / "answer" / "result.json").read_text()))

    return run


def read_and_told(folder, file):
    check_child.main(file, folder)
    return tuple(json.loads((folder / "result.json").read_text()))


def write(code):
    Path("my_attention.py").write_bytes(code if isinstance(code, bytes) else textwrap.dedent(code).encode())


def function(body, name="attention"):
    return f"import torch\n\ndef {name}(query, key, value):\n    {body}\n"


def test_right_code_gives_0_and_what_the_file_prints_is_not_shown(check):
    assert check("print('hello')\n" + function(RIGHT)) == (0, "attention: Right.")


def test_a_mistake_is_named_and_gives_1(check):
    status, text = check(function(NO_SCALE))
    assert status == 1
    assert text.startswith("attention: Not yet: no scale. Divide the scores by")


def test_the_function_with_the_likeliest_name_is_taken_and_the_others_are_told(quick_check):
    status, text = quick_check(function(NO_SCALE, "helper") + function(RIGHT, "self_attention"))
    assert (status, text) == (0, "self_attention (helper can be checked with --name): Right.")


def test_the_only_function_that_fits_is_taken_and_what_is_imported_is_not(quick_check):
    code = "from attention_book import scaled_dot_product_attention, MultiHeadAttention\n" + function(RIGHT, "mine")
    assert quick_check(code + "def other(x):\n    return x\n") == (0, "mine: Right.")


def test_among_several_one_must_be_named(quick_check):
    code = function(RIGHT, "one") + function(NO_SCALE, "two")
    status, text = quick_check(code)
    assert (status, text) == (2, "my_attention.py has 2 things that could be checked: one, two. Say which with --name.")
    assert quick_check(code, "one")[0] == 0
    assert quick_check(code, "two")[0] == 1
    assert quick_check(code, "three") == (2, "my_attention.py has nothing named three; it has one, two.")


def test_a_function_of_another_kind_is_told_what_it_takes(quick_check):
    code = "import torch\n\ndef attention(X, W_q, W_k, W_v):\n    return X\n"
    status, text = quick_check(code)
    assert status == 2
    assert text.startswith("attention: It takes (X, W_q, W_k, W_v), tokens and their matrices; give a function of (query, key, value)")


def test_single_layers_beside_the_attention_are_not_offered(quick_check):
    layers = "from torch import nn\nW_q, both, official = nn.Linear(4, 4), nn.Sequential(nn.Linear(4, 4)), nn.MultiheadAttention(12, 3)\n"
    assert quick_check(layers + function(RIGHT)) == (0, "attention (official can be checked with --name): Right.")


CLASS = """
    import torch
    from torch import nn

    class SelfAttention(nn.Module):
        def __init__(self, d_in, d_out{more}):
            super().__init__()
            self.q, self.k, self.v = (nn.Linear(d_in, d_out) for _ in range(3))

        def forward(self, x):
            query, key, value = self.q(x), self.k(x), self.v(x)
            {body}
"""


def test_a_class_is_built_from_the_names_of_its_parameters(quick_check):
    assert quick_check(CLASS.format(more="", body=RIGHT)) == (0, "SelfAttention: Right.")


def test_an_instance_says_more_than_its_class(quick_check):
    code = textwrap.dedent(CLASS.format(more=", flavour", body=NO_SCALE)) + "\nmine = SelfAttention(3, 4, 'salt')\n"
    status, text = quick_check(code)
    assert status == 1
    assert text.startswith("mine: Not yet: no scale.")


def test_a_class_that_nobody_can_build_is_told(quick_check):
    status, text = quick_check(CLASS.format(more=", flavour", body=RIGHT))
    assert (status, text) == (
        2, "SelfAttention needs flavour, which nobody can guess; add an instance to the file: attention = SelfAttention(..., ..., ...)",
    )  # fmt: skip


UNUSABLE = {
    "no valid Python": (b"def attention(q, k, v:\n", "my_attention.py is no valid Python: line 1: '(' was never closed."),
    "no text": (b"\xff\xfe\x00", "is no valid Python"),
    "stops": ("x = 1\ny = x + undefined\n", "stops at line 2 when it is run: NameError: name 'undefined' is not defined."),
    "value": ("int('seven')\n", "stops at line 1 when it is run: ValueError: invalid literal"),
    "exit": ("import sys\nsys.exit(5)\n", "stops at line 2 when it is run: it ends the program: put that under if __name__ == '__main__':"),
    "quit": ("def main():\n    quit()\nmain()\n", "stops at line 2 when it is run: it ends the program: put that under if __name__ == '__main__':"),
    "input": ("x = 1\nname = input('who? ')\n", "stops at line 2 when it is run: it asks for input: put that under if __name__ == '__main__':"),
    "end of a file": ("raise EOFError('no more data')\n", "stops at line 1 when it is run: EOFError: no more data."),
    "empty": ("", "has no function of (query, key, value) and no torch module to check."),
}


@pytest.mark.parametrize("kind", UNUSABLE)
def test_a_file_that_cannot_be_used_gives_2_and_one_sentence(quick_check, kind, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO())  # a checked file has no input
    code, words = UNUSABLE[kind]
    status, text = quick_check(code)
    assert status == 2
    assert words in text


def test_a_file_that_crashes_is_told(check):
    status, text = check("import os\ndef attention(q, k, v):\n    os.abort()\n")
    assert status == 2
    assert text == "my_attention.py ended its process (signal SIGABRT) while attention was running, so there is nothing to compare."


def test_a_file_that_ends_its_process_is_told(check):
    status, text = check("import os\nos._exit(7)\n")
    assert status == 2
    assert text == "my_attention.py ended its process (exit status 7) while the file was being read, so there is nothing to compare."


@pytest.mark.parametrize("place", ["reading", "running"])
def test_a_hang_is_ended_at_the_time_limit_with_all_that_it_started(check, place):
    child = "import subprocess, sys, pathlib\nkept = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
    child += "pathlib.Path('started').write_text(str(kept.pid))\n"
    loop = "while True:\n    pass\n" if place == "reading" else "def attention(q, k, v):\n    while True:\n        pass\n"
    status, text = check(child + loop, "--timeout", "2")
    doing = "the file was being read" if place == "reading" else "attention was running"
    assert (status, text) == (
        2, f"my_attention.py was stopped after 2 seconds, while {doing}: is there a loop without an end? --timeout allows more.",
    )  # fmt: skip
    time.sleep(0.2)
    started = int(Path("started").read_text())
    state = Path(f"/proc/{started}/stat")
    assert not state.exists() or state.read_text().split()[2] == "Z", "what the file started still runs"


def test_a_missing_file_a_folder_and_a_notebook_are_told(folder, capsys):
    (folder / "folder").mkdir()
    (folder / "my.ipynb").write_text("{}")
    for name, words in {"missing.py": "There is no file missing.py.", "folder": "folder is a folder", "my.ipynb": "is a notebook"}.items():
        assert main([name]) == 2
        assert words in capsys.readouterr().err


@pytest.mark.parametrize("limit", ["0", "-1", "soon", "nan", "inf"])
def test_a_time_limit_that_is_none_is_refused(capsys, limit):
    with pytest.raises(SystemExit) as stopped:
        main(["my_attention.py", "--timeout", limit])
    assert stopped.value.code == 2
    assert f"{limit!r} is no time limit" in capsys.readouterr().err


def test_the_help_says_what_true_means_in_a_mask(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "Masks are handed in with True where a query may look" in " ".join(capsys.readouterr().out.split())


def test_a_neighbour_of_the_file_can_be_imported(quick_check, tmp_path):
    (tmp_path / "neighbour.py").write_text("root = 0.5\n")
    code = "from neighbour import root\n" + function(RIGHT.replace("0.5", "root"))
    assert quick_check(code) == (0, "attention: Right.")


IMPORTS = ("from .helpers import root", "from outer.inner.helpers import root", "from ..near import root", "from helpers import root")


@pytest.mark.parametrize("line", IMPORTS)
def test_a_file_of_a_package_is_read_as_python_imports_it(folder, line):
    inner = folder / "outer" / "inner"
    inner.mkdir(parents=True)
    for made in (folder / "outer" / "__init__.py", inner / "__init__.py"):
        made.write_text("")
    for made in (inner / "helpers.py", folder / "outer" / "near.py"):
        made.write_text("root = 0.5\n")
    (inner / "mine.py").write_text(f"{line}\n" + function(RIGHT.replace("0.5", "root")))
    assert read_and_told(folder, Path("outer/inner/mine.py")) == (0, "attention: Right.")


def test_a_package_itself_can_be_checked(folder):
    (folder / "mine").mkdir()
    (folder / "mine" / "helpers.py").write_text("root = 0.5\n")
    (folder / "mine" / "__init__.py").write_text("from .helpers import root\n" + function(RIGHT.replace("0.5", "root")))
    assert read_and_told(folder, Path("mine/__init__.py")) == (0, "attention: Right.")


def test_a_package_that_stops_is_told(folder):
    (folder / "mine").mkdir()
    (folder / "mine" / "__init__.py").write_text("1 / 0\n")
    (folder / "mine" / "attention.py").write_text(function(RIGHT))
    status, text = read_and_told(folder, Path("mine/attention.py"))
    assert (status, text) == (2, f"{Path('mine/attention.py')} stops when it is run: ZeroDivisionError: division by zero.")


def test_the_command_does_not_run_the_file_in_its_own_process(check):
    check("import os, pathlib\npathlib.Path('pid').write_text(str(os.getpid()))\n" + function(RIGHT))
    assert int(Path("pid").read_text()) != os.getpid()


def test_the_main_part_of_a_file_is_not_run(quick_check):
    assert quick_check(function(RIGHT) + "if __name__ == '__main__':\n    raise SystemExit('run as a program')\n")[0] == 0


def test_a_check_works_from_any_folder(tmp_path):
    (tmp_path / "mine.py").write_text(function(NO_SCALE))
    book = Path(__file__).parents[2]
    ran = subprocess.run(
        [sys.executable, "-c", "import sys; from attention_book.diagnosis.check import main; sys.exit(main(sys.argv[1:]))", "mine.py"],
        cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(book)}, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert (ran.returncode, ran.stderr) == (1, "")
    assert "no scale" in ran.stdout
