//! Where stored jobs lie on storage targets, and what they moved while another ran.

use std::collections::{BTreeMap, BTreeSet};

use netra_store::ask::{Error, Session, Who};
use serde_json::Value;

use super::Stored;
use super::list::{among, jobs};
use super::row::{Row, quoted, rows};
use super::series::way;
use crate::live::{Cell, Way};
use crate::serve::neighbour::Placed;
use crate::serve::run::program;

/// Jobs of the same time that are looked at.
const MOST: usize = 2000;

impl Stored {
    /// A job and its storage targets.
    pub(in crate::serve) async fn placed(
        &self,
        who: Who,
        key: &str,
    ) -> Result<Option<Placed>, Error> {
        let session = self.session_of(who);
        let found = jobs(&session, &[format!("job = {}", quoted(key))], 1).await?;
        Ok(all(&session, &found).await?.pop())
    }

    /// Jobs that ran at the same time, with what they moved meanwhile.
    pub(in crate::serve) async fn placed_beside(
        &self,
        who: Who,
        own: &Placed,
    ) -> Result<Vec<Placed>, Error> {
        let session = self.session_of(who);
        let micros = |seconds: f64| (seconds * 1e6) as i64;
        let (from, to) = (micros(own.start), micros(own.end));
        let conditions = [
            format!("began < {to}"),
            format!("coalesce(ended, {to}) > {from}"),
            format!("job <> {}", quoted(&own.job)),
        ];
        let found = jobs(&session, &conditions, MOST).await?;
        let mut placed = all(&session, &found).await?;
        placed.retain(|one| !one.targets.is_empty());
        if placed.is_empty() {
            return Ok(placed);
        }
        let moved = moved(&session, &among(&found), from, to).await?;
        for one in &mut placed {
            one.meanwhile = moved.get(&one.job).copied();
        }
        Ok(placed)
    }
}

async fn all(session: &Session, found: &[Row]) -> Result<Vec<Placed>, Error> {
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let mut targets = targets(session, &among(found)).await?;
    let placed = |row: &Row| {
        let job = row.text("job");
        let seconds = |name: &str| row.whole(name).map(|micros| micros as f64 / 1e6);
        Placed {
            user: row.text("user"),
            program: program(&row.text("exe"), &row.text("command")),
            start: seconds("began").unwrap_or(0.0),
            // One that still runs has no end that could exclude it.
            end: seconds("ended").unwrap_or(f64::MAX),
            targets: targets.remove(&job).unwrap_or_default(),
            meanwhile: None,
            job,
        }
    };
    Ok(found.iter().map(placed).collect())
}

async fn targets(
    session: &Session,
    condition: &str,
) -> Result<BTreeMap<String, BTreeSet<u64>>, Error> {
    let sql =
        format!("SELECT DISTINCT job, osts FROM lustre WHERE osts IS NOT NULL AND {condition}");
    let mut all: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
    for row in rows(session, &sql).await? {
        let osts = row.0.get("osts").and_then(Value::as_array).cloned().unwrap_or_default();
        // What is not known is −1.
        all.entry(row.text("job")).or_default().extend(osts.iter().filter_map(Value::as_u64));
    }
    Ok(all)
}

/// Read and written in calls that began between two moments, microseconds since 1970.
async fn moved(
    session: &Session,
    condition: &str,
    from: i64,
    to: i64,
) -> Result<BTreeMap<String, [Cell; 2]>, Error> {
    let sql = format!(
        "SELECT job, op, sum(calls) AS calls, sum(bytes) AS bytes, sum(time) AS time FROM activity \
         WHERE {condition} AND CAST(t AS BIGINT) BETWEEN {} AND {to} AND layer IN ('POSIX', 'STDIO') \
         AND op IN ('read', 'write') GROUP BY job, op",
        // The second in which it began counts.
        from - from.rem_euclid(1_000_000)
    );
    let mut all: BTreeMap<String, [Cell; 2]> = BTreeMap::new();
    for row in rows(session, &sql).await? {
        let Some(way @ (Way::Read | Way::Write)) = way(&row) else { continue };
        let (calls, bytes, nanos) = (row.count("calls"), row.count("bytes"), row.count("time"));
        all.entry(row.text("job")).or_default()[way as usize].fold(&Cell { calls, bytes, nanos });
    }
    Ok(all)
}
