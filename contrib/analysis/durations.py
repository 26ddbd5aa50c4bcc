"""How long operations take, over the time of a job.

A row is one operation in one interval of `step` seconds: calls that began in it, their mean duration and the longest. Without
`step` there are about 500 intervals of whole seconds.
"""

import pandas

inputs = {
    "calls": """
        WITH calls AS (
            SELECT CAST(t AS BIGINT) AS t, op, calls, time, slowest
            FROM activity
            WHERE job = job($job) AND layer = $layer
        ), width AS (
            SELECT 1000000 * CASE WHEN $step > 0 THEN $step ELSE 1 + (max(t) - min(t)) / 500000000 END AS width FROM calls
        )
        SELECT t / width * width AS t, op, sum(calls) AS calls, sum(time) / 1e9 AS seconds, max(slowest) / 1e9 AS slowest
        FROM calls CROSS JOIN width
        GROUP BY 1, 2 ORDER BY 1, 2
    """,
}


def analyse(calls, job: str, layer: str = "POSIX", step: int = 0):
    time = pandas.to_datetime(calls["t"], unit="us", utc=True)
    return calls.assign(t=time, op=calls["op"].astype(str), mean=calls["seconds"] / calls["calls"])
