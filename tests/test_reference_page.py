"""The library reference leaves out nothing that a reader may call."""

import dataclasses
import importlib
import inspect

import pytest
from sphinx.util.inventory import InventoryFile
from torch import nn

import attention_book
from attention_book import heatmaps

#: What the pages about trained heads teach with, module by module.
TRAINED = {
    "transformer": ("Transformer", "Block"),
    "train": ("train",),
    "ablate": ("without", "switch_each_off", "switch_off_in_turn", "Ablations"),
    "induction": ("induction_scores", "previous_scores"),
    "generate": ("write", "Written"),
    "cache": ("remembered",),
}


def public() -> dict[str, object]:
    """Every name a reader may use, by the address that the reference gives it."""
    names = {f"attention_book.{name}": getattr(attention_book, name) for name in attention_book.__all__}
    names |= {f"attention_book.heatmaps.{name}": getattr(heatmaps, name) for name in heatmaps.__all__}
    for module, these in TRAINED.items():
        found = importlib.import_module(f"attention_book.trained.{module}")
        names |= {f"attention_book.trained.{module}.{name}": getattr(found, name) for name in these}
    for address, thing in list(names.items()):
        if inspect.isclass(thing):
            names |= {f"{address}.{name}": each for name, each in methods(thing)}
    return names


def methods(cls: type) -> list[tuple[str, object]]:
    """The methods that a class adds to what it comes from, but for a leading underscore or a dataclass's fields."""
    fields = {field.name for field in dataclasses.fields(cls)} if dataclasses.is_dataclass(cls) else set()
    own = [(name, inspect.unwrap(getattr(cls, name))) for name in vars(cls) if not name.startswith("_") and name not in fields]
    return [(name, each) for name, each in own if callable(each) or isinstance(each, property)]


@pytest.fixture(scope="module")
def documented(site) -> set[str]:
    """Every Python name that the built reference has an anchor for."""
    inventory = InventoryFile.loads((site / "objects.inv").read_bytes(), uri="")
    return {name for kind in inventory.data if kind.startswith("py:") for name in inventory.data[kind]}


def test_the_rule_finds_methods_and_properties():
    assert {"attention_book.Reading.lab", "attention_book.MultiHeadAttention.from_torch"} <= public().keys()
    assert issubclass(attention_book.MultiHeadAttention, nn.Module)
    assert "attention_book.MultiHeadAttention.state_dict" not in public()


def test_no_public_name_is_missing_from_the_reference(documented):
    assert sorted(public().keys() - documented) == []


@pytest.mark.parametrize("name", sorted(name for name, each in public().items() if callable(each)))
def test_every_public_name_says_what_it_is(name):
    assert len(inspect.getdoc(public()[name]) or "") > 20
