//! Whether a stored job is whole: from the accounts of its processes and what its log said.

use std::collections::BTreeMap;

use netra_event::Loss;
use netra_store::ask::{Error, Session};
use serde_json::{Value, json};

use super::row::{Row, rows};

/// The accounts of one job.
#[derive(Debug, Clone, Default)]
pub(super) struct Account {
    produced: u64,
    sent: u64,
    dropped: Vec<(Loss, u64)>,
}

impl Account {
    /// Events that nobody wanted left out.
    fn lost(&self) -> u64 {
        let missed = self.dropped.iter().filter(|(loss, _)| !is_wanted(*loss));
        missed.map(|(_, count)| count).sum()
    }
}

/// Whether a setting of the user left these events out.
fn is_wanted(loss: Loss) -> bool {
    matches!(loss.slug(), "excluded" | "filtered")
}

/// The accounts of every job for which a condition holds.
pub(super) async fn accounts(
    session: &Session,
    condition: &str,
) -> Result<BTreeMap<String, Account>, Error> {
    let reasons: Vec<String> = Loss::ALL
        .iter()
        .map(|loss| format!("sum(dropped_{0}) AS dropped_{0}", loss.slug()))
        .collect();
    let sql = format!(
        "SELECT job, sum(produced) AS produced, sum(sent) AS sent, {} FROM ledger WHERE {condition} GROUP BY job",
        reasons.join(", ")
    );
    let found = rows(session, &sql).await?;
    Ok(found.iter().map(|row| (row.text("job"), account(row))).collect())
}

fn account(row: &Row) -> Account {
    let dropped =
        Loss::ALL.iter().map(|&loss| (loss, row.count(&format!("dropped_{}", loss.slug()))));
    Account {
        produced: row.count("produced"),
        sent: row.count("sent"),
        dropped: dropped.filter(|(_, count)| *count > 0).collect(),
    }
}

/// Why a job is not wholly covered; nothing where it is. `row` is its line in the table of jobs.
pub(super) fn missing(row: &Row, account: Option<&Account>) -> Option<String> {
    let partial = row.text("partial");
    let (recorded, said) = (row.count("processes"), row.count("nprocs"));
    let lost = account.and_then(|account| {
        let worst = account.dropped.iter().filter(|(loss, _)| !is_wanted(*loss));
        worst.max_by_key(|(_, count)| *count).map(|(loss, _)| format!("events were lost: {loss}"))
    });
    if let Some(lost) = lost {
        return Some(lost);
    }
    if row.count("killed") > 0 {
        return Some("a process ended without a word".to_owned());
    }
    if !partial.is_empty() {
        return Some("records ran out of room".to_owned());
    }
    if !row.text("remarks").is_empty() {
        return Some("its log is damaged".to_owned());
    }
    // A log of one reduced record has one row for all processes.
    if row.text("source") == "stream" && recorded < said {
        return Some("not every rank was recorded".to_owned());
    }
    None
}

/// The account as lines of the list have it.
pub(super) fn told(row: &Row, account: Option<&Account>) -> Value {
    let why = missing(row, account);
    let Some(account) = account else {
        return json!({
            "complete": why.is_none(), "produced": 0, "delivered": 0, "in_flight": 0, "dropped": [],
            "missed_here": 0, "why": why,
        });
    };
    let dropped: Vec<Value> = account
        .dropped
        .iter()
        .map(|(loss, count)| json!({ "reason": loss.slug(), "says": loss.to_string(), "events": count }))
        .collect();
    json!({
        "complete": why.is_none() && account.lost() == 0,
        "produced": account.produced, "delivered": account.sent,
        "in_flight": account.produced.saturating_sub(account.sent),
        "dropped": dropped, "missed_here": 0, "why": why,
    })
}
