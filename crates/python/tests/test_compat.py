"""netra.compat against PyDarshan itself: the same calls, the same values."""

import copy
import json
import pickle

import darshan
import numpy as np
import pytest
from pandas.testing import assert_frame_equal

from netra.compat import DarshanReport

# darshan-util loses these when it raises version 3 of the module.
LOST = ["POSIX_F_VARIANCE_RANK_TIME", "POSIX_F_VARIANCE_RANK_BYTES"]


def frames(report, module):
    found = report.records[module].to_df()
    if module == "POSIX" and report.modules[module]["ver"] == 3:
        found["fcounters"] = found["fcounters"].drop(columns=LOST)
    return found


def test_everything_that_is_read_is_equal(example):
    ours, theirs = DarshanReport(example), darshan.DarshanReport(example)
    # PyDarshan gives up on a command line that fills its field.
    assert ours.metadata["exe"] == theirs.metadata["exe"] or not theirs.metadata["exe"]
    for name, value in theirs.metadata["job"].items():
        if name in ("run_time", "metadata"):
            continue
        assert ours.metadata["job"][name] == value, name
    assert ours.start_time == theirs.start_time
    assert ours.name_records == theirs.name_records
    assert sorted(ours.mounts) == sorted((mount[0], mount[1]) for mount in theirs.mounts)
    for module, expected in theirs.modules.items():
        for name in ("len", "ver", "idx", "partial_flag"):
            assert ours.modules[module][name] == expected[name], (module, name)
    for module, records in theirs.records.items():
        if module in ("APMPI", "APXC"):
            continue
        assert len(ours.records[module]) == len(records), module
        if len(records) == 0:
            continue
        if module.startswith("DXT_"):
            assert list(ours.records[module]) == [record for record in records.to_numpy()]
        elif module == "LUSTRE":
            one, other = ours.records[module].to_df()["components"], records.to_df()["components"]
            assert_frame_equal(
                one.drop(columns="LUSTRE_OST_IDS"), other.drop(columns="LUSTRE_OST_IDS"), check_dtype=False
            )
            for mine, yours in zip(one["LUSTRE_OST_IDS"], other["LUSTRE_OST_IDS"]):
                np.testing.assert_array_equal(mine, yours)
        else:
            assert ours.counters[module] == theirs.counters[module]
            mine, yours = frames(ours, module), frames(theirs, module)
            for part in ("counters", "fcounters"):
                assert_frame_equal(mine[part], yours[part], check_dtype=False)
    assert set(ours.heatmaps) == set(theirs.heatmaps)
    for layer, heatmap in theirs.heatmaps.items():
        for ops in (["read"], ["write"], ["read", "write"]):
            mine, yours = ours.heatmaps[layer].to_df(ops=ops), heatmap.to_df(ops=ops)
            np.testing.assert_array_equal(mine.to_numpy(), yours.to_numpy())


def test_names_are_filtered(example):
    pattern = [r"\.h5$|\.dat$|STD"]
    for mode in ("exclude", "include"):
        ours = DarshanReport(example, filter_patterns=pattern, filter_mode=mode)
        theirs = darshan.DarshanReport(example, filter_patterns=pattern, filter_mode=mode)
        assert ours.name_records == theirs.name_records
        for module in ("POSIX", "STDIO", "MPI-IO"):
            if module in theirs.records:
                assert len(ours.records[module]) == len(theirs.records[module])


def test_what_is_no_log_is_the_error_that_scripts_expect(tmp_path):
    with pytest.raises(RuntimeError, match="Failed to open file"):
        DarshanReport(str(tmp_path / "absent"))


def test_other_shapes(wave):
    report = DarshanReport(wave, read_all=False)
    report.mod_read_all_records("POSIX", dtype="dict")
    first = report.records["POSIX"][0]
    assert first["counters"]["POSIX_OPENS"] >= 1
    report.mod_read_all_records("POSIX", dtype="pandas")
    assert len(report.records["POSIX"][0]["counters"]) == 5
    assert report.records["POSIX"][0]["fcounters"]["POSIX_F_WRITE_TIME"].sum() > 0


def test_a_report_survives_copies_and_says_what_it_is(wave, capsys):
    report = DarshanReport(wave)
    for copied in (copy.deepcopy(report), pickle.loads(pickle.dumps(report))):
        mine, yours = copied.records["POSIX"].to_numpy()[0], report.records["POSIX"].to_numpy()[0]
        np.testing.assert_array_equal(mine["counters"], yours["counters"])
        assert not np.may_share_memory(mine["counters"], yours["counters"])
        copied.mod_read_all_records("STDIO" if "STDIO" in copied.modules else "POSIX")
    report.info()
    report.records["POSIX"].info()
    said = capsys.readouterr().out
    for words in ("Executable:     ./wave /scratch/run", "JobID:          4711", "Processes:      4", "Records:      5"):
        assert words in said
    told = json.loads(report.to_json())
    assert told["metadata"]["job"]["jobid"] == 4711
    assert told["records"]["POSIX"][0]["counters"] == report.records["POSIX"][0]["counters"].tolist()


def test_one_record_has_the_shapes_of_all(wave):
    record = DarshanReport(wave).records["POSIX"][0]
    frames = record.to_df()
    assert len(frames["counters"]) == 1 and frames["counters"]["id"][0] == record["id"]
    assert record.to_dict()[0]["counters"]["POSIX_OPENS"] == frames["counters"]["POSIX_OPENS"][0]


def test_a_heat_map_knows_its_operations(wave):
    heatmap = DarshanReport(wave).heatmaps["POSIX"]
    assert f"nbins={len(heatmap.to_df(ops=['write']).columns)}" in repr(heatmap)
    with pytest.raises(ValueError, match="seek not in heatmap"):
        heatmap.to_df(ops=["seek"])
