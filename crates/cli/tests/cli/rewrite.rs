//! Logs that the program writes: converted, merged, and compared with what they were made from.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use insta::assert_snapshot;

use crate::netra::{Done, Place, example, python};

/// A command that succeeds and complains about nothing; gives what it says.
#[track_caller]
fn made(place: &Place, words: &[&str]) -> String {
    let done = place.netra(words);
    assert_eq!((done.code, done.err.as_str()), (0, ""), "{words:?}");
    done.text().to_owned()
}

/// Two logs with the same counters.
#[track_caller]
fn same(place: &Place, a: &str, b: &str) {
    let done = place.netra(&["diff", a, b]);
    assert_eq!((done.code, done.err.as_str()), (0, ""), "{}", done.text());
    assert!(done.text().ends_with("\nno counter differs\n"), "{}", done.text());
}

fn counters(place: &Place, log: &str) -> Vec<String> {
    let done = place.netra(&["parse", log]);
    assert_eq!(done.code, 0, "{}", done.err);
    let lines = done.text().lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines.map(str::to_owned).collect()
}

#[test]
fn every_compression_keeps_every_counter() {
    let place = Place::with_example();
    for method in ["zlib", "bzip2", "none"] {
        made(&place, &["convert", "--compress", method, "wave.darshan", "-o", "new.darshan"]);
        same(&place, "wave.darshan", "new.darshan");
        assert_eq!(counters(&place, "new.darshan"), counters(&place, "wave.darshan"));
        let json = place.netra(&["info", "--format", "json", "new.darshan"]).json();
        assert_eq!(json["compression"], method);
    }
}

#[test]
fn pydarshan_reads_what_we_write() {
    let Some(python) = python() else {
        eprintln!("skipped: no PyDarshan; `cargo xtask test` installs it");
        return;
    };
    let place = Place::with_example();
    // The package on PyPI is built without bzip2.
    made(&place, &["convert", "--drop-threads", "wave.darshan", "-o", "a.darshan"]);
    made(&place, &["merge", "wave.darshan", "-o", "b.darshan"]);
    made(&place, &["convert", "--anonymise", "all", "wave.darshan", "-o", "c.darshan"]);
    let done = Command::new(python)
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/judge/pydarshan.py"))
        .arg(env!("CARGO_BIN_EXE_netra"))
        .args(["a.darshan", "b.darshan", "c.darshan"])
        .current_dir(place.path(""))
        .output()
        .expect("python starts");
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{said}\n{}", String::from_utf8_lossy(&done.stderr));
    let counts: Vec<u64> = said
        .lines()
        .filter_map(|line| line.strip_suffix(" values, 0 differ")?.rsplit(' ').next()?.parse().ok())
        .collect();
    let [a, b, c] = counts[..] else { panic!("{said}") };
    assert_eq!(b, c, "{said}");
    // Only the first has traces that this judge can read: four values a segment, and five a record.
    assert_eq!(a - b, 4 * 4 * (40 + 40 + 8) + 5 * 12 + 2, "{said}");
}

/// Heat maps do not tell files apart, so a part of a log has none.
#[test]
fn a_log_taken_apart_and_merged_is_the_same() {
    let place = Place::with_example();
    made(&place, &["convert", "--file", "*checkpoint*", "wave.darshan", "-o", "a.darshan"]);
    made(
        &place,
        &["convert", "--file", "*field*", "--file", "*.in", "wave.darshan", "-o", "b.darshan"],
    );
    // One file by its record id.
    made(&place, &["convert", "--file", "602068755024056257", "wave.darshan", "-o", "c.darshan"]);
    made(&place, &["merge", "a.darshan", "b.darshan", "c.darshan", "-o", "all.darshan"]);
    let mut merged = counters(&place, "all.darshan");
    let mut whole = counters(&place, "wave.darshan");
    whole.retain(|line| !line.starts_with("HEATMAP"));
    merged.sort();
    whole.sort();
    assert_eq!(merged, whole);
    let segments = |log: &str| {
        let done = place.netra(&["dxt", log]);
        let mut lines: Vec<String> =
            done.text().lines().filter(|line| line.starts_with(" X_")).map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(segments("all.darshan"), segments("wave.darshan"));
}

#[test]
fn only_the_chosen_parts_are_hidden() {
    let place = Place::with_example();
    let json = |words: &[&str]| {
        let mut all = vec!["convert", "wave.darshan", "-o", "new.darshan", "--key", "7"];
        all.extend(words);
        made(&place, &all);
        place.netra(&["info", "--format", "json", "new.darshan"]).json()
    };
    let open = place.netra(&["info", "--format", "json", "wave.darshan"]).json();
    let uid = json(&["--anonymise", "uid"]);
    assert_ne!(uid["job"]["uid"], open["job"]["uid"]);
    assert_eq!(uid["job"]["command"], open["job"]["command"]);
    assert_eq!(uid["files_by_time"], open["files_by_time"]);
    let two = json(&["--anonymise", "names,exe"]);
    assert_eq!(two["job"]["uid"], open["job"]["uid"]);
    assert_ne!(two["job"]["command"], open["job"]["command"]);
    assert_eq!(two["layers"], open["layers"]);
    let all = json(&["--anonymise", "all"]).to_string();
    for word in ["scratch", "wave /", "checkpoint", "field", "romio"] {
        assert!(!all.contains(word), "{word} is still in {all}");
    }
    let hosts = place.netra(&["dxt", "new.darshan"]);
    assert!(!hosts.text().contains("node1"));
    assert_eq!(json(&["--anonymise", "all"]).to_string(), all, "one key, one result");
}

#[test]
fn several_logs_go_to_a_folder() {
    let place = Place::with_example();
    place.file("other.darshan", &example());
    fs::create_dir(place.path("out")).unwrap();
    made(&place, &["convert", "*.darshan", "-o", "out"]);
    same(&place, "wave.darshan", "out/wave.darshan");
    same(&place, "wave.darshan", "out/other.darshan");
    let done = place.netra(&["convert", "*.darshan", "-o", "one.darshan"]);
    assert_eq!(done.code, 2);
    assert_eq!(done.err, "netra: 2 logs need a folder to go to; one.darshan is none\n");
}

#[test]
fn a_log_can_replace_itself_and_nothing_is_left_behind() {
    let place = Place::with_example();
    made(&place, &["convert", "--compress", "bzip2", "wave.darshan", "-o", "wave.darshan"]);
    let names: Vec<_> =
        fs::read_dir(place.path("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["wave.darshan"]);
    let mode = fs::metadata(place.path("wave.darshan")).unwrap().permissions().mode();
    assert_eq!(mode & 0o600, 0o600);
    place.file("original.darshan", &example());
    same(&place, "original.darshan", "wave.darshan");
}

#[test]
fn a_new_log_goes_to_standard_output() {
    let place = Place::with_example();
    for words in [&["convert", "wave.darshan", "-o", "-"], &["merge", "wave.darshan", "-o", "-"]] {
        let Done { code, out, err } = place.netra(words);
        let said = "standard output: 4 processes, 6 modules, 32 records and 7 files from 1 log; ";
        assert!(code == 0 && err.starts_with(said) && err.lines().count() == 1, "{code} {err}");
        place.file("new.darshan", &out);
        same(&place, "wave.darshan", "new.darshan");
    }
}

#[test]
fn more_logs_than_files_may_be_open_are_merged() {
    let place = Place::with_example();
    for number in 0..600 {
        fs::hard_link(place.path("wave.darshan"), place.path(&format!("{number:03}.darshan")))
            .unwrap();
    }
    let netra = env!("CARGO_BIN_EXE_netra");
    let script = format!("ulimit -n 64 && exec {netra} merge '???.darshan' -o all.darshan");
    let done = Command::new("sh").args(["-c", &script]).current_dir(place.path("")).output();
    let done = done.expect("sh starts");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let json = place.netra(&["info", "--format", "json", "all.darshan"]).json();
    assert_eq!(json["modules"][0]["records"], 600 * 5);
}

#[test]
fn a_damaged_log_gives_what_it_has_and_stays_marked() {
    let place = Place::new();
    let whole = example();
    place.file("cut.darshan", &whole[..whole.len() - 100]);
    for words in [
        &["convert", "cut.darshan", "-o", "new.darshan"],
        &["merge", "cut.darshan", "-o", "new.darshan"],
    ] {
        let done = place.netra(words);
        assert_eq!(done.code, 1);
        assert!(done.err.contains("missing from module HEATMAP"), "{}", done.err);
        let new = place.netra(&["info", "--format", "json", "new.darshan"]);
        assert_eq!(new.code, 1);
        let json = new.json();
        assert_eq!(json["missing"].as_array().unwrap().len(), 1, "{}", new.err);
        assert_eq!(json["missing"][0]["module"], "HEATMAP");
        assert_eq!(json["modules"][0]["records"], 5);
    }
}

#[test]
fn nothing_is_written_where_nothing_can_be_read() {
    let place = Place::new();
    place.file("empty.darshan", b"");
    for command in ["convert", "merge"] {
        let done = place.netra(&[command, "empty.darshan", "-o", "new.darshan"]);
        assert_eq!(done.code, 2);
        assert!(done.err.contains("the file is empty"), "{}", done.err);
        assert!(!place.path("new.darshan").exists());
    }
}

#[test]
fn differences_are_shown_largest_first() {
    let place = Place::with_example();
    made(&place, &["convert", "--file", "*checkpoint*", "wave.darshan", "-o", "part.darshan"]);
    let done = place.netra(&["diff", "--no-times", "wave.darshan", "part.darshan"]);
    assert_eq!(done.code, 1);
    assert_snapshot!(done.text());
    let json = place.netra(&["diff", "--format", "json", "wave.darshan", "part.darshan"]).json();
    let all = json["differences"].as_array().unwrap();
    assert!(all.iter().all(|one| one["only_in"] == "a" && one["share"] == 1.0));
    let csv = place.netra(&["diff", "--format", "csv", "wave.darshan", "part.darshan"]);
    assert_eq!(csv.text().lines().count(), 1 + all.len());
}

#[test]
fn a_diff_with_an_unreadable_log_is_no_diff() {
    let place = Place::with_example();
    assert_eq!(place.netra(&["diff", "wave.darshan", "none.darshan"]).code, 2);
    assert_eq!(place.netra(&["diff", "wave.darshan"]).code, 64);
}
