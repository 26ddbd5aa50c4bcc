"""Bytes that each node or rank of a job reads and writes, over time.

`by` is `node` or `rank`; a row is one of them in one interval of `step` seconds.
"""

import pandas

inputs = {
    "moved": """
        SELECT t, node, rank, op, sum(bytes) AS bytes
        FROM activity
        WHERE job = job($job) AND op IN ('read', 'write') AND layer IN ('POSIX', 'STDIO')
        GROUP BY t, node, rank, op
    """,
}


def analyse(moved, job: str, by: str = "node", step: int = 1):
    if by not in ("node", "rank"):
        raise ValueError(f"by is node or rank, not {by!r}")
    moved = moved.astype({"op": str, by: str})
    time = moved["t"].dt.floor(pandas.Timedelta(seconds=max(step, 1)))
    table = moved.assign(t=time).pivot_table(index=["t", by], columns="op", values="bytes", aggfunc="sum", fill_value=0)
    table = table.reindex(columns=["read", "write"], fill_value=0).rename(columns={"write": "written"})
    return table.reset_index()
