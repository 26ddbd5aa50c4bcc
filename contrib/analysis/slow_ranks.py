"""Ranks whose I/O takes much longer than that of the others of their job.

A rank is slow when its time lies more than `times` scaled median absolute deviations above the median of all ranks.
"""

inputs = {
    "ranks": """
        SELECT rank, sum(calls) AS calls, sum(bytes) AS bytes, sum(time) / 1e9 AS seconds, max(slowest) / 1e9 AS slowest
        FROM activity
        WHERE job = job($job) AND layer IN ('POSIX', 'STDIO') AND rank >= 0
        GROUP BY rank ORDER BY rank
    """,
}


def analyse(ranks, job: str, times: float = 3.0):
    median = ranks["seconds"].median()
    spread = 1.4826 * (ranks["seconds"] - median).abs().median()
    # Ranks that differ by less than a hundredth do not differ.
    limit = median + times * max(spread, 0.01 * median)
    return ranks.assign(median=median, limit=limit, slow=ranks["seconds"] > limit)
