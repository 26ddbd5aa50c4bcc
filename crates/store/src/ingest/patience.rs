//! Tables that are damaged. For a while a sink waits for such a table to be mended, and the spool keeps everything; then it goes on
//! with the others, sets aside what comes for this one, and looks now and then whether it can be written again.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use netra_stream::told::Told;

use crate::Error;

/// How long a damaged table is waited for.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);
/// How often it is looked at then.
const AGAIN: Duration = Duration::from_secs(30);

/// A damaged table.
#[derive(Debug)]
struct Failing {
    since: Instant,
    looked: Instant,
    given_up: bool,
}

/// Tables that are damaged.
#[derive(Debug)]
pub(super) struct Patience {
    pub(super) limit: Duration,
    tables: BTreeMap<&'static str, Failing>,
}

impl Patience {
    pub(super) fn new() -> Patience {
        Patience { limit: PATIENCE, tables: BTreeMap::new() }
    }

    /// A table failed; true if the others go on without it.
    pub(super) fn gives_up(&mut self, table: &'static str, error: &Error, told: &Told) -> bool {
        if !error.is_damage() {
            return false;
        }
        let now = Instant::now();
        let fresh = || Failing { since: now, looked: now, given_up: false };
        let failing = self.tables.entry(table).or_insert_with(fresh);
        failing.looked = now;
        if now.duration_since(failing.since) < self.limit {
            return false;
        }
        if !std::mem::replace(&mut failing.given_up, true) {
            told.say(format_args!(
                "{error}; what comes for {table} is set aside until it is mended"
            ));
        }
        true
    }

    /// A table works.
    pub(super) fn works(&mut self, table: &'static str) {
        self.tables.remove(table);
    }

    /// Tables that were given up and are to be looked at again.
    pub(super) fn due(&self) -> Vec<&'static str> {
        let again = AGAIN.min(self.limit);
        let due = |failing: &Failing| failing.given_up && failing.looked.elapsed() >= again;
        self.tables.iter().filter(|(_, failing)| due(failing)).map(|(name, _)| *name).collect()
    }
}
