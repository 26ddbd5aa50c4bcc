"""How long operations take, over the time of a job.

A row is one operation in one interval of `step` seconds: calls that began in it, their mean duration and the longest.
"""

import pandas

inputs = {
    "calls": """
        SELECT t, op, sum(calls) AS calls, sum(time) / 1e9 AS seconds, max(slowest) / 1e9 AS slowest
        FROM activity
        WHERE job = job($job) AND layer = $layer
        GROUP BY t, op
    """,
}


def analyse(calls, job: str, layer: str = "POSIX", step: int = 1):
    calls = calls.astype({"op": str})
    time = calls["t"].dt.floor(pandas.Timedelta(seconds=max(step, 1)))
    groups = calls.assign(t=time).groupby(["t", "op"], as_index=False)
    table = groups.agg(calls=("calls", "sum"), seconds=("seconds", "sum"), slowest=("slowest", "max"))
    return table.assign(mean=table["seconds"] / table["calls"])
