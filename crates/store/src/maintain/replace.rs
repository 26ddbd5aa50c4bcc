//! A job's rows give way to better ones: what is known of a log that was damaged, when a whole copy of it comes.
//!
//! Each table changes in one commit, so nobody reads rows of both copies in it, nor rows of neither. There is no
//! commit over several tables; whatever ends it in between, it can be done again and comes to the same.

use std::sync::Arc;

use datafusion::arrow::record_batch::RecordBatch;
use deltalake::kernel::Action;
use futures::StreamExt as _;

use super::compact::{order, rows_of, session};
use super::writing::Writing;
use crate::recall::quoted;
use crate::table::{Change, Handle, Part, fit, now, sorted};
use crate::{Error, Result, Store};

/// How often it is tried when others change the same files.
const ATTEMPTS: u32 = 8;

impl Store {
    /// Puts these rows in the place of all that a table has of a job.
    pub(crate) async fn replace(&self, table: &str, job: &str, rows: &[RecordBatch]) -> Result<()> {
        let handle = self.handle(table)?;
        for _ in 1..ATTEMPTS {
            match handle.replace(job, rows).await {
                Err(Error::Overtaken { .. }) => {}
                done => return done,
            }
        }
        handle.replace(job, rows).await
    }
}

impl Handle {
    async fn replace(&self, job: &str, rows: &[RecordBatch]) -> Result<()> {
        let (mut removes, mut adds) = (Vec::new(), Vec::new());
        for part in self.parts().await?.iter() {
            let Some(day) = part.day else { continue };
            if self.has_job(part, job).await? {
                adds.extend(self.without(part, day, job).await?);
                removes.push(Action::Remove(part.remove(true, now())));
            }
        }
        if removes.is_empty() {
            self.append(rows, None).await?;
            return Ok(());
        }
        let fitted: Result<Vec<RecordBatch>> =
            rows.iter().map(|batch| fit(self.table, batch)).collect();
        for (day, batch) in sorted(self.table, &fitted?)? {
            let mut writing = Writing::new(self, day)?;
            writing.write(&batch).await?;
            adds.extend(writing.finish().await?.into_iter().map(Action::Add));
        }
        self.exchange(removes.into_iter().chain(adds).collect(), Change::Repair).await
    }

    async fn has_job(&self, part: &Arc<Part>, job: &str) -> Result<bool> {
        let session = session()?;
        session.register_table("part", Arc::new(self.scan_of(vec![Arc::clone(part)]).await?))?;
        let question = format!("select 1 from part where job = {} limit 1", quoted(job));
        let found = session.sql(&question).await?.collect().await?;
        Ok(found.iter().any(|batch| batch.num_rows() > 0))
    }

    /// The rows of others in new files.
    async fn without(&self, part: &Arc<Part>, day: i32, job: &str) -> Result<Vec<Action>> {
        let session = session()?;
        session.register_table("part", Arc::new(self.scan_of(vec![Arc::clone(part)]).await?))?;
        let others = rows_of(self.table, &format!("job is distinct from {}", quoted(job)));
        let question = format!("{others} order by {}", order(self.table));
        let mut rows = session.sql(&question).await?.execute_stream().await?;
        let mut writing = Writing::new(self, day)?;
        while let Some(batch) = rows.next().await {
            writing.write(&fit(self.table, &batch?)?).await?;
        }
        Ok(writing.finish().await?.into_iter().map(Action::Add).collect())
    }
}

#[cfg(test)]
#[expect(dead_code, reason = "tests of other crates use the rest of it")]
#[path = "../../../darshan/tests/maker/mod.rs"]
mod maker;

#[cfg(test)]
mod tests {
    use super::maker::{Lane, Segment, event};
    use crate::import::{self, Fate};
    use crate::recall::quoted;
    use crate::{Place, Store};
    use datafusion::arrow::array::RecordBatch;
    use datafusion::prelude::SessionContext;
    use netra_darshan::encode::{self, Options, Sink};
    use netra_event::Function;
    use netra_event::segment::View;
    use std::path::{Path, PathBuf};
    use std::sync::Arc;

    const EVENTS: u64 = 40;
    const OLD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/example/wave.darshan");

    #[derive(Default)]
    struct Memory(Vec<u8>);

    impl Sink for Memory {
        fn write(&mut self, bytes: &[u8]) -> bool {
            self.0.extend_from_slice(bytes);
            true
        }

        fn overwrite(&mut self, at: u64, bytes: &[u8]) -> bool {
            let at = usize::try_from(at).unwrap();
            self.0[at..at + bytes.len()].copy_from_slice(bytes);
            true
        }
    }

    /// A log of a process that made so many calls.
    fn log() -> Vec<u8> {
        let mut segment = Segment { pid: 31, ..Segment::default() };
        let file = segment.file("/scratch/data");
        let each = |at: u64| event(Function::Write, file, 1_000_000 + at * 5000, -1, 4096);
        let lane = Lane { tid: 31, events: (0..EVENTS).map(each).collect(), dropped: Vec::new() };
        segment.lanes.push(lane);
        let bytes = segment.bytes();
        let view = View::new(&bytes).unwrap();
        let mut words = vec![0; encode::needed(&view)];
        let mut sink = Memory::default();
        encode::log(view, Options::default(), &mut sink, &mut words, &mut [0; 4096]).unwrap();
        sink.0
    }

    async fn take(store: &Arc<Store>, path: &Path) -> (bool, usize) {
        let (sources, _) = import::find(&[path.to_owned()]);
        let mut got = None;
        let mut each = |_: &import::Source, fate: Fate| {
            got = match fate {
                Fate::Taken { missing, .. } => Some((true, missing.len())),
                Fate::Known { .. } => Some((false, 0)),
                Fate::Refused { why } => panic!("{why}"),
            };
        };
        import::import(store, sources, &Arc::default(), &mut each).await.unwrap();
        got.unwrap()
    }

    async fn ask(store: &Store, sql: &str) -> Vec<RecordBatch> {
        let session = SessionContext::new();
        store.register(&session).await.unwrap();
        session.sql(sql).await.unwrap().collect().await.unwrap()
    }

    async fn count(store: &Store, sql: &str) -> usize {
        ask(store, sql).await.iter().map(RecordBatch::num_rows).sum()
    }

    fn begin() -> (tempfile::TempDir, Arc<Store>, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::parse(folder.path().join("store").to_str().unwrap()).unwrap();
        let path = folder.path().join("job.darshan");
        (folder, Arc::new(Store::create(place).unwrap()), path)
    }

    /// A store with a log of netra's own beside one of another day is in order, and is not when a row goes.
    #[tokio::test(flavor = "multi_thread")]
    async fn a_row_that_was_deleted_by_hand_is_missed() {
        let (_folder, store, path) = begin();
        std::fs::write(&path, log()).unwrap();
        assert_eq!(take(&store, &path).await, (true, 0));
        assert_eq!(take(&store, Path::new(OLD)).await, (true, 0));
        assert_eq!(store.check(true).await, []);
        let sql = "select * from events where source = 'segment'";
        assert_eq!(count(&store, sql).await as u64, EVENTS);
        let job = "host.1.2";
        let rest = ask(&store, &format!("{sql} and sequence <> 7")).await;
        store.replace("events", job, &rest).await.unwrap();
        let found = store.check(true).await;
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].what, format!("1 of {EVENTS} events are missing"));
    }

    /// The better copy takes the place of the damaged one, whichever comes first, and nothing is there twice.
    #[tokio::test(flavor = "multi_thread")]
    async fn the_better_copy_takes_its_place() {
        let whole = log();
        let mut bent = whole.clone();
        let middle = whole.len() - 3000;
        bent[middle..middle + 50].fill(0x55);
        let cut = whole[..whole.len() / 2].to_vec();
        let sums = "select sum(calls) as calls from activity group by job having sum(calls) = 40";
        for damaged in [bent, cut] {
            let (_folder, store, path) = begin();
            std::fs::write(&path, &damaged).unwrap();
            let (taken, missing) = take(&store, &path).await;
            assert!(taken && missing > 0);
            assert!(!take(&store, &path).await.0, "the same copy brings nothing");
            assert_eq!(take(&store, Path::new(OLD)).await, (true, 0));
            std::fs::write(&path, &whole).unwrap();
            assert_eq!(take(&store, &path).await, (true, 0));
            let of_job = format!("job = {}", quoted("host.1.2"));
            let rows = |table: &str| format!("select * from {table} where {of_job}");
            assert_eq!(count(&store, &rows("events")).await as u64, EVENTS);
            for table in ["jobs", "processes", "imports", "ledger"] {
                assert_eq!(count(&store, &rows(table)).await, 1, "{table}");
            }
            assert_eq!(count(&store, sums).await, 1);
            assert_eq!(count(&store, "select * from jobs").await, 2);
            assert_eq!(store.check(true).await, []);
            assert!(!take(&store, &path).await.0);
            // Nor does a damaged copy put the whole one out.
            std::fs::write(&path, &damaged).unwrap();
            assert!(!take(&store, &path).await.0);
            assert_eq!(count(&store, &rows("events")).await as u64, EVENTS);
        }
    }
}
