"""Every formula becomes MathML while the site is built, and a formula that cannot be shown stops the build."""

import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

EXTENSIONS = Path(__file__).parent.parent / "docs" / "_ext"
sys.path.insert(0, str(EXTENSIONS))
from static_math import BadFormula, class_of, mathml  # noqa: E402  the folder of extensions is no package

CONF = f"""
import sys
sys.path.insert(0, {str(EXTENSIONS)!r})
extensions = ["myst_parser", "static_math"]
myst_enable_extensions = ["dollarmath", "amsmath"]
html_theme = "furo"
html_static_path = [{str(EXTENSIONS.parent / "_static")!r}]
exclude_patterns = ["out"]
"""


def tree(tex, display=True):
    return ET.fromstring(mathml(tex, display))


def tags(element):
    """`mfrac(mrow, msqrt)` as nested lists of tag names."""
    return [element.tag, *map(tags, element)] if len(element) else element.tag


def built(folder, **pages):
    """Build a site of these pages; return the process and the folder of its HTML."""
    (folder / "conf.py").write_text(CONF)
    for name, text in pages.items():
        (folder / f"{name}.md").write_text(text)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-n", str(folder), str(folder / "out")]
    return subprocess.run(command, capture_output=True, text=True), folder / "out"


def test_attention_is_a_function_of_a_fraction_over_a_root():
    formula = tree(r"\operatorname{softmax}\left(\frac{QK^\top}{\sqrt{d_k}}\right)V")
    assert formula.get("display") == "block"
    assert tags(formula.find(".//mfrac")) == ["mfrac", ["mrow", "mi", ["msup", "mi", "mi"]], ["msqrt", ["msub", "mi", "mi"]]]
    assert [brace.get("stretchy") for brace in formula.iter("mo") if brace.text in "()"] == ["true", "true"]
    assert "".join(formula.itertext()).replace("\u2061", "") == "softmax(QK⊤dk)V"


def test_a_matrix_is_a_table_with_its_rows_and_columns():
    rows = tree(r"\begin{pmatrix} 0 & -\infty & 1 \\ 0 & 0 & 2 \end{pmatrix}").find(".//mtable")
    assert [len(row) for row in rows] == [3, 3]
    assert ["".join(cell.itertext()) for cell in rows[0]] == ["0", "−∞", "1"]


def test_sums_carry_limits_and_letters_their_alphabet():
    assert tags(tree(r"\sum_{j=1}^{n} x_j").find(".//munderover")) == ["munderover", "mo", ["mrow", "mi", "mo", "mn"], "mi"]
    assert "".join(tree(r"x \in \mathbb{R}^d, \mathbf{W}, \mathcal{L}", False).itertext()) == "x∈ℝd,𝐖,ℒ"


@pytest.mark.parametrize("tex", [r"\begin{cases} 0 & j \le i \end{cases}", r"\hat{x} + \bar{y}", r"\underbrace{a + b}_{c}"])
def test_no_style_attribute_is_left_that_a_strict_policy_would_refuse(tex):
    assert " style=" not in mathml(tex, True)


def test_each_declaration_of_a_style_becomes_a_class():
    cells = tree(r"\begin{cases} 0 & j \le i \end{cases}").iter("mtd")
    assert [cell.get("class") for cell in cells] == [
        "tml-left padding-left-0em padding-right-0em", "tml-left padding-left-1em padding-right-0em"
    ]
    assert class_of("padding-left:5.9776pt") == "padding-left-5-9776pt"


@pytest.mark.parametrize(("tex", "sentence"), [
    (r"\frac{a", "it cannot be read: Unexpected end of input in a macro argument, expected '}' at end of input: \\frac{a"),
    (r"\nope x", "it cannot be read: Unsupported function name: \\nope at position 1: \\nope x"),
    (r"\scriptsize x", "it cannot be read: Temml strict-mode warning: Command \\scriptsize is invalid in math mode."),
    (r"\color{red} x", "math.css has no rule .color-ff0000 {color:#ff0000}, which it needs"),
    (r"\text{猫}", "the mathematics font lacks 猫 (see _static/fonts/README.txt)"),
])
def test_a_formula_that_cannot_be_shown_is_told_in_a_sentence(tex, sentence):
    with pytest.raises(BadFormula) as failure:
        mathml(tex)
    assert str(failure.value) == sentence


def test_a_page_with_mathematics_carries_its_style_and_font_and_no_script_for_it(tmp_path):
    process, out = built(
        tmp_path,
        index="# Home\n\nOne line $x_i$.\n\n$$\na &= b \\\\\nc &= d\n$$ (pair)\n\nSee {eq}`pair`.\n\n"
        "\\begin{align}\ne &= f\n\\end{align}\n\n```{toctree}\nplain\n```\n",
        plain="# Plain\n\nNo formula.\n",
    )
    assert process.returncode == 0, process.stderr
    page, plain = ((out / name).read_text() for name in ("index.html", "plain.html"))
    assert page.count("<math") == page.count("</math>") == 3
    assert page.count('id="equation-pair"') == 1
    assert re.search(r'id="equation-pair">\s*<div class="math [^"]*"><math .*?</math><span class="eqno">\(1\)', page, re.DOTALL)
    assert '<a class="reference internal" href="#equation-pair">(1)</a>' in page
    assert page.count('class="eqno"') == 2
    assert "tml-eqn" not in page, "Sphinx counts the equations, Temml must not count them again"
    font = re.search(r'<link rel="preload" href="([^"]*)" as="font" type="font/woff2" crossorigin>', page)[1]
    assert (out / font).is_file()
    assert re.search(r'href="_static/math.css\?', page)
    assert "MathJax" not in page
    assert 'rel="preload"' not in plain
    assert "math.css" not in plain


def test_a_wrong_formula_stops_the_build_and_names_its_page_line_and_text(tmp_path):
    process, _ = built(tmp_path, index="# Home\n\nWell.\n\nHere is $\\frac{a$ wrong.\n\n$$\n\\nope\n$$\n")
    assert process.returncode == 1
    told = r"index\.md:(\d+): WARNING: a formula is wrong: (.*) The formula: (.*) \[static_math\]"
    inline, block = re.findall(told, process.stderr)
    assert inline[::2] == ("5", r"\frac{a")
    assert block[::2] == ("7", r"\nope")
    assert inline[1].startswith("it cannot be read: Unexpected end of input")
