"""The commands of the Makefile: what a stranger's machine may lack is told in one sentence, and nothing is done twice."""

import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# What the set-up itself needs, so that a test can leave out every Python but its own.
TOOLS = ("awk", "cat", "cksum", "cmp", "cp", "cut", "dirname", "echo", "grep", "make", "mkdir", "rm", "sed", "sh")
OLD = '#!/bin/sh\necho 3.9.18\n'
NO_VENV = f'#!/bin/sh\ncase "$*" in *ensurepip*) exit 1 ;; esac\nexec "{sys.executable}" "$@"\n'
# Stands for a Python with everything: says its version, writes down the rest, makes a .venv of itself.
DIARY = """#!/bin/sh
case "$*" in
    *version_info*) echo 3.12.1 ;;
    *"-m venv"*) mkdir -p .venv/bin && cat "$0" >.venv/bin/python && chmod +x .venv/bin/python ;;
    *--no-index*) exit 1 ;;
    *) echo "$*" >>diary ;;
esac
"""
# Stands for npm: writes down what it was asked, and installs a TypeScript that does the same.
NPM = """#!/bin/sh
echo "npm $*" >>diary
mkdir -p .venv/node/node_modules/.bin
printf '#!/bin/sh\\necho "-m tsc $*" >>diary\\n' >.venv/node/node_modules/.bin/tsc
chmod +x .venv/node/node_modules/.bin/tsc
"""


class Machine:
    """A copy of what the set-up reads, and a PATH that holds only what is put there."""

    def __init__(self, folder: Path):
        self.book = folder / "book"
        self.bin = folder / "bin"
        self.bin.mkdir()
        shutil.copytree(ROOT / ".ci", self.book / ".ci")
        for name in ("Makefile", "pyproject.toml", "requirements.lock"):
            shutil.copy(ROOT / name, self.book)
        for name in (*TOOLS, "chmod"):
            (self.bin / name).symlink_to(shutil.which(name))

    def add(self, name: str, text: str):
        program = self.bin / name
        program.write_text(text)
        program.chmod(0o755)

    def make(self, *arguments: str, **environment: str):
        """Run make as a stranger does: nothing inherited, nothing on standard input."""
        return subprocess.run(
            ["make", *arguments], cwd=self.book, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            env={"PATH": str(self.bin), "HOME": str(self.book), **environment},
        )


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def sentence(result) -> str:
    """The one sentence on standard error, beside make's own last line."""
    assert result.returncode != 0
    said = [line for line in result.stderr.splitlines() if line and not line.startswith("make")]
    assert len(said) == 1, result.stderr
    assert said[0].endswith(".")
    return said[0]


def test_a_too_old_python_is_told_with_both_versions(machine):
    machine.add("python3", OLD)
    said = sentence(machine.make("site"))
    assert "needs Python 3.11 or newer, but python3 is 3.9.18: install a newer Python" in said


def test_a_machine_without_python_is_told_so(machine):
    assert "needs Python 3.11 or newer, but python3 is not there" in sentence(machine.make("site"))


def test_a_newer_python_beside_a_too_old_one_is_found(machine):
    machine.add("python3", OLD)
    machine.add("python3.12", DIARY)
    result = machine.make("ready")
    assert result.returncode == 0, result.stderr
    assert "Making .venv with Python 3.12.1" in result.stdout


def test_a_python_that_is_named_is_not_replaced_by_another(machine):
    machine.add("python3.12", DIARY)
    machine.add("mine", OLD)
    assert "but mine is 3.9.18" in sentence(machine.make("site", "PYTHON=mine"))


def test_a_python_without_venv_is_told_what_to_install(machine):
    machine.add("python3", NO_VENV)
    here = f"{sys.version_info[0]}.{sys.version_info[1]}"
    assert f"apt-get install python{here}-venv" in sentence(machine.make("site"))


def test_a_machine_without_a_network_is_told_so(machine):
    machine.add("python3", f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    nowhere = "http://127.0.0.1:9"
    for broken in ({"PIP_INDEX_URL": f"{nowhere}/simple"}, {"PIP_NO_INDEX": "1"}, {"HTTPS_PROXY": nowhere}):
        # Only what the test says decides where pip looks, not the machine's own settings.
        said = sentence(machine.make("site", PIP_CONFIG_FILE=os.devnull, **broken))
        assert said.startswith("pip cannot reach its package index: connect to the network"), broken


def test_what_is_installed_is_installed_again_only_when_the_lock_changes(machine):
    machine.add("python3", DIARY)
    diary = machine.book / "diary"
    assert machine.make("ready").returncode == 0
    first = diary.read_text()
    assert "install -r requirements.lock" in first
    assert machine.make("ready").returncode == 0
    assert diary.read_text() == first
    with (machine.book / "requirements.lock").open("a") as lock:
        lock.write("one-more==1.0\n")
    assert machine.make("ready").returncode == 0
    assert diary.read_text().count("install -r requirements.lock") == 2


def test_serve_builds_the_book_and_says_where_it_is_served(machine):
    machine.add("python3", DIARY)
    served = machine.make("serve", "PORT=8765")
    assert served.stdout.splitlines()[-1] == "Serving http://127.0.0.1:8765/ (stop with Ctrl-C)"
    build, _, serve = (machine.book / "diary").read_text().splitlines()[-3:]
    assert build == "-m sphinx -c . -W --keep-going -n -d build/doctrees docs build/html"
    assert serve == "-m http.server --bind 127.0.0.1 --directory build/html 8765"


def test_serve_on_a_port_in_use_is_told_in_one_sentence(machine):
    machine.add("python3", DIARY.replace("    *) echo", f"    *socket*) exec {sys.executable} \"$@\" ;;\n    *) echo"))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert sentence(machine.make("serve", f"PORT={port}")).startswith(f"Port {port} is in use: choose another")


def test_check_is_lint_then_types_then_site_then_tests(machine):
    machine.add("python3", DIARY)
    machine.add("npm", NPM)
    assert machine.make("check").returncode == 0
    ran = re.findall(r"^-m (ruff|mypy|tsc|sphinx|pytest)\b", (machine.book / "diary").read_text(), re.MULTILINE)
    assert ran == ["ruff", "mypy", "tsc", "tsc", "sphinx", "pytest"]


def test_types_of_javascript_on_a_machine_without_node_are_told_what_to_install(machine):
    said = sentence(machine.make("jstypes"))
    assert "npm is not there: install node 20 or newer" in said
    assert "the site and its tests need neither" in said


def test_typescript_that_cannot_be_had_is_told_so(machine):
    machine.add("npm", "#!/bin/sh\nexit 1\n")
    assert "npm could not install what .ci/package-lock.json pins: connect to the network" in sentence(machine.make("jstypes"))


def test_typescript_is_installed_again_only_when_its_lock_changes(machine):
    machine.add("npm", NPM)
    diary = machine.book / "diary"
    for times in (1, 1, 2):
        if times == 2:
            with (machine.book / ".ci" / "package-lock.json").open("a") as lock:
                lock.write("\n")
        assert machine.make("jstypes").returncode == 0
        assert diary.read_text().count("npm ci") == times


def test_a_type_that_does_not_fit_fails(machine):
    machine.add("npm", NPM.replace("tsc $*\" >>diary", "tsc\" >>diary; exit 2"))
    assert machine.make("jstypes").returncode != 0


@pytest.mark.parametrize("arguments", [(), ("help",)], ids=["make", "make help"])
def test_make_alone_lists_every_command_with_what_it_does(machine, arguments):
    listed = re.findall(r"^  make ([\w-]+) +\S.*$", machine.make(*arguments).stdout, re.MULTILINE)
    declared = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(declared[1].split())


def test_every_command_that_the_readme_names_is_there():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = set(re.findall(r"make ([\w-]+)\b", "\n".join(re.findall(r"`[^`]+`|^\$ .*$", (ROOT / "README.md").read_text("utf-8"), re.M))))
    assert {"site", "test"} <= named <= targets


def test_the_lock_pins_every_package_and_names_no_build_host_or_folder():
    pins = [line for line in (ROOT / "requirements.lock").read_text("utf-8").splitlines() if not line.startswith("#")]
    assert "torch==2.13.0" in [pin.split()[0] for pin in pins]
    for pin in pins:
        assert re.fullmatch(r"[a-z0-9-]+==[0-9][0-9a-z.]*( +# via [\w().,\- ]+)?", pin), pin
