//! What jobs moved, from their counters: exact whether or not their calls were traced.

use std::collections::BTreeMap;

use netra_store::ask::{Error, Session};

use super::row::{Row, rows};
use crate::live::Cell;

/// What one job moved.
#[derive(Debug, Clone, Default)]
pub(super) struct Total {
    /// Read and written, by mount (`/scratch (lustre)`; empty where that is not known).
    pub(super) mounts: BTreeMap<String, [Cell; 2]>,
    /// Seconds in calls of all processes together.
    pub(super) seconds: f64,
    /// Seconds in calls of the process with most, of records that are one process's own.
    pub(super) slowest: f64,
    /// Seconds in calls on files that all ranks share, of all ranks together.
    pub(super) shared: f64,
}

impl Total {
    /// Read and written in all.
    pub(super) fn moved(&self) -> [Cell; 2] {
        let mut sums = [Cell::default(); 2];
        for cells in self.mounts.values() {
            sums.iter_mut().zip(cells).for_each(|(sum, more)| sum.fold(more));
        }
        sums
    }

    /// Seconds in calls of the slowest rank: its own, and its part of what is only known of all together.
    pub(super) fn of_slowest(&self, ranks: u64) -> f64 {
        self.slowest + self.shared / ranks.max(1) as f64
    }
}

/// One row for every record of a counter table, with the same names for both.
fn records(condition: &str) -> String {
    // Counters come and go with versions of the format: what is missing is nothing.
    let known = |name: &str, zero: &str, table: &str| format!("coalesce({table}_{name}, {zero})");
    let of = |table: &str| {
        let whole = |name: &str| known(name, "0", table);
        let time = |name: &str| known(name, "0.0", table);
        format!(
            "SELECT job, rank, process, mount, file_system, {} AS bytes_read, {} AS bytes_written, \
             {} AS reads, {} AS writes, {} AS read_time, {} AS write_time, {} AS meta_time \
             FROM {table} WHERE {condition}",
            whole("bytes_read"),
            whole("bytes_written"),
            whole("reads"),
            whole("writes"),
            time("f_read_time"),
            time("f_write_time"),
            time("f_meta_time"),
        )
    };
    format!("({} UNION ALL {})", of("posix"), of("stdio"))
}

/// The totals of every job for which a condition on `job` or `t` holds.
pub(super) async fn totals(
    session: &Session,
    condition: &str,
) -> Result<BTreeMap<String, Total>, Error> {
    let records = records(condition);
    let by_mount = format!(
        "SELECT job, mount, file_system, sum(bytes_read) AS bytes_read, sum(bytes_written) AS bytes_written, \
         sum(reads) AS reads, sum(writes) AS writes, sum(read_time) AS read_time, \
         sum(write_time) AS write_time, sum(meta_time) AS meta_time \
         FROM {records} GROUP BY job, mount, file_system"
    );
    let mut all: BTreeMap<String, Total> = BTreeMap::new();
    for row in rows(session, &by_mount).await? {
        let total = all.entry(row.text("job")).or_default();
        let cells = total.mounts.entry(mount(&row)).or_default();
        let way = |calls, bytes, time| Cell {
            calls: row.count(calls),
            bytes: row.count(bytes),
            nanos: nanos(row.float(time)),
        };
        cells[0].fold(&way("reads", "bytes_read", "read_time"));
        cells[1].fold(&way("writes", "bytes_written", "write_time"));
        let times = ["read_time", "write_time", "meta_time"];
        total.seconds += times.iter().filter_map(|name| row.float(name)).sum::<f64>();
    }
    let by_rank = format!(
        "SELECT job, max(CASE WHEN rank >= 0 OR process IS NOT NULL THEN seconds END) AS own, \
         sum(CASE WHEN rank < 0 AND process IS NULL THEN seconds END) AS shared FROM (\
         SELECT job, rank, process, sum(read_time + write_time + meta_time) AS seconds \
         FROM {records} GROUP BY job, rank, process) GROUP BY job"
    );
    for row in rows(session, &by_rank).await? {
        let total = all.entry(row.text("job")).or_default();
        total.slowest = row.float("own").unwrap_or(0.0);
        total.shared = row.float("shared").unwrap_or(0.0);
    }
    Ok(all)
}

/// A mount as pages call it.
fn mount(row: &Row) -> String {
    match (row.text("mount"), row.text("file_system")) {
        (mount, kind) if kind.is_empty() => mount,
        (mount, kind) => format!("{mount} ({kind})"),
    }
}

fn nanos(seconds: Option<f64>) -> u64 {
    // The cast saturates.
    (seconds.unwrap_or(0.0) * 1e9) as u64
}
