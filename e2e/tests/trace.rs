//! What the trace holds of a log, beside its counters: every byte that is counted, once; and no more time than there was.
#![forbid(unsafe_code)]

use netra_e2e::{Case, Log, Program, Scene, Tool};

/// Runs a program under netra; its logs.
fn logs(program: Program) -> Vec<Log> {
    let scene = Scene::new(program.name()).expect("a fresh directory");
    let done = Case::of(program).run_with(&Tool::netra().expect("the library"), &scene);
    drop(done.expect("it runs"));
    Log::read_all(&scene.logs()).expect("logs are read").into_values().collect()
}

#[track_caller]
#[expect(clippy::print_stdout, reason = "one line per program is what a test run shows")]
fn covers(program: Program) {
    let name = program.name().to_owned();
    let (mut files, mut all) = (0, 0);
    for log in logs(program) {
        for (file, counters) in log.records("POSIX") {
            let counted = [counters.get("POSIX_BYTES_READ"), counters.get("POSIX_BYTES_WRITTEN")];
            assert_eq!(log.traced(file), counted, "{name}: {file}, bytes read and written");
            files += 1;
            all += counted[0] + counted[1];
        }
    }
    assert!(all > 0, "{name} moved nothing");
    println!("{name:24} the trace has all {all} B of {files} files");
}

/// Moves inside the kernel are a read of one file and a write of another; asynchronous transfers belong to their
/// files.
#[test]
fn the_trace_has_every_byte_that_is_counted() {
    for name in ["plain", "vector", "movers", "aio", "syscall_every"] {
        covers(Program::c(name).named(&format!("{name}_traced")));
    }
    if std::path::Path::new("/usr/include/libaio.h").exists() {
        let program = Program::c("libaio").named("libaio_traced");
        covers(program.flag("-Wl,--no-as-needed").flag("-laio"));
    }
}

/// Neither end of a copy has the whole time for itself: with both, a thread would be longer in I/O than it ran.
#[test]
fn a_copy_takes_no_longer_than_it_took() {
    let logs = logs(Program::c("copy_time").named("copy_time_traced"));
    let [log] = &logs[..] else { panic!("one process, {} logs", logs.len()) };
    let (took, ran) = (log.seconds("POSIX"), log.ran());
    assert!(0.0 < took && took <= ran, "{took} s in I/O, of {ran} s that it ran");
}
