//! What merging and converting say about the logs they made.

use std::fs;
use std::io::Cursor;

use netra_darshan::read::Log;
use netra_darshan::record::header::Compression;
use netra_darshan::write::Writer;
use serde_json::{Value, json};

use crate::netra::{Place, example};

fn size(place: &Place, name: &str) -> u64 {
    fs::metadata(place.path(name)).expect("the log was written").len()
}

/// What a command says as JSON, with an exit code.
#[track_caller]
fn said(place: &Place, words: &[&str], code: i32) -> Value {
    let done = place.netra(&[words, &["--format", "json"]].concat());
    assert_eq!(done.code, code, "{}", done.err);
    done.json()
}

/// A log that has nothing but a job and a netra section.
fn with_section() -> Vec<u8> {
    let log = Log::from_bytes(example()).expect("the example is a log");
    let out = Cursor::new(Vec::new());
    let mut writer =
        Writer::new(out, Compression::Zlib, log.job(), log.names().iter()).expect("a log begins");
    writer.block(900, b"host node1").expect("memory can be written");
    writer.finish().expect("memory can be written").into_inner()
}

#[test]
fn text_is_one_line_where_everything_came_along() {
    let place = Place::with_example();
    let done = place.netra(&["convert", "--compress", "none", "wave.darshan", "-o", "n.darshan"]);
    let line = "n.darshan: 4 processes, 6 modules, 32 records and 7 files from 1 log; \
                6.40 KiB -> 24.1 KiB\n";
    assert_eq!((done.code, done.text(), done.err.as_str()), (0, line, ""));
}

#[test]
fn what_stays_behind_has_a_line_of_its_own() {
    let place = Place::with_example();
    let words = ["--file", "*checkpoint*", "--anonymise", "uid,names", "wave.darshan", "-o", "a"];
    let done = place.netra(&[&["convert"], &words[..]].concat());
    let lines: Vec<&str> = done.text().lines().collect();
    assert!(lines[0].starts_with("a: 4 processes, 2 modules, 8 records and 4 files from 1 log; "));
    let rest = "  left out: 3 files, MPI-IO, STDIO, DXT_MPIIO, HEATMAP; hidden: names, uid";
    assert_eq!(lines[1..], [rest]);
    let csv = place.netra(&[&["convert", "--format", "csv"], &words[..]].concat());
    let row = format!(
        "a,wave.darshan,1,0,6555,{},4,2,8,4,MPI-IO STDIO DXT_MPIIO HEATMAP,3,names uid,none,0\n",
        size(&place, "a")
    );
    let header = "output,input,inputs,unreadable,input_bytes,output_bytes,processes,modules,records,\
                  files,modules_left_out,files_left_out,hidden,section,missing\n";
    assert_eq!(csv.text(), format!("{header}{row}"));
}

#[test]
fn every_log_of_a_folder_has_a_row() {
    let place = Place::with_example();
    place.file("other.darshan", &example());
    fs::create_dir(place.path("out")).expect("a folder");
    let done = place.netra(&["convert", "--format", "csv", "*.darshan", "-o", "out"]);
    let starts: Vec<&str> =
        done.text().lines().map(|line| line.split(",1,").next().unwrap_or_default()).collect();
    assert_eq!(starts[1..], ["out/other.darshan,other.darshan", "out/wave.darshan,wave.darshan"]);
    assert!(starts[0].starts_with("output,input,"));
}

#[test]
fn a_merge_says_what_its_inputs_lacked() {
    let place = Place::with_example();
    let whole = example();
    place.file("cut.darshan", &whole[..whole.len() - 100]);
    place.file("empty.darshan", b"");
    let words = ["merge", "cut.darshan", "wave.darshan", "empty.darshan", "-o", "all"];
    let modules = ["POSIX", "MPI-IO", "STDIO", "DXT_POSIX", "DXT_MPIIO", "HEATMAP"];
    let got = said(&place, &words, 1);
    let want = json!({
        "output": "all",
        "inputs": ["cut.darshan", "wave.darshan"],
        "unreadable": ["empty.darshan"],
        "input_bytes": 6455 + 6555,
        "output_bytes": size(&place, "all"),
        "processes": 4,
        "modules": modules,
        "records": 60,
        "files": 7,
        "modules_left_out": [],
        "files_left_out": 0,
        "hidden": [],
        "section": "none",
        "section_reason": null,
        "missing": [{
            "log": "cut.darshan",
            "part": "HEATMAP",
            "module": "HEATMAP",
            "byte": 6455,
            "reason": "the file ends 100 bytes too early",
        }],
    });
    assert_eq!(got, want);
    let text = place.netra(&words);
    let last = text.text().lines().last();
    assert_eq!(last, Some("  missing: 1 part of the inputs, 1 log unreadable"));
}

/// A count of what was written is worth something only if reading finds the same.
#[test]
fn records_are_those_that_info_counts() {
    let place = Place::with_example();
    for words in [
        &["merge", "wave.darshan", "wave.darshan", "-o", "new"][..],
        &["merge", "--shared-redux", "wave.darshan", "-o", "new"],
        &["convert", "--file", "*field*", "wave.darshan", "-o", "new"],
    ] {
        let records = said(&place, words, 0)["records"].as_u64();
        let info = place.netra(&["info", "--format", "json", "new"]).json();
        let modules = info["modules"].as_array().expect("modules");
        let sum = modules.iter().filter_map(|one| one["records"].as_u64()).sum::<u64>();
        assert_eq!(records, Some(sum), "{words:?}");
    }
}

#[test]
fn a_section_comes_along_unless_something_is_hidden() {
    let place = Place::new();
    place.file("own.darshan", &with_section());
    let kept = said(&place, &["merge", "own.darshan", "-o", "new"], 0);
    assert_eq!((&kept["section"], &kept["section_reason"]), (&json!("kept"), &Value::Null));
    let hiding = ["convert", "--anonymise", "uid", "own.darshan", "-o", "new"];
    let left = said(&place, &hiding, 0);
    assert_eq!(left["section"], "left_out");
    assert_eq!(left["section_reason"], "it names files and hosts");
    let text = place.netra(&hiding);
    let last = "  left out: netra's own section (it names files and hosts); hidden: uid";
    assert_eq!((text.text().lines().last(), text.err.as_str()), (Some(last), ""));
}
