//! Analysis modules: what they compute, what they may see, and that their limits hold.
//!
//! `NETRA_TEST_PYTHON` names a Python with pandas and pyarrow; `cargo xtask test` sets it.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[expect(dead_code, reason = "other tests use more of it")]
mod made;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use datafusion::arrow::array::{AsArray as _, RecordBatch};
use datafusion::arrow::datatypes::{Float64Type, Int64Type};
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use made::{Made, Size};
use netra_event::Bytes;
use netra_store::ask::analysis::Settings;
use netra_store::ask::{Error, Ground, Kind, Limits, Session, Who};

const SIZE: Size = Size { jobs: 12, ranks: 3, calls: 200, seed: 12 };
/// A module that asks nothing in particular.
const ONE: &str = "inputs = {\"one\": \"SELECT 1 AS x\"}\n";

/// A store, a directory of modules, and what may be spent on them.
struct Fixture {
    made: Made,
    store: Arc<netra_store::Store>,
    folder: tempfile::TempDir,
    limits: Limits,
}

impl Fixture {
    /// Nothing without a Python that can run modules.
    async fn new() -> Option<Fixture> {
        let Some(python) = std::env::var_os("NETRA_TEST_PYTHON").map(PathBuf::from) else {
            eprintln!("skipped: NETRA_TEST_PYTHON names no Python with pandas and pyarrow");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let made = Made::new(SIZE);
        let store = Arc::new(made.store(&folder.path().join("store")).await);
        let analysis = Settings {
            folders: vec![folder.path().join("modules")],
            python,
            time: Duration::from_secs(60),
            memory: Bytes(1 << 30),
            output: Bytes(1 << 20),
            ..Settings::usual()
        };
        std::fs::create_dir(&analysis.folders[0]).unwrap();
        let limits = Limits { analysis, ..Limits::default() };
        Some(Fixture { made, store, folder, limits })
    }

    fn session(&self, who: Who) -> Session {
        Session::new(Arc::clone(&self.store) as _, who, &Ground::new(&self.limits).unwrap())
    }

    /// A module of the test's own.
    fn module(&self, name: &str, source: &str) {
        let path = self.limits.analysis.folders[0].join(format!("{name}.py"));
        std::fs::write(path, source).unwrap();
    }

    /// Why a module with this function fails.
    async fn failing(&self, function: &str) -> Error {
        self.module("bad", &format!("{ONE}{function}"));
        refused(&self.session(Who::Administrator), "SELECT * FROM analyse('bad')").await
    }
}

fn run(work: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(work);
}

async fn rows(session: &Session, sql: &str) -> Vec<RecordBatch> {
    match session.ask(sql).await {
        Ok(answer) => answer.collect().await.unwrap_or_else(|error| panic!("{sql}: {error}")),
        Err(error) => panic!("{sql}: {error}"),
    }
}

/// Rows as texts, columns with a bar between them.
async fn lines(session: &Session, sql: &str) -> Vec<String> {
    let options = FormatOptions::default().with_null("NULL");
    let mut lines = Vec::new();
    for batch in rows(session, sql).await {
        let columns: Vec<ArrayFormatter<'_>> = batch
            .columns()
            .iter()
            .map(|one| ArrayFormatter::try_new(one, &options).unwrap())
            .collect();
        lines.extend((0..batch.num_rows()).map(|row| {
            let cells: Vec<String> = columns.iter().map(|one| one.value(row).to_string()).collect();
            cells.join("|")
        }));
    }
    lines
}

async fn refused(session: &Session, sql: &str) -> Error {
    match session.ask(sql).await {
        Ok(_) => panic!("{sql} was answered"),
        Err(error) => error,
    }
}

#[test]
fn the_slow_rank_of_a_job_is_found() {
    run(async {
        let Some(fixture) = Fixture::new().await else { return };
        let session = fixture.session(Who::Administrator);
        let sql = "SELECT rank, calls, seconds FROM analyse('slow_ranks', 'job=' || '4700') ORDER BY rank";
        let mut expected: BTreeMap<i64, (i64, i64)> = BTreeMap::new();
        for call in fixture.made.calls.iter().filter(|call| call.job == 0) {
            if matches!(call.layer, "POSIX" | "STDIO") {
                let sums = expected.entry(call.rank).or_default();
                *sums = (sums.0 + 1, sums.1 + call.duration);
            }
        }
        let mut found = BTreeMap::new();
        for batch in rows(&session, sql).await {
            let rank = batch.column(0).as_primitive::<Int64Type>();
            let calls = batch.column(1).as_primitive::<Int64Type>();
            let seconds = batch.column(2).as_primitive::<Float64Type>();
            for row in 0..batch.num_rows() {
                let nanos = (seconds.value(row) * 1e9).round() as i64;
                found.insert(rank.value(row), (calls.value(row), nanos));
            }
        }
        assert_eq!(found, expected);
    });
}

#[test]
fn bytes_over_time_add_up_in_every_interval() {
    run(async {
        let Some(fixture) = Fixture::new().await else { return };
        let sql = "SELECT CAST(date_part('epoch', t) AS BIGINT), rank, \"read\", written \
                   FROM analyse('bytes_over_time', 'job=4700', 'by=rank', 'step=10') ORDER BY 1, 2";
        let mut expected: BTreeMap<(i64, i64), [i64; 2]> = BTreeMap::new();
        for call in fixture.made.calls.iter().filter(|call| call.job == 0) {
            let moves = ["read", "write"].iter().position(|op| *op == call.op);
            let Some(way) = moves.filter(|_| matches!(call.layer, "POSIX" | "STDIO")) else {
                continue;
            };
            expected.entry((call.t / 10_000_000 * 10, call.rank)).or_default()[way] += call.bytes;
        }
        let expected: Vec<String> = expected
            .iter()
            .map(|((t, rank), [read, written])| format!("{t}|{rank}|{read}|{written}"))
            .collect();
        assert!(expected.len() > 3);
        let session = fixture.session(Who::Administrator);
        assert_eq!(lines(&session, sql).await, expected);
        // A short job keeps its seconds; of longer ones intervals are made that fit into a picture.
        let short = "SELECT count(DISTINCT t) FROM analyse('durations', 'job=4700')";
        let seconds =
            "SELECT count(DISTINCT t) FROM activity WHERE job = job('4700') AND layer = 'POSIX'";
        assert_eq!(lines(&session, short).await, lines(&session, seconds).await);
    });
}

#[test]
fn every_analysis_of_the_papers_has_rows() {
    run(async {
        let Some(fixture) = Fixture::new().await else { return };
        let ground = Ground::new(&fixture.limits).unwrap();
        let listed = ground.analyses().list().await;
        assert_eq!(listed.len(), 6);
        for module in &listed {
            let declared = module.declared.as_ref().unwrap_or_else(|error| panic!("{error}"));
            assert!(!declared.about.is_empty(), "{}", module.name);
            let needs_job = declared.parameters.iter().any(|one| one.name == "job");
            let job = if needs_job { ", 'job=slurm.4700.0'" } else { "" };
            let sql = format!("SELECT * FROM analyse('{}'{job})", module.name);
            assert!(!lines(&fixture.session(Who::Administrator), &sql).await.is_empty(), "{sql}");
        }
    });
}

#[test]
fn a_module_sees_the_rows_of_its_caller() {
    run(async {
        let Some(fixture) = Fixture::new().await else { return };
        fixture.module(
            "everybody",
            "inputs = {\"jobs\": {\"table\": \"jobs\", \"columns\": [\"job\", \"uid\"]}}\n\
             def analyse(jobs): return jobs.groupby(\"uid\", as_index=False).size()\n",
        );
        let sql = "SELECT uid, size FROM analyse('everybody') ORDER BY uid";
        assert_eq!(lines(&fixture.session(Who::User(1001)), sql).await, ["1001|6"]);
        let all = fixture.session(Who::Administrator);
        assert_eq!(lines(&all, sql).await, ["1000|6", "1001|6"]);
        // Job 4700 is user 1000's.
        let other = "SELECT * FROM analyse('slow_ranks', 'job=slurm.4700.0')";
        let error = refused(&fixture.session(Who::User(1001)), other).await;
        assert_eq!(
            error.to_string(),
            "analysis slow_ranks, input ranks: there is no job \"slurm.4700.0\" (netra jobs lists those that you may see)"
        );
    });
}

#[test]
fn filters_choose_rows_before_the_module_sees_them() {
    run(async {
        let Some(fixture) = Fixture::new().await else { return };
        fixture.module(
            "some",
            "inputs = {\"calls\": {\"table\": \"events\", \"columns\": [\"rank\", \"op\", \"file\", \"t\"],\n\
             \x20 \"filters\": [\"job\", \"rank\", \"time\", \"file\"], \"where\": \"op = 'write'\"}}\n\
             def analyse(calls): return calls.astype({\"file\": str}).groupby([\"rank\", \"file\"], as_index=False).size()\n",
        );
        let sql = "SELECT rank, sum(size) FROM analyse('some', 'job=4700', 'ranks=0,2', 'file=/3.dat', \
                   'since=2026-11-16T00:00:10Z') GROUP BY rank ORDER BY rank";
        let from = made::BEGAN + 10_000_000;
        let mut expected: BTreeMap<i64, i64> = BTreeMap::new();
        for call in &fixture.made.calls {
            let chosen = call.job == 0 && call.op == "write" && call.rank != 1 && call.t >= from;
            if chosen && call.path().contains("/3.dat") {
                *expected.entry(call.rank).or_default() += 1;
            }
        }
        let expected: Vec<String> =
            expected.iter().map(|(rank, count)| format!("{rank}|{count}")).collect();
        assert_eq!(expected.len(), 2);
        assert_eq!(lines(&fixture.session(Who::Administrator), sql).await, expected);
    });
}

#[test]
fn limits_hold_and_others_go_on() {
    run(async {
        let Some(mut fixture) = Fixture::new().await else { return };
        let error = fixture
            .failing("import numpy\ndef analyse(one):\n    big = numpy.ones(100 << 30, dtype='int8')\n    return one\n")
            .await;
        assert_eq!(
            error.message,
            "analysis bad: line 4 (big = numpy.ones(100 << 30, dtype='int8')): it needs more memory than it may have"
        );
        let grows =
            "def analyse(one):\n    kept = []\n    while True: kept.append(bytearray(1 << 20))\n";
        let error = fixture.failing(grows).await;
        assert!(error.message.ends_with("it needs more memory than it may have"), "{error}");
        // Memory that could be shared counts as well.
        let shared = "import mmap\ndef analyse(one): return mmap.mmap(-1, 3 << 30)\n";
        let error = fixture.failing(shared).await;
        assert!(error.message.ends_with("it needs more memory than it may have"), "{error}");
        for (body, called) in [
            ("import os\n    os.fork()", "os.fork()"),
            ("import os\n    os.execv('/bin/true', ['true'])", "os.execv('/bin/true', ['true'])"),
            ("import subprocess\n    subprocess.run(['true'])", "subprocess.run(['true'])"),
            ("import socket\n    socket.socket()", "socket.socket()"),
            ("import os\n    os.kill(os.getppid(), 9)", "os.kill(os.getppid(), 9)"),
        ] {
            let error =
                fixture.failing(&format!("def analyse(one):\n    {body}\n    return one\n")).await;
            assert_eq!(error.kind, Kind::Analysis);
            let begins = format!("analysis bad: line 4 ({called}): PermissionError");
            assert!(error.message.starts_with(&begins), "{error}");
            assert!(error.message.contains("may not start processes"), "{error}");
        }
        let error = fixture
            .failing(
                "import pandas\ndef analyse(one): return pandas.DataFrame({'x': range(1000000)})\n",
            )
            .await;
        assert_eq!(error.message, "analysis bad: its table is larger than 1 MiB");
        fixture.limits.analysis.time = Duration::from_secs(3);
        let error = fixture.failing("def analyse(one):\n    while True: pass\n").await;
        assert_eq!(error.message, "analysis bad: it took longer than 3 s");
        // All the while the store answers.
        let all = fixture.session(Who::Administrator);
        assert_eq!(lines(&all, "SELECT count(*) FROM jobs").await, ["12"]);
    });
}

#[test]
fn system_calls_past_python_are_refused_as_well() {
    run(async {
        let Some(fixture) = Fixture::new().await else { return };
        // The call that threads send signals with, and what would stay in the kernel behind the module.
        for call in [
            "tgkill(os.getppid(), os.getppid(), 9)",
            "shmget(0, 4096, 0o1600)",
            "msgget(0, 0o1600)",
        ] {
            let error = fixture
                .failing(&format!(
                    "import ctypes, os\ndef analyse(one):\n    libc = ctypes.CDLL(None, use_errno=True)\n    \
                     libc.{call}\n    raise OSError(ctypes.get_errno(), '')\n"
                ))
                .await;
            let begins =
                "analysis bad: line 6 (raise OSError(ctypes.get_errno(), '')): PermissionError";
            assert!(error.message.starts_with(begins), "{call}: {error}");
        }
    });
}

#[test]
fn a_module_reads_no_files_but_pythons() {
    run(async {
        let Some(fixture) = Fixture::new().await else { return };
        let secret = fixture.folder.path().join("secret");
        std::fs::write(&secret, "1").unwrap();
        let path = secret.display();
        let error = fixture
            .failing(&format!("def analyse(one):\n    open('{path}').read()\n    return one\n"))
            .await;
        let begins = format!("analysis bad: line 3 (open('{path}').read()): PermissionError");
        assert!(error.message.starts_with(&begins), "{error}");
        let error = fixture
            .failing(&format!("def analyse(one):\n    open('{path}', 'w')\n    return one\n"))
            .await;
        assert!(error.message.contains("PermissionError"), "{error}");
    });
}

#[test]
fn errors_name_their_line() {
    run(async {
        let Some(fixture) = Fixture::new().await else { return };
        let error =
            fixture.failing("def analyse(one):\n    print('no table')\n    return 1 / 0\n").await;
        assert_eq!(
            error.message,
            "analysis bad: line 4 (return 1 / 0): ZeroDivisionError: division by zero"
        );
        let error = fixture.failing("def analyse(one:\n").await;
        assert!(
            error.message.starts_with("analysis bad: line 2 (def analyse(one:): SyntaxError"),
            "{error}"
        );
        let error = fixture.failing("def analyse(one): return 7\n").await;
        assert_eq!(error.message, "analysis bad: analyse gave int, not a data frame");
        let error = fixture.failing("def analyse(two): return two\n").await;
        assert_eq!(
            error.message,
            "analysis bad: line 2 (def analyse(two): return two): analyse does not take the input one"
        );
        let error = fixture.failing("def analyse(one, x: dict = {}): return one\n").await;
        assert!(error.message.contains("x has the type dict; types are"), "{error}");
        let error = fixture.failing("import sys\ndef analyse(one): sys.exit(3)\n").await;
        assert!(error.message.contains("SystemExit"), "{error}");
        let error = fixture.failing("import os\ndef analyse(one): os._exit(3)\n").await;
        assert!(error.message.ends_with("ended without an answer (exit status: 3)"), "{error}");
        let error = fixture.failing("import os\ndef analyse(one): os.abort()\n").await;
        assert!(error.message.contains("ended without an answer (signal: 6 (SIGABRT))"), "{error}");
        let all = fixture.session(Who::Administrator);
        for (sql, says) in [
            ("SELECT * FROM analyse('slow_ranks')", "analysis slow_ranks: job is needed: job=…"),
            (
                "SELECT * FROM analyse('slow_ranks', 'job=4700', 'times=x')",
                "analysis slow_ranks: times: \"x\" is no number",
            ),
            (
                "SELECT * FROM analyse()",
                "analyse can not be called so: it is analyse('NAME', 'parameter=value', …), with texts",
            ),
            ("SELECT * FROM analyse('../bad')", "there is no analysis \"../bad\""),
        ] {
            assert_eq!(refused(&all, sql).await.message, says, "{sql}");
        }
        fixture.module(
            "nested",
            "inputs = {\"x\": \"SELECT * FROM analyse('bad')\"}\ndef analyse(x): return x\n",
        );
        let error = refused(&all, "SELECT * FROM analyse('nested')").await;
        assert_eq!(
            error.message,
            "analysis nested, input x: an input of an analysis can not be another analysis"
        );
    });
}

#[test]
fn the_same_inputs_are_computed_once() {
    run(async {
        let Some(fixture) = Fixture::new().await else { return };
        fixture.module(
            "drawn",
            &format!("import pandas, random\n{ONE}def analyse(one, n: int = 1): return pandas.DataFrame({{'x': [random.random()]}})\n"),
        );
        let session = fixture.session(Who::Administrator);
        let first = lines(&session, "SELECT x FROM analyse('drawn')").await;
        assert_eq!(lines(&session, "SELECT x FROM analyse('drawn', 'n=1')").await, first);
        assert_ne!(lines(&session, "SELECT x FROM analyse('drawn', 'n=2')").await, first);
        // Two sessions of one program share what was made, and see it only where their own rows are the same.
        let ground = Ground::new(&fixture.limits).unwrap();
        let begin = |who| Session::new(Arc::clone(&fixture.store) as _, who, &ground);
        let sql = "SELECT count(*) FROM analyse('operations', 'job=4700')";
        assert_ne!(lines(&begin(Who::Administrator), sql).await, ["0"]);
        let error = refused(&begin(Who::User(1001)), sql).await;
        assert!(error.message.contains("there is no job"), "{error}");
    });
}
