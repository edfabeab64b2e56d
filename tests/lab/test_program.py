"""The program that the lab shows is Python, runs without the book's package, and prints what is on screen."""

import ast
import json
import math
import os
import random
import struct
import subprocess
import sys
import unicodedata

import numpy

from tests.lab.hostile import states, texts

# Runs each program as a file would be run, in one process, since torch takes seconds to import.
RUNNER = """
import contextlib, io, json, sys
import torch
printed = []
for program in json.load(sys.stdin):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(program, "program", "exec"), {"__name__": "__main__"})
    printed.append(out.getvalue())
assert not any(name.startswith("attention_book") for name in sys.modules)
json.dump(printed, sys.stdout)
"""


def run_all(programs, folder):
    """What each program prints, in a fresh interpreter that has not heard of this book."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-W", "error", "-c", RUNNER]
    done = subprocess.run(command, input=json.dumps(programs), capture_output=True, text=True, cwd=folder, env=environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def bits(number):
    """A double as JSON can carry every one."""
    return str(int.from_bytes(struct.pack(">d", number)))


def test_a_string_literal_is_the_text_again(ask):
    given = [*texts(1500, seed=10), *map(chr, range(0x300)), *map(chr, range(0x2000, 0x2070)), "\ufeff", "\ud800", "\udc00\ud800"]
    for text, literal in zip(given, ask("string", given), strict=True):
        assert ast.literal_eval(literal) == text
        # No control, no bidi mark, no half of a pair, no line separator; "Cn" is what this Python does not know and the browser may.
        assert not {unicodedata.category(character) for character in literal if character != " "} & {"Cc", "Cf", "Cs", "Co", "Zl", "Zp", "Zs"}


def test_a_number_literal_is_the_number_again_as_python_writes_it(ask):
    dice = random.Random(11)
    numbers = [0.0, -0.0, 1.0, 0.1, 1e15, 1e16, 1e17, 123456789012345680.0, 1e-4, 1e-5, 9.999e-5, 5e-324, 1.7976931348623157e308, 1 / 3, -2.5, 1e22, 1e21]
    numbers += [struct.unpack(">d", dice.randbytes(8))[0] for _ in range(1000)] + [dice.uniform(-5, 5) for _ in range(300)]
    finite = [number for number in numbers if math.isfinite(number)]
    assert ask("repr", [bits(number) for number in finite]) == [repr(number) for number in finite]
    odd = [math.inf, -math.inf, math.nan]
    assert [repr(eval(literal)) for literal in ask("number", [bits(number) for number in odd])] == [repr(number) for number in odd]


def test_a_float32_is_written_in_the_fewest_digits_that_give_it_back(ask):
    dice = random.Random(12)
    floats = [numpy.frombuffer(dice.randbytes(4), dtype=numpy.float32)[0] for _ in range(1000)]
    floats = [*map(numpy.float32, [0.43, 0.1, 0.0, -0.0, 1.0, 16777216, 1e-45, 3.4028235e38]), *(each for each in floats if numpy.isfinite(each))]
    written = ask("short", [bits(float(each)) for each in floats])
    assert [numpy.float32(text).tobytes() for text in written] == [each.tobytes() for each in floats]
    digits = [len(text.partition("e")[0].replace(".", "").replace("-", "").strip("0")) for text in written]
    assert digits == [len(numpy.format_float_scientific(each).partition("e")[0].replace(".", "").replace("-", "").strip("0")) for each in floats]


def test_the_program_of_a_random_state_prints_the_map_on_screen(ask, tmp_path):
    given = [*states(60, seed=13), *states(6, seed=14, longest=70)]
    maps = ask("map", given)
    for state, shown, printed in zip(given, maps, run_all(ask("program", given), tmp_path), strict=True):
        columns = shown["shape"][-1]
        names = state["text"].split() if state["example"] == "text" else "Your journey starts with one step".split()
        data = [float(number) for number in shown["data"]]
        start = state["head"] * len(names) * columns if len(shown["shape"]) == 3 else 0
        lines = printed.split("\n")
        assert lines.pop() == ""
        assert len(lines) == len(names)
        for i, (line, name) in enumerate(zip(lines, names, strict=True)):
            assert line.endswith(f" {name!r}")
            numbers = line.removesuffix(f" {name!r}").split()
            assert len(numbers) == columns
            for number, seen in zip(numbers, data[start + i * columns :], strict=False):
                # To four decimals; of numbers above 10 float32 itself has fewer.
                assert float(number) == seen or abs(float(number) - seen) <= 1.0001e-4 + 5e-6 * abs(seen), (state, line)


def test_the_program_is_pure_torch_and_says_each_name_of_the_library(ask):
    for state, program in zip(list(states(60, seed=15)), ask("program", list(states(60, seed=15))), strict=True):
        tree = ast.parse(program)
        imported = [name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names]
        assert imported == ["torch"]
        assert not [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        assigned = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        assert {"tokens", "x", "query", "key", "value", "scores", "scaled", "masked", "weights", "output"} <= assigned
        seeds = [ast.unparse(node.args[0]) for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "torch.manual_seed"]
        drawn = state["example"] == "text" or state["attention"] != "simple"
        assert seeds == ([state["seed"]] if drawn else [])


def test_the_program_of_the_slide_prints_the_bars_and_the_curves(ask, tmp_path):
    default = ask("default", [None])[0]
    given = [{**default, "seed": seed, "d_k": d_k} for seed in ("123", "-5") for d_k in (1, 2, 64, 1000, 1024)]
    for state, printed in zip(given, run_all(ask("slideProgram", given), tmp_path), strict=True):
        curves = ask("curves", [state["seed"]])[0]
        bars = ask("bars", [{"seed": state["seed"], "d": state["d_k"], "row": 0}])[0]
        at = state["d_k"] - 1
        expected = f"standard deviation of the scores {curves['spread'][at]:.4f}, root of d_k {curves['theory'][at]:.4f}\n"
        for name in ("unscaled", "scaled"):
            largest, entropy = curves["largest"][name][at], abs(curves["entropy"][name][at])
            expected += f"{name}: mean largest weight {largest:.4f}, mean entropy {entropy:.4f}; the first query's weights:\n"
            expected += " ".join(f"{weight:.4f}" for weight in bars[name]) + "\n"
        assert printed == expected
