"""The lab in the output cell of a notebook: one frame that holds all it needs, so that it works without a network.

The frame is sandboxed: whatever a token says, it stays text, and reaches nothing of the notebook.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

import torch

from attention_book.lab.bundle import bundle, style
from attention_book.lab.packed import packed
from attention_book.lab.states import DEFAULT
from attention_book.reading import Reading
from attention_book.trace import Trace

# As in state.js; a trace is written into the notebook, so it may hold less than what is drawn anew.
MOST_TOKENS, MOST_CHARACTERS, MOST_WIDTH, MOST_HEADS, MOST_WEIGHTS, MOST_PARAMETERS = 512, 20000, 1024, 64, 2**22, 2**23
MOST_GIVEN = 2**20
HEIGHT = 1080  # pixels; the frame scrolls by itself

PAGE = """\
<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<style>:root {{ color-scheme: light dark }} body {{ margin: 0 auto; padding: 0 .5rem; max-width: 56rem; font: 1rem/1.5 system-ui, sans-serif }}
{style}</style></head><body><div class="lab" data-kind="notebook" data-lab="{lock}">{given}</div>
<script>{script}</script></body></html>"""


@dataclass(frozen=True, eq=False, repr=False)
class Lab:
    """What ``.lab()`` returns: a notebook shows it as the lab.

    Attributes:
        title: what it shows, in a few words.
        settings: its first state, and what may be changed.
        given: numbers to show in place of drawn ones, or ``None``.
    """

    title: str
    settings: Mapping[str, Any]
    given: Mapping[str, Any] | None = None

    def __repr__(self) -> str:
        return f"the lab, {self.title}: a notebook shows it"

    def _repr_html_(self) -> str:
        # JSON in ASCII holds half a surrogate pair too; what could end the script that it stands in is written by code.
        held = json.dumps(self.given).replace("<", "\\u003c")
        given = "" if self.given is None else f'<script type="application/json" class="lab-given">{held}</script>'
        script = bundle().replace("</", "<\\/").replace("<!--", "<\\!--")
        page = PAGE.format(title=escape(self.title), style=style(), lock=escape(json.dumps(self.settings)), given=given, script=script)
        return (
            f'<iframe title="The lab: {escape(self.title)}" sandbox="allow-scripts allow-downloads" '
            f'style="width:100%;height:{HEIGHT}px;border:0" srcdoc="{escape(page)}"></iframe>'
        )


def lab_of_reading(reading: Reading) -> Lab:
    """The lab on a sentence, with the seed and sizes that it was read with; each number is drawn anew in the browser, to the bit."""
    n, heads, width = len(reading.tokens), reading.num_heads, reading.d_model
    text = " ".join(reading.tokens)
    for what, size, most in (
        ("d_model", width, MOST_WIDTH),
        ("num_heads", heads, MOST_HEADS),
        ("the number of weights", heads * n * n, MOST_WEIGHTS),
        ("the number of characters", len(text), MOST_CHARACTERS),
    ):
        if size > most:
            raise ValueError(f"{what} is {size}, but the lab shows at most {most}; read the sentence with less, or draw .heatmap()")
    kind = "MultiHeadAttention" if heads > 1 else "CausalAttention" if reading.causal else "SelfAttention_v2"
    state = DEFAULT | {
        "example": "text", "text": text, "attention": kind, "seed": str(reading.seed), "d_model": width, "heads": heads,
        "causal": reading.causal, "scale": True,
    }
    controls = ("text", "attention", "seed", "d_model", "heads", "causal", "scale", "temperature")
    attentions = ("simple", "SelfAttention_v1", "SelfAttention_v2", "CausalAttention", "MultiHeadAttentionWrapper", "MultiHeadAttention")
    return Lab(_count(n), _settings(state, attentions, ("scores", "scaled", "masked", "weights", "output"), controls, slide=True))


def lab_of_trace(trace: Trace) -> Lab:
    """The lab on traced numbers: shown as they are, and driven on from their query, key and value."""
    if trace.weights.dim() > 3 or trace.output.dim() > 2:
        raise ValueError(f"the trace holds a batch, output {tuple(trace.output.shape)}; the lab shows one sentence: trace x[0]")
    heads = trace.weights.shape[0] if trace.weights.dim() == 3 else 1
    n, width = trace.output.shape
    for what, size, most in (("tokens", n, MOST_TOKENS), ("heads", heads, MOST_HEADS), ("weights", heads * n * n, MOST_GIVEN)):
        if size > most:
            raise ValueError(f"the trace has {size} {what}, but the lab shows at most {most} of a trace; trace a shorter sentence")
    if n == 0:
        raise ValueError("the trace has no tokens; give at least 1")
    simple = heads == 1 and trace.query.equal(trace.key) and trace.query.equal(trace.value)
    per_head = -(-width // heads)
    # What the lab knows about sizes comes from its state; an output too wide for it is left out.
    fits = per_head <= MOST_WIDTH and 3 * heads * per_head**2 <= MOST_PARAMETERS
    views = ("scores", "scaled", "masked", "weights") + (("output",) if fits else ())
    masked = bool((trace.masked == -torch.inf).any())
    kind = "MultiHeadAttentionWrapper" if heads > 1 else "simple" if simple else "CausalAttention"
    state = DEFAULT | {
        "example": "text", "text": " ".join(map(str, range(n))), "attention": kind, "d_model": per_head if fits else 1, "heads": heads,
        "causal": masked, "scale": True,
    }
    controls = (*(["causal"] if masked else []), *(["scale"] if trace.scale != 1 else []), "temperature")
    tokens = [str(k) for k in range(n)] if trace.tokens is None else list(trace.tokens)
    given = packed(trace) | {"tokens": tokens, "scale": trace.scale}
    return Lab(f"a trace of {_count(n)}", _settings(state, (kind,), views, controls), given)


def _settings(state: Mapping[str, Any], attentions: tuple[str, ...], views: tuple[str, ...], controls: tuple[str, ...], slide: bool = False) -> dict[str, Any]:
    return {"state": state, "attentions": attentions, "views": views, "controls": controls, "slide": slide, "own": False, "page": ""}


def _count(n: int) -> str:
    return f"{n} token" if n == 1 else f"{n} tokens"
