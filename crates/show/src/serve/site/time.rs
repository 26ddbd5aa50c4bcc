//! I/O of the site over time: by the hour, or by the day where many are looked at.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::live::Cell;
use crate::serve::job::seconds;
use crate::serve::run::Run;
use crate::serve::{Served, User};

const HOUR: u64 = 3600;
const DAY: u64 = 86_400;

/// Read and written in each step of time: beginning, cells.
type Steps = BTreeMap<u64, [Cell; 2]>;

/// What all runs moved over time. Of jobs whose calls were not traced only the whole is known: it stands where
/// they began.
pub(super) async fn times(
    served: &Served,
    user: &User,
    runs: &[Run],
    since: u64,
    now: u64,
) -> Value {
    let width = if now.saturating_sub(since) > 3 * DAY { DAY } else { HOUR };
    let mut steps = Steps::new();
    let stored = stored(served, user, since, width).await;
    for run in runs {
        match stored.get(&run.job) {
            Some(known) if run.steps.is_empty() => {
                known.iter().for_each(|(&at, cells)| add(&mut steps, at, cells));
            }
            _ if run.steps.is_empty() => {
                add(&mut steps, (run.start.max(0.0) as u64) / width * width, &run.moved);
            }
            _ => {
                run.steps.iter().for_each(|(at, cells)| add(&mut steps, at / width * width, cells))
            }
        }
    }
    let told: Vec<Value> = steps
        .iter()
        .filter(|(_, [read, write])| read.bytes > 0 || write.bytes > 0)
        .map(|(at, [read, write])| {
            json!({
                "at": at, "bytes_read": read.bytes, "bytes_written": write.bytes,
                "read_seconds": seconds(read.nanos), "write_seconds": seconds(write.nanos),
            })
        })
        .collect();
    json!({ "width": width, "from": since, "to": now, "steps": told })
}

fn add(steps: &mut Steps, at: u64, cells: &[Cell; 2]) {
    let known = steps.entry(at).or_default();
    known.iter_mut().zip(cells).for_each(|(sum, more)| sum.fold(more));
}

/// The same for each stored job whose calls were traced.
#[cfg(feature = "store")]
async fn stored(served: &Served, user: &User, since: u64, width: u64) -> BTreeMap<String, Steps> {
    let Some((stored, who)) = served.stored_for(user) else { return BTreeMap::new() };
    let work = stored.clone();
    let found = stored.within(async move { work.times(who, since, width).await }).await;
    // That the store can not be asked was said where its runs were asked for.
    found.and_then(Result::ok).unwrap_or_default()
}

#[cfg(not(feature = "store"))]
async fn stored(_: &Served, _: &User, _: u64, _: u64) -> BTreeMap<String, Steps> {
    BTreeMap::new()
}
