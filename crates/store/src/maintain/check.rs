//! Is the store what was written? Logs and files are read, foreign things are named, and the ledger is compared with the events.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use datafusion::arrow::array::AsArray as _;
use datafusion::arrow::datatypes::Int64Type;
use datafusion::prelude::SessionContext;
use deltalake::logstore::object_store::ObjectStoreExt as _;
use deltalake::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::aside;
use crate::import::LOCK;
use crate::schema::{self, TABLES, Table};
use crate::{Aside, Error, Result, Store};

/// The table that the ledger accounts for.
const EVENTS: &str = "events";

/// Something that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What it is about: a table, a file, a process.
    pub about: String,
    /// What is wrong.
    pub what: String,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.about, self.what)
    }
}

impl Store {
    /// Everything that is wrong; nothing is changed. Reads every file from its first to its last byte if `deep`, else their feet.
    pub async fn check(&self, deep: bool) -> Vec<Problem> {
        let mut problems = self.foreign();
        let mut twice = BTreeMap::new();
        for table in TABLES.iter() {
            let before = problems.len();
            let mut checked = self.check_table(table, deep, &mut problems).await;
            // Of files that can not be read nobody knows what is in them twice.
            if checked.is_ok() && problems.len() == before {
                checked = self.check_twice(table, &mut problems, &mut twice).await;
            }
            if let Err(error) = checked {
                problems.push(Problem { about: table.name.to_owned(), what: error.to_string() });
            }
        }
        match self.check_ledger(&twice).await {
            Ok(found) => problems.extend(found),
            Err(error) => {
                problems.push(Problem { about: "ledger".to_owned(), what: error.to_string() });
            }
        }
        match self.aside().await {
            Ok(waiting) => problems.extend(waits(&waiting)),
            Err(error) => {
                problems.push(Problem { about: aside::FOLDER.to_owned(), what: error.to_string() });
            }
        }
        problems
    }

    /// Things in the directory that are no tables.
    fn foreign(&self) -> Vec<Problem> {
        let Some(folder) = self.place().path() else { return Vec::new() };
        let mut problems = Vec::new();
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if schema::table(&name).is_none() && name != LOCK && name != aside::FOLDER {
                problems.push(Problem { about: name, what: "is no table of a store".to_owned() });
            }
        }
        problems.sort_by(|a, b| a.about.cmp(&b.about));
        problems
    }

    async fn check_table(
        &self,
        table: &'static Table,
        deep: bool,
        problems: &mut Vec<Problem>,
    ) -> Result<()> {
        let parts = self.handle(table.name)?.parts().await?;
        let mut seen = HashSet::new();
        for part in parts.iter() {
            let about = format!("{}/{}", table.name, part.path);
            if !seen.insert(&part.path) {
                let what = "is in the log twice".to_owned();
                problems.push(Problem { about: about.clone(), what });
            }
            let place = self.place().table(table.name);
            let place = part.path.split('/').fold(place, |at, name| at.join(name));
            let read = match self.place().storage().get(&place).await {
                Ok(found) => found.bytes().await.map_err(Error::from),
                Err(error) => Err(error.into()),
            };
            let found = read.and_then(|bytes| rows(bytes, deep));
            match found {
                Ok(rows) if part.rows.is_none_or(|known| known == rows) => {}
                Ok(rows) => {
                    let known = part.rows.unwrap_or(0);
                    let what = format!("has {rows} rows, and its log says {known}");
                    problems.push(Problem { about, what });
                }
                Err(error) => problems.push(Problem { about, what: error.to_string() }),
            }
        }
        Ok(())
    }

    /// Rows of a table that are there more often than once; of events by process, too.
    async fn check_twice(
        &self,
        table: &'static Table,
        problems: &mut Vec<Problem>,
        events: &mut BTreeMap<i64, i64>,
    ) -> Result<()> {
        let (handle, mut rows, mut of) = (self.handle(table.name)?, 0, BTreeSet::new());
        for day in self.days(table.name).await? {
            let found = handle.find_twice(handle.of_day(day).await?).await?;
            rows += found.rows;
            of.extend(found.of);
            let processes = found.processes.into_iter().filter(|_| table.name == EVENTS);
            for (process, more) in processes {
                *events.entry(process).or_default() += more.cast_signed();
            }
        }
        if let Some(first) = of.first() {
            let others = match of.len() - 1 {
                0 => String::new(),
                1 => " and another".to_owned(),
                others => format!(" and {others} others"),
            };
            let first = format!("{} {first}", table.sort.first().copied().unwrap_or_default());
            let what = format!(
                "{rows} rows are there twice, of {first}{others}; netra store check --repair removes them"
            );
            problems.push(Problem { about: table.name.to_owned(), what });
        }
        Ok(())
    }

    /// Processes of which other events are here than their node has sent; `twice` says how many are here more often than once.
    async fn check_ledger(&self, twice: &BTreeMap<i64, i64>) -> Result<Vec<Problem>> {
        let session = SessionContext::new_with_config(Store::settings());
        for name in ["events", "ledger", "processes"] {
            session.register_table(name, std::sync::Arc::new(self.scan(name).await?))?;
        }
        // An account that arrived twice is one account.
        let sent = "select process, sum(sent) from (select process, lane, max(sent) as sent from ledger where final \
                    group by process, lane) group by process";
        let sent = numbers(&session, sent).await?;
        // Events that have expired are missing rightly, but only whole days expire: of a process that began on a day
        // that is still here, or of which no event went before one that is here, none has.
        let oldest = "select min(day) from events";
        let late = format!(
            "select process, 0 from processes group by process having min(day) >= ({oldest}) union \
             select process, 0 from events where sequence = 0 and source <> 'dxt' group by process"
        );
        let late: HashSet<i64> = numbers(&session, &late).await?.into_keys().collect();
        // What came over the stream and what a log had besides are one account.
        let here = "select process, count(*) from events where source in ('stream', 'segment') group by process";
        let here = numbers(&session, here).await?;
        let mut problems = Vec::new();
        for (process, sent) in sent {
            let more = twice.get(&process).copied().unwrap_or(0);
            let found = here.get(&process).copied().unwrap_or(0) - more;
            let what = match found.cmp(&sent) {
                std::cmp::Ordering::Equal => continue,
                std::cmp::Ordering::Less if !late.contains(&process) => continue,
                std::cmp::Ordering::Less => {
                    format!("{} of {sent} events are missing", sent - found)
                }
                std::cmp::Ordering::Greater => {
                    format!("{} events are here that were not sent", found - sent)
                }
            };
            problems.push(Problem { about: format!("process {process}"), what });
        }
        Ok(problems)
    }
}

/// Rows that are in no table, by table.
fn waits(waiting: &[Aside]) -> Vec<Problem> {
    let of_table = waiting.chunk_by(|a, b| a.table == b.table);
    let problem = |of_table: &[Aside]| {
        let rows: u64 = of_table.iter().map(|aside| aside.rows).sum();
        let about = of_table.first()?.table.to_owned();
        let what =
            format!("{rows} rows are set aside and not in it; netra store restore brings them in");
        Some(Problem { about, what })
    };
    of_table.filter_map(problem).collect()
}

/// Reads a file; says how many rows it has.
fn rows(bytes: bytes::Bytes, deep: bool) -> Result<u64> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(bytes)?;
    let said = u64::try_from(reader.metadata().file_metadata().num_rows()).unwrap_or(0);
    if !deep {
        return Ok(said);
    }
    let mut found = 0;
    for batch in reader.build()? {
        found += batch?.num_rows() as u64;
    }
    Ok(found)
}

/// The answer to a question for two columns of numbers.
async fn numbers(session: &SessionContext, question: &str) -> Result<BTreeMap<i64, i64>> {
    let mut all = BTreeMap::new();
    for batch in session.sql(question).await?.collect().await? {
        let columns = [0, 1].map(|at| batch.column(at).as_primitive_opt::<Int64Type>().cloned());
        if let [Some(keys), Some(values)] = columns {
            all.extend(keys.values().iter().copied().zip(values.values().iter().copied()));
        }
    }
    Ok(all)
}
