//! The report page: made of jobs of every kind, looked at as bytes here and in a real browser by
//! `web/test/page.test.ts`. Without Node.js, a browser or the built page only the bytes are
//! looked at, and what was not checked is printed.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "what tests are made of is a test too"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use netra_analyse::detail::{Budget, Detail};
use netra_analyse::{
    Aside, Direction, Frame, FunctionUse, Heatmap, Job, Layer, Layout, Opening, Place, Setup,
    Thresholds, TraceRow, Usage, Who, diagnose, diagnose_and_draw,
};
use netra_darshan::read::Log;
use netra_event::{Function, Module, Rank, RecordId, Seconds};
use netra_show::view::Views;
use netra_show::{html, load, report};

/// A name that would run if anything read it as HTML.
const MARKUP: &str = "/data/<img src=x onerror=\"window.ran=true\">'</script><script>window.ran=true</script>&amp;.dat";

/// A view as a user would add it.
const VIEW: &str = r#"
title = "Files above ten seconds"
from = "files"
where = "seconds > 10"

[chart]
kind = "bars"
x = "path"
unit = "seconds"

[[series]]
name = "time"
value = "seconds"
"#;

fn job(nprocs: u64, run_time: f64) -> Job {
    Job {
        source: "made by a test".into(),
        command: "./app".into(),
        nprocs,
        who: Who::ranks(nprocs),
        run_time: Seconds(run_time),
        modules: vec![Module::Posix],
        ..Job::default()
    }
}

/// A rank's writes to a file as counters say them.
fn writes(job: &mut Job, path: &str, rank: i64, seconds: f64, calls: u64) -> RecordId {
    let id = RecordId::of(path.as_bytes());
    job.names.insert(id, path.to_owned());
    let mut usage = Usage::new(Layer::Posix, id, Rank(rank));
    let flow = &mut usage.write;
    (flow.calls, flow.bytes, flow.seconds, flow.span) =
        (calls, calls << 20, seconds, (1.0, 1.0 + seconds));
    flow.bins = Some([0, 0, 0, 0, calls, 0, 0, 0, 0, 0]);
    usage.opens = 1;
    job.usages.push(usage);
    id
}

/// A line of a program.
fn place(function: &str, line: u32) -> Place {
    let (object, file) = ("/home/me/app".into(), Some("/home/me/app.c".into()));
    let (function, line) = (Some(function.to_owned()), Some(line));
    Place { frames: vec![Frame { object, address: 1, function, file, line, own: true }] }
}

/// Functions whose names are short, but too many to stand beside each other.
fn short_names() -> Vec<FunctionUse> {
    let names = "open close read write pread pwrite lseek stat fsync fopen fclose fread";
    let mut functions = Vec::new();
    for (calls, name) in (1..).zip(names.split(' ')) {
        let function = Function::from_symbol(name).unwrap();
        functions.push(FunctionUse { calls, traced: calls, ..FunctionUse::new(function) });
    }
    functions
}

/// Sixteen ranks write to files of their own; rank 5 takes ten times as long. Its calls come from a line of their own.
fn slow() -> Job {
    let mut job = job(16, 100.0);
    job.places = vec![place("save", 42), place("save_slowly", 77), place("begin", 7)];
    job.functions = short_names();
    job.aside = Some(Aside { files: 2, bytes_written: 4096, ..Aside::default() });
    for rank in 0..16u32 {
        let slow = rank == 5;
        let path = if slow { "/data/slow.dat".to_owned() } else { format!("/data/fast.{rank}") };
        let took = if slow { 80.0 } else { 8.0 };
        let id = writes(&mut job, &path, i64::from(rank), took, 40);
        let file = job.trace.file(id);
        for (close, start) in [(false, 0.5), (true, 1.0 + took)] {
            let layer = Layer::Posix;
            let (end, place) = (start + 0.01, Some(2));
            job.opens.push(Opening { file, rank, layer, close, start, end, place });
        }
        for call in 0..40u32 {
            let start = 1.0 + f64::from(call) * took / 40.0;
            let end = start + took / 41.0;
            let (offset, length) = (u64::from(call) << 20, 1 << 20);
            let (layer, direction) = (Layer::Posix, Direction::Write);
            let row = TraceRow { file, rank, layer, direction, start, end, offset, length };
            job.trace.push_from(row, Some(u32::from(slow)));
        }
    }
    job
}

/// 100,000 ranks of which one is busy for a tenth of the run.
fn hot() -> Job {
    let mut job = job(100_000, 100.0);
    let file = job.trace.file(RecordId::of(b"/data/all"));
    job.names.insert(RecordId::of(b"/data/all"), "/data/all".into());
    let call = |rank, start, end| {
        let direction = Direction::Write;
        TraceRow { file, rank, layer: Layer::Posix, direction, start, end, offset: 0, length: 4096 }
    };
    for rank in 0..100_000 {
        job.trace.push(call(rank, 10.0, 10.0001));
    }
    job.trace.push(call(77_777, 50.0, 60.0));
    job
}

fn markup() -> Job {
    let mut job = job(1, 10.0);
    job.command = MARKUP.into();
    writes(&mut job, MARKUP, 0, 5.0, 2000);
    job.remarks.push(MARKUP.into());
    job
}

fn untraced() -> Job {
    let mut job = job(1, 10.0);
    writes(&mut job, "/data/only", 0, 4.0, 10);
    job
}

/// No times at all, as in logs whose clock was off.
fn timeless() -> Job {
    let mut job = job(4, 0.0);
    writes(&mut job, "/data/f", -1, 0.0, 10);
    job.usages[0].write.span = (0.0, 0.0);
    job
}

/// No trace, but bytes counted in steps: rank 3 moves most, in the second.
fn counted() -> Job {
    let mut job = job(8, 10.0);
    for rank in 0..8u32 {
        writes(&mut job, "/data/shared", i64::from(rank), 2.0, 10);
        let most = if rank == 3 { 1000 } else { 10 };
        let (layer, width, read) = (Layer::Posix, 1.0, Vec::new());
        let write = vec![5, most, 5];
        job.heatmaps.push(Heatmap { layer, rank, width, read, write });
    }
    job
}

/// Two ranks on two nodes use the same bytes in turn: every kind of conflict, on three
/// Lustre targets.
fn clash() -> Job {
    let mut job = job(2, 10.0);
    let id = writes(&mut job, "/lus/shared", 0, 2.0, 3);
    let file = job.trace.file(id);
    let (stripe_size, stripe_count, osts) = (100, 3, vec![4, 9, 2]);
    job.layouts.push(Layout { file: id, stripe_size, stripe_count, osts });
    job.hosts.extend([(0, "n01".to_owned()), (1, "n02".to_owned())]);
    job.servers.extend([(4, "oss-a".to_owned()), (9, "oss-a".to_owned()), (2, "oss-b".to_owned())]);
    for (rank, direction, start) in [
        (0, Direction::Write, 1.0),
        (1, Direction::Read, 3.0),
        (0, Direction::Write, 5.0),
        (1, Direction::Write, 7.0),
    ] {
        let (offset, length, end) = (0, 300, start + 1.0);
        job.trace.push(TraceRow {
            file,
            rank,
            layer: Layer::Posix,
            direction,
            start,
            end,
            offset,
            length,
        });
    }
    job
}

fn log(path: &Path) -> Job {
    let log = Log::open(path).unwrap();
    load::job(&path.file_name().unwrap().to_string_lossy(), &log).0
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Writes a page and its report for machines.
fn make(folder: &Path, name: &str, job: &Job) -> String {
    let limit = Thresholds::default();
    let found = diagnose_and_draw(job, &Setup::default(), Budget::default());
    let mut page = Vec::new();
    let mut views = Views::shipped();
    views.add("slow-files.toml", VIEW).unwrap();
    html::page(&mut page, job, &found, &views).unwrap();
    let mut json = Vec::new();
    report::json(&mut json, &job.source, &found.0, &limit).unwrap();
    fs::write(folder.join(format!("{name}.html")), &page).unwrap();
    fs::write(folder.join(format!("{name}.json")), &json).unwrap();
    String::from_utf8(page).unwrap()
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).unwrap();
    }
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn a_page_loads_nothing_and_runs_nothing_from_a_log() {
    let page = make(&folder("bytes"), "markup", &markup());
    assert!(page.starts_with("<!doctype html>"));
    assert!(
        page.contains(
            "http-equiv=\"Content-Security-Policy\" content=\"default-src &#39;none&#39;"
        )
    );
    assert!(!page.contains("<img") && !page.contains("'</script>"));
    for loads in ["src=\"http", "href=\"http", "url(http", "@import"] {
        assert!(!page.contains(loads), "{loads}");
    }
    // Three elements of ours, whatever names try to add.
    assert_eq!(page.matches("</script>").count(), 3);
    let parts =
        |marker: &str| page.split(marker).nth(1).unwrap().split("</script>").next().unwrap();
    let data: serde_json::Value = serde_json::from_str(parts("id=\"report\">")).unwrap();
    assert_eq!(data["job"]["command"], MARKUP);
    assert_eq!(data["files"][0]["path"], MARKUP);
}

#[test]
fn a_page_stays_small_whatever_the_job() {
    let size = |name, job: &Job| make(&folder(name), name, job).len();
    assert!(size("small", &untraced()) < 200_000);
    assert!(size("large", &hot()) < 3_000_000);
}

/// Calls of 1,000 ranks to ten files, in order of time for each.
fn busy(calls: u32) -> Job {
    let mut job = job(1000, 1000.0);
    let files: Vec<u32> = (0..10).map(|n| job.trace.file(RecordId(n))).collect();
    let per = calls / 10_000;
    for (at, rank) in (0..10_000).zip((0..1000).cycle()) {
        for call in 0..per {
            let start = f64::from(call) * 1000.0 / f64::from(per) + f64::from(rank) * 1e-5;
            let direction = if at % 2 == 0 { Direction::Write } else { Direction::Read };
            let (file, offset) =
                (files[at / 1000], (u64::from(call) * 1000 + u64::from(rank)) << 16);
            job.trace.push(TraceRow {
                file,
                rank,
                layer: Layer::Posix,
                direction,
                start,
                end: start + 0.01,
                offset,
                length: 1 << 16,
            });
        }
    }
    job
}

#[test]
fn a_million_calls_fit_into_a_page() {
    let calls = if std::env::var_os("NETRA_TEST_LONG").is_some() { 10_000_000 } else { 1_000_000 };
    let job = busy(calls);
    let report = diagnose(&Job::default(), &Thresholds::default(), &BTreeSet::new());
    let mut page = Vec::new();
    let found = (report, Detail::of(&job, Budget::default()));
    html::page(&mut page, &job, &found, &Views::shipped()).unwrap();
    fs::write(folder("million").join("million.html"), &page).unwrap();
    assert!(page.len() < 15_000_000, "{} bytes", page.len());
    let page = String::from_utf8(page).unwrap();
    let data = page.split("id=\"report\">").nth(1).unwrap().split("</script>").next().unwrap();
    let data: serde_json::Value = serde_json::from_str(data).unwrap();
    assert_eq!(data["marks"]["calls"], calls);
    let marks = data["marks"]["count"].as_u64().unwrap();
    assert!((100_000..=200_000).contains(&marks), "{marks} marks");
}

#[test]
fn a_browser_finds_every_page_right() {
    let folder = folder("pages");
    for (name, job) in [
        ("slow", slow()),
        ("hot", hot()),
        ("markup", markup()),
        ("untraced", untraced()),
        ("counted", counted()),
        ("clash", clash()),
        ("timeless", timeless()),
        ("empty", job(1, 1.0)),
        ("wave", log(&root().join("docs/example/wave.darshan"))),
    ] {
        make(&folder, name, &job);
    }
    runs(&folder, &slow(), &untraced());
    real_logs(&folder);
    let test = root().join("web/build/page.test.js");
    let Some(chromium) =
        ["chromium", "chromium-browser", "google-chrome"].iter().find_map(|name| on_path(name))
    else {
        return println!("not checked in a browser: chromium is not installed");
    };
    if !test.exists() || on_path("node").is_none() {
        return println!("not checked in a browser: `cargo xtask web` has not built the tests");
    }
    let mut node = Command::new("node");
    node.arg("--test").arg(&test).env("NETRA_PAGES", &folder).env("NETRA_CHROMIUM", chromium);
    let done = node.output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{said}\n{}", String::from_utf8_lossy(&done.stderr));
}

/// A page of two runs, and the same for machines.
fn runs(folder: &Path, before: &Job, after: &Job) {
    let found = |job: &Job| diagnose(job, &Thresholds::default(), &BTreeSet::new());
    let (a, b) = (found(before), found(after));
    let mut page = Vec::new();
    html::comparison(&mut page, &[(before, &a), (after, &b)], &Views::shipped()).unwrap();
    fs::write(folder.join("runs.html"), &page).unwrap();
    let mut json = Vec::new();
    netra_show::compare::json(&mut json, ("a", "b"), &a, &b).unwrap();
    fs::write(folder.join("runs.json"), &json).unwrap();
}

/// Logs of real jobs, where they are at hand.
fn real_logs(folder: &Path) {
    let logs = root().join("../shared/logs");
    for (name, path) in [
        (
            "mpiio",
            "mpi_io_test_with_dxt/treddy_mpi-io-test_id4373053_6-2-60198-9815401321915095332_1.darshan",
        ),
        ("imbalanced", "imbalanced_io/imbalanced-io.darshan"),
        ("e3sm", "e3sm_io_heatmaps_and_dxt/e3sm_io_heatmap_only.darshan"),
    ] {
        let path = logs.join(path);
        if path.exists() {
            make(folder, name, &log(&path));
        } else {
            println!("not checked: {} is not here", path.display());
        }
    }
}

fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}
