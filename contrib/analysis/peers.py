"""Runs that differ from their peers: jobs of one executable and one number of processes.

For each measure, `times` says how many scaled median absolute deviations a run lies from the median of its peers. A run is
`different` when it lies further than `limit` in any of them. Groups of fewer than `least` runs are left out.
"""

import pandas

inputs = {
    "sums": """
        SELECT job, sum(calls) AS calls, sum(bytes) AS bytes, sum(time) / 1e9 AS seconds
        FROM activity
        WHERE layer IN ('POSIX', 'STDIO') AND strpos(exe, $exe) > 0
            AND ($since IS NULL OR t >= $since) AND ($until IS NULL OR t < $until)
        GROUP BY job
    """,
    "jobs": """
        SELECT job, t, exe, nprocs, (end_ns - start_ns) / 1e9 AS run_seconds
        FROM jobs
        WHERE strpos(exe, $exe) > 0 AND ($since IS NULL OR t >= $since) AND ($until IS NULL OR t < $until)
    """,
}

MEASURES = ["calls", "bytes", "seconds", "run_seconds"]


def distance(values):
    """Scaled deviations from the median; what differs by less than a hundredth does not differ."""
    median = values.median()
    spread = 1.4826 * (values - median).abs().median()
    return (values - median) / max(spread, 0.01 * abs(median), 1e-9)


def analyse(sums, jobs, exe: str = "", since: "datetime" = None, until: "datetime" = None, limit: float = 3.5, least: int = 4):
    runs = jobs.astype({"job": str, "exe": str}).merge(sums.astype({"job": str}), on="job")
    runs["run_seconds"] = runs["run_seconds"].astype(float)
    runs = runs[runs.groupby(["exe", "nprocs"])["job"].transform("count") >= least].copy()
    far = pandas.Series(False, index=runs.index)
    for measure in MEASURES:
        times = runs.groupby(["exe", "nprocs"])[measure].transform(distance).astype(float)
        runs[measure + "_times"] = times
        far |= times.abs() > limit
    return runs.assign(different=far).sort_values(["exe", "nprocs", "t"]).reset_index(drop=True)
