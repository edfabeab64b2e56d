"""The report on another release of torch: what the committed one says, and how one is made."""

import json
import runpy
import subprocess
import sys
from xml.etree import ElementTree

import torch

from tests.conftest import ROOT

PROGRAM = ROOT / ".ci" / "other_torch.py"
SUMMARY = runpy.run_path(str(PROGRAM))["summary"]
RUN = """<testsuites><testsuite>
<testcase classname="docs.act1.md" name="act1.md"><failure>Expected 0.1385</failure></testcase>
<testcase classname="tests.test_numbers" name="test_a"/><testcase classname="tests.test_numbers" name="test_b"/>
</testsuite></testsuites>"""


def test_a_number_that_differs_is_counted_and_named():
    found = SUMMARY("9.9.9", ElementTree.ElementTree(ElementTree.fromstring(RUN)))
    assert (found["checks"], found["hold"], found["differ"]) == (3, 2, ["docs.act1.md act1.md"])


def test_the_committed_report_is_of_another_release_and_adds_up():
    found = json.loads((ROOT / "docs" / "other_torch.json").read_text("utf-8"))
    assert found["torch"] != torch.__version__.partition("+")[0]
    assert found["command"] == f"make other-torch TORCH={found['torch']}"
    assert 40 < found["checks"] == found["hold"] + len(found["differ"])


def test_without_a_release_it_asks_for_one():
    ran = subprocess.run([sys.executable, str(PROGRAM), ""], capture_output=True, text=True)
    assert ran.returncode == 1
    assert ran.stderr == "Name a release of torch, as in 'make other-torch TORCH=2.14.1'.\n"
