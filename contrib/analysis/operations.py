"""Operations per rank of a job, and how much they spread over the runs of the same program.

Runs are the jobs whose executable is that of `job`. `low` and `high` bound the mean over runs at 95 %, by Student's
distribution; of one run there is no spread.
"""

import math

inputs = {
    "calls": """
        SELECT job, rank, op, sum(calls) AS calls, sum(bytes) AS bytes
        FROM activity
        WHERE exe = (SELECT max(exe) FROM jobs WHERE job = job($job)) AND layer IN ('POSIX', 'STDIO')
        GROUP BY job, rank, op
    """,
    "chosen": "SELECT job FROM jobs WHERE job = job($job)",
}

# Quantiles of 0.975 for 1 to 30 degrees of freedom.
STUDENT = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
]


def analyse(calls, chosen, job: str):
    calls = calls.astype({"job": str, "op": str})
    mine = calls[calls["job"].isin(set(chosen["job"].astype(str)))]
    spread = calls.groupby(["op", "rank"])["calls"].agg(
        runs="count", mean="mean", deviation="std", least="min", most="max"
    )
    table = mine.groupby(["op", "rank"])[["calls", "bytes"]].sum().join(spread).reset_index()
    runs = table["runs"]
    student = [STUDENT[min(int(count) - 2, 29)] if count > 1 else math.nan for count in runs]
    half = student * table["deviation"] / runs**0.5
    return table.assign(low=table["mean"] - half, high=table["mean"] + half)
