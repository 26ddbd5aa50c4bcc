//! The three faces of a report, on a job made up here: a slow storage target, as in the log that other
//! tools call healthy.

use std::collections::BTreeSet;

use netra_analyse::{Job, Layer, Layout, Mount, Report, Thresholds, Usage, Who, diagnose};
use netra_event::{Rank, RecordId, Seconds};
use netra_show::report::{self, Page};

/// 24 ranks write a file each on six targets; those on target 3 take 500 s, the others ten.
fn job() -> Job {
    let mut job = Job {
        source: "bad.darshan".into(),
        command: "./ior -F".into(),
        nprocs: 24,
        who: Who::ranks(24),
        run_time: Seconds(510.0),
        mounts: vec![Mount { path: "/lus".into(), kind: "lustre".into() }],
        ..Job::default()
    };
    for rank in 0..24 {
        let path = format!("/lus/out.{rank}");
        let file = RecordId::of(path.as_bytes());
        let ost = (rank % 6) as u64;
        let mut usage = Usage::new(Layer::Posix, file, Rank(rank));
        (usage.write.calls, usage.write.bytes, usage.opens) = (64, 1 << 28, 1);
        usage.write.sequential = 63;
        usage.write.seconds = if ost == 3 { 500.0 } else { 10.0 };
        job.usages.push(usage);
        job.names.insert(file, path);
        job.layouts.push(Layout { file, stripe_size: 1 << 20, stripe_count: 1, osts: vec![ost] });
    }
    job
}

fn found() -> Report {
    diagnose(&job(), &Thresholds::default(), &BTreeSet::new())
}

fn said(write: impl Fn(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    // Writing to memory fails for no reason; what it wrote would then be missing and be noticed.
    assert!(write(&mut out).is_ok());
    String::from_utf8_lossy(&out).into_owned()
}

#[test]
fn the_screen_answers_in_the_order_of_the_questions() {
    let page = Page { colour: false, all: false };
    let text = said(|out| report::text(out, "bad.darshan", &found(), page));
    let questions = ["Is it I/O?", "Where", "Why", "Change", "Gain", "Trust", "Findings", "Passed"];
    let places: Vec<usize> =
        questions.iter().map(|question| text.find(question).unwrap()).collect();
    assert!(places.is_sorted(), "{text}");
    assert!(text.contains("yes: I/O takes 500 s of 510 s (98 %) on rank 3, the slowest"), "{text}");
    assert!(text.contains("OST 3 is 50 times slower than the median of 6 OSTs"), "{text}");
    assert!(text.contains("HIGH    490 s   96 %  slow-ost: see above"), "{text}");
    assert!(text.lines().count() <= 40, "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert!(!text.contains('\x1b'));
}

#[test]
fn json_holds_everything_and_is_the_same_every_time() {
    let write = || said(|out| report::json(out, "bad.darshan", &found(), &Thresholds::default()));
    let text = write();
    assert_eq!(text, write());
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["report"], 1);
    assert_eq!(json["io"]["rank"], 3);
    assert_eq!(json["io"]["seconds"], 500.0);
    let first = &json["findings"][0];
    assert_eq!((first["slug"].as_str(), first["level"].as_str()), (Some("slow-ost"), Some("HIGH")));
    assert_eq!(first["lost_seconds"], 490.0);
    assert_eq!(first["files"].as_array().unwrap().len(), 4);
    assert_eq!(json["osts"].as_array().unwrap().len(), 6);
    assert_eq!(json["osts"][3]["seconds_mean"], 500.0);
    assert_eq!(json["files"].as_array().unwrap().len(), 24);
    assert_eq!(json["thresholds"]["small_request"], 1_048_576.0);
    assert!(json["phases"].is_null());
}

#[test]
fn rows_have_as_many_fields_as_the_header() {
    let header = said(report::csv_header);
    let rows = said(|out| report::csv(out, "bad.darshan", &found()));
    let row = rows.lines().find(|row| row.starts_with("bad.darshan,slow-ost,")).unwrap();
    // The sentence has commas and so stands in quotes.
    let (before, rest) = row.split_once('"').unwrap();
    let (_, after) = rest.split_once('"').unwrap();
    let fields = before.matches(',').count() + after.matches(',').count();
    assert_eq!(fields, header.matches(',').count());
}
