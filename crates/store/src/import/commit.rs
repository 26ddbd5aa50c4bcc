//! Groups of sources go into the tables together, in an order that a crash can not spoil.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::arrow::array::RecordBatch;
use datafusion::prelude::SessionContext;
use netra_event::frame::Producer;

use super::Fate;
use super::identity::Identity;
use super::source::{Found, Large, Reading, Source};
use super::tables::moment;
use crate::ingest::who::name_for_ever;
use crate::recall::column::Columns;
use crate::recall::quoted;
use crate::schema::TABLES;
use crate::sheet::{Cell, Sheet};
use crate::{Error, Result, Store};

/// Rows after which a group is committed.
const ROWS: usize = 400_000;
/// Sources after which it is.
const SOURCES: usize = 500;
/// Every job has a row here: the first table of a group.
const FIRST: &str = "processes";
/// The last table of a group: what stands here is whole.
const LAST: &str = "imports";

/// The file that whoever imports holds.
pub(crate) const LOCK: &str = "import.lock";

/// Takes care that nobody else imports into a store in a directory at the same time.
pub(super) fn alone(store: &Store) -> Result<Option<File>> {
    let Some(folder) = store.place().path() else { return Ok(None) };
    let path = folder.join(LOCK);
    let file = File::options().create(true).append(true).open(&path);
    let file = file.map_err(Error::io("opening", &path))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(std::fs::TryLockError::WouldBlock) => Err(Error::Busy { path }),
        Err(std::fs::TryLockError::Error(source)) => Err(Error::io("locking", &path)(source)),
    }
}

/// Rows of a question.
pub(super) async fn ask(store: &Store, table: &str, sql: &str) -> Result<Vec<RecordBatch>> {
    let session = SessionContext::new_with_config(Store::settings());
    session.register_table(table, Arc::new(store.scan(table).await?))?;
    Ok(session.sql(sql).await?.collect().await?)
}

/// The texts of a column.
fn texts(batches: &[RecordBatch], column: &str) -> Result<Vec<Option<String>>> {
    let mut found = Vec::new();
    for batch in batches {
        let texts = Columns::new(batch).texts(column)?;
        found.extend((0..batch.num_rows()).map(|row| texts.get(row).map(str::to_owned)));
    }
    Ok(found)
}

/// What is in the store already.
#[derive(Debug)]
pub(super) struct Known {
    /// What was imported, with its job.
    imports: HashMap<String, Option<String>>,
    /// Jobs that were imported, and how many things are missing from each.
    jobs: BTreeMap<String, usize>,
    /// Keys that were given to sources of this import.
    given: Mutex<HashMap<String, Identity>>,
}

impl Known {
    /// The job of a source that was imported before.
    pub(super) fn import(&self, identity: &Identity) -> Option<Option<String>> {
        self.imports.get(&identity.0).cloned()
    }

    /// How many things are missing from a job that was imported; nothing is known of others.
    pub(super) fn lacks(&self, job: &str) -> usize {
        self.jobs.get(job).copied().unwrap_or(0)
    }

    /// Whether rows of a job came over the stream: those are not an importer's to change.
    pub(super) fn is_streamed(job: &str, large: &Large) -> Result<bool> {
        let sql = format!(
            "SELECT 1 FROM events WHERE job = {} AND source = 'stream' LIMIT 1",
            quoted(job)
        );
        let rows = large.runtime.block_on(ask(&large.store, "events", &sql))?;
        Ok(rows.iter().any(|batch| batch.num_rows() > 0))
    }

    /// The imported job of this key that has this process, by the number that the system gave it.
    pub(super) fn of_process(&self, key: &str, pid: i64, large: &Large) -> Result<Option<String>> {
        let sql = format!(
            "SELECT job FROM {FIRST} WHERE (job = {0} OR job LIKE {1}) AND pid = {pid}",
            quoted(key),
            quoted(&format!("{key}.%")),
        );
        let rows = large.runtime.block_on(ask(&large.store, FIRST, &sql))?;
        Ok(texts(&rows, "job")?.into_iter().flatten().next())
    }

    /// The key for a log of netra's own, or the job whose processes are in it already.
    pub(super) fn key(
        &self,
        key: &str,
        producers: &[Producer],
        identity: &Identity,
        large: &Large,
    ) -> Result<std::result::Result<String, String>> {
        let ours: BTreeSet<i64> = producers.iter().map(name_for_ever).collect();
        let mut list: Vec<String> = ours.iter().map(i64::to_string).collect();
        if list.is_empty() {
            list.push("NULL".to_owned());
        }
        let sql = format!(
            "SELECT job, source, process, pid FROM {FIRST} WHERE job = {} OR process IN ({})",
            quoted(key),
            list.join(", "),
        );
        let rows = large.runtime.block_on(ask(&large.store, FIRST, &sql))?;
        let mut is_taken = false;
        let (jobs, sources) = (texts(&rows, "job")?, texts(&rows, "source")?);
        let pids: BTreeSet<i64> = producers.iter().map(|one| i64::from(one.pid)).collect();
        let mut processes = Vec::new();
        for batch in &rows {
            let columns = Columns::new(batch);
            let (names, numbers) = (columns.longs("process")?, columns.longs("pid")?);
            processes.extend((0..batch.num_rows()).map(|row| (names.get(row), numbers.get(row))));
        }
        for ((job, source), (process, pid)) in jobs.into_iter().zip(sources).zip(processes) {
            let Some(job) = job else { continue };
            // Of a log that was cut off nobody knows more of its processes than a number.
            let is_cut = job == key && self.lacks(&job) > 0 && pids.contains(&pid.unwrap_or(-1));
            let is_ours = is_cut || process.is_some_and(|process| ours.contains(&process));
            let is_whole = source.as_deref() != Some("log") || self.jobs.contains_key(&job);
            match (is_ours, is_whole) {
                (true, true) => return Ok(Err(job)),
                // What an importer that died left of this very log is completed.
                (true, false) => {}
                // A step may run several programs, and leave a log of each.
                (false, _) => is_taken |= job == key,
            }
        }
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        is_taken |= given.get(key).is_some_and(|known| known != identity);
        if is_taken {
            return Ok(Ok(format!("{key}.{}", identity.short())));
        }
        given.insert(key.to_owned(), identity.clone());
        Ok(Ok(key.to_owned()))
    }
}

/// Sources on their way into the tables.
pub(super) struct Committer<'a> {
    store: &'a Store,
    known: Arc<Known>,
    waiting: Vec<(Source, Found)>,
    rows: usize,
    /// What was seen in this import, whether it is committed or not.
    seen: BTreeSet<Identity>,
}

impl<'a> Committer<'a> {
    pub(super) async fn new(store: &'a Store) -> Result<Committer<'a>> {
        // A job whose rows were set aside is not unknown. Tables that can still not be written say so when they are asked.
        drop(store.restore_all().await?);
        let rows = ask(store, LAST, "SELECT digest, job, missing FROM imports").await?;
        let (digests, of) = (texts(&rows, "digest")?, texts(&rows, "job")?);
        let mut jobs = BTreeMap::new();
        for (job, missing) in of.iter().zip(texts(&rows, "missing")?) {
            if let Some(job) = job {
                jobs.insert(job.clone(), missing.map_or(0, |lines| lines.lines().count()));
            }
        }
        let pairs = digests.into_iter().zip(of);
        let imports: HashMap<String, Option<String>> =
            pairs.filter_map(|(digest, job)| Some((digest?, job))).collect();
        let known = Arc::new(Known { imports, jobs, given: Mutex::default() });
        Ok(Committer { store, known, waiting: Vec::new(), rows: 0, seen: BTreeSet::new() })
    }

    pub(super) fn known(&self) -> Arc<Known> {
        Arc::clone(&self.known)
    }

    /// Takes what reading a source came to.
    pub(super) async fn take(
        &mut self,
        source: Source,
        reading: Reading,
        each: &mut dyn FnMut(&Source, Fate),
    ) -> Result<()> {
        let found = match reading {
            Reading::Refused(why) => {
                each(&source, Fate::Refused { why });
                return Ok(());
            }
            Reading::Known { job } => {
                each(&source, Fate::Known { job });
                return Ok(());
            }
            Reading::Found(found) => *found,
        };
        // The same log twice among those that were offered.
        if !self.seen.insert(found.identity.clone()) {
            let job = found.jobs.first().map(|job| job.key.clone());
            each(&source, Fate::Known { job });
            return Ok(());
        }
        if let Some(job) = &found.replaces {
            self.finish(each).await?;
            let job = job.clone();
            return self.replace(&job, source, found, each).await;
        }
        self.rows += found.rows.iter().map(|(_, rows)| rows.num_rows()).sum::<usize>();
        self.waiting.push((source, found));
        if self.rows >= ROWS || self.waiting.len() >= SOURCES {
            self.commit(each).await?;
        }
        Ok(())
    }

    /// Commits what waits.
    pub(super) async fn finish(&mut self, each: &mut dyn FnMut(&Source, Fate)) -> Result<()> {
        if self.waiting.is_empty() { Ok(()) } else { self.commit(each).await }
    }

    async fn commit(&mut self, each: &mut dyn FnMut(&Source, Fate)) -> Result<()> {
        let jobs = self.waiting.iter().flat_map(|(_, found)| found.jobs.iter());
        let keys: BTreeSet<String> = jobs.map(|job| job.key.clone()).collect();
        let half_done = self.there(FIRST, &keys).await?;
        let mut by_table: BTreeMap<&'static str, Vec<RecordBatch>> = BTreeMap::new();
        let mut counts = Vec::with_capacity(self.waiting.len());
        let mut skipped: BTreeMap<&'static str, BTreeSet<String>> = BTreeMap::new();
        let named: BTreeSet<&'static str> = self
            .waiting
            .iter()
            .flat_map(|(_, found)| found.rows.iter().map(|(table, _)| *table))
            .collect();
        for table in named {
            if !half_done.is_empty() {
                skipped.insert(table, self.there(table, &half_done).await?);
            }
        }
        for (_, found) in &mut self.waiting {
            let rows: usize = found.rows.iter().map(|(_, rows)| rows.num_rows()).sum();
            counts.push(rows as u64 + found.ahead);
            for (table, rows) in found.rows.drain(..) {
                let there = skipped.get(table);
                let is_there = |key: &String| there.is_some_and(|there| there.contains(key));
                if !found.jobs.iter().any(|job| is_there(&job.key)) {
                    by_table.entry(table).or_default().push(rows);
                }
            }
        }
        let first = by_table.remove(FIRST);
        self.append(FIRST, first.as_deref().unwrap_or_default()).await?;
        let jobs = by_table.remove("jobs");
        for (table, rows) in &by_table {
            self.append(table, rows).await?;
        }
        self.append("jobs", jobs.as_deref().unwrap_or_default()).await?;
        let imports = imports(&self.waiting)?;
        self.append(LAST, &[imports]).await?;
        self.rows = 0;
        for ((source, found), rows) in self.waiting.drain(..).zip(counts) {
            let jobs = found.jobs.into_iter().map(|job| job.key).collect();
            each(&source, Fate::Taken { jobs, rows, missing: found.missing });
        }
        Ok(())
    }

    /// A better copy takes the place of what is known of its job. The table of imports comes last: until then the
    /// job lacks what it lacked, and the copy is taken again.
    async fn replace(
        &mut self,
        job: &str,
        source: Source,
        mut found: Found,
        each: &mut dyn FnMut(&Source, Fate),
    ) -> Result<()> {
        let mut count = 0;
        let mut by_table: BTreeMap<&'static str, Vec<RecordBatch>> = BTreeMap::new();
        for (table, rows) in found.rows.drain(..) {
            count += rows.num_rows() as u64;
            by_table.entry(table).or_default().push(rows);
        }
        // What nodes measured and what was published are not the log's.
        let others = [LAST, "metrics", "messages"];
        let tables = TABLES.iter().filter(|table| table.column("job").is_some());
        for table in tables.filter(|table| !others.contains(&table.name)) {
            let rows = by_table.remove(table.name).unwrap_or_default();
            self.store.replace(table.name, job, &rows).await?;
        }
        let (source, found) = {
            let waiting = [(source, found)];
            self.store.replace(LAST, job, &[imports(&waiting)?]).await?;
            let [one] = waiting;
            one
        };
        let jobs = found.jobs.into_iter().map(|job| job.key).collect();
        each(&source, Fate::Taken { jobs, rows: count, missing: found.missing });
        Ok(())
    }

    async fn append(&self, table: &str, rows: &[RecordBatch]) -> Result<()> {
        if !rows.is_empty() {
            self.store.append(table, rows, None).await?;
        }
        Ok(())
    }

    /// Which of these jobs have rows in a table.
    async fn there(&self, table: &str, keys: &BTreeSet<String>) -> Result<BTreeSet<String>> {
        if keys.is_empty() {
            return Ok(BTreeSet::new());
        }
        let list: Vec<String> = keys.iter().map(|key| quoted(key)).collect();
        let sql = format!("SELECT DISTINCT job FROM {table} WHERE job IN ({})", list.join(", "));
        let rows = ask(self.store, table, &sql).await?;
        Ok(texts(&rows, "job")?.into_iter().flatten().collect())
    }
}

/// The rows that say what was imported.
fn imports(waiting: &[(Source, Found)]) -> Result<RecordBatch> {
    let now = netra_stream::clock::Clock::default().now().cast_signed();
    let mut sheet = Sheet::new(LAST)?;
    for (source, found) in waiting {
        let path = source.path();
        let missing = found.missing.join("\n");
        sheet.put("digest", &*found.identity.0).put("path", &*path.to_string_lossy());
        sheet.put("kind", found.kind).put("t", moment(now));
        sheet.put("bytes", i64::try_from(source.bytes()).unwrap_or(i64::MAX));
        if let [job] = &found.jobs[..] {
            sheet.put("job", &*job.key).put("uid", job.uid);
        }
        let said = if missing.is_empty() { Cell::Null } else { Cell::Text(&missing) };
        sheet.put("missing", said);
        sheet.end_row()?;
    }
    sheet.finish()
}
