"""Runs pytest once for each of many copies of the library, and imports torch only once.

    python -m tests.forked_pytest FOLDER COPY... -- ARGUMENTS

Each COPY holds an ``attention_book`` of its own; a child process is forked for it and runs ``pytest ARGUMENTS`` there.
FOLDER receives one file per run. Prints JSON: for each copy the exit code of pytest and the first failure.
"""

import gc
import json
import os
import re
import sys
from pathlib import Path

import pytest
import torch


def run(copy: str, log: Path, arguments: list[str]) -> int:
    """Forks, and runs pytest in the child with this copy first on the path; returns the exit code."""
    sys.stdout.flush()
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, 1)
        os.dup2(file, 2)
        code = int(pytest.main([*arguments, "-o", f"pythonpath={copy} .", "-o", f"cache_dir={copy}/cache"]))
        from attention_book import functional

        if not Path(functional.__file__).is_relative_to(copy):
            print(f"the tests ran {functional.__file__} and not the copy in {copy}")
            code = 99
        sys.stdout.flush()
        os._exit(code)
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", flush=True)
        os._exit(98)


def warm_up() -> None:
    """Imports what the tests would import late, and each child again."""
    import tests.conftest  # noqa: F401 (brings playwright)

    torch.testing.assert_close(torch.ones(1), torch.ones(1))  # brings sympy
    gc.freeze()  # pytest collects garbage at its end: not through all of torch, in every child


def main(arguments: list[str]) -> None:
    """Runs the copies one after the other."""
    cut = arguments.index("--")
    (folder, *copies), options = arguments[:cut], arguments[cut + 1 :]
    warm_up()
    verdicts = {}
    for number, copy in enumerate(copies):
        log = Path(folder) / f"{number}.txt"
        code = run(copy, log, options)
        failures = re.findall(r"^(?:FAILED|ERROR) .*", log.read_text(errors="replace"), flags=re.MULTILINE)
        tail = log.read_text(errors="replace")[-3000:]
        verdicts[copy] = {"code": code, "failure": failures[0] if failures else "", "tail": tail}
    json.dump(verdicts, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1:])
