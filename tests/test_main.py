"""The command line: a table or a figure, or one sentence and exit status 2."""

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

from attention_book import attend
from attention_book.__main__ import main

ROOT = Path(__file__).parent.parent
MAGIC = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


@pytest.fixture(autouse=True)
def alone(tmp_path, monkeypatch):
    mpl.use("Agg")
    monkeypatch.chdir(tmp_path)
    yield
    assert not plt.get_fignums(), "a figure was left open"


@pytest.fixture
def refuses(capsys, tmp_path):
    """Runs the command, which must end in one sentence with these words, status 2 and no file."""

    def run(*arguments, words):
        before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
        try:
            status = main(arguments)
        except SystemExit as stop:
            status = stop.code
        out, err = capsys.readouterr()
        assert status == 2
        assert not out
        assert err.endswith("\n")
        assert err.count("\n") == 1, err
        assert "Traceback" not in err
        missing = [word for word in words if word not in err]
        assert not missing, f"{missing} not in: {err}"
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before

    return run


def shell(*arguments, **options):
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | options.pop("env", {})
    return subprocess.run(
        [sys.executable, "-m", "attention_book", *arguments], capture_output=True, env=environment, **options
    )


def test_without_out_the_table_is_printed(capsys):
    assert main(["The dog slept", "--heads", "4", "--causal", "--seed", "7", "--d-model", "12"]) == 0
    expected = attend("The dog slept", num_heads=4, causal=True, seed=7, d_model=12).table()
    assert capsys.readouterr().out == expected + "\n"


def test_the_quotes_may_be_left_out(capsys):
    assert main(["The", "dog", "slept", "--causal"]) == 0
    assert capsys.readouterr().out == attend("The dog slept", causal=True).table() + "\n"


def test_a_terminal_gets_lines_that_fit_it(capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "40")
    assert main(["The cat sat on the mat because it was tired"]) == 0
    table = capsys.readouterr().out.split("\n\n", 1)[1]
    assert max(map(len, table.splitlines())) <= 40


@pytest.mark.parametrize("ending", MAGIC)
@pytest.mark.parametrize("heads", ["1", "4"])
def test_the_figure_is_written_and_its_place_said(ending, heads, tmp_path, capsys):
    assert main(["The dog slept", "--heads", heads, "--out", f"map{ending}"]) == 0
    assert capsys.readouterr().out == f"The heatmap is in map{ending}\n"
    assert (tmp_path / f"map{ending}").read_bytes().startswith(MAGIC[ending])
    assert [path.name for path in tmp_path.iterdir()] == [f"map{ending}"]


@pytest.mark.parametrize("heads, titles", [(1, ['"The dog slept": weights, causal']), (2, ["head 0", "head 1"])])
def test_the_figure_shows_what_was_asked_for(heads, titles, monkeypatch):
    from matplotlib.figure import Figure

    seen, save = [], Figure.savefig

    def look(figure, *arguments, **options):
        seen.extend(ax.get_title().replace("\n", " ") for ax in figure.axes[:-1])
        return save(figure, *arguments, **options)

    monkeypatch.setattr(Figure, "savefig", look)
    assert main(["The dog slept", "--heads", str(heads), "--causal", "--out", "map.png"]) == 0
    assert len(seen) == len(titles)
    assert all(title.startswith(expected) for title, expected in zip(seen, titles, strict=True))


@pytest.mark.parametrize("ending", MAGIC)
def test_the_same_command_writes_the_same_bytes(ending, tmp_path):
    for name in ("one", "two"):
        assert main(["The dog slept", "--causal", "--out", name + ending]) == 0
    assert (tmp_path / f"one{ending}").read_bytes() == (tmp_path / f"two{ending}").read_bytes()


def test_the_case_of_the_ending_does_not_matter(tmp_path):
    assert main(["The dog slept", "--out", "MAP.PNG"]) == 0
    assert (tmp_path / "MAP.PNG").read_bytes().startswith(MAGIC[".png"])


def test_an_old_figure_is_replaced_also_behind_a_link(tmp_path):
    (tmp_path / "real.png").write_bytes(b"old")
    (tmp_path / "map.png").symlink_to("real.png")
    assert main(["The dog slept", "--out", "map.png"]) == 0
    assert (tmp_path / "map.png").is_symlink()
    assert (tmp_path / "real.png").read_bytes().startswith(MAGIC[".png"])


@pytest.mark.parametrize(
    "arguments, words",
    [
        ([], ["no sentence", '"The dog slept"']),
        ([""], ["sentence", "empty"]),
        (["  "], ["sentence", "2 characters"]),
        (["a " * 513], ["513", "512"]),
        (["a", "--heads", "3"], ["64", "3", "divisible"]),
        (["a", "--heads", "four"], ["--heads", "'four'", "whole number"]),
        (["a", "--heads", "0"], ["0"]),
        (["a", "--heads"], ["--heads"]),
        (["a", "--seed", str(2**64)], [str(2**64)]),
        (["a", "--d-model", "9" * 5000], ["--d-model", "whole number"]),
        (["a", "--haeds", "4"], ["--haeds"]),
        (["a", "--d-model", "145", "--heads", "145", "--out", "map.png"], ["145", "144"]),
        (["a", "--out", "map.jpg"], ["map.jpg", ".png", ".svg", ".pdf"]),
        (["a", "--out", "map"], ["'map'", ".png"]),
        (["a", "--out", ""], ["''", ".png"]),
        (["a", "--out", ".png"], ["'.png'", ".svg"]),
        (["a", "--out", "no/such/folder/map.png"], ["no/such/folder/map.png", "cannot be written", "No such file"]),
        (["a", "--out", "folder.png"], ["folder.png", "cannot be written"]),
        (["a", "--out", "x" * 300 + ".png"], ["cannot be written"]),
        (["check"], ["check needs a file", "check my_attention.py"]),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(arguments, words, refuses, tmp_path):
    (tmp_path / "folder.png").mkdir()
    refuses(*arguments, words=words)


def test_a_write_protected_figure_stays(refuses, tmp_path, monkeypatch):
    (tmp_path / "map.png").write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda path, mode: not str(path).endswith("map.png"))  # root may write everywhere
    refuses("a", "--out", "map.png", words=["map.png", "write-protected"])


def test_a_full_disk_leaves_the_old_figure_and_nothing_else(refuses, tmp_path, monkeypatch):
    (tmp_path / "map.png").write_bytes(b"old")

    def full(path, content):
        with path.open("wb") as file:
            file.write(content[:10])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    refuses("a", "--out", "map.png", words=["map.png", "No space left"])


def test_help_explains_with_an_example(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--help"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    assert 'python -m attention_book "The dog slept" --heads 4 --causal --out map.png' in text
    assert "python -m attention_book check my_attention.py" in text
    for option in ("--heads", "--causal", "--seed", "--d-model", "--out"):
        assert option in text


def test_check_is_handed_over_with_its_arguments_and_its_status(monkeypatch):
    module, seen = ModuleType("attention_book.diagnosis.check"), []
    module.main = lambda argv: seen.append(argv) or 7
    monkeypatch.setitem(sys.modules, "attention_book.diagnosis.check", module)
    assert main(["check", "mine.py", "--heads", "4"]) == 7
    assert seen == [["mine.py", "--heads", "4"]]


def test_check_is_a_sentence_too(capsys):
    assert main(["--", "check"]) == 0
    assert main(["check it"]) == 0
    assert capsys.readouterr().out == attend("check").table() + "\n" + attend("check it").table() + "\n"


# As a reader types it


def test_it_runs_from_a_shell_with_any_backend(tmp_path):
    ran = shell("The dog slept", "--out", "map.png", env={"MPLBACKEND": "module://no_such_backend"}, cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert (tmp_path / "map.png").read_bytes().startswith(MAGIC[".png"])


def test_a_shell_sees_status_2_and_no_traceback(tmp_path):
    ran = shell("", cwd=tmp_path)
    assert (ran.returncode, ran.stdout) == (2, b"")
    assert ran.stderr.decode().splitlines() == ["sentence is empty; give at least 1 word"]


def test_a_terminal_that_lacks_the_letters_gets_codes(tmp_path):
    sentence = "dog 你好 \udcff"
    ran = shell(os.fsencode(sentence), env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "1"}, cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert b"\\u4f60\\u597d" in ran.stdout
    assert b"<U+DCFF>" in ran.stdout


def test_a_reader_who_stops_reading_gets_no_traceback(tmp_path):
    command = f'"{sys.executable}" -m attention_book {"word " * 200} | head -n 1'
    ran = subprocess.run(["sh", "-c", command], capture_output=True, env=os.environ | {"PYTHONPATH": str(ROOT)}, cwd=tmp_path)
    assert ran.stdout.startswith(b"200 tokens")
    assert ran.stderr == b""
