//! Small files of a day become large ones, in the same order; rows of a roll-up that have the same key become one.

use std::sync::Arc;

use datafusion::arrow::record_batch::RecordBatch;
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::SessionContext;
use deltalake::kernel::Action;
use futures::StreamExt as _;

use super::window::windows;
use crate::schema::{Merge, Table};
use crate::table::{Change, Encoder, Handle, Part, Scan, add, fit, now};
use crate::{Result, Store};

/// A file of this length is large.
const LARGE: u64 = 64 << 20;
/// Memory for sorting; what does not fit goes to disk.
const MEMORY: usize = 128 << 20;
/// Rows that are sorted at once: they fit into that, however wide they are.
const WINDOW: u64 = 1 << 16;

impl Store {
    /// Puts the small files of each day of a table together, where there are at least `least` of them; says how many files
    /// became how many.
    ///
    /// # Errors
    /// A file can not be read or written; or somebody else took files first, and then nothing has changed.
    pub async fn compact(&self, table: &str, least: usize) -> Result<(usize, usize)> {
        let handle = self.handle(table)?;
        let parts = handle.parts().await?;
        let (mut before, mut after) = (0, 0);
        let mut days: Vec<Option<i32>> = parts.iter().map(|part| part.day).collect();
        days.dedup();
        for day in days {
            let small = |part: &&Arc<Part>| part.day == day && part.bytes < LARGE;
            let small: Vec<Arc<Part>> = parts.iter().filter(small).cloned().collect();
            let Some(day) = day.filter(|_| small.len() >= least.max(2)) else { continue };
            let made = handle.rewrite(day, small.clone()).await?;
            before += small.len();
            after += made;
        }
        Ok((before, after))
    }
}

/// The question whose answer is the rows of a window, sorted; of a roll-up, added up.
fn question(table: &Table, window: &str) -> String {
    let quoted = |name: &str| format!("\"{name}\"");
    let keys = table.columns.iter().filter(|column| column.merge == Merge::Key);
    let keys = keys.map(|column| quoted(&column.name)).collect::<Vec<_>>().join(", ");
    let columns = table.columns.iter().map(|column| {
        let name = quoted(&column.name);
        match column.merge {
            _ if !table.is_rollup => name,
            Merge::Key => name,
            Merge::Sum => format!("sum({name}) as {name}"),
            Merge::Least => format!("min({name}) as {name}"),
            Merge::Most => format!("max({name}) as {name}"),
        }
    });
    let columns = columns.collect::<Vec<_>>().join(", ");
    let order = table.sort.iter().map(|name| format!("{} asc nulls first", quoted(name)));
    let order = order.collect::<Vec<_>>().join(", ");
    let group = if table.is_rollup { format!(" group by {keys}") } else { String::new() };
    format!("select {columns} from part where {window}{group} order by {order}")
}

impl Handle {
    /// Writes the rows of these files into new ones, and puts those in their place.
    async fn rewrite(&self, day: i32, parts: Vec<Arc<Part>>) -> Result<usize> {
        let memory = Arc::new(FairSpillPool::new(MEMORY));
        let runtime = RuntimeEnvBuilder::new().with_memory_pool(memory).build_arc()?;
        // One after the other: whoever asks meanwhile has the other processors, and merging parts that were sorted apart takes memory
        // that can not go to disk.
        let settings = Store::settings().with_target_partitions(1);
        let session = SessionContext::new_with_config_rt(settings, runtime);
        let scan = Scan { parts: Arc::new(parts.clone()), hot: Vec::new(), ..self.scan().await? };
        session.register_table("part", Arc::new(scan))?;
        let mut adds = Vec::new();
        let mut encoder = Encoder::new(self.table)?;
        for window in windows(&session, self.table, WINDOW).await? {
            let question = question(self.table, &window);
            let mut rows = session.sql(&question).await?.execute_stream().await?;
            while let Some(batch) = rows.next().await {
                let batch: RecordBatch = fit(self.table, &batch?)?;
                encoder.write(&batch)?;
                if encoder.bytes() as u64 > LARGE {
                    let full = std::mem::replace(&mut encoder, Encoder::new(self.table)?);
                    adds.push(self.put_encoded(day, full).await?);
                }
            }
        }
        if encoder.rows() > 0 {
            adds.push(self.put_encoded(day, encoder).await?);
        }
        let made = adds.len();
        let removes = parts.iter().map(|part| Action::Remove(part.remove(false, now())));
        let actions = removes.chain(adds).collect();
        self.exchange(actions, Change::Compact).await?;
        Ok(made)
    }

    async fn put_encoded(&self, day: i32, encoder: Encoder) -> Result<Action> {
        let (bytes, metadata) = encoder.finish()?;
        let length = bytes.len();
        let path = self.put(day, bytes).await?;
        let mut file = add(self.table, path, day, length, &metadata, now());
        // The rows were there before.
        file.data_change = false;
        Ok(Action::Add(file))
    }
}
