"""netra's own trace against the lines that the program exports, and Darshan's extended trace where there is no other."""

import json
import os
import pathlib
import subprocess

import pytest

import netra

PROGRAM = os.environ.get("NETRA_PROGRAM")
ROOT = pathlib.Path(__file__).resolve().parents[3]
WAVE = ROOT / "docs" / "example" / "wave.darshan"


def lines(log):
    said = subprocess.run([PROGRAM, "export", str(log), "--as", "json-lines"], check=True, capture_output=True, text=True)
    return [json.loads(line) for line in said.stdout.splitlines()]


@pytest.mark.skipif(PROGRAM is None, reason="NETRA_PROGRAM names no program")
@pytest.mark.parametrize("log", [WAVE])
def test_every_call_is_the_exported_one(log):
    table = netra.open(log).trace().to_dict()
    rows = lines(log)
    assert len(table["rank"]) == len(rows) > 0
    pairs = {
        "rank": "rank", "host": "host", "pid": "pid", "thread": "thread", "lane": "lane", "index": "index",
        "layer": "layer", "function": "function", "kind": "kind", "file": "file", "within": "within",
        "start_ns": "start_ns", "took_ns": "took_ns", "moved": "moved_bytes", "errno": "errno",
        "number": "number", "parent": "parent", "site": "site",
    }
    for ours, theirs in pairs.items():
        assert table[ours] == [row.get(theirs) for row in rows], ours
    assert table["id"] == [int(row["record_id"]) if "record_id" in row else None for row in rows]
    start = netra.open(log).job["start_ns"]
    for begin, end, row in zip(table["start"], table["end"], rows):
        assert begin == (row["start_ns"] - start) / 1e9
        assert end == (row["start_ns"] + row["took_ns"] - start) / 1e9
    moving = [row for row in rows if row["kind"] in ("read", "write")]
    chosen = [place for place, kind in enumerate(table["kind"]) if kind in ("read", "write")]
    assert [table["offset"][place] for place in chosen] == [row.get("offset_bytes") for row in moving]
    assert [table["length"][place] for place in chosen] == [row["asked_bytes"] for row in moving]


def test_ranks_and_columns_are_chosen(wave):
    log = netra.open(wave)
    everything = log.trace().to_pandas()
    some = log.trace(ranks=[2], columns=["function", "took_ns"]).to_pandas()
    wanted = everything[everything["rank"] == 2]
    assert list(some.columns) == ["function", "took_ns"]
    assert some["took_ns"].tolist() == wanted["took_ns"].tolist() != []
    assert some["function"].tolist() == wanted["function"].tolist()


def test_darshans_own_trace_stands_in(example):
    log = netra.open(example)
    # An example of PyDarshan: nothing but its DXT modules can be there.
    segments = sum(log.dxt(layer).count() for layer in ("POSIX", "MPI-IO"))
    assert log.trace().count() == segments
