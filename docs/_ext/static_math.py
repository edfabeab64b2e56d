"""Turn every formula into MathML while the site is built, so that no page needs a script for it.

The reading of TeX is Temml's (`temml/`), run inside the `quickjs` wheel. A formula that it cannot read is
a warning with page, line and formula, and warnings fail the build. Three things are then made stricter:

* no `style` attribute stays, because a strict content security policy refuses those: each declaration
  becomes a class of `_static/math.css`, and one that has no rule there is a warning too;
* no character stands in a formula that the small mathematics font lacks: another font would draw it on each machine;
* only pages that show mathematics load that stylesheet and its font, the font early enough that nothing moves.
"""

import html
import json
import re
from functools import cache
from pathlib import Path

import quickjs
from docutils import nodes
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number
from sphinx.util.typing import ExtensionMetadata

HERE = Path(__file__).parent
FONT = "_static/fonts/stix-two-math-subset.woff2"
NUMBERED = re.compile(r"\\(begin|end)\{(equation|align|alignat|gather)\}")
ENVIRONMENT = re.compile(r"\\begin\{(\w+\*?)\}.*?\\end\{\1\}", re.DOTALL)
STYLE = re.compile(r'(?: class="(?P<before>[^"]*)")? style="(?P<style>[^"]*)"')
logger = logging.getLogger(__name__)


class BadFormula(ValueError):
    """A formula that cannot be shown; the message is the sentence to print."""


@cache
def _temml():
    context = quickjs.Context()
    # Temml only logs what LaTeX would warn about; here it is an error, like every warning.
    context.eval("const console = {log(sentence) { throw new SyntaxError(sentence) }}")
    context.eval((HERE / "temml" / "temml.min.js").read_text("utf-8"))
    # Through JSON, because the wheel cannot hand over a string that QuickJS still keeps in pieces.
    return context.eval(
        "(tex, display, macros) => JSON.stringify(temml.renderToString(tex, {displayMode: display,"
        " wrap: display ? 'none' : 'tex', macros: JSON.parse(macros), throwOnError: true, strict: true}))"
    )


@cache
def _rules():
    """The class names that `math.css` has a rule for."""
    stylesheet = (HERE.parent / "_static" / "math.css").read_text("utf-8")
    return frozenset(re.findall(r"\.([\w-]+)", stylesheet))


@cache
def _characters():
    """What the mathematics font can draw."""
    listed = (HERE.parent / "_static" / "fonts" / "book-math.unicodes").read_text("utf-8")
    found = set()
    for part in re.sub("#.*", "", listed).split():
        first, _, last = part.partition("-")
        found.update(range(int(first, 16), int(last or first, 16) + 1))
    return frozenset(map(chr, found))


def class_of(declaration):
    """`padding-left:5.9776pt` is the class `padding-left-5-9776pt`."""
    return re.sub(r"\W+", "-", declaration.strip())


def _classes_for_styles(match):
    classes = (match["before"] or "").split()
    for declaration in filter(None, match["style"].split(";")):
        name = class_of(declaration)
        if name not in _rules():
            raise BadFormula(f"math.css has no rule .{name} {{{declaration}}}, which it needs")
        classes.append(name)
    return f' class="{" ".join(classes)}"'


@cache
def mathml(tex, display=False, macros="{}"):
    """Return the `<math>` element for a formula, or raise BadFormula."""
    try:
        markup = json.loads(_temml()(tex, display, macros))
    except quickjs.JSException as error:
        # Temml underlines the place with combining marks and appends its own stack; a reader needs neither.
        reason = str(error).split("\n    at ")[0].replace("\u0332", "")
        reason = " ".join(re.sub("^[A-Za-z]*Error: +", "", reason).split())
        raise BadFormula(f"it cannot be read: {reason}") from None
    missing = set(html.unescape(re.sub("<[^>]*>", "", markup))) - _characters()
    if missing:
        raise BadFormula(f"the mathematics font lacks {' '.join(sorted(missing))} (see _static/fonts/README.txt)")
    # display="block" already says so.
    markup = markup.replace(' style="display:block math;"', "")
    return STYLE.sub(_classes_for_styles, markup)


def _display_tex(node):
    """What Sphinx lets a formula leave out: the environment of several lines; and Sphinx counts, not Temml."""
    tex = node.astext()
    if node.get("no-wrap", node.get("nowrap")):
        return NUMBERED.sub(r"\\\1{\2*}", tex)
    rows = [row.strip() for row in tex.split("\n\n") if row.strip()]
    rows = [rf"\begin{{split}}{row}\end{{split}}" if r"\\" in ENVIRONMENT.sub("", row) else row for row in rows]
    return rows[0] if len(rows) == 1 else r"\begin{aligned}" + r"\\".join(rows) + r"\end{aligned}"


def _markup(translator, node, tex, display):
    try:
        return mathml(tex, display, json.dumps(translator.config.static_math_macros))
    except BadFormula as error:
        sentence = "a formula is wrong: %s. The formula: %s"
        logger.warning(sentence, error, " ".join(tex.split()), location=node, type="static_math")
        return f"<code>{html.escape(tex)}</code>"


def visit_inline(translator, node):
    translator.body.append(translator.starttag(node, "span", "", CLASS="math notranslate nohighlight"))
    translator.body.append(_markup(translator, node, node.astext(), False) + "</span>")
    raise nodes.SkipNode


def visit_block(translator, node):
    # furo wraps the formula and gives the wrapper the same id, which only one element may have.
    ids = [name for name in node["ids"] if name not in node.parent.get("ids", ())]
    anchor = f' id="{ids[0]}"' if ids else ""
    translator.body.append(f'<div class="math notranslate nohighlight"{anchor}>')
    translator.body.append(_markup(translator, node, _display_tex(node), True))
    if node.get("number"):
        translator.body.append(f'<span class="eqno">({get_node_equation_number(translator, node)})')
        translator.add_permalink_ref(node, "Link to this equation")
        translator.body.append("</span>")
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def add_style(app, pagename, templatename, context, doctree):
    """A formula can also stand in a title, and so in the navigation of every page: look at all that is shown."""
    shown = ("title", "body", "toc", "furo_navigation_tree", "prev", "next")
    if not any("<math" in str(context.get(part)) for part in shown):
        return
    app.builder.add_css_file("math.css")
    font = context["pathto"](FONT, resource=True)
    preload = f'<link rel="preload" href="{font}" as="font" type="font/woff2" crossorigin>'
    context["metatags"] = context.get("metatags", "") + preload


def setup(app) -> ExtensionMetadata:
    app.add_config_value("static_math_macros", {}, "html", types=frozenset({dict}))
    app.add_html_math_renderer("temml", (visit_inline, None), (visit_block, None))
    app.connect("html-page-context", add_style, priority=900)  # after furo has made its navigation
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
