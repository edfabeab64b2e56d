"""Every number that the book pins for others, with the lines of Python that give it: to JSON, and to be computed again elsewhere.

A pin is a program: its lines are run as they are published, and what they leave is the pin.
"""

import platform
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

import attention_book
from attention_book.trace import Trace

STEPS = ("query", "key", "value", "scores", "scaled", "masked", "weights", "output")
DRAW_SEEDS = (0, 1, 42, 123, 789, 2**32 - 1)
# One after the other, after each seed: the line, and its name and arguments in the lab.
DRAWS: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("torch.rand(10)", ("rand", 10)),
    ("torch.randn(3)", ("randn", 3)),
    ("torch.randn(20)", ("randn", 20)),
    ("torch.empty(20).uniform_(-0.1, 0.1)", ("uniform", 20, -0.1, 0.1)),
    ("torch.empty(40).normal_(1.0, 0.1)", ("normal", 40, 1.0, 0.1)),
    ("nn.Linear(3, 2)", ("linear", 3, 2, True)),
    ("nn.Linear(64, 8, bias=False)", ("linear", 64, 8, False)),
    ("nn.Embedding(6, 3)", ("embedding", 6, 3)),
    ("nn.functional.dropout(torch.ones(36), 0.5)", ("dropout", 36, 0.5)),
    ("torch.randn(1)", ("randn", 1)),
)
SIX, CAT = ("x = JOURNEY.embeddings",), ("torch.manual_seed(42)", "x = torch.randn(10, 64)")
OF_SIX, OF_CAT = "steps = trace(attention, x, tokens=JOURNEY.tokens)", "steps = trace(attention, x, tokens=CAT.tokens)"


@dataclass(frozen=True)
class Pin:
    """One attention whose every number is pinned.

    Attributes:
        name: what it is called on the page.
        page: where the book speaks of it.
        lines: the program; it leaves ``x``, ``attention`` and ``steps``.
        settings: the same for the lab, as its ``Settings``.
    """

    name: str
    page: str
    lines: tuple[str, ...]
    settings: Mapping[str, Any]


def _six(name: str, page: str, module: str, seed: int | None, **settings: Any) -> Pin:
    seeded = () if seed is None else (f"torch.manual_seed({seed})",)
    own = {"example": "journey", "tokens": [], "seed": str(seed or 0), "d_model": 64, "d_out": 2, "heads": 1, "causal": False, "scale": True, "temperature": 1}
    return Pin(name, page, (*SIX, *seeded, f"attention = {module}", OF_SIX), own | settings)


def _cat(name: str, page: str, module: str, **settings: Any) -> Pin:
    own = {"example": "text", "tokens": list(attention_book.CAT.tokens), "seed": "42", "d_model": 64, "d_out": 2, "heads": 1, "causal": False, "scale": True}
    return Pin(name, page, (*CAT, f"attention = {module}", OF_CAT), own | {"temperature": 1} | settings)


def _heads(causal: bool) -> str:
    return f"MultiHeadAttention(64, 64, context_length=10, dropout=0.0, num_heads=4, causal={causal}, out_bias=False)"


CAUSAL = "CausalAttention(3, 2, context_length=6, dropout=0.0)"
TWO = "(3, 2, context_length=6, dropout=0.0, num_heads=2)"
PINS = (
    _six("Simple attention", "acts/act1", "simple_attention", None, attention="simple", scale=False),
    _six("Weight matrices", "acts/act2", "SelfAttention_v1(3, 2)", 123, attention="SelfAttention_v1"),
    _six("Linear layers", "acts/act2", "SelfAttention_v2(3, 2)", 789, attention="SelfAttention_v2"),
    _six("The same layers, causal", "acts/act3", CAUSAL, 789, attention="CausalAttention", causal=True),
    _six("Causal attention", "acts/act3", CAUSAL, 123, attention="CausalAttention", causal=True),
    _six("Two heads, stacked", "acts/act4", f"MultiHeadAttentionWrapper{TWO}", 123, attention="MultiHeadAttentionWrapper", heads=2, causal=True),
    _six("Two heads, split", "acts/act4", f"MultiHeadAttention{TWO}", 123, attention="MultiHeadAttention", heads=2, causal=True),
    _cat("The cat, one head", "gallery/project/project_3_scale_and_complete", "SelfAttention_v2(64, 64)", attention="SelfAttention_v2"),
    _cat("The cat, four heads", "gallery/project/project_4_multi_head", _heads(False), attention="MultiHeadAttention", heads=4),
    _cat("The cat, causal", "gallery/project/project_6_secret_mission", _heads(True), attention="MultiHeadAttention", heads=4, causal=True),
)


def ran_on() -> dict[str, str]:
    """What decides the last bits of a number: PyTorch's version, the machine's kind, and what its processor can do."""
    return {"torch": torch.__version__, "machine": platform.machine(), "capability": torch.backends.cpu.get_cpu_capability()}


def tolerances() -> dict[str, float]:
    """How far another computer's numbers may be off: those drawn, and those computed from them.

    A processor without AVX2 draws other last bits, and what is computed from them differs more.
    """
    return {"drawn": 0.0, "computed": 5e-6} if "AVX" in ran_on()["capability"] else {"drawn": 3e-6, "computed": 1e-4}


def pins() -> dict[str, Any]:
    """Runs every pin; returns plain lists, for JSON. The caller's random state stays as it was."""
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        draws = [{"seed": str(seed), "steps": _draw(seed)} for seed in DRAW_SEEDS]
        held: list[tuple[str, Tensor]] = []
        traces = [_trace(pin, held) for pin in PINS]
    return {"book": "Attention from Scratch", "ran_on": ran_on(), "within": tolerances(), "draws": draws, "traces": traces}


def numbers_in(pinned: Any) -> int:
    """How many numbers of tensors a part of the pins holds."""
    if isinstance(pinned, dict):
        return len(pinned["data"]) if "data" in pinned else sum(map(numbers_in, pinned.values()))
    return sum(map(numbers_in, pinned)) if isinstance(pinned, list) else 0


def _draw(seed: int) -> list[dict[str, Any]]:
    torch.manual_seed(seed)
    steps = []
    for line, op in DRAWS:
        drawn = eval(line, {"torch": torch, "nn": nn})
        named = {"drawn": drawn} if isinstance(drawn, Tensor) else dict(drawn.named_parameters())
        steps.append({"line": line, "op": list(op), "tensors": {name: plain(each) for name, each in named.items()}})
    return steps


def _trace(pin: Pin, held: list[tuple[str, Tensor]]) -> dict[str, Any]:
    """One pin; ``held`` are the tensors that pins before it drew, which are not written twice."""
    left: dict[str, Any] = {"torch": torch, **{name: getattr(attention_book, name) for name in attention_book.__all__}}
    exec("\n".join(pin.lines), left)
    steps: Trace = left["steps"]
    module = left["attention"]
    parameters = module.state_dict() if isinstance(module, nn.Module) else {}
    drawn = {"x": left["x"], **parameters}
    new = {name: each for name, each in drawn.items() if not any(name == known and torch.equal(each, same) for known, same in held)}
    held += new.items()
    return {
        "name": pin.name,
        "page": pin.page,
        "lines": list(pin.lines),
        "settings": dict(pin.settings),
        "tokens": list(steps.tokens or ()),
        "scale": steps.scale,
        "drawn": {name: plain(each) for name, each in new.items()},
        "steps": {name: plain(getattr(steps, name)) for name in STEPS},
    }


def plain(x: Tensor) -> dict[str, Any]:
    """A float32 tensor as its shape and the shortest decimals that give its bits back; ``-inf`` as a word."""
    return {"shape": list(x.shape), "data": [shortest(number) for number in x.flatten().tolist()]}


def shortest(number: float) -> float | str:
    """The shortest decimal that is this float32 and no other."""
    if abs(number) == float("inf"):
        return str(number)
    written: Sequence[float] = [float(f"{number:.{digits}g}") for digits in (6, 7, 8, 9)]
    return next(each for each in written if struct.pack("<f", each) == struct.pack("<f", number))
