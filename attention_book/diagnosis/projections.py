"""Finds the layers of somebody's module that make query, key and value, and the one that comes last, by name, else by order.

Where a module can be read in more than one way (a square matrix that may be used as it stands or transposed, a packed layer whose rows may be
ordered by head, an unknown number of heads) every reading is given, and the numbers decide.
"""

import copy
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attention_book.diagnosis.candidates import Refusal

Layer: TypeAlias = nn.Linear | nn.Parameter
Map: TypeAlias = Callable[[Tensor], Tensor]

_WORDS = {
    "query": ("query", "queries", "q"),
    "key": ("key", "keys", "k"),
    "value": ("value", "values", "v"),
    "packed": ("qkv", "in", "attn"),
    "out": ("out", "output", "o", "proj", "projection", "fc", "dense", "merge", "mix"),
}


@dataclass(frozen=True, eq=False)
class Projections:
    """One reading of a module: its three maps, its last one or none, the width it takes and the number of heads."""

    query: Map
    key: Map
    value: Map
    out: Map | None
    d_in: int
    num_heads: int


def prepare(module: nn.Module) -> nn.Module:
    """A copy in evaluation mode and float64, with well-spread weights, so that no mistake hides behind small numbers.

    Raises:
        Refusal: the module cannot be copied, or has no numbers.
    """
    # Maps kept from an earlier call carry a gradient and cannot be copied as they are.
    kept = [x for part in module.modules() for x in vars(part).values() if isinstance(x, Tensor) and not x.is_leaf]
    try:
        copied = copy.deepcopy(module, {id(x): x.detach().clone() for x in kept}).eval().double()
    except Exception as error:
        raise Refusal(f"The module cannot be copied: {type(error).__name__}: {error}", "copy") from error
    placed = [part for part in copied.modules() if isinstance(part, nn.Linear | nn.MultiheadAttention)]
    biases = {id(p) for part in placed for name, p in part.named_parameters(recurse=False) if "bias" in name}
    # A norm whose weights were 0 would give the same whatever goes in.
    norms = {id(p): 0.0 if re.search("bias|beta|shift", name) else 1.0 for part in norm_layers(copied) for name, p in part.named_parameters(recurse=False)}
    generator = torch.Generator().manual_seed(1)
    for parameter in copied.parameters():
        if parameter.device.type == "meta":
            raise Refusal("The module has no numbers yet, it is on the meta device; call module.to_empty(device='cpu') and set its weights.", "copy")
        if id(parameter) in norms and parameter.dim() == 1:
            parameter.data = torch.full_like(parameter, norms[id(parameter)])
        elif parameter.dim() > 1:
            parameter.data = _draw(parameter, generator) * 1.5 / parameter.shape[-1] ** 0.5
        elif parameter.numel() > 1:  # a bias that nobody can place is 0
            parameter.data = _draw(parameter, generator) * (0.3 if id(parameter) in biases else 0.0)
    return copied


def norm_layers(module: nn.Module) -> list[nn.Module]:
    """The parts of a module that are norms, by the names of their classes."""
    return [part for part in module.modules() if part is not module and "Norm" in type(part).__name__]


def _draw(like: Tensor, generator: torch.Generator) -> Tensor:
    return torch.randn(like.shape, generator=generator, dtype=torch.float64, device="cpu")


def readings(module: nn.Module) -> list[Projections]:
    """Every way to read a module's layers, the likeliest first.

    Raises:
        Refusal: there are no layers for query, key and value, or they do not fit together.
    """
    official = [part for part in module.modules() if isinstance(part, nn.MultiheadAttention)]
    if len(official) == 1:
        packed, out = official[0].in_proj_weight, official[0].out_proj
        if packed is None:
            raise Refusal("Its keys or values have another width than its queries; only one width can be compared.", "layers")
        thirds = zip(packed.chunk(3), _thirds(official[0].in_proj_bias), strict=True)
        query, key, value = (_side_by_side([_linear(w, b)]) for w, b in thirds)
        return [Projections(query, key, value, out, packed.shape[1], official[0].num_heads)]
    linear = {name: part for name, part in module.named_modules() if isinstance(part, nn.Linear)}
    owned = {id(parameter) for layer in linear.values() for parameter in layer.parameters()}
    matrices = {name: p for name, p in module.named_parameters() if p.dim() == 2 and id(p) not in owned}
    return [*_read(linear | matrices, declared_heads(module))]


def declared_heads(module: nn.Module) -> int | None:
    """The number of heads that a module keeps in an attribute, if it does."""
    for part in module.modules():
        for name, number in vars(part).items():
            if isinstance(number, int) and not isinstance(number, bool) and number > 0 and re.fullmatch(r"h|H|_?(n|num|nr|number_of)?_?heads?", name):
                return number
    return None


def _read(layers: dict[str, Layer], heads: int | None) -> Iterator[Projections]:
    roles: dict[str, list[Layer]] = {}
    for name, layer in layers.items():
        roles.setdefault(_role(name), []).append(layer)
    counts = [len(roles.get(role, [])) for role in ("query", "key", "value")]
    single = [*layers.values()]
    if not min(counts):
        packed = [layer for layer in single if _wide(layer)]
        if packed and len(single) <= 2:
            widest = max(packed, key=lambda layer: layer.out_features if isinstance(layer, nn.Linear) else max(layer.shape))
            yield from _packed(widest, [layer for layer in single if layer is not widest], heads)
            return
        if len(single) not in (3, 4):
            raise Refusal(
                f"It has {len(single)} layers, and 3 or 4 are expected: three linear layers for query, key and value, or one for all three, "
                f"and at most one that comes last. Names like W_query, W_key, W_value, out_proj are found.",
                "layers",
            )
        roles = {role: [layer] for role, layer in zip(("query", "key", "value", "out"), single, strict=False)}
        counts = [1, 1, 1]
    if len(set(counts)) > 1:
        raise Refusal(f"It has {counts[0]} layers for queries, {counts[1]} for keys and {counts[2]} for values; they must be as many.", "layers")
    for turned in (False, True):
        maps = [[_map(layer, turned) for layer in roles[role]] for role in ("query", "key", "value")]
        query, key, value = (_side_by_side([m for m, _, _ in group]) for group in maps)
        widths = [sum(width for _, _, width in group) for group in maps]
        if widths[0] == widths[1]:
            for out in _last(roles.get("out", [])):
                for num_heads in [counts[0]] if counts[0] > 1 else _guesses(heads, widths[0], widths[2]):
                    yield Projections(query, key, value, out, maps[0][0][1], num_heads)
        elif isinstance(roles["query"][0], nn.Linear):
            raise Refusal(f"Its queries are {widths[0]} wide but its keys {widths[1]}; they must be equal to be compared.", "layers")
        if not any(isinstance(layer, nn.Parameter) for role in ("query", "key", "value") for layer in roles[role]):
            return


def _role(name: str) -> str:
    """What a layer is for, from the words of its name: ``W_query``, ``q_proj``, ``heads.0.to_k``, ``Wv``, ``to_out.0``."""
    for part in reversed(name.split(".")):
        words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", part)
        plain = {word.lower() for word in words} | {word.lower().removeprefix("w") for word in words} | {part.lower().removeprefix("w")}
        for role, known in _WORDS.items():
            if plain & set(known) and not (role == "packed" and plain & {"out", "o", "output"}):
                return role
    return name


def _wide(layer: Layer) -> bool:
    """Whether a layer may make query, key and value in one."""
    if isinstance(layer, nn.Linear):
        return layer.out_features % 3 == 0
    return layer.shape[1] % 3 == 0 or layer.shape[0] % 3 == 0


def _packed(layer: Layer, rest: list[Layer], heads: int | None) -> Iterator[Projections]:
    """One layer for all three: its rows ordered ``(3, h, d)``, or ``(h, 3, d)``."""
    bias = layer.bias if isinstance(layer, nn.Linear) else None
    for weight in [layer.weight] if isinstance(layer, nn.Linear) else [layer.mT, layer]:
        if weight.shape[0] % 3:
            continue
        width = weight.shape[0] // 3
        for num_heads in _guesses(heads, width, width):
            h, d, rows = num_heads, width // num_heads, torch.arange(weight.shape[0])
            orders = [rows.view(3, h, d), rows.view(h, 3, d).transpose(0, 1)]
            for order in orders if h > 1 else orders[:1]:
                thirds = [_linear(weight[one], None if bias is None else bias[one]) for one in order.reshape(3, width)]
                query, key, value = (_side_by_side([one]) for one in thirds)
                for out in _last(rest):
                    yield Projections(query, key, value, out, weight.shape[1], num_heads)


def _linear(weight: Tensor, bias: Tensor | None) -> Map:
    return lambda x: F.linear(x, weight, bias)


def _thirds(bias: Tensor | None) -> tuple[Tensor | None, ...]:
    return (None, None, None) if bias is None else bias.chunk(3)


def _map(layer: Layer, turned: bool) -> tuple[Map, int, int]:
    """A layer as a map, with the width it takes and the width it gives; ``turned`` for a matrix kept as ``(out, in)``."""
    if isinstance(layer, nn.Linear):
        return layer, layer.in_features, layer.out_features
    matrix = layer.mT if turned else layer
    return (lambda x: x @ matrix), matrix.shape[0], matrix.shape[1]


def _side_by_side(maps: list[Map]) -> Map:
    """Maps joined into one, which remembers what it gave: wide layers are asked again for each mistake and number of heads."""
    given: dict[int, tuple[Tensor, Tensor]] = {}  # with x, so that no other tensor takes its id

    def joined(x: Tensor) -> Tensor:
        if id(x) not in given:
            given[id(x)] = x, torch.cat([one(x) for one in maps], dim=-1)
        return given[id(x)][1]

    return joined


def _last(layers: list[Layer]) -> list[Map | None]:
    """The last layer, in each way in which it can be used."""
    if not layers:
        return [None]
    return [_map(layers[0], turned)[0] for turned in ((False,) if isinstance(layers[0], nn.Linear) else (False, True))]


def _guesses(heads: int | None, *widths: int) -> list[int]:
    """The declared number of heads, or every one that leaves each head two numbers or more."""
    if heads is not None:
        if any(width % heads for width in widths):
            raise Refusal(f"It has {heads} heads, which do not divide its width of {widths[0]}.", "layers")
        return [heads]
    return [h for h in range(1, min(64, widths[0]) + 1) if not any(width % h for width in widths) and (h == 1 or widths[0] // h >= 2)]
