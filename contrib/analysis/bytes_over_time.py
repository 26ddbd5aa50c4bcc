"""Bytes that each node or rank of a job reads and writes, over time.

`by` is `node` or `rank`; a row is one of them in one interval of `step` seconds. Without `step` there are about 500 intervals
of whole seconds.
"""

import pandas

inputs = {
    "moved": """
        WITH calls AS (
            SELECT CAST(t AS BIGINT) AS t, CASE WHEN $by = 'rank' THEN CAST(rank AS TEXT) ELSE node END AS name, op, bytes
            FROM activity
            WHERE job = job($job) AND op IN ('read', 'write') AND layer IN ('POSIX', 'STDIO')
        ), width AS (
            SELECT 1000000 * CASE WHEN $step > 0 THEN $step ELSE 1 + (max(t) - min(t)) / 500000000 END AS width FROM calls
        )
        SELECT t / width * width AS t, name, op, sum(bytes) AS bytes
        FROM calls CROSS JOIN width
        GROUP BY 1, 2, 3
    """,
}


def analyse(moved, job: str, by: str = "node", step: int = 0):
    if by not in ("node", "rank"):
        raise ValueError(f"by is node or rank, not {by!r}")
    moved = moved.astype({"op": str, "name": str}).rename(columns={"name": by})
    moved["t"] = pandas.to_datetime(moved["t"], unit="us", utc=True)
    table = moved.pivot_table(index=["t", by], columns="op", values="bytes", aggfunc="sum", fill_value=0)
    table = table.reindex(columns=["read", "write"], fill_value=0).rename(columns={"write": "written"})
    return table.reset_index()
