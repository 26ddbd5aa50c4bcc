//! Small files of a day become large ones, in the same order; rows of a roll-up that have the same key become one.

use std::sync::Arc;

use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::SessionContext;
use deltalake::kernel::Action;
use futures::StreamExt as _;

use super::twice::{Repaired, Seen};
use super::window::windows;
use super::writing::{LARGE, Writing};
use crate::schema::{Kind, Merge, Table};
use crate::table::{Change, Handle, Part, Scan, fit, now};
use crate::{Error, Result, Store};

/// Memory for sorting; what does not fit goes to disk.
const MEMORY: usize = 128 << 20;
/// Rows that are sorted at once: they fit into that, however wide they are.
pub(super) const WINDOW: u64 = 1 << 16;

/// What putting files together has done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Compacted {
    /// Files that were put together.
    pub before: usize,
    /// What they became.
    pub after: usize,
    /// What was done about rows that were among them more often than once.
    pub repaired: Vec<Repaired>,
}

impl Store {
    /// Puts the small files of each day of a table together, where there are at least `least` of them, and removes rows that are
    /// in them twice.
    ///
    /// # Errors
    /// A file can not be read or written; or somebody else took files first, and then nothing has changed.
    pub async fn compact(&self, table: &str, least: usize) -> Result<Compacted> {
        let handle = self.handle(table)?;
        let parts = handle.parts().await?;
        let mut compacted = Compacted::default();
        let mut days: Vec<Option<i32>> = parts.iter().map(|part| part.day).collect();
        days.dedup();
        for day in days {
            let small = |part: &&Arc<Part>| part.day == day && part.bytes < LARGE;
            let small: Vec<Arc<Part>> = parts.iter().filter(small).cloned().collect();
            let Some(day) = day.filter(|_| small.len() >= least.max(2)) else { continue };
            let (made, is_twice) = handle.rewrite(day, &small).await?;
            compacted.before += small.len();
            compacted.after += made;
            if is_twice {
                match self.repair_day(handle.table, day, false).await {
                    Ok(repaired) => compacted.repaired.extend(repaired),
                    // Another hub had the same idea, or takes it up with the next files.
                    Err(Error::Overtaken { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(compacted)
    }
}

/// A session whose questions take a bounded part of memory, and one processor.
pub(super) fn session() -> Result<SessionContext> {
    let memory = Arc::new(FairSpillPool::new(MEMORY));
    let runtime = RuntimeEnvBuilder::new().with_memory_pool(memory).build_arc()?;
    // One after the other: whoever asks meanwhile has the other processors, and merging parts that were sorted apart takes memory
    // that can not go to disk.
    let settings = Store::settings().with_target_partitions(1);
    Ok(SessionContext::new_with_config_rt(settings, runtime))
}

/// A column's name as SQL takes it, whatever it is called.
pub(super) fn name(name: &str) -> String {
    format!("\"{name}\"")
}

/// The rows of `part` that are meant, of a roll-up added up.
pub(super) fn rows_of(table: &Table, condition: &str) -> String {
    let keys = table.columns.iter().filter(|column| column.merge == Merge::Key);
    let keys = keys.map(|column| name(&column.name)).collect::<Vec<_>>().join(", ");
    let columns = table.columns.iter().map(|column| {
        let name = name(&column.name);
        match column.merge.function() {
            Some(function) => format!("{function}({name}) as {name}"),
            None => name,
        }
    });
    let columns = columns.collect::<Vec<_>>().join(", ");
    let group = if table.is_rollup { format!(" group by {keys}") } else { String::new() };
    format!("select {columns} from part where {condition}{group}")
}

/// The table's order, as SQL takes it.
pub(super) fn order(table: &Table) -> String {
    let order = table.sort.iter().map(|column| format!("{} asc nulls first", name(column)));
    order.collect::<Vec<_>>().join(", ")
}

/// The same, and then by every other column: rows in this order are in no other. What says more comes first.
pub(super) fn whole_order(table: &Table) -> String {
    let others = table
        .columns
        .iter()
        .filter(|column| column.kind != Kind::Longs && !table.sort.contains(&column.name.as_str()));
    let others = others.map(|column| format!(", {} desc nulls last", name(&column.name)));
    order(table) + &others.collect::<String>()
}

impl Handle {
    /// Files of the table as a session has them.
    pub(super) async fn scan_of(&self, parts: Vec<Arc<Part>>) -> Result<Scan> {
        Ok(Scan { parts: Arc::new(parts), hot: Vec::new(), ..self.scan().await? })
    }

    /// Writes the rows of these files into new ones, and puts those in their place; says how many there are, and whether a row was
    /// there more often than once.
    async fn rewrite(&self, day: i32, parts: &[Arc<Part>]) -> Result<(usize, bool)> {
        let session = session()?;
        session.register_table("part", Arc::new(self.scan_of(parts.to_vec()).await?))?;
        let mut writing = Writing::new(self, day)?;
        let (mut seen, mut is_twice) = (Seen::of(self.table), false);
        let order = order(self.table);
        for window in windows(&session, self.table, WINDOW).await? {
            if let Some(seen) = &mut seen {
                seen.forget();
            }
            let question = format!("{} order by {order}", rows_of(self.table, &window));
            let mut rows = session.sql(&question).await?.execute_stream().await?;
            while let Some(batch) = rows.next().await {
                let batch = fit(self.table, &batch?)?;
                if let Some(seen) = seen.as_mut().filter(|_| !is_twice) {
                    is_twice = seen.look(&batch)?.is_some();
                }
                writing.write(&batch).await?;
            }
        }
        let adds = writing.finish().await?;
        let made = adds.len();
        let removes = parts.iter().map(|part| Action::Remove(part.remove(false, now())));
        let adds = adds.into_iter().map(|mut add| {
            // The rows were there before.
            add.data_change = false;
            Action::Add(add)
        });
        self.exchange(removes.chain(adds).collect(), Change::Compact).await?;
        Ok((made, is_twice))
    }
}
