"""The lab against torch, number for number: ``python -m tests.lab.verify``, or ``make verify``.

What is drawn must agree bit for bit, what is computed within 5e-6. On a processor without AVX2 torch itself draws other last
bits: there a drawn number may be off by 3e-6, and the steps are compared from the lab's drawn numbers on.
"""

import math
import platform
import random
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from tests.browser.chromium import open_chromium
from tests.lab.by_torch import ATTENTIONS, STEPS, drawn, draws_with_avx2, reference, tolerances
from tests.lab.rig import Engine, Firefox, engine_in, installed_firefox

COMPUTED = 5e-6
DRAWN_WITHOUT_AVX2 = 3e-6
HOSTILE_SEEDS = (0, 1, -1, 2**31, 2**32 - 1, 2**32, 2**32 + 42, 2**63 - 1, 2**63, 2**64 - 1, -(2**63), -(2**31), 67280421310721)
WIDTHS = (1, 2, 3, 4, 5, 6, 8, 12, 16, 17, 24, 32, 48, 64, 96, 128)
WORDS = "The cat sat on the mat because it was tired".split()


@dataclass
class Count:
    """How many numbers agree, and the first that does not."""

    bits: int = 0
    near: int = 0
    apart: int = 0
    first: str = ""

    def compare(self, what: str, lab: Tensor, by_torch: Tensor, within: float = 0.0) -> None:
        """Counts two tensors; ``within`` 0 asks for the same bits."""
        if lab.shape != by_torch.shape:
            agree = torch.zeros(max(lab.numel(), by_torch.numel()), dtype=torch.bool)
            said = f"shape {tuple(lab.shape)} in the lab, {tuple(by_torch.shape)} in torch"
        else:
            same = lab.view(torch.int32) == by_torch.view(torch.int32) if lab.dtype == torch.float32 else lab == by_torch
            agree = same if within == 0 else same | ((lab.double() - by_torch.double()).abs() <= within)
            where = [] if agree.all() else (~agree).nonzero()[0].tolist()
            said = f"{lab[tuple(where)].item()!r} in the lab, {by_torch[tuple(where)].item()!r} in torch, at {where}" if where or not agree.all() else ""
        if not agree.all() and not self.first:
            self.first = f"{what}: {said}"
        agreeing = int(agree.sum())
        self.apart += agree.numel() - agreeing
        if within:
            self.near += agreeing
        else:
            self.bits += agreeing

    @property
    def total(self) -> int:
        return self.bits + self.near + self.apart

    def __str__(self) -> str:
        sentence = f"{self.bits + self.near:,} of {self.total:,} numbers agree: {self.bits:,} bit for bit, {self.near:,} within rounding."
        return f"{sentence}\nThe first that does not: {self.first}" if self.first else sentence


def tensor_of(plain: dict[str, Any]) -> Tensor:
    """A tensor out of the bits that the engine told."""
    if "int" in plain:
        return torch.tensor(plain["int"])
    return torch.frombuffer(bytearray.fromhex(plain["hex"]), dtype=torch.float32).reshape(plain["shape"])


def many_draws(count: int, seed: int) -> Iterator[tuple[int, list[list[Any]]]]:
    """Random sequences of draws, each after a seed of its own."""
    dice = random.Random(seed)
    for turn in range(count):
        kinds = {
            "rand": lambda: [dice.randint(1, 80), dice.randint(1, 5)],
            "randn": lambda: [dice.choice([1, 2, 3, 7, 15, 16, 17, 31, 32, 33, 640, 1000])],
            "linear": lambda: [dice.randint(1, 80), dice.randint(1, 80), dice.random() < 0.5],
            # Between 1 and 1 + 2^-22 lies one float32: many a draw would round to the end, which is no part of the range.
            "uniform": lambda: [dice.randint(1, 80), *dice.choice([(-dice.random(), dice.random()), (1.0, 1 + 2.0**-22)])],
            "normal": lambda: [dice.randint(1, 80), dice.uniform(-2, 2), dice.uniform(0.01, 3)],
            "embedding": lambda: [dice.randint(1, 12), dice.randint(1, 12)],
            "dropout": lambda: [[dice.uniform(-1, 1) for _ in range(dice.randint(1, 80))], dice.choice([0.0, 0.1, 0.25, 0.5, 0.9, 1.0])],
            "mha": lambda: [4 * dice.randint(1, 8), 4],
            "bernoulli_": lambda: [dice.randint(1, 80), dice.random()],
            "randint": lambda: [-3, dice.choice([5, 1000, 2**28 - 4, 2**28, 2**40]), dice.randint(1, 80)],
            "randperm": lambda: [dice.randint(1, 80)],
        }
        names = [dice.choice(list(kinds)) for _ in range(dice.randint(1, 8))]
        chosen = HOSTILE_SEEDS[turn] if turn < len(HOSTILE_SEEDS) else dice.randint(-(2**63), 2**64 - 1)
        yield chosen, [[name, *kinds[name]()] for name in names]


def many_settings(count: int, seed: int) -> Iterator[dict[str, Any]]:
    """Random settings of the lab, all six attentions in turn."""
    dice = random.Random(seed)
    for turn in range(count):
        attention = ATTENTIONS[turn % len(ATTENTIONS)]
        d_model, d_out = dice.choice(WIDTHS), dice.randint(1, 8)
        example = dice.choice(["journey", "text"])
        width = d_out if example == "journey" else d_model
        divisors = [heads for heads in range(1, 9) if width % heads == 0]
        yield {
            "example": example,
            "tokens": [dice.choice(WORDS) for _ in range(dice.choice([1, 2, 3, 10, dice.randint(4, 40)]))],
            "attention": attention,
            "seed": str(dice.choice([dice.randint(0, 999), *HOSTILE_SEEDS])),
            "d_model": d_model,
            "d_out": d_out,
            "heads": dice.choice(divisors) if attention == "MultiHeadAttention" else dice.randint(1, 4) if attention == "MultiHeadAttentionWrapper" else 1,
            "causal": dice.random() < 0.5,
            "scale": dice.random() < 0.5,
            "temperature": dice.choice([1, 1, math.exp(dice.uniform(math.log(0.1), math.log(10)))]),
        }


def compare_draws(engine: Engine | Firefox, cases: Iterable[tuple[int, list[list[Any]]]], count: Count) -> None:
    """What the lab and torch draw in the same order after the same seed."""
    cases = list(cases)
    within = 0.0 if draws_with_avx2() else DRAWN_WITHOUT_AVX2
    told = engine.all([{"job": "draws", "seed": str(seed), "ops": ops} for seed, ops in cases])
    for (seed, ops), answers in zip(cases, told, strict=True):
        for op, answer, own in zip(ops, answers, drawn(seed, ops), strict=True):
            parts = own.items() if isinstance(own, dict) else [("", own)]
            for name, by_torch in parts:
                # Three times as wide for a normal number that was enlarged three times.
                wider = max(1.0, *(abs(number) for number in op[1:] if isinstance(number, float))) if op[0] == "normal" else 1.0
                plain = answer[name] if name else answer
                size = ", ".join(str(number) for number in op[1:] if not isinstance(number, list))
                count.compare(f"seed {seed}, {op[0]}({size}) {name}".strip(), tensor_of(plain), by_torch.contiguous(), within * wider)


def compare_steps(engine: Engine | Firefox, cases: Iterable[dict[str, Any]], count: Count) -> None:
    """Everything that the lab draws and computes for these settings."""
    cases = list(cases)
    for settings, told in zip(cases, engine.all([{"job": "trace", "settings": each} for each in cases]), strict=True):
        label = ", ".join(f"{name} {value if name != 'tokens' else len(value)}" for name, value in settings.items())
        if "complaint" in told:
            raise RuntimeError(f"the lab refuses {label}: {told['complaint']}")
        taken = {name: tensor_of(plain) for name, plain in {"x": told["x"], **told["parameters"]}.items()}
        own, steps = reference(settings, None if draws_with_avx2() else taken)
        if list(own) != list(taken):
            raise RuntimeError(f"the lab draws {list(taken)} where torch draws {list(own)}: {label}")
        if told["scale"] != steps.scale or tuple(told["tokens"]) != steps.tokens:
            raise RuntimeError(f"the lab has scale {told['scale']} and tokens {told['tokens']}, torch {steps.scale} and {steps.tokens}: {label}")
        for name, by_torch in own.items():
            count.compare(f"{label}: {name}", taken[name], by_torch, 0.0 if draws_with_avx2() else DRAWN_WITHOUT_AVX2)
        within = tolerances(steps, COMPUTED)
        for name in STEPS:
            count.compare(f"{label}: {name}", tensor_of(told[name]), getattr(steps, name), within[name])


def verify(engine: Engine | Firefox) -> Count:
    """Everything that `make verify` compares, in one browser."""
    count = Count()
    compare_draws(engine, many_draws(150, seed=1), count)
    compare_steps(engine, many_settings(240, seed=1), count)
    return count


def main() -> int:
    """Compares in every browser that is here, says how many numbers agree, and returns the exit status."""
    with open_chromium() as browser, engine_in(browser) as engine:
        counts = {"Chromium": verify(engine)}
    program = installed_firefox()
    if program:
        counts["Firefox"] = verify(Firefox(program))
    here = f"torch {torch.__version__} ({platform.machine()}, {torch.backends.cpu.get_cpu_capability()})"
    for browser_name, count in counts.items():
        print(f"The lab in {browser_name} against {here}: {count}")
    return 1 if any(count.apart for count in counts.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
