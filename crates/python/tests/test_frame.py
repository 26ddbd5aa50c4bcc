"""Data frames: the values, kinds and memory of columns as pandas gets them, beside the same table as plain lists."""

import struct
import subprocess
import sys
import textwrap
import zlib

import numpy
import pandas
import pytest

import netra
from conftest import examples


def same(frame, lists):
    """Whether a frame has these values; an absent one is None there and missing here."""
    assert list(frame.columns) == list(lists)
    for name, values in lists.items():
        column = frame[name]
        assert len(column) == len(values)
        for mine, yours in zip(column.astype(object), values):
            if yours is None:
                assert pandas.isna(mine), name
            elif isinstance(yours, float) and numpy.isnan(yours):
                assert numpy.isnan(mine), name
            else:
                assert mine == yours and isinstance(mine, (str, int, float, numpy.number)), name


def test_a_frame_has_what_the_table_has(example):
    log = netra.open(example)
    tables = [log.heatmap(), log.names(), log.trace()]
    for module in log.modules:
        if module.startswith("DXT_"):
            tables.append(log.dxt(module))
        elif module != "HEATMAP":
            tables.append(log.counters(module))
    for table in tables:
        same(table.to_pandas(), table.to_dict())


def test_kinds_of_columns(wave):
    frame = netra.open(wave).dxt("POSIX").to_pandas()
    kinds = {name: str(kind) for name, kind in frame.dtypes.items()}
    assert kinds["rank"] == kinds["segment"] == kinds["offset"] == kinds["length"] == "int64"
    assert kinds["id"] == "uint64" and kinds["start"] == kinds["end"] == "float64"
    assert kinds["file"] == kinds["operation"] == kinds["host"] == "category"
    assert frame["operation"].cat.codes.dtype == "int8"
    assert set(frame["operation"].cat.categories) == {"write", "read"} or set(frame["operation"]) == {"write"}


def test_pandas_before_2_1_makes_the_same_categories(wave, monkeypatch):
    expected = netra.open(wave).dxt("POSIX").to_pandas()
    made = pandas.Categorical.from_codes
    # It does not know the argument.
    monkeypatch.setattr(pandas.Categorical, "from_codes", lambda codes, categories: made(codes, categories))
    pandas.testing.assert_frame_equal(netra.open(wave).dxt("POSIX").to_pandas(), expected)


def test_whole_numbers_with_holes_stay_whole(wave):
    # Only one of them says which thread it was.
    old = next(path for path in examples() if path.endswith("sample-dxt-simple.darshan"))
    table = netra.open([wave, old]).dxt("POSIX")
    frame, lists = table.to_pandas(), table.to_dict()
    assert str(frame["thread"].dtype) == "UInt64"
    assert [None if pandas.isna(value) else int(value) for value in frame["thread"]] == lists["thread"]
    assert None in lists["thread"] and any(lists["thread"])


def test_no_rows_and_no_columns(wave):
    log = netra.open(wave)
    empty = log.dxt("POSIX", ranks=[99]).to_pandas()
    assert len(empty) == 0 and list(empty.columns) == log.dxt("POSIX").columns
    assert str(empty["offset"].dtype) == "int64"
    assert log.dxt("POSIX", columns=[]).to_pandas().shape == (192, 0)


def test_a_frame_can_be_written_and_outlives_its_table(wave):
    frame = netra.open(wave).dxt("POSIX").to_pandas()
    before = frame["length"].sum()
    frame.loc[0, "length"] += 5
    frame.loc[0, "operation"] = "write"
    assert frame["length"].sum() == before + 5
    copies = [netra.open(wave).dxt("POSIX").to_pandas()["length"] for _ in range(20)]
    assert {int(column.sum()) for column in copies} == {int(before)}


def test_labels_of_any_number_have_room(wave, tmp_path):
    # 300 logs are more than a byte can number.
    bytes = open(wave, "rb").read()
    paths = []
    for number in range(300):
        paths.append(tmp_path / f"{number:03}.darshan")
        paths[-1].write_bytes(bytes)
    frame = netra.open(paths).counters("POSIX", columns=["log", "rank"]).to_pandas()
    assert frame["log"].cat.codes.dtype == "int16"
    assert list(frame["log"].astype(str)) == [str(path) for path in paths for _ in range(5)]


def test_names_that_are_no_text_are_one_label(wave, tmp_path):
    log = bytearray(open(wave, "rb").read())
    # Where the names lie, and how long they are, stands in the header.
    at = 32
    offset, length = struct.unpack_from("<QQ", log, at)
    names, rest = b"", bytes(log[offset : offset + length])
    while rest:
        stream = zlib.decompressobj()
        names += stream.decompress(rest)
        rest = stream.unused_data
    for name, other in ((b"/scratch/run/field.dat", b"\xfe"), (b"/scratch/run/checkpoint.0", b"\xff")):
        assert name in names
        names = names.replace(name, other)
    made = zlib.compress(names)
    assert len(made) <= length
    log[offset : offset + len(made)] = made
    struct.pack_into("<QQ", log, at, offset, len(made))
    (tmp_path / "odd.darshan").write_bytes(log)
    frame = netra.open(tmp_path / "odd.darshan").dxt("POSIX", columns=["id", "file"]).to_pandas()
    others = {f"/scratch/run/checkpoint.{number}" for number in (1, 2, 3)}
    assert set(frame["file"]) == set(frame["file"].cat.categories) == others | {"\ufffd"}
    assert frame[frame["file"] == "\ufffd"]["id"].nunique() == 2


def test_a_log_needs_no_pyarrow_for_pandas(wave):
    code = textwrap.dedent(f"""
        import sys
        sys.modules["pyarrow"] = None
        import netra
        print(len(netra.open({wave!r}).dxt("POSIX").to_pandas()))
    """)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("192\n", "")


def test_progress_is_told(wave):
    for read in ("count", "to_dict", "to_pandas", "to_pyarrow", "to_polars"):
        shares = []
        getattr(netra.open(wave).dxt("POSIX"), read)(progress=shares.append)
        assert shares and shares == sorted(shares) and shares[-1] == 1.0, read
        assert all(0 <= share <= 1 for share in shares)


def test_an_error_in_who_is_told_ends_the_reading(wave):
    def refuse(share):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        netra.open(wave).dxt("POSIX").to_pandas(progress=refuse)


def test_progress_is_said_after_a_second(wave, capsys, monkeypatch):
    from netra import _progress

    clock = iter(range(0, 1000, 2))
    monkeypatch.setattr(_progress.time, "monotonic", lambda: next(clock))
    netra.open(wave).dxt("POSIX").count(progress=True)
    said = capsys.readouterr().err
    assert said.startswith("\rnetra: 100% read") and said.endswith("\r")
