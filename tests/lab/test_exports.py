"""What the lab hands out: CSV, JSON and SVG, with any token in it."""

import csv
import io
import json
import re
import xml.etree.ElementTree as ET

import numpy
import torch

from attention_book import JOURNEY
from attention_book.trace import Trace
from tests.lab.by_torch import STEPS, draws_with_avx2, reference
from tests.lab.hostile import PIECES, states, texts, tokens

HALF = re.compile("[\ud800-\udfff]")
FORMULA = "=+-@\t\r\n＝＋－＠"
SVG = "{http://www.w3.org/2000/svg}"
OURS = {"svg", "title", "desc", "defs", "pattern", "linearGradient", "stop", "rect", "path", "g", "text"}


def with_tokens(state, many):
    """The state on a plain text of as many tokens, which are then named otherwise."""
    return [{"state": {**state, "example": "text", "text": "a " * len(names), "d_model": 4}, "tokens": names} for names in many]


def given_back(field):
    """A token out of its field: an apostrophe before what a spreadsheet would compute is taken away."""
    return re.sub(rf"^'(?=[\s\ufeff']*[{re.escape(FORMULA)}])", "", field)


def in_a_file(text):
    """A text as UTF-8 can hold it."""
    return HALF.sub(lambda half: f"<U+{ord(half[0]):04X}>", text)


def test_csv_gives_every_token_back_and_starts_no_formula(ask, default):
    given = with_tokens(default, tokens(300, seed=19))
    for each, written in zip(given, ask("csv", given), strict=True):
        names = [in_a_file(name) for name in each["tokens"]]
        rows = list(csv.reader(io.StringIO(written.encode().decode(), newline=""), strict=True))
        assert {len(row) for row in rows} == {len(names) + 1}
        assert [given_back(field) for field in rows[0]] == ["query", *names]
        assert [given_back(row[0]) for row in rows[1:]] == names
        assert not [field for field in (*rows[0], *(row[0] for row in rows)) if field.startswith(tuple(FORMULA))]


def test_a_field_is_quoted_as_rfc_4180_says(ask):
    given = ['a"b', "a,b", "a\nb", "a\r\nb", "=1+1", "+1", "-1", "@a", "\t=1", "'=1", "''=1", "'tis", " =1", "a=1", "", "=a\"b"]
    expected = ['"a""b"', '"a,b"', '"a\nb"', '"a\r\nb"', "'=1+1", "'+1", "'-1", "'@a", "'\t=1", "''=1", "'''=1", "'tis", "' =1", "a=1", "", '"\'=a""b"']
    assert ask("field", given) == expected


def test_a_thousand_hostile_fields_come_back(ask):
    given = list(texts(1000, seed=20))
    for text, field in zip(given, ask("field", given), strict=True):
        assert given_back(next(csv.reader(io.StringIO(f"{field},x\r\n", newline=""), strict=True), [""])[0]) == in_a_file(text)


def test_csv_holds_the_map_on_show_to_the_last_bit_of_float32(ask):
    given = list(states(60, seed=21))
    for state, written, shown in zip(given, ask("csv", [{"state": state} for state in given]), ask("map", given), strict=True):
        rows = list(csv.reader(io.StringIO(written, newline=""), strict=True))
        numbers = numpy.array([[float(number) for number in row[1:]] for row in rows[1:]], dtype=numpy.float32)
        data = numpy.array([float(number) for number in shown["data"]], dtype=numpy.float32).reshape(shown["shape"])
        assert numbers.tobytes() == (data[state["head"]] if data.ndim == 3 else data).tobytes()
        if state["view"] == "output":
            assert rows[0] == ["query", *(f"output {column}" for column in range(data.shape[-1]))]


def test_json_is_written_as_the_library_writes_it(ask, default):
    given = [*({"state": state} for state in states(60, seed=22)), *with_tokens(default, tokens(200, seed=23))]
    for each, written in zip(given, ask("json", given), strict=True):
        read = json.loads(written)
        assert list(read) == list(Trace.__dataclass_fields__)
        if "tokens" in each:
            assert read["tokens"] == each["tokens"]
        assert json.loads(written.encode()) == read  # as a file
        again = json.dumps(read, allow_nan=False, ensure_ascii=False)
        assert HALF.sub(lambda half: f"\\u{ord(half[0]):04x}", again) == written


def test_json_holds_every_step_of_torch(ask):
    given = list(states(60, seed=24))
    for state, written in zip(given, ask("json", [{"state": state} for state in given]), strict=True):
        names = JOURNEY.tokens if state["example"] == "journey" else tuple(state["text"].split())
        _, steps = reference({**state, "tokens": names})
        read, expected = json.loads(written), steps.to_dict()
        assert tuple(read["tokens"]) == expected["tokens"]
        assert read["scale"] == expected["scale"]
        size = max(1.0, steps.scores.abs().max().item() * max(1.0, steps.scale))
        for name in STEPS:
            told, own = (torch.tensor([float(number) for number in one[name]["data"]], dtype=torch.float64) for one in (read, expected))
            assert read[name]["shape"] == expected[name]["shape"]
            assert torch.equal(told.isneginf(), own.isneginf())
            assert (told - own).nan_to_num(nan=0.0).abs().max() <= (5e-6 if draws_with_avx2() else 1e-4) * size, (state, name)


def parsed(drawn):
    """An SVG that holds what is ours and nothing else."""
    root = ET.fromstring(drawn)
    elements = list(root.iter())
    assert {element.tag for element in elements} <= {SVG + name for name in OURS}
    for element in elements:
        assert not [name for name in element.attrib if name.startswith("on") or "href" in name]
    return root


def test_a_drawing_shows_every_token_and_has_no_element_that_a_token_brought(ask, default):
    given = with_tokens(default, tokens(300, seed=25))
    names = ask("visible", [{"text": name, "longest": 14} for each in given for name in each["tokens"]])
    for each, drawn in zip(given, ask("drawing", given), strict=True):
        labels, names = names[: len(each["tokens"])], names[len(each["tokens"]) :]
        shown = [text.text for text in parsed(drawn).iter(SVG + "text")]
        count = len(labels)
        assert shown[3 : 3 + 2 * count] == [*labels, *labels]  # behind the title and the names of the axes
        assert shown[0] == f"Attention: weights, {count} token{'' if count == 1 else 's'}"
        assert drawn.encode().decode() == drawn


def test_every_piece_is_visible_on_one_line(ask):
    given = [*PIECES, *texts(600, seed=26)]
    for text, shown in zip(given, ask("visible", [{"text": text} for text in given]), strict=True):
        assert shown
        assert not re.search("[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069\ud800-\udfff\\ufeff]", shown)
        assert shown.count("<U+") >= sum(character in "\0\x1b\u202e\ud800\ufeff" for character in text)
    cut = {"abcd": "abcd", "abcde": "abc…", "ab\u202ecd": "ab…", "abe\u0301f": "ab…", "\u0301": "◌\u0301", "": "(empty)"}
    assert ask("visible", [{"text": text, "longest": 4} for text in cut]) == [*cut.values()]


def test_a_drawing_prints_the_numbers_of_the_map_on_show(ask):
    given = list(states(60, seed=27))
    for state, drawn, shown in zip(given, ask("drawing", [{"state": state} for state in given]), ask("map", given), strict=True):
        rows, columns = shown["shape"][-2:]
        data = [float(number) for number in shown["data"]][state["head"] * rows * columns if len(shown["shape"]) == 3 else 0 :][: rows * columns]
        root = parsed(drawn)
        texts_shown = [text.text for text in root.iter(SVG + "text")]
        notes = root.find(SVG + "desc").text
        if max(rows, columns) > 20:
            assert "The numbers are left out: the cells are too small." in notes
            continue
        start = 3 + rows + columns
        assert texts_shown[start : start + rows * columns] == [f"{number:.4f}" for number in data]
        hidden = state["causal"] and rows > 1 and state["view"] in ("masked", "weights")
        assert ("Hatched: hidden, a later token." in notes) == hidden
        assert (root.find(f"{SVG}defs/{SVG}pattern") is not None) == hidden


def test_the_legend_says_the_scale_that_is_in_use(ask):
    long = [
        {**state, "example": "text", "text": "a b " * pairs, "d_model": 4, "heads": 2 if state["attention"].startswith("Multi") else 1, "head": 0}
        for state, pairs in zip(states(18, seed=28), [11, 20, 40] * 6, strict=True)
    ]
    given = [*states(80, seed=29), *long]
    for state, told, shown in zip(given, ask("legend", given), ask("map", given), strict=True):
        data = torch.tensor([float(number) for number in shown["data"]])
        finite = data[data.isfinite()]
        low, high, count = finite.min().item(), finite.max().item(), shown["shape"][-2]
        if state["view"] != "weights":
            name = {"scores": "score", "scaled": "scaled score", "masked": "masked score", "output": "output"}[state["view"]]
            heads = shown["shape"][0] if len(shown["shape"]) == 3 else 1
            whose = f"the range of all {heads} heads together" if heads > 1 else "the range of this map"
            assert told == {"low": low, "high": high, "sentence": f"{name}, {low:.4f} to {high:.4f}, {whose}"}
        elif count <= 20:
            assert told == {"low": 0, "high": 1, "sentence": "weight, 0 to 1"}
        else:
            beyond = f"; weights go up to {high:.4f}, and those beyond the scale take the colour of its end" if high > 4 / count else ""
            assert told == {"low": 0, "high": 4 / count, "sentence": f"weight, 0 to {4 / count:.4f}, four times an even share{beyond}"}
    scale = {"low": -1, "high": 3}
    assert ask("share", [{"value": value, "scale": scale} for value in (-9, -1, 0, 3, 99)]) == [0, 0, 0.25, 1, 1]
    assert ask("share", [{"value": 2, "scale": {"low": 2, "high": 2}}]) == [0.5]


def test_what_is_no_number_is_drawn_in_red_and_said(ask, default):
    root = parsed(ask("faulty", [default])[0])
    assert "Red: not a number." in root.find(SVG + "desc").text
    assert [path.get("d") for path in root.iter(SVG + "path") if path.get("fill") == "#d7301f"] == ["M0 0h1v1h-1z"]
    assert "nan" in [text.text for text in root.iter(SVG + "text")]


def test_each_cell_is_painted_once_in_the_colour_of_its_number(ask, default):
    from attention_book.tables import viridis

    state = {**default, "example": "text", "text": "word " * 30, "attention": "CausalAttention", "causal": True, "scale": True, "view": "weights"}
    shown, drawn = ask("map", [state])[0], ask("drawing", [{"state": state}])[0]
    painted = {}
    for path in parsed(drawn).find(SVG + "g").iter(SVG + "path"):
        for x, y, run in re.findall(r"M(\d+) (\d+)h(\d+)v1h-\d+z", path.get("d")):
            for column in range(int(x), int(x) + int(run)):
                assert (int(y), column) not in painted
                painted[int(y), column] = path.get("fill")
    assert set(painted) == {(i, j) for i in range(30) for j in range(i + 1)}  # what is hidden is hatched
    for (i, j), fill in painted.items():
        share = round(min(shown["data"][30 * i + j] / (4 / 30), 1.0) * 255) / 255
        assert all(abs(int(fill[1 + 2 * c : 3 + 2 * c], 16) - part) <= 1 for c, part in enumerate(viridis(share)))
