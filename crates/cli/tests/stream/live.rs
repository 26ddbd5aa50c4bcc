//! `netra run --live`: a daemon of one's own, for one command.

use std::fs;
use std::path::Path;

use crate::site::Site;

#[test]
fn a_live_run_has_every_event_though_memory_was_used_again() {
    let site = Site::new();
    let calls = 60_000;
    let mut command = site.netra(&[
        "run",
        "--live",
        "--trace-budget",
        "256KiB",
        "--log-file",
        "live.darshan",
        "--",
    ]);
    command.arg(&site.burst).arg(site.path("data")).arg(calls.to_string()).arg("2");
    command.env("NETRA_PRELOAD", &site.library).env("NETRA_SEGMENT_DIR", site.path("segments"));
    let done = command.output().expect("netra starts");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "{said}");
    // One sentence, not the run's and the stream's.
    assert!(said.contains("complete: 120004 calls traced, none lost"), "{said}");
    assert!(!said.contains("arrived; nothing is missing"), "{said}");
    let traced = site.netra(&["dxt", "live.darshan"]).output().expect("netra starts");
    let text = String::from_utf8(traced.stdout).expect("text");
    let writes = text.lines().filter(|line| line.contains("X_POSIX") && line.contains("write"));
    assert_eq!(writes.count() as u64, 2 * calls, "{said}");
    let left: Vec<_> = fs::read_dir(site.folder.path()).expect("a folder").flatten().collect();
    assert!(left.iter().all(|entry| !is_hidden(&entry.path())), "{left:?}");
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".netra"))
}
