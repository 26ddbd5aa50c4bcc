//! Asking a store: answers against plain loops over the same rows, rights, limits, and errors that help.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod made;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use futures::StreamExt as _;
use made::{BEGAN, Call, Made, Size};
use netra_event::Bytes;
use netra_store::ask::{Ground, Kind, Limits, Session, Who};

const SIZE: Size = Size { jobs: 6, ranks: 3, calls: 400, seed: 20_261_116 };

/// A store in a folder that goes with it.
struct Fixture {
    made: Made,
    store: Arc<netra_store::Store>,
    _folder: tempfile::TempDir,
}

impl Fixture {
    async fn new(size: Size) -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        let made = Made::new(size);
        let store = Arc::new(made.store(folder.path()).await);
        Fixture { made, store, _folder: folder }
    }

    fn session(&self, who: Who, limits: &Limits) -> Session {
        Session::new(Arc::clone(&self.store) as _, who, &Ground::new(limits).unwrap())
    }

    fn all(&self) -> Session {
        self.session(Who::Administrator, &Limits::default())
    }
}

fn run(work: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(work);
}

/// Rows as texts, columns with a bar between them.
fn lines(batches: &[RecordBatch]) -> Vec<String> {
    let options = FormatOptions::default().with_null("NULL");
    let mut lines = Vec::new();
    for batch in batches {
        let columns: Vec<ArrayFormatter<'_>> = batch
            .columns()
            .iter()
            .map(|column| ArrayFormatter::try_new(column, &options).unwrap())
            .collect();
        for row in 0..batch.num_rows() {
            let cells: Vec<String> =
                columns.iter().map(|column| column.value(row).to_string()).collect();
            lines.push(cells.join("|"));
        }
    }
    lines
}

async fn asked(session: &Session, sql: &str) -> Vec<String> {
    match session.ask(sql).await {
        Ok(answer) => {
            lines(&answer.collect().await.unwrap_or_else(|error| panic!("{sql}: {error}")))
        }
        Err(error) => panic!("{sql}: {error}"),
    }
}

async fn refused(session: &Session, sql: &str) -> (Kind, String) {
    let error = match session.ask(sql).await {
        Ok(answer) => answer.collect().await.expect_err(sql),
        Err(error) => error,
    };
    (error.kind, error.to_string())
}

/// Sums by a key, in the key's order.
fn grouped<'a, K: Ord>(
    calls: impl Iterator<Item = &'a Call>,
    key: impl Fn(&Call) -> K,
    value: impl Fn(&Call) -> i64,
) -> BTreeMap<K, (i64, i64)> {
    let mut sums = BTreeMap::new();
    for call in calls {
        let sum: &mut (i64, i64) = sums.entry(key(call)).or_default();
        sum.0 += 1;
        sum.1 += value(call);
    }
    sums
}

#[test]
fn answers_are_those_of_a_plain_loop() {
    run(async {
        let fixture = Fixture::new(SIZE).await;
        let (made, session) = (&fixture.made, fixture.all());

        let want: Vec<String> = grouped(made.calls.iter(), |call| call.op, |call| call.bytes)
            .into_iter()
            .map(|(op, (calls, bytes))| format!("{op}|{calls}|{bytes}"))
            .collect();
        let sql = "SELECT op, count(*), sum(bytes) FROM events GROUP BY op ORDER BY op";
        assert_eq!(asked(&session, sql).await, want);

        let from = BEGAN + 60_000_000 + 10_000_000;
        let in_window = made.calls.iter().filter(|call| {
            call.job == 1 && call.rank == 2 && (from..from + 5_000_000).contains(&call.t)
        });
        let mut want: Vec<(i64, i16, String)> = in_window
            .map(|call| {
                let offset = call.offset.map_or("NULL".to_owned(), |offset| offset.to_string());
                (call.t, call.t_ns, format!("{}|{offset}|{}", call.sequence, call.duration))
            })
            .collect();
        want.sort();
        assert!(!want.is_empty());
        let sql = "SELECT sequence, \"offset\", duration FROM events WHERE job = job('4701') AND rank = 2 \
            AND t >= '2026-11-16T00:01:10Z' AND t < '2026-11-16T00:01:15Z' ORDER BY t, t_ns";
        let want: Vec<String> = want.into_iter().map(|(_, _, line)| line).collect();
        assert_eq!(asked(&session, sql).await, want);

        let want: Vec<String> = grouped(
            made.calls.iter(),
            |call| (call.job, call.t / 10_000_000),
            |call| call.duration,
        )
        .into_iter()
        .map(|((job, ten), (calls, time))| {
            let at = (ten * 10_000_000 - BEGAN) / 1_000_000;
            format!("{}|{at}|{calls}|{time}", made.jobs[job].job)
        })
        .collect();
        let sql = "SELECT job, CAST(extract(epoch FROM time_bucket('10 seconds', t)) AS BIGINT) - 1794787200, \
            count(*), sum(duration) FROM events GROUP BY 1, 2 ORDER BY 1, 2";
        assert_eq!(asked(&session, sql).await, want);
    });
}

#[test]
fn percentiles_are_exact_or_near() {
    run(async {
        let fixture = Fixture::new(SIZE).await;
        let mut durations: Vec<i64> = fixture.made.calls.iter().map(|call| call.duration).collect();
        durations.sort_unstable();
        // As SQL defines it: between the two neighbours, in proportion.
        let place = 0.95 * (durations.len() - 1) as f64;
        let (low, high) =
            (durations[place.floor() as usize] as f64, durations[place.ceil() as usize] as f64);
        let want = low + (high - low) * place.fract();
        let session = fixture.all();
        let sql = "SELECT percentile_cont(0.95) WITHIN GROUP (ORDER BY CAST(duration AS DOUBLE)) FROM events";
        let exact: f64 = asked(&session, sql).await[0].parse().unwrap();
        assert!((exact - want).abs() < 1e-6 * want, "{exact} instead of {want}");
        let sql = "SELECT approx_percentile_cont(duration, 0.95) FROM events";
        let near: f64 = asked(&session, sql).await[0].parse().unwrap();
        assert!((near - want).abs() < 0.01 * want, "{near} is far from {want}");
    });
}

#[test]
fn a_user_sees_their_own_jobs_whatever_they_ask() {
    run(async {
        let fixture = Fixture::new(SIZE).await;
        let bob = fixture.session(Who::User(1001), &Limits::default());
        let own = fixture.made.of(1001).count();
        let count = |rows: usize| vec![rows.to_string()];
        assert_eq!(asked(&bob, "SELECT count(*) FROM events").await, count(own));
        assert_eq!(asked(&bob, "SELECT count(*) FROM events WHERE uid = 1000").await, count(0));
        assert_eq!(
            asked(&bob, "SELECT count(*) FROM events WHERE uid = 1000 OR true").await,
            count(own)
        );
        assert_eq!(asked(&bob, "SELECT count(*) FROM jobs").await, count(3));
        assert_eq!(asked(&bob, "SELECT count(*) FROM activity").await, count(own));
        // Through a sub-query, a join, a union, a common table and the view.
        for sql in [
            "SELECT count(*) FROM (SELECT * FROM events) AS e WHERE job = 'slurm.4700.0'",
            "SELECT count(*) FROM jobs j JOIN events e ON j.job = e.job WHERE e.uid = 1000",
            "SELECT count(*) FROM (SELECT uid FROM events UNION ALL SELECT uid FROM jobs) AS u WHERE uid = 1000",
            "WITH e AS (SELECT * FROM events) SELECT count(*) FROM e WHERE uid = 1000",
            "SELECT count(*) FROM darshan_data WHERE uid = 1000",
            "SELECT count(*) FROM netra.public.events WHERE uid = 1000",
            "SELECT count(*) FROM jobs WHERE EXISTS (SELECT 1 FROM events WHERE uid = 1000)",
        ] {
            assert_eq!(asked(&bob, sql).await, count(0), "{sql}");
        }
        let (kind, message) =
            refused(&bob, "SELECT count(*) FROM events WHERE job = job('4700')").await;
        assert_eq!(
            (kind, message.as_str()),
            (Kind::Value, "there is no job \"4700\" (netra jobs lists those that you may see)")
        );
        // What a node does is nobody's own.
        assert_eq!(
            asked(&bob, "SELECT count(*) FROM metrics").await,
            count(fixture.made.metrics.len())
        );
    });
}

#[test]
fn nothing_can_be_changed() {
    run(async {
        let fixture = Fixture::new(Size { jobs: 1, ranks: 1, calls: 20, ..SIZE }).await;
        let session = fixture.all();
        for sql in [
            "CREATE TABLE x AS SELECT 1",
            "CREATE VIEW x AS SELECT 1",
            "CREATE EXTERNAL TABLE x STORED AS CSV LOCATION '/etc/passwd'",
            "CREATE SCHEMA x",
            "CREATE DATABASE x",
            "DROP TABLE events",
            "DROP VIEW darshan_data",
            "DROP SCHEMA public CASCADE",
            "INSERT INTO jobs (job) VALUES ('x')",
            "DELETE FROM jobs",
            "UPDATE jobs SET job = 'x'",
            "TRUNCATE TABLE jobs",
            "COPY events TO '/tmp/never.csv'",
            "COPY (SELECT 1) TO '/tmp/never.parquet'",
            "SET datafusion.runtime.memory_limit = '100G'",
            "SET datafusion.execution.target_partitions = 1",
            "BEGIN",
            "PREPARE x AS SELECT 1",
            "EXPLAIN ANALYZE INSERT INTO jobs (job) VALUES ('x')",
        ] {
            let (kind, message) = refused(&session, sql).await;
            assert!(
                matches!(kind, Kind::ReadOnly | Kind::Unsupported | Kind::Syntax),
                "{sql}: {kind:?} {message}"
            );
        }
        let (kind, message) = refused(&session, "DROP TABLE events").await;
        assert_eq!(kind, Kind::ReadOnly);
        assert_eq!(message, "the store can only be read, not changed: DROP TABLE is refused");
        // Also where somebody uses the context itself.
        for sql in [
            "CREATE TABLE x AS SELECT 1",
            "DROP TABLE events",
            "INSERT INTO jobs (job) VALUES ('x')",
            "COPY (SELECT 1) TO '/tmp/never.csv'",
        ] {
            let frame = session.context().sql(sql).await;
            let done = match frame {
                Ok(frame) => frame.collect().await.map(drop),
                Err(error) => Err(error),
            };
            assert!(done.is_err(), "{sql}");
        }
        assert!(!std::path::Path::new("/tmp/never.csv").exists());
        assert_eq!(asked(&session, "SELECT count(*) FROM events").await, ["20"]);
        assert_eq!(asked(&session, "SELECT count(*) FROM jobs").await, ["1"]);
    });
}

#[test]
fn errors_say_what_was_meant() {
    run(async {
        let fixture = Fixture::new(Size { jobs: 2, ranks: 1, calls: 10, ..SIZE }).await;
        let session = fixture.all();
        let check = async |sql: &str, kind: Kind, want: &str| {
            let (found, message) = refused(&session, sql).await;
            assert_eq!((found, message.as_str()), (kind, want), "{sql}");
        };
        check(
            "SELECT * FROM evnts",
            Kind::Table,
            "there is no table \"evnts\" (did you mean \"events\"?)",
        )
        .await;
        check(
            "SELECT lenght FROM events",
            Kind::Column,
            "there is no column \"lenght\" (did you mean \"length\"?)",
        )
        .await;
        check(
            "SELECT e.duratoin FROM events e",
            Kind::Column,
            "there is no column \"duratoin\" (did you mean \"duration\"?)",
        )
        .await;
        check(
            "SELECT cuont(*) FROM events",
            Kind::Function,
            "there is no function cuont (did you mean count?)",
        )
        .await;
        check(
            "SELECT job FROM jobs j JOIN events e ON j.job = e.job",
            Kind::Ambiguous,
            "column \"job\" is in several of the tables (put the table's name before it)",
        )
        .await;
        check("", Kind::Syntax, "there is no question").await;
        check(
            "SELECT 1; SELECT 2",
            Kind::Syntax,
            "these are several statements; one question at a time",
        )
        .await;
        check(
            "SELECT count(*) FROM jobs WHERE job = job('47')",
            Kind::Value,
            "there is no job \"47\" (netra jobs lists those that you may see)",
        )
        .await;
        check(
            "SELECT count(*) FROM jobs WHERE job = job('slurm')",
            Kind::Value,
            "several jobs are meant by \"slurm\": slurm.4700.0, slurm.4701.0 (say more of the key)",
        )
        .await;
        let (kind, message) = refused(&session, "SELEC 1").await;
        assert_eq!(kind, Kind::Syntax);
        assert!(message.contains("SELEC"), "{message}");
        let (kind, _) = refused(&session, "SELECT 1/0").await;
        assert_eq!(kind, Kind::Value);
    });
}

#[test]
fn a_job_is_one_row_however_many_parts_it_has() {
    run(async {
        let size = Size { jobs: 2, ranks: 1, calls: 10, ..SIZE };
        let fixture = Fixture::new(size).await;
        // The same again: another process of each job has ended, which belongs to the same user.
        fixture.store.append("jobs", &[fixture.made.job_rows()], None).await.unwrap();
        for (who, jobs) in [(Who::Administrator, 2), (Who::User(1001), 1)] {
            let session = fixture.session(who, &Limits::default());
            assert_eq!(asked(&session, "SELECT count(*) FROM jobs").await, [jobs.to_string()]);
        }
        let session = fixture.all();
        let sql = "SELECT job, job_id, uid, \"user\", exe, processes, nprocs, running, t FROM jobs WHERE job = job('4701')";
        let want = "slurm.4701.0|4701|1001|bob|/sw/bin/lattice|8|4|0|2026-11-16T00:01:00Z";
        assert_eq!(asked(&session, sql).await, [want]);
        let sql = "SELECT count(*) FROM darshan_data WHERE job_id = 4701";
        let calls = fixture
            .made
            .calls
            .iter()
            .filter(|call| call.job == 1 && call.error.is_none() && call.op != "sync");
        assert_eq!(asked(&session, sql).await, [calls.count().to_string()]);
    });
}

#[test]
fn a_job_is_found_by_key_number_or_beginning() {
    run(async {
        let fixture = Fixture::new(Size { jobs: 3, ranks: 1, calls: 10, ..SIZE }).await;
        let session = fixture.all();
        for text in ["'slurm.4701.0'", "'4701'", "4701", "'slurm.4701'"] {
            let sql = format!("SELECT DISTINCT job FROM events WHERE job = job({text})");
            assert_eq!(asked(&session, &sql).await, ["slurm.4701.0"], "{text}");
        }
    });
}

#[test]
fn a_question_that_is_too_large_is_refused_and_the_next_is_answered() {
    run(async {
        let fixture = Fixture::new(SIZE).await;
        let limits =
            Limits { memory: Bytes(32 << 20), spill: Bytes(64 << 20), ..Limits::default() };
        let session = fixture.session(Who::Administrator, &limits);
        let all = "SELECT a.value AS a, b.value AS b, md5(CAST(a.value * b.value AS TEXT)) AS h \
            FROM generate_series(1, 30000) AS a CROSS JOIN generate_series(1, 30000) AS b ORDER BY h";
        let (kind, message) = refused(&session, all).await;
        assert_eq!(kind, Kind::Memory, "{message}");
        assert_eq!(asked(&session, "SELECT count(*) FROM jobs").await, ["6"]);
    });
}

#[test]
fn what_does_not_fit_is_spilled() {
    run(async {
        let fixture = Fixture::new(Size { jobs: 1, ranks: 1, calls: 10, ..SIZE }).await;
        let limits = Limits { memory: Bytes(64 << 20), ..Limits::default() };
        let session = fixture.session(Who::Administrator, &limits);
        let sql = "SELECT max(n) FROM (SELECT row_number() OVER (ORDER BY h) AS n FROM \
            (SELECT md5(CAST(value AS TEXT)) AS h FROM generate_series(1, 2000000)) AS made) AS sorted";
        assert_eq!(asked(&session, sql).await, ["2000000"]);
    });
}

#[test]
fn time_ends_and_people_stop() {
    run(async {
        let fixture = Fixture::new(Size { jobs: 1, ranks: 1, calls: 10, ..SIZE }).await;
        let endless =
            "SELECT count(*) FROM generate_series(1, 1000000000000) AS a WHERE a.value % 7 = 9";
        let limits = Limits { timeout: Some(Duration::from_millis(300)), ..Limits::default() };
        let session = fixture.session(Who::Administrator, &limits);
        let (kind, message) = refused(&session, endless).await;
        assert_eq!(
            (kind, message.as_str()),
            (
                Kind::Timeout,
                "the question took longer than 0.3 s (ask for less, or raise the timeout)"
            )
        );

        let session = fixture.all();
        let stopper = session.stopper();
        let mut answer = session.ask(endless).await.unwrap();
        let other = tokio::spawn(async move { answer.next().await });
        // Whoever stops before anybody waits stops all the same: the answer listens from its beginning.
        stopper.stop();
        let error = other.await.unwrap().unwrap().unwrap_err();
        assert_eq!(error.kind, Kind::Stopped);
        assert_eq!(asked(&session, "SELECT count(*) FROM jobs").await, ["1"]);
    });
}

/// The connector's running fields of one record, as a plain loop has them.
#[derive(Default)]
struct Running {
    counts: BTreeMap<&'static str, i64>,
    last: Option<&'static str>,
    switches: i64,
    flushes: i64,
    reached: BTreeMap<&'static str, i64>,
}

impl Running {
    fn step(&mut self, call: &Call) -> Option<String> {
        if call.op == "sync" {
            self.flushes += 1;
            return None;
        }
        let moves = matches!(call.op, "read" | "write");
        let count = self.counts.entry(call.op).or_default();
        *count += 1;
        let count = *count;
        if moves {
            self.switches += i64::from(self.last.is_some_and(|last| last != call.op));
            self.last = Some(call.op);
        }
        let reached = self.reached.entry(call.op).or_default();
        *reached = (*reached).max(call.offset.map_or(0, |offset| offset + call.bytes - 1));
        let (layer, reached) = (call.layer, *reached);
        if call.op == "close" {
            self.counts.clear();
        }
        let max_byte = if moves && layer != "MPI-IO" { reached } else { -1 };
        let switches = if moves && layer != "STDIO" { self.switches } else { -1 };
        let flushes = if layer == "STDIO" && matches!(call.op, "write" | "close") {
            self.flushes
        } else {
            -1
        };
        let module = if layer == "MPI-IO" { "MPIIO" } else { layer };
        let (kind, len) =
            (if call.op == "open" { "MET" } else { "MOD" }, if moves { call.bytes } else { -1 });
        Some(format!("{module}|{kind}|{}|{count}|{switches}|{flushes}|{max_byte}|{len}", call.op))
    }
}

#[test]
fn the_connectors_table_counts_along() {
    run(async {
        let fixture = Fixture::new(SIZE).await;
        let mut calls: Vec<&Call> = fixture.made.calls.iter().collect();
        calls.retain(|call| call.job == 2 && call.rank == 1 && call.error.is_none());
        calls.sort_by_key(|call| (call.t, call.t_ns, call.sequence));
        let mut records: BTreeMap<(&str, usize), Running> = BTreeMap::new();
        let step = |call: &&Call| records.entry((call.layer, call.file)).or_default().step(call);
        let want: Vec<String> = calls.iter().filter_map(step).collect();
        assert!(want.len() > 300);
        let sql = "SELECT module, type, op, cnt, switches, flushes, max_byte, len FROM darshan_data \
            WHERE job_id = 4702 AND rank = 1 ORDER BY start";
        assert_eq!(asked(&fixture.all(), sql).await, want);
        let sql = "SELECT DISTINCT ProducerName, exe, file FROM darshan_data WHERE job_id = 4702 AND rank = 1 AND type = 'MOD'";
        assert_eq!(asked(&fixture.all(), sql).await, ["nid00000|N/A|N/A"]);
        let first = calls.iter().find(|call| call.op == "open").unwrap();
        let sql = "SELECT record_id, file FROM darshan_data WHERE job_id = 4702 AND rank = 1 AND type = 'MET' ORDER BY start LIMIT 1";
        let want = format!("{}|{}", first.file_id().cast_unsigned(), first.path());
        assert_eq!(asked(&fixture.all(), sql).await, [want]);
    });
}

#[test]
fn units_come_with_plain_columns() {
    run(async {
        let fixture = Fixture::new(Size { jobs: 1, ranks: 1, calls: 10, ..SIZE }).await;
        for who in [Who::Administrator, Who::User(1000)] {
            let session = fixture.session(who, &Limits::default());
            let answer = session.ask("SELECT e.duration, e.bytes AS b, job, sum(bytes) FROM events e GROUP BY 1, 2, 3").await.unwrap();
            let titles = answer.titles();
            let units: Vec<Option<&String>> =
                titles.fields().iter().map(|field| field.metadata().get("unit")).collect();
            assert_eq!(units, [Some(&"ns".to_owned()), None, None, None]);
        }
    });
}

#[test]
fn human_bytes_reads_well() {
    run(async {
        let fixture = Fixture::new(Size { jobs: 1, ranks: 1, calls: 10, ..SIZE }).await;
        let session = fixture.all();
        let sql = "SELECT human_bytes(1536), human_bytes(CAST(NULL AS BIGINT)), human_bytes(avg(x)) FROM (VALUES (1024), (2048)) AS v(x)";
        assert_eq!(asked(&session, sql).await, ["1.50 KiB|NULL|1.50 KiB"]);
    });
}

#[test]
fn buckets_begin_where_people_expect() {
    run(async {
        let fixture = Fixture::new(Size { jobs: 1, ranks: 1, calls: 10, ..SIZE }).await;
        let session = fixture.all();
        let bucket = async |width: &str| {
            let sql = format!(
                "SELECT CAST(time_bucket({width}, TIMESTAMPTZ '2026-11-19T13:47:11.25Z') AS TEXT)"
            );
            asked(&session, &sql).await.remove(0)
        };
        assert_eq!(bucket("'5 minutes'").await, "2026-11-19T13:45:00Z");
        assert_eq!(bucket("INTERVAL '1 hour'").await, "2026-11-19T13:00:00Z");
        assert_eq!(bucket("'300.000s'").await, "2026-11-19T13:45:00Z");
        assert_eq!(bucket("'1 week'").await, "2026-11-16T00:00:00Z");
        assert_eq!(bucket("'1 month'").await, "2026-11-01T00:00:00Z");
    });
}
