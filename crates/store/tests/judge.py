"""Reads every table of a store with other people's programs, and compares row for row with what netra gave.

judge.py STORE OURS: OURS holds a Parquet file for each table, written from netra's own answer.
"""

import pathlib
import sys

import deltalake
import duckdb
import polars
import pyarrow
import pyarrow.parquet


def rows(table, names):
    """The rows, comparable and sorted: moments as microseconds."""
    columns = []
    for name in names:
        column = table.column(name)
        if pyarrow.types.is_timestamp(column.type):
            column = column.cast(pyarrow.timestamp("us", "UTC")).cast(pyarrow.int64())
        columns.append(column.to_pylist())
    return sorted(map(repr, zip(*columns)))


def readers(path):
    table = deltalake.DeltaTable(path)
    yield "deltalake", lambda: table.to_pyarrow_table()
    yield "Polars", lambda: polars.read_delta(path).to_arrow()
    files = [str(file) for file in table.file_uris()]
    question = "select * from read_parquet($files, hive_partitioning = true, union_by_name = true)"
    yield "DuckDB", lambda: duckdb.connect().execute(question, {"files": files}).to_arrow_table()


def main(store, ours):
    checked = 0
    for file in sorted(pathlib.Path(ours).glob("*.parquet")):
        mine = pyarrow.parquet.read_table(file)
        names = mine.column_names
        wanted = rows(mine, names)
        for who, read in readers(str(pathlib.Path(store) / file.stem)):
            found = read()
            assert sorted(found.column_names) == sorted(names), (file.stem, who, found.column_names)
            found = rows(found, names)
            assert found == wanted, f"{file.stem}: {who} reads other rows: {found[:2]} {wanted[:2]}"
            checked += len(found)
    assert checked > 0, "nothing was compared"
    print(f"{checked} rows agree")


main(*sys.argv[1:])
