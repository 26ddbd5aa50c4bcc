//! Stored runs, as the site looks at them.

use netra_store::ask::{Error, Session};

use super::list::{hosts, jobs};
use super::total::totals;
use super::trust::{accounts, missing};
use crate::serve::run::{Run, program};

/// Runs that are looked at, the newest.
const MOST: usize = 20_000;

/// The runs that began at or behind a moment (seconds since 1970), newest first.
pub(super) async fn runs(session: &Session, since: u64) -> Result<Vec<Run>, Error> {
    let micros = since.saturating_mul(1_000_000);
    let behind = format!("CAST(t AS BIGINT) >= {micros}");
    let found = jobs(session, &[format!("began >= {micros}")], MOST).await?;
    let totals = totals(session, &behind).await?;
    let accounts = accounts(session, &behind).await?;
    let mut hosts = hosts(session, &behind).await?;
    let run = |row: &super::Row| {
        let job = row.text("job");
        let total = totals.get(&job).cloned().unwrap_or_default();
        let ranks = row.count("nprocs").max(1);
        let seconds = |name: &str| row.whole(name).map(|micros| micros as f64 / 1e6);
        Run {
            user: row.text("user"),
            program: program(&row.text("exe"), &row.text("command")),
            ranks,
            nodes: hosts.remove(&job).unwrap_or_default(),
            start: seconds("began").unwrap_or(0.0),
            end: seconds("ended"),
            moved: total.moved(),
            slowest: total.of_slowest(ranks),
            missing: missing(row, accounts.get(&job)),
            mounts: total.mounts,
            findings: Vec::new(),
            well_known: true,
            steps: Vec::new(),
            job,
        }
    };
    Ok(found.iter().map(run).collect())
}
