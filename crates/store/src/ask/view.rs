//! `darshan_data`: the published connector's table, with the columns of the papers' message and of the current connector,
//! named as they were published, so that questions that were written for it go on working.
//!
//! What the connector counts along (`cnt`, `switches`, `flushes`, `max_byte`, `total`, selections) is counted here, over the
//! events in their order; `docs/format/connector.md` says what each means. As there, executable and file are named on `MET`
//! (open) and `N/A` otherwise, and −1 stands where a number does not apply.

use std::sync::Arc;

use datafusion::catalog::view::ViewTable;
use datafusion::catalog::{SchemaProvider as _, TableProvider};
use datafusion::common::Result;
use datafusion::prelude::SessionContext;

use super::catalog::Tables;

/// Names of the views.
pub(super) const NAMES: [&str; 1] = ["darshan_data"];

/// Names with capitals, which SQL would make small.
pub(super) const CAPITALS: [&str; 1] = ["ProducerName"];

/// The view over the tables as this person sees them.
pub(super) async fn table(name: &str, tables: &Tables) -> Result<Option<Arc<dyn TableProvider>>> {
    debug_assert!(NAMES.contains(&name), "{name}");
    let context = SessionContext::new();
    for name in ["events", "jobs"] {
        let Some(table) = tables.table(name).await? else { return Ok(None) };
        context.register_table(name, table)?;
    }
    let plan = context.state().create_logical_plan(SQL).await?;
    Ok(Some(Arc::new(ViewTable::new(plan, None))))
}

/// Three steps: the calls that the connector knows; what changes at each of them; what has come together until then.
/// Rows are always partitioned by job and rank first, so that a filter on them reaches the files.
const SQL: &str = r#"
WITH calls AS (
    SELECT
        events.*, started.job_id, started.began,
        CASE
            WHEN layer = 'MPI-IO' THEN 'MPIIO'
            WHEN layer = 'HDF5' AND data_set IS NULL THEN 'H5F'
            WHEN layer = 'HDF5' THEN 'H5D'
            ELSE layer
        END AS module,
        CASE op WHEN 'read' THEN 'read' WHEN 'write' THEN 'write' WHEN 'sync' THEN 'write' ELSE 'other' END AS direction,
        op IN ('read', 'write') AS moves
    FROM events
    JOIN (SELECT job, max(job_id) AS job_id, min(t) AS began FROM jobs GROUP BY job) AS started
        ON events.job = started.job
    WHERE error IS NULL AND file_id IS NOT NULL AND layer IN ('POSIX', 'STDIO', 'MPI-IO', 'HDF5')
),
steps AS (
    SELECT
        calls.*,
        coalesce(sum(CASE WHEN op = 'close' THEN 1 ELSE 0 END) OVER (
            PARTITION BY job, job_id, rank, process, module, file_id ORDER BY t, t_ns, sequence
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS closed,
        CASE WHEN moves AND lag(op) OVER (
            PARTITION BY job, job_id, rank, process, module, file_id, moves ORDER BY t, t_ns, sequence) <> op
            THEN 1 ELSE 0 END AS turned
    FROM calls
),
counted AS (
    SELECT
        steps.*,
        row_number() OVER (
            PARTITION BY job, job_id, rank, process, module, file_id, op, closed ORDER BY t, t_ns, sequence) AS cnt,
        sum(turned) OVER so_far AS switches,
        sum(CASE WHEN op = 'sync' THEN 1 ELSE 0 END) OVER so_far AS flushes,
        sum(CASE WHEN selection = 'points' THEN 1 ELSE 0 END) OVER so_far AS pt_sel,
        sum(CASE WHEN selection = 'irregular' THEN 1 ELSE 0 END) OVER so_far AS irreg_hslab,
        sum(CASE WHEN selection = 'regular' THEN 1 ELSE 0 END) OVER so_far AS reg_hslab,
        max(CASE WHEN moves AND "offset" >= 0 THEN "offset" + bytes - 1 END) OVER (
            PARTITION BY job, job_id, rank, process, module, file_id, op ORDER BY t, t_ns, sequence) AS reached,
        sum(duration) OVER (
            PARTITION BY job, job_id, rank, process, module, file_id, direction ORDER BY t, t_ns, sequence) AS total
    FROM steps
    WINDOW so_far AS (PARTITION BY job, job_id, rank, process, module, file_id ORDER BY t, t_ns, sequence)
)
SELECT
    CASE WHEN op = 'open' THEN 'darshan_data' ELSE 'N/A' END AS schema,
    uid,
    CASE WHEN op = 'open' THEN exe ELSE 'N/A' END AS exe,
    job_id,
    rank,
    node AS "ProducerName",
    CASE WHEN op = 'open' THEN file ELSE 'N/A' END AS file,
    CAST(CASE WHEN file_id < 0 THEN CAST(file_id AS DECIMAL(20, 0)) + CAST('18446744073709551616' AS DECIMAL(20, 0))
        ELSE CAST(file_id AS DECIMAL(20, 0)) END AS DECIMAL(20, 0)) AS record_id,
    module,
    CASE WHEN op = 'open' THEN 'MET' ELSE 'MOD' END AS type,
    CASE WHEN moves AND module IN ('POSIX', 'STDIO') THEN greatest(coalesce(reached, 0), 0) ELSE -1 END AS max_byte,
    CASE WHEN moves AND module IN ('POSIX', 'MPIIO', 'H5D') THEN switches ELSE -1 END AS switches,
    CASE WHEN module IN ('H5F', 'H5D') OR (module = 'STDIO' AND op IN ('write', 'close')) THEN flushes ELSE -1 END AS flushes,
    CAST(cnt AS BIGINT) AS cnt,
    op,
    coalesce(data_set, 'N/A') AS data_set,
    CASE WHEN selection IS NULL THEN -1 ELSE pt_sel END AS pt_sel,
    CASE WHEN selection IS NULL THEN -1 ELSE irreg_hslab END AS irreg_hslab,
    CASE WHEN selection IS NULL THEN -1 ELSE reg_hslab END AS reg_hslab,
    coalesce(dimensions, -1) AS ndims,
    coalesce(points, -1) AS npoints,
    CASE WHEN moves AND module <> 'H5D' THEN greatest(coalesce("offset", -1), -1) ELSE -1 END AS off,
    CASE WHEN moves THEN bytes ELSE -1 END AS len,
    CAST(CAST(t AS BIGINT) - CAST(began AS BIGINT) AS DOUBLE) / 1e6 + CAST(t_ns AS DOUBLE) / 1e9 AS start,
    CAST(duration AS DOUBLE) / 1e9 AS dur,
    CAST(total AS DOUBLE) / 1e9 AS total,
    CAST(CAST(t AS BIGINT) AS DOUBLE) / 1e6 + CAST(t_ns + duration AS DOUBLE) / 1e9 AS "timestamp"
FROM counted
WHERE op IN ('open', 'read', 'write', 'close')
"#;
