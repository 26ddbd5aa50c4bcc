"""Asks DuckDB the questions that netra was asked, over the same files, and compares the answers.

Arguments: the store's folder, a JSON file [{"sql", "rows"}].
"""
import datetime
import decimal
import json
import pathlib
import sys

import duckdb

folder, asked = pathlib.Path(sys.argv[1]), json.loads(pathlib.Path(sys.argv[2]).read_text())
duck = duckdb.connect()
duck.execute("SET TimeZone = 'UTC'")
for table in sorted(path for path in folder.iterdir() if (path / "_delta_log").is_dir()):
    files = [str(file) for file in table.rglob("*.parquet") if "_delta_log" not in file.parts]
    if files:
        listed = ", ".join(f"'{file}'" for file in files)
        duck.execute(f"CREATE VIEW {table.name} AS SELECT * FROM read_parquet([{listed}], hive_partitioning = true)")


def fetched(sql):
    """Rows through Arrow: DuckDB's own way wants another package for times with a zone."""
    table = duck.sql(sql).to_arrow_table()
    return zip(*(column.to_pylist() for column in table.columns)) if table.num_rows else []


def plain(value):
    if isinstance(value, (datetime.datetime, datetime.date)):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, decimal.Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return value


def same(ours, theirs):
    if ours is None or theirs is None:
        return ours is None and theirs is None
    if isinstance(ours, bool) or isinstance(theirs, bool):
        return bool(ours) == bool(theirs)
    if isinstance(ours, (int, float)) and isinstance(theirs, (int, float)):
        return ours == theirs or abs(ours - theirs) <= 1e-8 * max(abs(ours), abs(theirs))
    if isinstance(theirs, str) and theirs.endswith("Z"):
        return stripped(str(ours)) == stripped(theirs)
    return str(ours) == str(theirs)


def stripped(time):
    whole, _, part = time.rstrip("Z").partition(".")
    return whole + ("." + part.rstrip("0") if part.rstrip("0") else "")


wrong = 0
for question in asked:
    theirs = [[plain(value) for value in row] for row in fetched(question["sql"])]
    ours = question["rows"]
    if len(ours) != len(theirs) or not all(
        len(a) == len(b) and all(same(x, y) for x, y in zip(a, b)) for a, b in zip(ours, theirs)
    ):
        wrong += 1
        print(f"differs: {question['sql']}\n  netra  {ours[:3]} … {len(ours)} rows\n  DuckDB {theirs[:3]} … {len(theirs)} rows")
print(f"{len(asked)} questions, {wrong} differ")
sys.exit(1 if wrong else 0)
