"""Read a ``.safetensors`` file: a length, a JSON header that names each tensor's place, then the numbers."""

import json
from pathlib import Path

import torch
from torch import Tensor

DTYPES = {"F32": torch.float32, "I64": torch.int64}


def read_tensors(path: Path) -> dict[str, Tensor]:
    """The tensors of a file by name.

    Raises:
        ValueError: a tensor has a type that this reader does not know.
    """
    content = bytearray(path.read_bytes())
    start = 8 + int.from_bytes(content[:8], "little")
    tensors = {}
    for name, entry in json.loads(content[8:start]).items():
        if name == "__metadata__":
            continue
        if entry["dtype"] not in DTYPES:
            raise ValueError(f"{name} holds {entry['dtype']}; this reader knows {' and '.join(DTYPES)}")
        begin, end = entry["data_offsets"]
        dtype = DTYPES[entry["dtype"]]
        count = (end - begin) // dtype.itemsize
        tensors[name] = torch.frombuffer(content, dtype=dtype, count=count, offset=start + begin).view(entry["shape"])
    return tensors
