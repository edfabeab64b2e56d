"""Runs the pinned numbers on another release of torch, and writes down what differs.

usage: python .ci/other_torch.py VERSION (writes docs/other_torch.json, which the page on numbers shows)

The release gets a venv of its own in build/, with the pins of requirements.lock for everything else.
"""

import json
import subprocess
import sys
import venv
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
ALSO = ("numpy", "matplotlib", "pytest", "hypothesis", "playwright")  # the last because tests/conftest.py imports it
WHERE = ("tests/test_published_numbers.py", "docs", "attention_book", "README.md")


def pins() -> list[str]:
    """The lines of the lock that a run of the numbers needs."""
    lines = (ROOT / "requirements.lock").read_text("utf-8").splitlines()
    return [line.split(" ")[0] for line in lines if line.partition("==")[0] in ALSO]


def run(version: str) -> dict:
    """Every pinned number that the book's doctests and tests hold, on that release."""
    folder = ROOT / "build" / f"torch-{version}"
    python = folder / "bin" / "python"
    if not python.exists():
        print(f"Installing torch {version} into build/{folder.name} (some minutes)", flush=True)
        venv.create(folder, with_pip=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", f"torch=={version}", *pins()], check=True)
    report = folder / "report.xml"
    print("Running every pinned number", flush=True)
    command = [python, "-m", "pytest", "-q", "-c", "pyproject.toml", f"--junitxml={report}", *WHERE]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if ran.returncode not in (0, 1):  # 1: some numbers differ
        raise SystemExit(f"The numbers could not be run on torch {version}:\n{ran.stdout[-3000:]}{ran.stderr[-1000:]}")
    return summary(version, ElementTree.parse(report))


def summary(version: str, report: ElementTree.ElementTree) -> dict:
    """How many of how many hold, and the names of those that do not."""
    cases = list(report.iter("testcase"))
    differ = [case for case in cases if case.find("failure") is not None or case.find("error") is not None]
    return {
        "torch": version,
        "command": f"make other-torch TORCH={version}",
        "checks": len(cases),
        "hold": len(cases) - len(differ),
        "differ": sorted(f"{case.get('classname') or ''} {case.get('name')}".strip() for case in differ),
    }


if __name__ == "__main__":
    if len(sys.argv) != 2 or not sys.argv[1]:
        raise SystemExit("Name a release of torch, as in 'make other-torch TORCH=2.14.1'.")
    found = run(sys.argv[1])
    (ROOT / "docs" / "other_torch.json").write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    print(f"torch {found['torch']}: {found['hold']} of {found['checks']} hold. Written: docs/other_torch.json")
    for name in found["differ"]:
        print(f"  differs: {name}")
