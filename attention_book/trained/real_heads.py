"""What the heads of the published encoder do, measured: where they look in ordinary sentences, and the test that a heatmap is not."""

import importlib
import math
from itertools import islice
from typing import Any

import torch
from torch import Tensor

from attention_book.trained.encoder import Encoder, folder, load, read
from attention_book.trained.grammar import Puzzle, puzzles

PAIRS = 300  # puzzles of each kind
TIRED, SOFT = (f"The cat sat on the mat because it was {word}".split() for word in ("tired", "soft"))
SENTENCES = tuple(
    sentence.split()
    for sentence in (
        "The cat sat on the mat because it was tired .",
        "Your journey starts with one step .",
        "She opened the window , and the cold morning air filled the room .",
        "Nobody knew why the old bridge had been closed for so many years .",
        "If the train is late again , we will miss the first act .",
        "My brother bought three apples , two pears and a loaf of bread .",
        "The report that the committee wrote last spring was never read .",
        "Rain fell all night .",
        "What would you do if you had a whole day to yourself ?",
        "A small boat drifted slowly down the river towards the sea .",
        "The teacher asked the children to draw a house with a red door .",
        "He did not say a word until the music had stopped .",
        "Most birds fly south in autumn and return when it is warm .",
        "The key that she had lost was under the table the whole time .",
        "Water boils at a lower temperature in the mountains .",
        "They painted the fence white because the neighbours did so too .",
        "Can you tell me where the nearest post office is ?",
        "The film was long , but I enjoyed every minute of it .",
        "Before the sun rose , the baker had already finished his work .",
        "Our garden is full of roses , and the bees love them .",
    )
)


def alternating(seed: int = 0) -> list[Puzzle]:
    """300 sentences about an animal and 300 about a thing in turn, each with one of both in it and nothing beside."""
    drawn = [each for each in islice(puzzles(seed, held_out=frozenset(), test=False, mixed=False), 8 * PAIRS) if each.aside is None]
    kinds = ([each for each in drawn if each.kind == kind][:PAIRS] for kind in ("animal", "object"))
    return [each for pair in zip(*kinds, strict=True) for each in pair]


def kinds_of_heads(encoder: Encoder, vocabulary: dict[str, int]) -> dict[str, Tensor]:
    """Mean weight on the previous token, the next one, the token itself, ``[CLS]`` and ``[SEP]``, each ``(layer, h)``.

    Rows of ``[CLS]`` and ``[SEP]`` do not count, for they are no words.
    """
    found: dict[str, list[Tensor]] = {name: [] for name in ("previous", "next", "itself", "CLS", "SEP")}
    for sentence in SENTENCES:
        weights = read(encoder, vocabulary, sentence)[1]  # (layer, h, n, n)
        found["previous"].append(weights.diagonal(-1, 2, 3)[..., :-1])
        found["next"].append(weights.diagonal(1, 2, 3)[..., 1:])
        found["itself"].append(weights.diagonal(0, 2, 3)[..., 1:-1])
        found["CLS"].append(weights[:, :, 1:-1, 0])
        found["SEP"].append(weights[:, :, 1:-1, -1])
    return {name: torch.cat(rows, dim=-1).mean(dim=-1) for name, rows in found.items()}


def from_it(encoder: Encoder, vocabulary: dict[str, int], words: list[str] | tuple[str, ...]) -> Tensor:
    """Weight from "it" on each word, its pieces together, ``(layer, h, word)``."""
    _, weights, _, owners = read(encoder, vocabulary, words)
    row = weights[:, :, owners.index(list(words).index("it"))]  # (layer, h, n)
    return torch.stack(
        [row[:, :, [place for place, owner in enumerate(owners) if owner == word]].sum(dim=-1) for word in range(len(words))], dim=-1
    )


def who_is_it(encoder: Encoder, vocabulary: dict[str, int]) -> dict[str, Tensor]:
    """For each head ``(layer, h)`` on 600 sentences whose answer alternates: mean weight on the right noun and on the wrong
    one, share of sentences in which the right one gets more, and in which the animal gets more."""
    right, wrong, animal = [], [], []
    for each in alternating():
        on = from_it(encoder, vocabulary, each.tokens)
        right.append(on[..., each.right])
        wrong.append(on[..., each.wrong])
        animal.append((right[-1] > wrong[-1]) == (each.kind == "animal"))
    rights, wrongs = torch.stack(right), torch.stack(wrong)
    return {
        "right": rights.mean(dim=0),
        "wrong": wrongs.mean(dim=0),
        "picks right": (rights > wrongs).double().mean(dim=0),
        "picks animal": torch.stack(animal).double().mean(dim=0),
    }


def against_transformers() -> float:
    """The largest difference to the package ``transformers``, over hidden states and weights of all sentences.

    Rounded up to a power of ten: the rest of it depends on the processor.

    Raises:
        ModuleNotFoundError: one of the two packages is not installed.
    """
    transformers = importlib.import_module("transformers")
    encoder, vocabulary = load()
    theirs = transformers.BertModel.from_pretrained(str(folder()), attn_implementation="eager", add_pooling_layer=False)
    largest = 0.0
    for sentence in SENTENCES:
        hidden, weights, tokens, _ = read(encoder, vocabulary, sentence)
        ids = torch.tensor([[vocabulary[token] for token in tokens]])
        with torch.no_grad():
            found = theirs.eval()(ids, output_hidden_states=True, output_attentions=True)
        for ours, other in ((hidden, torch.cat(found.hidden_states)), (weights, torch.cat(found.attentions))):
            largest = max(largest, (ours - other).abs().max().item())
    return 10.0 ** math.ceil(math.log10(largest))


def measure() -> dict[str, Any]:
    """Everything that the page shows, in plain lists, rounded to four decimals."""
    encoder, vocabulary = load()
    _, tired, tokens, owners = read(encoder, vocabulary, TIRED)
    _, soft, _, _ = read(encoder, vocabulary, SOFT)
    untrained = Encoder(seed=0)
    return {
        "parameters": sum(parameter.numel() for parameter in encoder.parameters()),
        "kinds": _plain(kinds_of_heads(encoder, vocabulary)),
        "untrained kinds": _plain(kinds_of_heads(untrained, vocabulary)),
        "tokens": tokens,
        "it": owners.index(TIRED.index("it")),
        "tired": _plain(tired[:, :, owners.index(TIRED.index("it"))]),
        "soft": _plain(soft[:, :, owners.index(TIRED.index("it"))]),
        "maps": {name: _plain(tired[layer, head]) for name, (layer, head) in shown(encoder, vocabulary).items()},
        "who is it": _plain(who_is_it(encoder, vocabulary)),
    }


def shown(encoder: Encoder, vocabulary: dict[str, int]) -> dict[str, tuple[int, int]]:
    """The heads whose whole maps are kept: the best of three kinds, and the one that looks most from "it" at "cat"."""
    kinds = kinds_of_heads(encoder, vocabulary)
    best = {name: kinds[name] for name in ("previous", "next", "CLS")}
    best["cat"] = from_it(encoder, vocabulary, TIRED)[..., TIRED.index("cat")]
    return {name: divmod(int(scores.argmax()), scores.shape[1]) for name, scores in best.items()}


def _plain(values: Any) -> Any:
    if isinstance(values, Tensor):
        return _plain(values.tolist())
    if isinstance(values, dict):
        return {name: _plain(value) for name, value in values.items()}
    return [_plain(value) for value in values] if isinstance(values, list) else round(values, 4)
