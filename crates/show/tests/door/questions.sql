-- Questions that netra and DuckDB answer alike over the same files: one a line, ordered, every column named.
SELECT count(*) AS n FROM events
SELECT count(*) AS n FROM jobs
SELECT count(*) AS n FROM activity
SELECT count(*) AS n FROM metrics
SELECT op, count(*) AS n FROM events GROUP BY op ORDER BY op
SELECT layer, op, count(*) AS n, sum(bytes) AS b FROM events GROUP BY layer, op ORDER BY layer, op
SELECT job, count(*) AS n, sum(duration) AS d FROM events GROUP BY job ORDER BY job
SELECT job, rank, count(*) AS n FROM events GROUP BY job, rank ORDER BY job, rank
SELECT job, min(t) AS a, max(t) AS b FROM events GROUP BY job ORDER BY job
SELECT job, rank, t, t_ns, duration, op FROM events WHERE job = 'slurm.4701.0' AND rank = 2 ORDER BY t, t_ns LIMIT 200
SELECT t, rank, op, bytes FROM events WHERE job = 'slurm.4702.0' AND t >= TIMESTAMPTZ '2026-11-16 00:02:05Z' AND t < TIMESTAMPTZ '2026-11-16 00:02:10Z' ORDER BY t, t_ns, rank
SELECT count(*) AS n FROM events WHERE t BETWEEN TIMESTAMPTZ '2026-11-16 00:01:00Z' AND TIMESTAMPTZ '2026-11-16 00:02:00Z'
SELECT count(*) AS n FROM events WHERE "offset" IS NULL
SELECT count("offset") AS n FROM events
SELECT count(DISTINCT file) AS f, count(DISTINCT job) AS j, count(DISTINCT rank) AS r FROM events
SELECT DISTINCT file FROM events ORDER BY file
SELECT DISTINCT error FROM events WHERE error IS NOT NULL ORDER BY error
SELECT min(duration) AS a, max(duration) AS b, sum(duration) AS c, avg(duration) AS d FROM events
SELECT op, stddev(duration) AS s, var_pop(duration) AS v FROM events GROUP BY op ORDER BY op
SELECT op, median(CAST(duration AS DOUBLE)) AS m FROM events GROUP BY op ORDER BY op
SELECT op, percentile_cont(0.95) WITHIN GROUP (ORDER BY CAST(duration AS DOUBLE)) AS p FROM events GROUP BY op ORDER BY op
SELECT job, sum(CASE WHEN op = 'read' THEN bytes ELSE 0 END) AS r, sum(CASE WHEN op = 'write' THEN bytes ELSE 0 END) AS w FROM events GROUP BY job ORDER BY job
SELECT file, sum(bytes) AS b FROM events WHERE op = 'write' GROUP BY file HAVING sum(bytes) > 100000 ORDER BY b DESC, file
SELECT file, count(*) AS n FROM events WHERE file LIKE '%/3.dat' GROUP BY file
SELECT upper(op) AS o, length(file) AS l, count(*) AS n FROM events GROUP BY upper(op), length(file) ORDER BY o, l
SELECT substr(file, 1, 8) AS s, count(*) AS n FROM events GROUP BY s ORDER BY s
SELECT j.user AS u, count(*) AS n FROM events e JOIN jobs j ON e.job = j.job GROUP BY j.user ORDER BY u
SELECT j.exe, e.op, sum(e.bytes) AS b FROM jobs j JOIN events e ON e.job = j.job WHERE e.rank = 0 GROUP BY j.exe, e.op ORDER BY j.exe, e.op
SELECT j.job, count(e.job) AS n FROM jobs j LEFT JOIN events e ON e.job = j.job AND e.error = 'EIO' GROUP BY j.job ORDER BY j.job
SELECT job FROM jobs WHERE job NOT IN (SELECT job FROM events WHERE rank = 99) ORDER BY job
SELECT job FROM jobs j WHERE EXISTS (SELECT 1 FROM events e WHERE e.job = j.job AND e.bytes = 32768) ORDER BY job
SELECT job, n FROM (SELECT job, count(*) AS n FROM events WHERE bytes > 4096 GROUP BY job) AS big WHERE n > 10 ORDER BY n DESC, job
WITH w AS (SELECT job, rank, sum(bytes) AS b FROM events WHERE op = 'write' GROUP BY job, rank) SELECT job, max(b) AS m, min(b) AS l FROM w GROUP BY job ORDER BY job
WITH w AS (SELECT rank, sum(duration) AS d FROM events GROUP BY rank) SELECT rank, d, d > (SELECT avg(d) FROM w) AS slow FROM w ORDER BY rank
SELECT job, rank, row_number() OVER (PARTITION BY job ORDER BY sum(bytes) DESC, rank) AS place FROM events GROUP BY job, rank ORDER BY job, place
SELECT sequence, duration - lag(duration) OVER (ORDER BY t, t_ns) AS step FROM events WHERE job = 'slurm.4700.0' AND rank = 0 ORDER BY sequence LIMIT 50
SELECT sequence, sum(bytes) OVER (ORDER BY sequence) AS so_far FROM events WHERE job = 'slurm.4700.0' AND rank = 1 ORDER BY sequence LIMIT 100
SELECT sequence, avg(duration) OVER (ORDER BY sequence ROWS BETWEEN 4 PRECEDING AND CURRENT ROW) AS moving FROM events WHERE job = 'slurm.4703.0' AND rank = 3 ORDER BY sequence LIMIT 100
SELECT job, first_value(op) OVER (PARTITION BY job ORDER BY t, t_ns, rank) AS f FROM events QUALIFY row_number() OVER (PARTITION BY job ORDER BY t, t_ns, rank) = 1 ORDER BY job
SELECT date_trunc('minute', t) AS m, count(*) AS n FROM events GROUP BY m ORDER BY m
SELECT date_trunc('second', t) AS s, sum(bytes) AS b FROM events WHERE job = 'slurm.4700.0' GROUP BY s ORDER BY s
SELECT floor(extract(epoch FROM t) / 10) * 10 AS g, count(*) AS n FROM events GROUP BY g ORDER BY g
SELECT extract(minute FROM t) AS m, count(*) AS n FROM events GROUP BY m ORDER BY m
SELECT extract(hour FROM t) AS h, extract(second FROM t) >= 30 AS late, count(*) AS n FROM events GROUP BY h, late ORDER BY h, late
SELECT time_bucket(INTERVAL '10 seconds', t) AS b, count(*) AS n FROM events GROUP BY b ORDER BY b
SELECT rank, CAST(sum(duration) AS DOUBLE) / 1e9 AS s FROM events GROUP BY rank ORDER BY rank
SELECT op, floor(avg(bytes)) AS a FROM events WHERE op IN ('read', 'write') GROUP BY op ORDER BY op
SELECT bytes, count(*) AS n FROM events GROUP BY bytes ORDER BY bytes
SELECT floor(ln(bytes) / ln(2)) AS e, count(*) AS n FROM events WHERE bytes > 0 GROUP BY e ORDER BY e
SELECT CASE WHEN bytes = 0 THEN 'none' WHEN bytes < 4096 THEN 'small' ELSE 'large' END AS size, count(*) AS n FROM events GROUP BY size ORDER BY size
SELECT coalesce(error, 'fine') AS e, count(*) AS n FROM events GROUP BY e ORDER BY e
SELECT nullif(bytes, 0) AS b, count(*) AS n FROM events WHERE rank = 0 GROUP BY b ORDER BY b NULLS LAST
SELECT rank % 2 AS odd, count(*) AS n FROM events GROUP BY odd ORDER BY odd
SELECT job, t, duration FROM events ORDER BY duration DESC, job, t, t_ns, rank LIMIT 20
SELECT job, rank, sequence FROM events ORDER BY job DESC, rank, sequence LIMIT 10 OFFSET 1000
SELECT op FROM events UNION SELECT layer FROM events ORDER BY 1
SELECT job FROM jobs EXCEPT SELECT job FROM jobs WHERE uid = 1000 ORDER BY 1
SELECT job FROM jobs INTERSECT SELECT job FROM events WHERE op = 'sync' ORDER BY 1
SELECT a.job AS x, b.job AS y FROM jobs a CROSS JOIN jobs b WHERE a.uid = b.uid AND a.job < b.job ORDER BY x, y
SELECT job, rank, op, sum(calls) AS c, sum(bytes) AS b, max(slowest) AS m FROM activity GROUP BY job, rank, op ORDER BY job, rank, op
SELECT t, sum(calls) AS c FROM activity WHERE job = 'slurm.4705.0' GROUP BY t ORDER BY t
SELECT "user" AS u, sum(time) AS d, sum(failed) AS f FROM activity GROUP BY u ORDER BY u
SELECT name, count(*) AS n, min(value) AS a, max(value) AS b, sum(value) AS s FROM metrics GROUP BY name ORDER BY name
SELECT name, t, value FROM metrics WHERE name = 'cpu.user_ms' AND t < TIMESTAMPTZ '2026-11-16 00:00:20Z' ORDER BY t
SELECT bool_and(rises) AS a, bool_or(value > 1e6) AS b FROM metrics
SELECT file_id, count(*) AS n FROM events GROUP BY file_id ORDER BY file_id
SELECT job, count(DISTINCT node) AS n FROM events GROUP BY job ORDER BY job
SELECT count(*) FILTER (WHERE op = 'open') AS o, count(*) FILTER (WHERE op = 'close') AS c FROM events
SELECT job, string_agg(DISTINCT op, ',' ORDER BY op) AS ops FROM events GROUP BY job ORDER BY job
SELECT round(avg(duration) / 1000.0, 3) AS us, greatest(max(rank), 2) AS g, least(min(rank), 2) AS l FROM events
SELECT day, count(*) AS n FROM events GROUP BY day ORDER BY day
SELECT command, "end" - t = INTERVAL '50 seconds' AS whole FROM jobs ORDER BY job
