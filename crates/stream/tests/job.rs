//! Jobs: segments and logs of their processes become one log with exact totals.

#[expect(dead_code, reason = "tests of other crates use the rest of it")]
#[path = "../../darshan/tests/maker/mod.rs"]
mod maker;

use maker::{Segment as Made, event, tick, words};
use netra_darshan::counter::posix as p;
use netra_darshan::{Log, Record};
use netra_event::segment::State;
use netra_event::segment::shard::{direction as d, posix};
use netra_event::{Function, Loss, Module};
use netra_stream::Error;
use netra_stream::job::{Job, Name, Target};
use netra_stream::source::{Piece, scan};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const ME: Name<'static> = Name { user: "me", program: None };

/// A process that wrote `calls` times 100 bytes to each of its files.
fn process(pid: u32, rank: Option<u32>, files: &[&str], calls: u64) -> Made {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let mut made = Made { pid: u32::MAX - pid, rank, state: State::Running, ..Made::default() };
    (made.host, made.nprocs, made.end) = (host, rank.map_or(0, |_| 2), 0);
    let mut lane = maker::Lane { tid: pid, ..maker::Lane::default() };
    for name in files {
        let file = made.file(name);
        let write = posix::WRITE;
        let counts = [
            (write + d::CALLS, calls),
            (write + d::BYTES, 100 * calls),
            (write + d::TIME, 2_000_000),
            (write + d::START, tick(1000)),
            (write + d::END, tick(2_000_000_000)),
            (posix::OPENS, 1),
        ];
        made.record(1, 0, file, words(posix::WORDS, &counts));
        lane.events.extend((0..calls).map(|call| {
            event(Function::Write, file, tick(1000 + 10 * call), (100 * call).cast_signed(), 100)
        }));
    }
    lane.dropped = vec![(Loss::Budget, u64::from(pid))];
    made.lanes.push(lane);
    made
}

fn leave(folder: &Path, made: &Made) {
    let path = folder.join(format!("segment-{}", made.pid));
    fs::write(path, made.bytes()).expect("a segment");
}

fn pieces(folder: &Path) -> Vec<Piece> {
    let paths = scan(folder).expect("a folder");
    paths.iter().map(|path| Piece::of_segment(path, None).expect("a segment")).collect()
}

/// Writes and bytes written by rank and name.
fn written(log: &Log) -> BTreeMap<(i64, String), (i64, i64)> {
    let mut all = BTreeMap::new();
    let mut records = log.records(Module::Posix);
    while let Some(record) = records.next_record() {
        let Record::Counters(record) = record else { panic!("counters") };
        let name = String::from_utf8_lossy(log.names().get(record.id).expect("a name"));
        let counts = (record.ints[p::WRITES], record.ints[p::BYTES_WRITTEN]);
        assert!(all.insert((record.rank.0, name.into_owned()), counts).is_none());
    }
    all
}

fn key(rank: i64, name: &str) -> (i64, String) {
    (rank, name.to_owned())
}

#[test]
fn killed_processes_become_one_log_and_go_away() {
    let folder = tempfile::tempdir().unwrap();
    let out = tempfile::tempdir().unwrap();
    leave(folder.path(), &process(3, None, &["/scratch/a", "/scratch/b"], 5));
    leave(folder.path(), &process(2, None, &["/scratch/a"], 7));
    leave(folder.path(), &process(1, None, &[], 0));
    let jobs = Job::group(pieces(folder.path()));
    assert_eq!(jobs.len(), 1);
    let job = &jobs[0];
    assert_eq!(job.dropped(), BTreeMap::from([(Loss::Budget, 6)]));
    assert_eq!(job.events(), 17);
    let mut seen = Vec::new();
    let target = Target::Folder(out.path().to_owned());
    let result = job.write(&target, ME, &mut |piece, number, log| {
        seen.push((u32::MAX - piece.pid, number.map(|number| number.0), log.modules().count()));
    });
    let result = result.unwrap();
    assert!(result.left_out.is_empty() && result.damage.is_empty(), "{result:?}");
    assert_eq!(seen, [(3, Some(0), 2), (2, Some(1), 2), (1, None, 0)]);
    let name = result.path.strip_prefix(out.path()).unwrap().to_str().unwrap();
    assert!(name.starts_with("2023/11/1"), "{name}");
    assert!(
        name.contains("/me_app_id77-4294967292_11-1") && name.ends_with("_1.darshan"),
        "{name}"
    );
    let log = Log::open(&result.path).unwrap();
    assert_eq!(log.job().numbers.nprocs, 2);
    assert_eq!(
        written(&log),
        BTreeMap::from([
            (key(0, "/scratch/a"), (5, 500)),
            (key(0, "/scratch/b"), (5, 500)),
            (key(1, "/scratch/a"), (7, 700)),
        ])
    );
    // Every process's own segment is kept in it, in the order of their start.
    let held = Piece::of_log(&result.path).unwrap();
    let pids: Vec<u32> = held.iter().map(|piece| u32::MAX - piece.pid).collect();
    assert_eq!(pids, [3, 2, 1]);
    assert_eq!(job.remove(&result), 0);
    assert_eq!(scan(folder.path()).unwrap().len(), 0);
    // And is enough to make the same log again, which does not overwrite the first.
    let again = Job::new(held).write(&target, ME, &mut |_, _, _| {});
    assert!(matches!(again, Err(Error::Exists { .. })), "{again:?}");
    let other = Target::File(out.path().join("again.darshan"));
    let again = Job::new(Piece::of_log(&result.path).unwrap());
    let again = again.write(&other, ME, &mut |_, _, _| {}).unwrap();
    assert_eq!(fs::read(again.path).unwrap(), fs::read(&result.path).unwrap());
}

#[test]
fn ranks_that_share_a_file_share_a_record() {
    let folder = tempfile::tempdir().unwrap();
    leave(folder.path(), &process(1, Some(1), &["/scratch/all", "/scratch/one"], 5));
    leave(folder.path(), &process(2, Some(0), &["/scratch/all"], 7));
    // A launcher only looks at files.
    let mut launcher = process(3, None, &["/scratch/hosts"], 0);
    launcher.lanes.clear();
    leave(folder.path(), &launcher);
    let job = Job::new(pieces(folder.path()));
    let target = Target::File(folder.path().join("log"));
    let result = job.write(&target, ME, &mut |_, _, _| {}).unwrap();
    let log = Log::open(&result.path).unwrap();
    assert_eq!(log.job().numbers.nprocs, 2);
    assert_eq!(Piece::of_log(&result.path).unwrap().len(), 3);
    assert_eq!(
        written(&log),
        BTreeMap::from(
            [(key(-1, "/scratch/all"), (12, 1200)), (key(1, "/scratch/one"), (5, 500)),]
        )
    );
}

#[test]
fn running_processes_keep_their_segments() {
    let folder = tempfile::tempdir().unwrap();
    let mut running = process(1, None, &["/scratch/a"], 1);
    (running.pid, running.process_start) = (std::process::id(), 0);
    leave(folder.path(), &running);
    leave(folder.path(), &process(2, None, &["/scratch/a"], 1));
    let job = Job::new(pieces(folder.path()));
    assert_eq!(job.running().count(), 1);
    let target = Target::File(folder.path().join("log"));
    let result = job.write(&target, ME, &mut |_, _, _| {}).unwrap();
    assert_eq!(job.remove(&result), 1);
    let left: Vec<_> = scan(folder.path()).unwrap();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn what_can_not_be_read_is_left_out_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    leave(folder.path(), &process(1, None, &["/scratch/a"], 1));
    leave(folder.path(), &process(2, None, &["/scratch/a"], 1));
    let job = Job::new(pieces(folder.path()));
    let damaged = &job.pieces()[1].path;
    fs::write(damaged, b"something else").unwrap();
    let target = Target::File(folder.path().join("log"));
    let result = job.write(&target, ME, &mut |_, _, _| {}).unwrap();
    assert_eq!(result.left_out.len(), 1);
    assert_eq!(result.left_out[0].0, *damaged);
    assert_eq!(job.remove(&result), 1);
    assert!(damaged.exists());
}

#[test]
fn without_space_for_the_log_nothing_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    leave(folder.path(), &process(1, None, &["/scratch/a"], 1));
    let job = Job::new(pieces(folder.path()));
    let target = Target::File(folder.path().join("segment-4294967294/log"));
    let refused = job.write(&target, ME, &mut |_, _, _| {});
    assert!(matches!(refused, Err(Error::Io { action: "creating", .. })), "{refused:?}");
    assert_eq!(scan(folder.path()).unwrap().len(), 1);
}

#[test]
fn jobs_are_told_apart_by_their_key() {
    let folder = tempfile::tempdir().unwrap();
    leave(folder.path(), &process(1, None, &["/scratch/a"], 1));
    leave(folder.path(), &Made { job: "another", ..process(2, None, &["/scratch/a"], 1) });
    let keys: Vec<String> = Job::group(pieces(folder.path())).iter().map(Job::key).collect();
    assert_eq!(keys, ["another", "host.1.2"]);
}
