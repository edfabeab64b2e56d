"""The packed weights of ``torch.nn.MultiheadAttention``, to and from this book's names.

PyTorch keeps query, key and value in one matrix ``in_proj_weight`` of shape ``(3 * d_model, d_model)``, rows in that
order, each part in the layout of ``nn.Linear``, ``(out, in)``.
"""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

PACKED = ("W_query", "W_key", "W_value")


def unpack(module: nn.MultiheadAttention) -> tuple[int, float, int, bool, dict[str, Tensor]]:
    """Width, dropout, number of heads, whether there are biases, and the weights under this book's names."""
    if not isinstance(module, nn.MultiheadAttention):
        raise TypeError(f"module is a {type(module).__name__}; give a torch.nn.MultiheadAttention")
    if module.in_proj_weight is None:
        raise ValueError(
            f"keys are {module.kdim} and values {module.vdim} wide but queries {module.embed_dim}; "
            f"only a module with one width can be copied"
        )
    if module.bias_k is not None or module.add_zero_attn:
        raise ValueError(
            "the module appends a token to its keys (add_bias_kv or add_zero_attn), which has no place here"
        )
    state = {f"out_proj.{name}": parameter.detach() for name, parameter in module.out_proj.named_parameters()}
    for kind, packed in (("weight", module.in_proj_weight), ("bias", module.in_proj_bias)):
        if packed is not None:
            state |= {f"{name}.{kind}": rows for name, rows in zip(PACKED, packed.detach().chunk(3), strict=True)}
    return module.embed_dim, module.dropout, module.num_heads, module.in_proj_bias is not None, state


def pack(state: Mapping[str, Tensor], bias: bool) -> dict[str, Tensor]:
    """This book's weights under PyTorch's names; with ``bias``, those that are missing are 0."""
    packed = {
        "in_proj_weight": torch.cat([state[f"{name}.weight"] for name in PACKED]),
        "out_proj.weight": state["out_proj.weight"],
    }
    if bias:
        zero = torch.zeros_like(state["out_proj.weight"][0])
        packed["in_proj_bias"] = torch.cat([state.get(f"{name}.bias", zero) for name in PACKED])
        packed["out_proj.bias"] = state.get("out_proj.bias", zero)
    return packed
