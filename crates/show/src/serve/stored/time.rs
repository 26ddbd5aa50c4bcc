//! What stored jobs moved over time, and which jobs somebody said were not recorded.

use std::collections::BTreeMap;

use netra_store::ask::{Error, Who};
use serde_json::Value;

use super::Stored;
use super::row::rows;
use super::series::way;
use crate::live::{Cell, Way};

/// Rows of the first question; a site of more has days, not hours.
const MOST: usize = 500_000;
/// The tag under which the scheduler's scripts say that a job is not recorded, and why.
const TAG: &str = "netra.unrecorded";
/// Such messages that are looked at.
const MESSAGES: usize = 10_000;

impl Stored {
    /// Read and written by step of so many seconds, of each job whose calls were traced.
    pub(in crate::serve) async fn times(
        &self,
        who: Who,
        since: u64,
        width: u64,
    ) -> Result<BTreeMap<String, BTreeMap<u64, [Cell; 2]>>, Error> {
        let sql = format!(
            "SELECT job, CAST(t AS BIGINT) / 1000000 / {width} * {width} AS at, op, sum(calls) AS calls, \
             sum(bytes) AS bytes, sum(time) AS time FROM activity WHERE CAST(t AS BIGINT) >= {} \
             AND layer IN ('POSIX', 'STDIO') AND op IN ('read', 'write') GROUP BY 1, 2, 3 LIMIT {MOST}",
            since.saturating_mul(1_000_000)
        );
        let mut all: BTreeMap<String, BTreeMap<u64, [Cell; 2]>> = BTreeMap::new();
        for row in rows(&self.session_of(who), &sql).await? {
            let Some(way @ (Way::Read | Way::Write)) = way(&row) else { continue };
            let steps = all.entry(row.text("job")).or_default();
            let cell = &mut steps.entry(row.count("at")).or_default()[way as usize];
            let (calls, bytes, nanos) = (row.count("calls"), row.count("bytes"), row.count("time"));
            cell.fold(&Cell { calls, bytes, nanos });
        }
        Ok(all)
    }

    /// Jobs that were not recorded, by reason.
    pub(in crate::serve) async fn unrecorded(
        &self,
        who: Who,
        since: u64,
    ) -> Result<BTreeMap<String, Vec<String>>, Error> {
        let sql = format!(
            "SELECT text FROM messages WHERE tag = '{TAG}' AND CAST(t AS BIGINT) >= {} \
             AND text IS NOT NULL ORDER BY t DESC LIMIT {MESSAGES}",
            since.saturating_mul(1_000_000)
        );
        let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for row in rows(&self.session_of(who), &sql).await? {
            // Anybody may publish anything: what is no such message is none.
            let Ok(said) = serde_json::from_str::<Value>(&row.text("text")) else { continue };
            let (Some(job), Some(why)) = (said["job"].as_str(), said["why"].as_str()) else {
                continue;
            };
            let jobs = all.entry(why.to_owned()).or_default();
            if !jobs.iter().any(|known| known == job) {
                jobs.push(job.to_owned());
            }
        }
        Ok(all)
    }
}
