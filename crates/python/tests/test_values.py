"""Every table against PyDarshan's values, on its own example logs."""

import darshan
import numpy as np
import pytest

import netra

GENERIC = [
    "POSIX", "MPI-IO", "STDIO", "H5F", "H5D", "PNETCDF_FILE", "PNETCDF_VAR", "BG/Q", "MDHIM", "DFS", "DAOS",
]


# darshan-util loses these when it raises version 3 of the module; darshan-parser prints zero as well.
LOST = {("POSIX", 3): {"POSIX_F_VARIANCE_RANK_TIME", "POSIX_F_VARIANCE_RANK_BYTES"}}


@pytest.fixture
def both(example):
    """The example read by both; a log that PyDarshan can not read is not for this file."""
    report = darshan.DarshanReport(example, read_all=False)
    return netra.open(example), report


def test_counters_are_equal(both):
    ours, theirs = both
    for module in (module for module in theirs.modules if module in GENERIC):
        theirs.mod_read_all_records(module, dtype="pandas")
        if module not in theirs.records or len(theirs.records[module]) == 0:
            assert ours.counters(module).count() == 0
            continue
        records = theirs.records[module][0]
        table = ours.counters(module).to_pandas()
        for part, kind in (("counters", np.int64), ("fcounters", np.float64)):
            frame = records[part]
            assert len(frame) == len(table)
            assert (frame["rank"].to_numpy() == table["rank"].to_numpy()).all()
            assert (frame["id"].to_numpy().astype(np.uint64) == table["id"].to_numpy()).all()
            lost = LOST.get((module, theirs.modules[module]["ver"]), set())
            for name in set(frame.columns) - {"rank", "id"} - lost:
                if name == "POSIX_RENAMED_FROM":
                    # An id, of which PyDarshan's data frame keeps as much as fits a float.
                    approximate = table[name].to_numpy().astype(np.int64).astype(np.float64)
                    np.testing.assert_allclose(approximate, frame[name].to_numpy().astype(float), rtol=1e-15)
                    continue
                expected = frame[name].to_numpy().astype(kind)
                np.testing.assert_array_equal(table[name].to_numpy().astype(kind), expected, name)


def test_names_are_equal(both):
    ours, theirs = both
    theirs.read_name_records()
    names = ours.names().to_dict()
    assert dict(zip(names["id"], names["file"])) == theirs.name_records


@pytest.mark.parametrize("layer", ["POSIX", "MPIIO"])
def test_traces_are_equal(both, layer):
    ours, theirs = both
    module = "DXT_" + layer
    if module not in theirs.modules:
        assert ours.dxt(layer).count() == 0
        return
    theirs.mod_read_all_dxt_records(module, dtype="numpy")
    columns = ["rank", "id", "operation", "segment", "offset", "length", "start", "end"]
    table = ours.dxt(layer, columns=columns).to_dict()
    rows = list(zip(*(table[name] for name in columns)))
    expected = [
        (record["rank"], record["id"], word, number, segment["offset"], segment["length"],
         segment["start_time"], segment["end_time"])
        for record in theirs.records[module]
        for word in ("write", "read")
        for number, segment in enumerate(record[word + "_segments"])
    ]
    assert rows == expected


def test_heat_maps_are_equal(both):
    ours, theirs = both
    table = ours.heatmap().to_pandas()
    if "HEATMAP" not in theirs.modules:
        assert len(table) == 0
        return
    theirs.read_all_heatmap_records()
    assert set(table["layer"]) == set(theirs.heatmaps)
    for layer, expected in theirs.heatmaps.items():
        own = table[table["layer"] == layer]
        for ops, column in ((["read"], "read"), (["write"], "written")):
            frame = expected.to_df(ops=ops)
            sums = own.groupby("rank")[column].sum()
            np.testing.assert_array_equal(frame.sum(axis=1).to_numpy(), sums.to_numpy())


def test_the_job_is_equal(both):
    ours, theirs = both
    job, expected = ours.job, theirs.metadata["job"]
    assert job["id"] == expected["jobid"]
    assert job["uid"] == expected["uid"]
    assert job["processes"] == expected["nprocs"]
    assert job["start_ns"] == expected["start_time_sec"] * 10**9 + expected["start_time_nsec"]
    assert set(ours.modules) == {name for name in theirs.modules if name in ours.modules}
