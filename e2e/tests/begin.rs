//! When recording begins: that of a forked child with its first call, which then lies within its life.
#![forbid(unsafe_code)]

use netra_darshan::{counter, read};
use netra_e2e::{Case, Program, Scene, Tool};
use netra_event::Module;

#[test]
fn a_childs_recording_begins_with_its_first_call() {
    let netra = Tool::netra().expect("the library");
    let scene = Scene::new("fork_late").expect("a fresh directory");
    let case = Case::of(Program::c("fork_late"));
    case.check_in(&scene, &netra).expect("it runs").assert();
    let files = std::fs::read_dir(scene.logs()).expect("logs").flatten().map(|entry| entry.path());
    let late = files.filter_map(|path| {
        let log = read::Log::open(&path).expect("a log");
        let table = counter::current(Module::Posix).expect("its counters");
        let at = |name: &str| table.float.iter().position(|own| *own == name).expect("a counter");
        let mut records = log.records(Module::Posix);
        while let Some(record) = records.next_record() {
            let name = log.names().get(record.id()).unwrap_or_default();
            if name.ends_with(b"/late.dat")
                && let read::Record::Counters(record) = record
            {
                let value = |name| record.floats[at(name)];
                return Some(
                    [
                        "POSIX_F_OPEN_START_TIMESTAMP",
                        "POSIX_F_OPEN_END_TIMESTAMP",
                        "POSIX_F_WRITE_START_TIMESTAMP",
                    ]
                    .map(value),
                );
            }
        }
        None
    });
    let late: Vec<[f64; 3]> = late.collect();
    let [[start, end, write]] = late[..] else { panic!("one record of the child: {late:?}") };
    assert_eq!(start, 0.0, "the first call begins where the recording begins");
    assert!(end > 0.0, "and ends later: {end}");
    assert!(write >= end, "what follows comes after it: {write} after {end}");
}
