//! What arrived twice goes. An operator who gives a hub up sends its frames elsewhere, and when it comes back after all both hubs have
//! them: every row says by its name (`Table::once`) which it is, so that one stays; and what was added up of both is put right.
//!
//! **Repeatable.** There is no commit over several tables. Sums come first, each table in a commit of its own, and the rows they are
//! made of last: whatever ends it, rows that are there twice are found again as long as a sum is wrong by them, and a sum that is right
//! already is seen to be. Every commit stands on the files that it was made from, or is made anew.

mod correct;
mod find;
mod question;
mod seen;
mod unique;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use deltalake::kernel::{Action, Add};
use deltalake::logstore::object_store::ObjectStoreExt as _;

use super::Problem;
use super::compact::session;
use crate::schema::{TABLES, Table};
use crate::table::{Change, Handle, Part, now};
use crate::{Error, Result, Store};

use find::Found;
pub(super) use seen::Seen;

/// How often it is tried when others change the same files, or sums do not fit.
const ATTEMPTS: u32 = 2;
/// The same for somebody who waits for it.
const ASKED_ATTEMPTS: u32 = 8;
/// How long is waited before it is tried again.
const PAUSE: Duration = Duration::from_millis(300);
/// Pauses in which nobody has committed anything: whoever commits to several tables is done then.
const QUIET: u32 = 2;

/// Roll-ups that are made of a table's rows.
fn sums_of(table: &str) -> &'static [&'static str] {
    match table {
        "events" => &["activity", "functions"],
        "processes" => &["jobs", "files"],
        _ => &[],
    }
}

/// What was done about rows of a table that were there more often than once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repaired {
    /// The table.
    pub table: &'static str,
    /// Rows that went.
    pub removed: u64,
    /// Those among them that were not equal to the one that stayed: one of them is damaged.
    pub differing: u64,
    /// Sums that were put right.
    pub corrected: u64,
    /// Rows or sums that stay as they are: what they were made of has expired, or is not in its table yet.
    pub left: u64,
}

impl Repaired {
    fn of(table: &'static str) -> Repaired {
        Repaired { table, removed: 0, differing: 0, corrected: 0, left: 0 }
    }

    fn is_nothing(&self) -> bool {
        self.removed + self.corrected + self.left == 0
    }

    fn add(&mut self, more: &Repaired) {
        self.removed += more.removed;
        self.differing += more.differing;
        self.corrected += more.corrected;
        self.left += more.left;
    }
}

impl std::fmt::Display for Repaired {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut said = Vec::new();
        if self.removed > 0 {
            said.push(format!("{} rows that were there twice are removed", self.removed));
        }
        if self.differing > 0 {
            said.push(format!("{} of them differed from the row that stays", self.differing));
        }
        if self.corrected > 0 {
            said.push(format!("{} sums are put right", self.corrected));
        }
        if self.left > 0 {
            let left = self.left;
            said.push(format!(
                "{left} stay as they are, since what they were made of has expired or is not here yet"
            ));
        }
        write!(f, "{}: {}", self.table, said.join(", "))
    }
}

/// Adds up what was done, by table.
fn together(all: Vec<Repaired>) -> Vec<Repaired> {
    let mut tables: Vec<Repaired> = Vec::new();
    for one in all.into_iter().filter(|one| !one.is_nothing()) {
        match tables.iter_mut().find(|known| known.table == one.table) {
            Some(known) => known.add(&one),
            None => tables.push(one),
        }
    }
    tables
}

/// New files of a table, which a commit puts in the place of others.
struct Exchange {
    table: &'static Table,
    old: Vec<Arc<Part>>,
    new: Vec<Add>,
    does: Repaired,
}

impl Store {
    /// Removes rows that are there more often than once, from all tables, and puts sums right that were made of them. What can not be
    /// done is named; it can be done again.
    pub async fn repair(&self) -> (Vec<Repaired>, Vec<Problem>) {
        let (mut done, mut problems) = (Vec::new(), Vec::new());
        let mut failed = |about: &str, error: Error| {
            problems.push(Problem { about: about.to_owned(), what: error.to_string() });
        };
        // What was set aside is a part of what sums are made of.
        if let Err(error) = self.restore_all().await {
            failed(crate::aside::FOLDER, error);
        }
        for table in TABLES.iter().filter(|table| !table.once.is_empty()) {
            let days = match self.days(table.name).await {
                Ok(days) => days,
                Err(error) => {
                    failed(table.name, error);
                    continue;
                }
            };
            for day in days {
                match self.repair_day(table, day, true).await {
                    Ok(repaired) => done.extend(repaired),
                    Err(error) => failed(table.name, error),
                }
            }
        }
        (together(done), problems)
    }

    /// The days of a table.
    pub(super) async fn days(&self, table: &str) -> Result<BTreeSet<i32>> {
        Ok(self.handle(table)?.parts().await?.iter().filter_map(|part| part.day).collect())
    }

    /// The same for a day of a table. As long as a sum does not fit, nothing changes: it may soon. If it is `asked` for, and nobody
    /// commits anything that could make it fit, it is left as it is, and the rest is done.
    pub(super) async fn repair_day(
        &self,
        table: &'static Table,
        day: i32,
        asked: bool,
    ) -> Result<Vec<Repaired>> {
        let attempts = if asked { ASKED_ATTEMPTS } else { ATTEMPTS };
        let mut done: Vec<Repaired> = Vec::new();
        let (mut known, mut quiet) = (Vec::new(), 0);
        for attempt in 1.. {
            let versions = self.versions(table).await?;
            quiet = if versions == known { quiet + 1 } else { 0 };
            known = versions;
            // What does not fit is looked at anew.
            done.iter_mut().for_each(|done| done.left = 0);
            let settled = (asked && quiet >= QUIET).then_some(known.as_slice());
            match self.try_repair(table, day, settled, &mut done).await {
                Ok(None) => break,
                Ok(Some(left)) if attempt >= attempts => {
                    done.extend(left);
                    break;
                }
                Err(Error::Overtaken { .. }) if attempt < attempts => {}
                Err(error) => return Err(error),
                Ok(Some(_)) => {}
            }
            tokio::time::sleep(PAUSE).await;
        }
        Ok(together(done))
    }

    /// The versions of a table and of those that are made of it.
    async fn versions(&self, table: &Table) -> Result<Vec<u64>> {
        let mut versions = Vec::new();
        for name in [table.name].iter().chain(sums_of(table.name)) {
            let handle = self.handle(name)?;
            handle.parts().await?;
            versions.push(handle.scan().await?.version());
        }
        Ok(versions)
    }

    /// Tries once. What became of it is added to `done`; if sums do not fit, and that is to be waited for, they are named. It is not if
    /// the tables have been at the `settled` versions for a while, and still are.
    async fn try_repair(
        &self,
        table: &'static Table,
        day: i32,
        settled: Option<&[u64]>,
        done: &mut Vec<Repaired>,
    ) -> Result<Option<Vec<Repaired>>> {
        let handle = self.handle(table.name)?;
        let parts = handle.of_day(day).await?;
        let found = handle.find_twice(parts.clone()).await?;
        if found.rows == 0 {
            return Ok(None);
        }
        if self.waits(table).await? {
            return Ok(Some(vec![Repaired { left: found.rows, ..Repaired::of(table.name) }]));
        }
        let mut made = Vec::new();
        let prepared = self.prepare(handle, day, &found, parts, &mut made).await;
        let left: Vec<Repaired> =
            made.iter().map(|made| made.does.clone()).filter(|does| does.left > 0).collect();
        // Whoever committed meanwhile may have been read in one table and not in the other.
        let is_to_wait = match settled {
            _ if left.is_empty() => false,
            Some(settled) => self.versions(table).await? != settled,
            None => true,
        };
        let ended = match prepared {
            Ok(()) if !is_to_wait => self.put(&mut made, done).await,
            other => other,
        };
        // What was to be committed stays, whatever came of it: cleaning up knows which files a version has.
        for made in &made {
            self.discard(made).await;
        }
        ended?;
        Ok(is_to_wait.then_some(left))
    }

    /// Whether rows wait for the table, or for one of those that are made of it.
    async fn waits(&self, table: &Table) -> Result<bool> {
        let meant = |name: &str| name == table.name || sums_of(table.name).contains(&name);
        Ok(self.aside().await?.iter().any(|aside| meant(aside.table)))
    }

    /// Writes new files: of the table first, since sums are made of them; in the order in which they are to be committed.
    async fn prepare(
        &self,
        handle: &Handle,
        day: i32,
        found: &Found,
        parts: Vec<Arc<Part>>,
        made: &mut Vec<Exchange>,
    ) -> Result<()> {
        let table = handle.table;
        let unique = handle.unique(day, found, parts).await?;
        let does = Repaired {
            removed: unique.removed,
            differing: unique.differing,
            ..Repaired::of(table.name)
        };
        let new = unique.new.iter().cloned().map(|add| Arc::new(Part::new(table, add))).collect();
        let every = Arc::new(handle.scan_of(unique.old.clone()).await?);
        let once = Arc::new(handle.scan_of(new).await?);
        made.push(Exchange { table, old: unique.old, new: unique.new, does });
        for name in sums_of(table.name).iter().rev() {
            let handle = self.handle(name)?;
            let session = session()?;
            session.register_table("every", Arc::clone(&every) as _)?;
            session.register_table("once", Arc::clone(&once) as _)?;
            if *name == "files" {
                for touching in question::touching() {
                    let touching = self.handle(touching.name)?;
                    let parts = touching.parts().await?.to_vec();
                    let scan = Arc::new(touching.scan_of(parts).await?);
                    session.register_table(touching.table.name, scan)?;
                }
            }
            let corrected = handle.correct(&session, day, found).await?;
            let does = Repaired {
                corrected: corrected.sums,
                left: corrected.left,
                ..Repaired::of(handle.table.name)
            };
            let (old, new) = (corrected.old, corrected.new);
            made.push(Exchange { table: handle.table, old, new, does });
        }
        made.reverse();
        Ok(())
    }

    /// Commits, one table after the other; what was tried is taken out of `made`.
    async fn put(&self, made: &mut Vec<Exchange>, done: &mut Vec<Repaired>) -> Result<()> {
        while !made.is_empty() {
            let next = made.remove(0);
            if next.does.removed + next.does.corrected == 0 {
                self.discard(&next).await;
            } else {
                let removes = next.old.iter().map(|part| part.remove(true, now()));
                let adds = next.new.into_iter().map(Action::Add);
                let actions = removes.map(Action::Remove).chain(adds).collect();
                self.handle(next.table.name)?.exchange(actions, Change::Repair).await?;
            }
            done.push(next.does);
        }
        Ok(())
    }

    /// Removes new files that nobody tried to commit.
    async fn discard(&self, made: &Exchange) {
        for add in &made.new {
            let place = self.place().table(made.table.name);
            let place = add.path.split('/').fold(place, |at, name| at.join(name));
            // If that fails, cleaning up finds them.
            drop(self.place().storage().delete(&place).await);
        }
    }
}
