"""Weights are kept only where a folder is named, and used only while everything they depend on is the same."""

import re
from pathlib import Path

import pytest
import torch

from attention_book.trained import cache
from attention_book.trained.ahead import SEED, TRAININGS
from attention_book.trained.induction import train_induction

runs = []


def quickly(seed: int, steps: int = 2):
    runs.append((seed, steps))
    return train_induction(seed, steps=steps)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    runs.clear()
    monkeypatch.setenv(cache.FOLDER, str(tmp_path / "kept"))
    return tmp_path / "kept"


def same(one, other):
    (model, curve), (again, its_curve) = one, other
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), again.parameters(), strict=True))
    assert [tuple(point) for point in curve] == [tuple(point) for point in its_curve]
    assert not again.training


def test_the_second_time_the_same_weights_come_without_training(folder):
    same(cache.remembered(quickly, 4), cache.remembered(quickly, 4))
    assert runs == [(4, 2)]
    assert len(list(folder.iterdir())) == 1


def test_default_and_named_arguments_are_one_and_other_arguments_are_another():
    cache.remembered(quickly, 4)
    cache.remembered(quickly, seed=4, steps=2)
    assert runs == [(4, 2)]
    cache.remembered(quickly, 4, steps=1)
    cache.remembered(quickly, 5)
    assert runs == [(4, 2), (4, 1), (5, 2)]


def test_without_a_folder_nothing_is_kept(monkeypatch, folder):
    monkeypatch.delenv(cache.FOLDER)
    cache.remembered(quickly, 4)
    cache.remembered(quickly, 4)
    assert len(runs) == 2
    assert not folder.exists()


def test_another_torch_another_processor_and_another_number_of_threads_train_anew(monkeypatch):
    start = cache.PACKAGE / "trained" / "induction.py"
    prints = {cache.fingerprint(start, 1)}
    with monkeypatch.context() as changed:
        changed.setattr(torch, "__version__", "9.9")
        prints.add(cache.fingerprint(start, 1))
    with monkeypatch.context() as changed:
        changed.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "none")
        prints.add(cache.fingerprint(start, 1))
    with monkeypatch.context() as changed:
        changed.setattr(torch, "get_num_threads", lambda: 77)
        prints.add(cache.fingerprint(start, 1))
    assert len(prints) == 4
    assert cache.fingerprint(start, 1) in prints


def test_all_of_the_library_that_training_runs_through_is_in_the_digest():
    names = {path.relative_to(cache.PACKAGE).as_posix() for path in cache.sources(cache.PACKAGE / "trained" / "who_is_it.py")}
    trains = {"trained/who_is_it.py", "trained/words.py", "trained/train.py"}
    assert trains | {"modules/__init__.py", "modules/multi_head.py", "functional.py", "checks.py", "masks.py"} <= names
    assert not any(name.startswith("heatmaps") for name in names)


def test_a_changed_file_changes_the_digest(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "PACKAGE", tmp_path)
    (tmp_path / "one.py").write_text(f"from {tmp_path.name} import two\n")
    (tmp_path / "two.py").write_text("x = 1\n")
    before = cache.fingerprint(tmp_path / "one.py")
    (tmp_path / "two.py").write_text("x = 2\n")
    assert cache.fingerprint(tmp_path / "one.py") != before


def test_what_is_trained_ahead_is_what_the_pages_train():
    scripts = Path(__file__).parent.parent.parent / "gallery" / "trained"
    asked = [call for path in sorted(scripts.glob("*.py")) for call in re.findall(r"remembered\((.*?)\)\n", path.read_text("utf-8"))]
    ahead = {
        ", ".join([make.__name__, "SEED", *(f"{name}={value!r}" for name, value in keywords.items())]) for make, keywords in TRAININGS
    }
    assert {call.removeprefix("induction.") for call in asked} == ahead
    assert all(f"SEED = {SEED}\n" in path.read_text("utf-8") for path in scripts.glob("*_[123]_*.py"))
