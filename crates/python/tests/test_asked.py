"""Rows that the program writes, as pandas gets them: a stand-in for the program gives rows that are known."""

import datetime
import subprocess
import sys
import textwrap

import pandas
import pyarrow
import pytest

import netra

UTC = datetime.timezone.utc
MOMENT = datetime.datetime(2026, 11, 16, 10, 0, 0, 250, tzinfo=UTC)
WHOLE = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


@pytest.fixture
def says(tmp_path):
    """A program that writes these batches, whatever it is asked."""

    def make(batches):
        rows = tmp_path / "rows.arrows"
        with pyarrow.OSFile(str(rows), "wb") as out, pyarrow.ipc.new_stream(out, batches[0].schema) as writer:
            for batch in batches:
                writer.write_batch(batch)
        program = tmp_path / "netra"
        program.write_text(f'#!/bin/sh\nexec cat "{rows}"\n')
        program.chmod(0o755)
        return str(program)

    return make


def numbers():
    """Two batches; holes come with the second."""
    columns = {name: (name, [1, 2], [None, 4]) for name in WHOLE}
    columns["exact"] = ("uint64", [2**64 - 1, 0], [2**53 + 1, 1])
    columns["float"] = ("float64", [0.5, 1.5], [None, 2.5])
    columns["short"] = ("float32", [0.5, 1.5], [0.25, None])
    columns["t"] = (pyarrow.timestamp("us", tz="UTC"), [MOMENT, MOMENT], [None, MOMENT])
    columns["plain"] = (pyarrow.timestamp("ms"), [MOMENT.replace(tzinfo=None)] * 2, [datetime.datetime(1969, 1, 1), None])
    batches = []
    for part in (1, 2):
        arrays = [pyarrow.array(column[part], pyarrow.type_for_alias(column[0]) if isinstance(column[0], str) else column[0])
                  for column in columns.values()]
        batches.append(pyarrow.record_batch(arrays, names=list(columns)))
    return batches


def test_numbers_and_times_keep_their_kinds(says):
    table = netra.store("/", program=says(numbers())).sql("")
    frame, lists = table.to_pandas(), table.to_dict()
    kinds = {name: str(kind) for name, kind in frame.dtypes.items()}
    for name in WHOLE:
        assert kinds[name] == name.replace("u", "U").replace("int", "Int")
        assert frame[name].isna().tolist() == [False, False, True, False]
        assert frame[name].dropna().tolist() == [1, 2, 4]
    assert (kinds["exact"], kinds["float"], kinds["short"]) == ("uint64", "float64", "float32")
    assert frame["exact"].tolist() == lists["exact"] == [2**64 - 1, 0, 2**53 + 1, 1]
    assert frame["float"].fillna(-1).tolist() == [0.5, 1.5, -1, 2.5]
    assert frame["short"].fillna(-1).tolist() == [0.5, 1.5, 0.25, -1]
    assert kinds["t"] == "datetime64[us, UTC]" and kinds["plain"] == "datetime64[ms]"
    assert frame["t"].dropna().tolist() == [MOMENT] * 3 and pandas.isna(frame["t"][2])
    assert frame["plain"][2] == datetime.datetime(1969, 1, 1) and pandas.isna(frame["plain"][3])


def test_numbers_are_what_pyarrow_makes_of_them(says):
    batches = [batch.slice(0, 1) for batch in numbers()[:1]] * 3
    frame = netra.store("/", program=says(batches)).sql("").to_pandas()
    pandas.testing.assert_frame_equal(frame, pyarrow.Table.from_batches(batches).to_pandas(), check_column_type=False)


def test_no_rows_keep_their_columns(says):
    frame = netra.store("/", program=says([numbers()[0].slice(0, 0)])).sql("").to_pandas()
    assert len(frame) == 0 and str(frame["int64"].dtype) == "int64"


def test_numbers_beside_texts_stay_whole(says):
    batch = pyarrow.record_batch({"n": pyarrow.array([2**53 + 1, None]), "one": [1, 1], "text": ["a", None]})
    frame = netra.store("/", program=says([batch])).sql("").to_pandas()
    assert [(name, str(kind)) for name, kind in frame.dtypes.items()][:2] == [("n", "Int64"), ("one", "int64")]
    assert frame["n"][0] == 2**53 + 1 and frame["text"].tolist()[0] == "a"


def test_numbers_need_no_pyarrow(says):
    code = textwrap.dedent(f"""
        import sys
        sys.modules["pyarrow"] = None
        import netra
        print(netra.store("/", program={says(numbers())!r}).sql("").to_pandas()["int64"].sum())
    """)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("7\n", "")
