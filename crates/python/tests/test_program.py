"""Every table against what the program prints of the same log: ``netra parse`` and ``netra dxt``."""

import os
import pathlib
import subprocess

import pytest
from conftest import ROOT, WAVE, examples

import netra

PROGRAM = os.environ.get("NETRA_PROGRAM")
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="NETRA_PROGRAM names no program")

#: Columns that say where a record is from.
PLACE = {"rank", "id", "file", "mount", "fs"}
#: Modules whose records the text places by other names than those of files and mounts.
NAMELESS = {"APMPI", "APXC", "BG/Q", "DAOS", "DFS"}
#: Larger logs say the same more often.
LARGEST = 300_000


def logs():
    """PyDarshan's examples, ours, and those beside the repository."""
    beside = sorted(str(path) for path in ROOT.parent.glob("shared/logs/**/*.darshan"))
    return [path for path in [str(WAVE), *examples(), *beside] if pathlib.Path(path).stat().st_size < LARGEST]


def printed(command, log):
    """The lines of a command that are no comments. Code 1 says that the log is incomplete."""
    done = subprocess.run([PROGRAM, command, log], capture_output=True)
    assert done.returncode in (0, 1), done.stderr
    return [line for line in done.stdout.decode(errors="replace").splitlines() if line and not line.startswith("#")]


def row(module, rank, id, name, value, file, *place):
    """A value of a record; nothing of what the text leaves out, or has a word for where the table has a number."""
    if module == "LUSTRE" and name.endswith(("_FLAGS", "_POOL_NAME", "_STRIPE_PATTERN")):
        return None
    if module == "APMPI" and name.endswith("_SYNC_TIME"):
        return None
    text = f"{value:f}" if isinstance(value, float) else str(value)
    return (int(rank), int(id), name, text, *(() if module in NAMELESS else ("(null)" if file is None else file, *place)))


@pytest.mark.parametrize("path", logs(), ids=lambda path: pathlib.Path(path).name[:40])
def test_counters_are_those_of_parse(path):
    expected = {}
    for line in printed("parse", path):
        module, *values = line.split("\t")
        expected.setdefault(module, set()).add(row(module, *values))
    log = netra.open(path)
    found = {}
    for module in log.modules:
        if module.startswith("DXT_"):
            continue
        table = log.counters(module).to_dict()
        for name in set(table) - PLACE:
            places = zip(table["rank"], table["id"], table[name], table["file"], table["mount"], table["fs"])
            for rank, id, value, *place in places:
                if value is not None:
                    found.setdefault(module, set()).add(row(module, rank, id, name, value, *place))
    for module in set(expected) | set(found):
        mine, yours = found.get(module, set()) - {None}, expected.get(module, set()) - {None}
        assert mine == yours, (module, sorted(mine - yours, key=str)[:3], sorted(yours - mine, key=str)[:3])


@pytest.mark.parametrize("path", logs(), ids=lambda path: pathlib.Path(path).name[:40])
def test_traces_are_those_of_dxt(path):
    expected = []
    for line in printed("dxt", path):
        words = line.split()
        expected.append((words[0], int(words[1]), words[2], *map(int, words[3:6]), *words[6:8]))
    log = netra.open(path)
    found = []
    for layer, name in (("POSIX", "X_POSIX"), ("MPI-IO", "X_MPIIO")):
        table = log.dxt(layer, columns=["rank", "operation", "segment", "offset", "length", "start", "end"]).to_dict()
        for rank, operation, segment, offset, length, start, end in zip(*table.values()):
            found.append((name, rank, operation, segment, offset, length, f"{start:.4f}", f"{end:.4f}"))
    assert found == expected


def test_a_damaged_log_raises_with_the_words_of_the_program(tmp_path):
    whole = pathlib.Path(WAVE).read_bytes()
    bad = tmp_path / "bad.darshan"
    for damage in (b"", whole[:7], whole[:1000], b"#" * 5000, whole[:8] + b"9.99\0" + whole[13:]):
        bad.write_bytes(damage)
        said = subprocess.run([PROGRAM, "info", str(bad)], capture_output=True, text=True)
        with pytest.raises(netra.Error) as raised:
            netra.open(bad)
        assert said.stderr.splitlines()[0] == f"netra: {raised.value}"
