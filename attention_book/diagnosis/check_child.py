"""The other half of ``check``: reads somebody's file in a process of its own, finds the attention in it and diagnoses it.

    python -m attention_book.diagnosis.check_child FILE FOLDER [NAME]

FOLDER receives ``stage``, what is being done, and at the end ``result.json``: exit status and text.
"""

import importlib
import importlib.machinery
import importlib.util
import inspect
import json
import os
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from torch import nn

from attention_book.diagnosis.candidates import Refusal, function_form
from attention_book.diagnosis.check import NOT_RIGHT, RIGHT, UNUSABLE
from attention_book.diagnosis.diagnose import diagnose

#: Names that say what to check, the likeliest first; compared without capitals and underscores.
LIKELY = ("attention", "scaleddotproductattention", "selfattention", "causalattention", "causalselfattention", "multiheadattention")
#: What a class is built with, by the name of the parameter: 3 heads of 4, a width in and a width out.
SIZES: dict[str, Any] = {
    name: size
    for names, size in (
        ("d_in in_features input_dim dim_in d_input", 10),
        ("d_out d_model embed_dim dim n_embd embed_size emb_dim d_embed hidden_size hidden_dim output_dim dim_out", 12),
        ("num_heads n_heads nhead n_head heads h", 3),
        ("d_k d_v head_dim d_head head_size", 4),
        ("context_length context_size block_size max_len seq_len max_seq_len", 5),
        ("dropout dropout_p attn_dropout p", 0.5),
    )
    for name in names.split()
}


class Unusable(Exception):
    """Why a file cannot be used, as a sentence."""


def read(file: Path) -> ModuleType:
    """Runs a file as Python would import it, by its dotted name if it stands in a package."""
    name, root = _place(file)
    loader = importlib.machinery.SourceFileLoader(name, str(file))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None  # a loader is given
    module = importlib.util.module_from_spec(spec)
    sys.path[:0] = dict.fromkeys((str(root), str(file.parent.resolve())))  # neighbours too, as for a file that is run
    try:
        if "." in name:
            importlib.import_module(name.rpartition(".")[0])
        sys.modules[name] = module
        loader.exec_module(module)
    except SyntaxError as error:
        raise Unusable(f"{file} is no valid Python: line {error.lineno}: {error.msg}.") from error
    except (UnicodeDecodeError, ValueError, OSError) as error:
        if not any(frame.filename == str(file) for frame in traceback.extract_tb(error.__traceback__)):
            raise Unusable(f"{file} cannot be read as a Python file: {error}.") from error
        raise Unusable(_stopped(file, error)) from error
    except BaseException as error:
        raise Unusable(_stopped(file, error)) from error
    return module


def _place(file: Path) -> tuple[str, Path]:
    """The dotted name of a file and the folder from which it is imported: the first one above it that is no package."""
    folder, names = file.parent.resolve(), [file.stem.replace(".", "_")]
    while (folder / "__init__.py").exists() and "." not in folder.name and folder != folder.parent:
        folder, names = folder.parent, [folder.name, *names]
    return ".".join(names[:-1] if names[-1] == "__init__" and len(names) > 1 else names), folder


def _stopped(file: Path, error: BaseException) -> str:
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(file)]
    told = str(error).strip().splitlines()
    where = f" at line {lines[-1]}" if lines else ""
    asks = isinstance(error, EOFError) and "EOF when reading a line" in str(error)
    if asks or isinstance(error, SystemExit):
        doing = "it asks for input" if asks else "it ends the program"
        return f"{file} stops{where} when it is run: {doing}: put that under if __name__ == '__main__':"
    return f"{file} stops{where} when it is run: {type(error).__name__}{': ' + told[0] if told else ''}."


def find(module: ModuleType, file: Path, name: str | None) -> tuple[str, Any, str]:
    """What to check: its name, the thing itself, and a remark on what else could be checked."""
    if name is not None:
        if not hasattr(module, name):
            raise Unusable(f"{file} has nothing named {name}; it has {_list([*_fitting(module)]) or 'no attention'}.")
        return name, getattr(module, name), ""
    fitting = _fitting(module)
    if not fitting:
        for near, thing in vars(module).items():
            if near.lower().replace("_", "") in LIKELY and inspect.isfunction(thing):
                raise Unusable(f"{near}: {_refused(thing)}")
        raise Unusable(f"{file} has no function of (query, key, value) and no torch module to check.")
    likely = [found for wanted in LIKELY for found in fitting if found.lower().replace("_", "") == wanted]
    if not likely and len(fitting) > 1:
        raise Unusable(f"{file} has {len(fitting)} things that could be checked: {_list([*fitting])}. Say which with --name.")
    found = likely[0] if likely else next(iter(fitting))
    others = [other for other in fitting if other != found]
    return found, fitting[found], f" ({_list(others)} can be checked with --name)" if others else ""


def _list(names: list[str]) -> str:
    return ", ".join(names)


def _fitting(module: ModuleType) -> dict[str, Any]:
    """The functions of query, key and value and the modules that the file itself makes, in its order."""
    fitting: dict[str, Any] = {}
    for name, thing in vars(module).items():
        own = getattr(thing, "__module__", None) == module.__name__
        layer = type(thing).__module__.startswith("torch.nn.") and not isinstance(thing, nn.MultiheadAttention)
        made = own and isinstance(thing, type) and issubclass(thing, nn.Module)
        if (isinstance(thing, nn.Module) and not layer) or made or (own and inspect.isfunction(thing) and not _refused(thing)):
            fitting[name] = thing
    classes = {type(thing) for thing in fitting.values()}  # an instance says more than its class
    return {name: thing for name, thing in fitting.items() if not name.startswith("_") and thing not in classes}


def _refused(function: Any) -> str:
    """Why a function is none of query, key and value; empty if it is one."""
    try:
        function_form(function)
    except Refusal as refusal:
        return str(refusal)
    return ""


def build(name: str, thing: Any) -> Any:
    """A function or module as it is; a class becomes an instance, if its parameters have names that everybody knows."""
    if not isinstance(thing, type):
        return thing
    parameters = list(inspect.signature(thing).parameters.values())
    needed = [p.name for p in parameters if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    unknown = [parameter for parameter in needed if parameter.lower() not in SIZES]
    example = f"attention = {name}({', '.join('...' for _ in needed)})"
    if unknown:
        raise Unusable(f"{name} needs {_list(unknown)}, which nobody can guess; add an instance to the file: {example}")
    try:
        return thing(**{parameter: SIZES[parameter.lower()] for parameter in needed})
    except Exception as error:
        raise Unusable(f"{name} cannot be built: {type(error).__name__}: {error}. Add an instance to the file: {example}") from error


def main(file: Path, folder: Path, name: str | None = None) -> None:
    """Writes the stage and the result into the folder."""

    def stage(doing: str) -> None:
        (folder / "stage").write_text(doing, encoding="utf-8")

    def result(status: int, text: str) -> None:
        (folder / "result.json").write_text(json.dumps([status, text]), encoding="utf-8")

    stage("the file was being read")
    try:
        found, thing, remark = find(read(file), file, name)
        stage(f"{found} was running")
        diagnosis = diagnose(build(found, thing))
    except (Unusable, TypeError) as error:
        result(UNUSABLE, str(error))
    else:
        result(RIGHT if diagnosis.ok else NOT_RIGHT, f"{found}{remark}: {diagnosis}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])
    os._exit(0)  # not held up by threads that the file may have started
