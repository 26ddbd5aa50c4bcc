"""The notebooks of ``docs/notebook``: they run, and what is kept of them is what their sources make."""

import base64
import json
import os
import re
import sys

import pytest
from conftest import ROOT

FOLDER = ROOT / "docs" / "notebook"
sys.path.insert(0, str(FOLDER))
import execute  # noqa: E402

#: What a notebook must have said, somewhere in its results, by the data that it is about.
SAYS = {
    "log": ["2048 processes ran 780 s", "nothing is missing", "2048 records, 512 GiB written", "slow-ost: OST 14 is 49 times slower"],
    "live": ["running since", "nothing is missing", "small"],
    "month": ["/apps/ocean/bin/ocean", "124", "93", "62", "2026-10-17"],
}
PICTURES = {"log": 2, "live": 3, "month": 3}
LARGEST = 300_000


def results(notebook):
    """Texts and pictures of a notebook that was executed."""
    texts, pictures = [], []
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            assert output["output_type"] != "error", output
            assert output.get("name") != "stderr", output["text"]
            texts.append(output.get("text", ""))
            for kind, value in output.get("data", {}).items():
                (pictures if kind == "image/png" else texts).append(value)
    return "\n".join("".join(text) for text in texts), pictures


def check(name, notebook):
    said, pictures = results(notebook)
    for words in SAYS[name]:
        assert words in said, (words, said)
    assert len(pictures) == PICTURES[name]
    for picture in pictures:
        assert base64.b64decode("".join(picture)).startswith(b"\x89PNG")
    assert not re.search(r"/(work|root|home|tmp)/", said), said


@pytest.mark.parametrize("name", execute.NAMES)
def test_what_is_kept_is_what_the_source_makes(name):
    path = FOLDER / f"{name}.ipynb"
    kept = json.loads(path.read_text())
    assert [(cell["cell_type"], "".join(cell["source"])) for cell in kept["cells"]] == execute.cells(
        (FOLDER / f"{name}.py").read_text()
    )
    assert path.stat().st_size < LARGEST
    check(name, kept)


@pytest.mark.parametrize("name", execute.NAMES)
def test_a_notebook_runs(name):
    needed = {"log": [], "live": ["NETRA_PROGRAM", "NETRA_PRELOAD"], "month": ["NETRA_PROGRAM", "NETRA_MAKE_MONTH"]}
    for variable in needed[name]:
        if variable not in os.environ:
            pytest.skip(f"{variable} is not set")
    check(name, execute.execute(name))
