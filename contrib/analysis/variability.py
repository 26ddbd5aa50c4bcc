"""How much the rates of reads and writes vary, by the hour of the day (UTC).

A job's rate in an hour is what it moved by the time its calls took. `variation` is the rates' standard deviation by their mean.
"""

inputs = {
    "rates": """
        SELECT CAST(date_part('hour', t) AS BIGINT) AS hour, op, job, sum(bytes) AS bytes, sum(time) / 1e9 AS seconds
        FROM activity
        WHERE op IN ('read', 'write') AND layer IN ('POSIX', 'STDIO') AND strpos(exe, $exe) > 0
            AND ($since IS NULL OR t >= $since) AND ($until IS NULL OR t < $until)
        GROUP BY 1, op, job
    """,
}


def analyse(rates, exe: str = "", since: "datetime" = None, until: "datetime" = None):
    rates = rates[(rates["seconds"] > 0) & (rates["bytes"] > 0)].astype({"op": str})
    rates = rates.assign(rate=rates["bytes"] / rates["seconds"])
    table = rates.groupby(["hour", "op"], as_index=False)["rate"].agg(
        jobs="count", mean="mean", deviation="std", least="min", median="median", most="max"
    )
    return table.assign(variation=table["deviation"] / table["mean"])
