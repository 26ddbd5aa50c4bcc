"""The examples of the documentation run, with a log, a store and a server in the places that they name."""

import re
import sys

import pytest
from conftest import ROOT
from test_store import PROGRAM, daemon, served, store  # noqa: F401

PAGES = ["docs/use/python.md", "crates/python/README.md"]


def blocks(page):
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)


@pytest.mark.skipif(PROGRAM is None, reason="NETRA_PROGRAM names no program")
@pytest.mark.parametrize("page", PAGES)
def test_the_examples_of_a_page_run(page, wave, store, served, daemon, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.setenv("NETRA_PROGRAM", PROGRAM)
    monkeypatch.setenv("NETRA_PYTHON", sys.executable)
    (tmp_path / "job.darshan").write_bytes(open(wave, "rb").read())
    monkeypatch.chdir(tmp_path)
    # What stands in an example for the reader's own.
    own = {
        '"/data/store"': repr(store),
        '"http://hub:7480", token="…"': repr(served),
        'netra.subscribe("io")': f'netra.subscribe("io", daemon={daemon!r}, seconds=1)',
    }
    names = {}
    examples = blocks(page)
    assert examples
    for example in examples:
        for word, mine in own.items():
            example = example.replace(word, mine)
        exec(compile(example, page, "exec"), names)
    if page == PAGES[0]:
        # They are about something: the example's log, and the same job in the store.
        assert names["log"].complete and len(names["jobs"]) == 1
