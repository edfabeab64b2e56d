"""The "who is it" model as one JSON file, for a page that runs it in the reader's browser.

The file holds the words, the patterns that a reader may fill, the sizes, and each weight as base64 of little-endian float16, row by
row. What a browser has to do, in this order, is what :func:`reference_forward` does, with plain arithmetic:

1. ``x[i] = embedding[ids[i]] + positions[i]`` for each word ``i``; ``x`` is ``(n, d_model)``.
2. For each layer ``l``, from 0:

   a. ``r[i] = norm(x[i], blocks.l.norm)``, where ``norm(v, w) = (v - mean(v)) / sqrt(var(v) + epsilon) * w.weight + w.bias``, and
      ``var`` divides by ``d_model``.
   b. ``query[i] = W_query @ r[i]``, and key and value in the same way, each matrix ``(d_model, d_model)``, rows first; no biases.
   c. Head ``h`` takes numbers ``h * d_k`` to ``(h + 1) * d_k - 1`` of each, where ``d_k = d_model / num_heads``.
   d. ``scores[h][i][j] = dot(query[h][i], key[h][j]) / sqrt(d_k)``; every word sees every word.
   e. ``weights[h][i] = softmax(scores[h][i])``: subtract the row's largest score first.
   f. ``context[h][i] = sum over j of weights[h][i][j] * value[h][j]``; all zeros if the reader has switched head ``h`` off.
   g. ``x[i] += out_proj @ (context[0][i], context[1][i], ... joined)``; no bias.

3. ``r = norm(x[it], norm)`` for the place of "it" alone.
4. ``scores = unembedding @ r``, one for each word; the probabilities are their softmax.

The model before training is not in the file, for a browser that has torch's generator can draw it. After
``manual_seed(config.seed)`` come, in this order: ``randn(words, d_model)`` and ``randn(context_length, d_model)``, which are
thrown away; both again, times ``1 / sqrt(d_model)``, which are ``embedding`` and ``positions``; for each layer ``W_query``, ``W_key``,
``W_value`` and ``out_proj``, each as ``nn.Linear(d_model, d_model)`` draws its weight; then ``unembedding`` as ``nn.Linear(d_model, words)`` does.
Each norm's weights are 1 and its biases 0.
"""

import base64
import json
import math
from collections.abc import Collection, Sequence
from typing import Any

import torch
from torch import Tensor

from attention_book.trained import words
from attention_book.trained.ablate import Head, switch_each_off, without
from attention_book.trained.grammar import VOCABULARY
from attention_book.trained.transformer import Transformer
from attention_book.trained.who_is_it import accuracy, answer, held_out_set

LARGEST = 150_000  # bytes


def to_float16(model: Transformer) -> Transformer:
    """A copy with each weight rounded to what float16 can hold; the numbers on a page are those of this model."""
    rounded = without(model, [])
    rounded.load_state_dict({name: value.half().float() for name, value in model.state_dict().items()})
    return rounded


def export(model: Transformer, *, seed: int) -> str:
    """The model as JSON; ``seed`` is the one that its untrained weights came from.

    Raises:
        ValueError: the file is larger than a page should load.
    """
    content = {
        "words": VOCABULARY,
        "families": [
            {"patterns": family.patterns, "answers": {kind: vars(answer) for kind, answer in family.answers.items()}}
            for family in (words.NATURE, words.CHASE, words.SIZE)
        ],
        "slots": words.SLOTS,
        "degrees": words.DEGREES,
        "config": {**model.sizes, "epsilon": model.norm.eps, "seed": seed},
        "weights": {name: pack(value) for name, value in model.state_dict().items()},
    }
    text = json.dumps(content, separators=(",", ":"))
    if len(text) > LARGEST:
        raise ValueError(f"the file has {len(text)} bytes but a page may load {LARGEST}; train a smaller model")
    return text


def pack(value: Tensor) -> dict[str, Any]:
    """A tensor as its shape and its numbers: float16, little-endian, row by row, in base64."""
    data = value.detach().half().numpy(force=True).astype("<f2").tobytes()
    return {"shape": list(value.shape), "data": base64.b64encode(data).decode("ascii")}


def unpack(packed: dict[str, Any]) -> Tensor:
    """The tensor back, as float32."""
    data = bytearray(base64.b64decode(packed["data"]))
    return torch.frombuffer(data, dtype=torch.float16).float().view(packed["shape"])


def reference_forward(
    content: dict[str, Any], tokens: Sequence[str], off: Collection[Head] = ()
) -> tuple[list[float], list[list[list[list[float]]]]]:
    """The steps above, one by one, on the file's content; ``off`` are heads that are switched off.

    Returns:
        The probability of every word, and the weights by layer, head, query and key.
    """
    tensors = {name: unpack(packed).double() for name, packed in content["weights"].items()}
    config, it = content["config"], list(tokens).index("it")
    heads, width, epsilon = config["num_heads"], config["d_model"] // config["num_heads"], config["epsilon"]

    def norm(v: Tensor, name: str) -> Tensor:
        centred = v - v.mean()
        return centred / math.sqrt(centred.square().mean().item() + epsilon) * tensors[f"{name}.weight"] + tensors[f"{name}.bias"]

    numbers = [content["words"].index(word) for word in tokens]
    x = [tensors["embedding.weight"][word] + tensors["positions.weight"][i] for i, word in enumerate(numbers)]
    all_weights = []
    for layer in range(config["num_layers"]):
        here = f"blocks.{layer}.attention"
        r = [norm(v, f"blocks.{layer}.norm") for v in x]
        query, key, value = ([tensors[f"{here}.{name}.weight"] @ v for v in r] for name in ("W_query", "W_key", "W_value"))
        context = [torch.zeros_like(v) for v in x]
        of_layer = []
        for head in range(heads):
            part = slice(head * width, (head + 1) * width)
            rows = []
            for i in range(len(x)):
                scores = [(query[i][part] @ key[j][part]).item() / math.sqrt(width) for j in range(len(x))]
                raised = [math.exp(score - max(scores)) for score in scores]
                rows.append([each / sum(raised) for each in raised])
                if (layer, head) not in off:
                    context[i][part] = sum(weight * value[j][part] for j, weight in enumerate(rows[i]))
            of_layer.append(rows)
        all_weights.append(of_layer)
        x = [v + tensors[f"{here}.out_proj.weight"] @ c for v, c in zip(x, context, strict=True)]
    every_word = tensors["unembedding.weight"] @ norm(x[it], "norm")
    return every_word.softmax(dim=0).tolist(), all_weights


def reference_vectors(model: Transformer, *, seed: int, count: int = 200) -> list[dict[str, Any]]:
    """Held-out sentences with what torch makes of the exported weights: every word's probability, every head's weights.

    Each entry also has the most needed head of the last layer switched off, as ``"off"``, and the probabilities then.
    """
    exact = to_float16(model)
    test = held_out_set(seed, count=count)
    off = switch_each_off(exact, lambda changed: accuracy(changed, test)).most_needed(model.sizes["num_layers"] - 1)
    return [
        {
            "tokens": each.tokens,
            "answer": each.pair[0],
            "probabilities": answer(exact, each.tokens)[1].tolist(),
            "weights": answer(exact, each.tokens)[2].tolist(),
            "off": off,
            "probabilities without": answer(without(exact, [off]), each.tokens)[1].tolist(),
        }
        for each in test.sentences
    ]
