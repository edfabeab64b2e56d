"""The pinned numbers guard the library: each of these one-line mistakes breaks a page's doctest or a published number.

A mistake is put into a copy of the package, and the pages of docs/ and test_published_numbers.py are run on it.
"""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# The quickest first: most mistakes go no further. docs/_ext holds no pages, and imports half of Sphinx.
RUN = ["tests/test_published_numbers.py", "docs", "--ignore=docs/_ext", "-x", "-q", "--tb=line", "-p", "no:hypothesispytest"]


@dataclass(frozen=True)
class Mutation:
    """A mistake: in this file of the package, this text becomes that one."""

    file: str
    old: str
    new: str


MUTATIONS = {
    "a scale that is off by a thousandth": Mutation(
        "functional.py", "return 1 / math.sqrt(query.shape[-1])", "return (1 + 1e-3) / math.sqrt(query.shape[-1])"
    ),
    "a scale by the width and not by its root": Mutation(
        "functional.py", "return 1 / math.sqrt(query.shape[-1])", "return 1 / query.shape[-1]"
    ),
    "a scale where there should be none": Mutation(
        "functional.py", "(x, x, x, scale=1.0)", "(x, x, x)"
    ),
    "softmax over the queries": Mutation(
        "functional.py", "return scaled.softmax(dim=-1)\n", "return scaled.softmax(dim=-2)\n"
    ),
    "softmax over the queries under the causal mask": Mutation(
        "functional.py", "-math.inf).softmax(dim=-1).to(query.dtype)", "-math.inf).softmax(dim=-2).to(query.dtype)"
    ),
    "keys not transposed": Mutation("functional.py", "return query @ key.mT", "return query @ key.reshape(key.mT.shape)"),
    "an output that is off by a thousandth": Mutation(
        "functional.py", "return weights @ value, weights", "return weights @ value * (1 + 1e-3), weights"
    ),
    "a mask with the opposite meaning": Mutation(
        "functional.py", "scaled.masked_fill_(~allowed, -math.inf)", "scaled.masked_fill_(allowed, -math.inf)"
    ),
    "a small number in place of -inf": Mutation(
        "functional.py", "scaled.masked_fill_(~allowed, -math.inf)", "scaled.masked_fill_(~allowed, -1e-9)"
    ),
    "rows that see nothing not cleared": Mutation(
        "functional.py", ".softmax(dim=-1).masked_fill(empty, 0.0)", ".softmax(dim=-1)"
    ),
    "a causal mask that hides the token itself": Mutation("masks.py", ".tril(offset)", ".tril(offset - 1)"),
    "a causal mask that shows one token of the future": Mutation("masks.py", ".tril(offset)", ".tril(offset + 1)"),
    "padding that lets one token too many through": Mutation("masks.py", "< lengths[:, None]", "<= lengths[:, None]"),
    "heads split by view alone": Mutation(
        "modules/multi_head.py",
        "x.reshape(*x.shape[:-1], self.num_heads, x.shape[-1] // self.num_heads).transpose(-3, -2)",
        "x.reshape(*x.shape[:-2], self.num_heads, x.shape[-2], x.shape[-1] // self.num_heads)",
    ),
    "heads merged without transpose": Mutation(
        "modules/multi_head.py",
        "self.out_proj(heads.transpose(-3, -2).flatten(-2))",
        "self.out_proj(heads.reshape(*heads.shape[:-3], heads.shape[-2], -1))",
    ),
    "a bias that is off by a thousandth": Mutation(
        "modules/multi_head.py",
        "self.out_proj(heads.transpose(-3, -2).flatten(-2))",
        "self.out_proj(heads.transpose(-3, -2).flatten(-2)) + 1e-3",
    ),
    "no last layer": Mutation(
        "modules/multi_head.py", "self.out_proj(heads.transpose(-3, -2).flatten(-2))", "heads.transpose(-3, -2).flatten(-2)"
    ),
    "a scale by the root of the model's width": Mutation(
        "modules/multi_head.py",
        "no_empty_rows=mask is None)  # (..., h, n, n)",
        "no_empty_rows=mask is None, scale=self.out_proj.in_features**-0.5)",
    ),
    "weights returned after dropout": Mutation(
        "modules/multi_head.py",
        "output = self.merge(self.dropout(weights) @ value)",
        "output = self.merge((weights := self.dropout(weights)) @ value)",
    ),
    "keys used as values and values as keys": Mutation(
        "modules/multi_head.py",
        "return self.split(self.W_query(x)), self.split(self.W_key(x)), self.split(self.W_value(x))",
        "return self.split(self.W_query(x)), self.split(self.W_value(x)), self.split(self.W_key(x))",
    ),
    "matrices drawn in another order": Mutation(
        "modules/self_attention.py",
        "        self.W_query = nn.Parameter(torch.rand(d_in, d_out))\n        self.W_key = nn.Parameter(torch.rand(d_in, d_out))\n",
        "        self.W_key = nn.Parameter(torch.rand(d_in, d_out))\n        self.W_query = nn.Parameter(torch.rand(d_in, d_out))\n",
    ),
    "the last layer drawn first": Mutation(
        "modules/multi_head.py",
        "        self.num_heads, self.causal, self.fused = num_heads, causal, fused\n",
        "        self.num_heads, self.causal, self.fused = num_heads, causal, fused\n        nn.Linear(d_out, d_out)\n",
    ),
    "dropout in evaluation, fused": Mutation(
        "modules/multi_head.py", "dropout = self.dropout.p if self.training else 0.0", "dropout = self.dropout.p"
    ),
    "the future seen, fused": Mutation(
        "modules/multi_head.py", "dropout_p=dropout, is_causal=is_causal", "dropout_p=dropout, is_causal=False"
    ),
    "packed in another order": Mutation(
        "torch_layout.py", 'torch.cat([state[f"{name}.weight"] for name in PACKED])',
        'torch.cat([state[f"{name}.weight"] for name in PACKED[::-1]])',
    ),
    "unpacked in another order": Mutation(
        "torch_layout.py", "zip(PACKED, packed.detach().chunk(3), strict=True)",
        "zip(PACKED[::-1], packed.detach().chunk(3), strict=True)",
    ),
    "a trace that shows another scale": Mutation("trace.py", "scaled = scores * scale", "scaled = scores * (scale * 1.001)"),
    "an embedding that is off by a thousandth": Mutation("examples.py", "[0.05, 0.80, 0.55]", "[0.051, 0.80, 0.55]"),
}  # fmt: skip


def copy_of_the_package(folder: Path, mutation: Mutation | None = None) -> Path:
    """The package in a folder of its own, with one mistake or none."""
    shutil.copytree(ROOT / "attention_book", folder / "attention_book", ignore=shutil.ignore_patterns("__pycache__"))
    if mutation is not None:
        file = folder / "attention_book" / mutation.file
        text = file.read_text()
        found = text.count(mutation.old)
        assert found == 1, f"{mutation.file} holds {found} times, and not once: {mutation.old!r}. Bring this mutation up to date."
        file.write_text(text.replace(mutation.old, mutation.new))
    return folder


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory):
    """What pytest says to the unchanged package and to each mutation that could be made."""
    folder = tmp_path_factory.mktemp("mutations")
    copies = {"unchanged": copy_of_the_package(folder / "unchanged")}
    for number, (name, mutation) in enumerate(MUTATIONS.items()):
        if (ROOT / "attention_book" / mutation.file).read_text().count(mutation.old) == 1:
            copies[name] = copy_of_the_package(folder / str(number), mutation)
    ran = subprocess.run(
        [sys.executable, "-m", "tests.forked_pytest", folder, *copies.values(), "--", *RUN],
        cwd=ROOT, env=os.environ | {"OMP_NUM_THREADS": "1"}, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr[-4000:]
    found = json.loads(ran.stdout)
    return {name: found[str(copy)] for name, copy in copies.items()}


def test_the_unchanged_package_passes(verdicts):
    assert verdicts["unchanged"]["code"] == 0, verdicts["unchanged"]["tail"]


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_mistake_in_the_library_breaks_a_pinned_number(name, verdicts, tmp_path):
    copy_of_the_package(tmp_path, MUTATIONS[name])  # fails with a sentence if the line has moved on
    verdict = verdicts[name]
    assert verdict["code"] == 1, f"no pinned number noticed: {name}\n{verdict['tail']}"
    assert verdict["failure"].startswith("FAILED"), verdict["tail"]
