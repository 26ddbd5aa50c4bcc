//! Calls of a log that came over the stream while its job ran: they are in the store already.

use std::collections::HashMap;

use super::commit::ask;
use super::source::Large;
use crate::Result;
use crate::recall::column::Columns;
use crate::recall::quoted;

/// How far each lane of a job's processes is in the store. A lane's calls come in order: what is behind that is not there.
#[derive(Debug, Default)]
pub(super) struct Streamed {
    /// The number of the last call, and how many there are: a call may take two numbers.
    lanes: HashMap<(i64, i64), (i64, i64)>,
}

impl Streamed {
    /// Of a job.
    pub(super) fn find(key: &str, large: &Large) -> Result<Streamed> {
        let sql = format!(
            "SELECT process, lane, max(sequence) AS last, count(*) AS calls FROM events \
             WHERE job = {} AND source = 'stream' GROUP BY process, lane",
            quoted(key),
        );
        let mut lanes = HashMap::new();
        for batch in large.runtime.block_on(ask(&large.store, "events", &sql))? {
            let columns = Columns::new(&batch);
            let (process, lane) = (columns.longs("process")?, columns.longs("lane")?);
            let (last, calls) = (columns.longs("last")?, columns.longs("calls")?);
            for row in 0..batch.num_rows() {
                if let (Some(process), Some(lane), Some(last), Some(calls)) =
                    (process.get(row), lane.get(row), last.get(row), calls.get(row))
                {
                    lanes.insert((process, lane), (last, calls));
                }
            }
        }
        Ok(Streamed { lanes })
    }

    /// How many calls of a lane are there.
    pub(super) fn count(&self, process: i64, lane: i64) -> i64 {
        self.lanes.get(&(process, lane)).map_or(0, |known| known.1)
    }

    /// Whether a call is there.
    pub(super) fn has(&self, process: i64, lane: i64, index: u64) -> bool {
        let last = self.lanes.get(&(process, lane));
        last.is_some_and(|&(last, _)| i64::try_from(index).is_ok_and(|index| index <= last))
    }
}
