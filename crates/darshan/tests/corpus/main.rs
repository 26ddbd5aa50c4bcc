//! Every log of the shared corpus against what Darshan's own tools printed for it.
//!
//! The corpus lies beside the repository, not in it; without it these tests say that they were
//! skipped, and `generated.rs` stands alone.

mod known;

use known::{COUNTERS, Difference, TOTALS};
use netra_darshan::{Damage, Log, Reason, text};
use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Where the tools were run.
const UTC: text::Zone<'static> = &|_| 0;

fn logs() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/logs");
    let Ok(folders) = fs::read_dir(&root) else {
        eprintln!("skipped: {} is not here", root.display());
        return Vec::new();
    };
    let folders = folders.map(|folder| folder.expect("a folder").path());
    let files = folders.flat_map(|folder| fs::read_dir(folder).expect("a folder"));
    let mut logs: Vec<PathBuf> = files
        .map(|file| file.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "darshan"))
        .collect();
    logs.sort();
    assert_eq!(logs.len(), 142, "the whole corpus, or none of it");
    logs
}

fn name(log: &Path) -> &str {
    log.file_stem().and_then(|stem| stem.to_str()).expect("a readable name")
}

/// What a tool printed, or nothing if it was not kept.
fn stored(log: &Path, kind: &str) -> Option<Vec<String>> {
    let path = log.with_file_name(format!("{}.{kind}", name(log)));
    let bytes = fs::read(&path).ok()?;
    let mut text = Vec::new();
    if kind.ends_with(".zst") && !bytes.is_empty() {
        let mut decoder = ruzstd::decoding::StreamingDecoder::new(&bytes[..]).expect("zstd");
        decoder.read_to_end(&mut text).expect("zstd");
    } else {
        text = bytes;
    }
    Some(lines(&text))
}

fn lines(text: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(text).lines().map(str::to_owned).collect()
}

fn printed(log: &Log, base: bool) -> (Vec<String>, Vec<Damage>) {
    let options = text::Options { base, total: !base, file: !base, perf: !base, zone: UTC };
    let mut out = Vec::new();
    let damage = text::parse(log, &options, &mut out).expect("memory can be written");
    (lines(&out), damage)
}

/// What is known to differ, and what of it did.
struct Known {
    list: &'static [Difference],
    met: BTreeSet<&'static Difference>,
}

impl Known {
    fn new(list: &'static [Difference]) -> Known {
        Known { list, met: BTreeSet::new() }
    }

    /// A difference that does not exist any more has no place in the list.
    fn all_met(&self) {
        let unmet: Vec<_> = self.list.iter().filter(|known| !self.met.contains(known)).collect();
        assert!(unmet.is_empty(), "{unmet:#?}");
    }
}

/// Compares lines one by one, and notes which known differences were met.
fn compare(log: &str, got: &[String], want: &[String], known: &mut Known) {
    assert_eq!(got.len(), want.len(), "{log}: number of lines");
    for (got, want) in got.iter().zip(want).filter(|(got, want)| got != want) {
        let found = known.list.iter().find(|known| known.explains(log, got, want));
        known.met.insert(found.unwrap_or_else(|| panic!("{log}\n ours: {got}\ntheir: {want}")));
    }
}

#[test]
fn counters_and_traces_equal_what_the_tools_print() {
    let logs = logs();
    let mut known = Known::new(COUNTERS);
    for path in &logs {
        let log = Log::open(path).expect("a log");
        let (got, damage) = printed(&log, true);
        let got: Vec<String> =
            got.into_iter().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
        let want = stored(path, "counters.tsv.zst").expect("kept for every log");
        compare(name(path), &got, &want, &mut known);
        // Nothing is broken; what the application itself ran out of memory for is said.
        assert!(damage.iter().all(|damage| damage.reason == Reason::Incomplete), "{damage:?}");

        let mut out = Vec::new();
        text::traces(&log, UTC, &mut out).expect("memory can be written");
        let got: Vec<String> =
            lines(&out).into_iter().filter(|line| line.starts_with(" X_")).collect();
        let want = stored(path, "dxt.tsv.zst").expect("kept for every log");
        compare(name(path), &got, &want, &mut known);
    }
    if !logs.is_empty() {
        known.all_met();
    }
}

#[test]
fn totals_equal_what_the_tools_print() {
    let logs = logs();
    let mut known = Known::new(TOTALS);
    for path in &logs {
        let Some(mut want) = stored(path, "derived.txt") else { continue };
        // Titles, which are ours to word.
        want.retain(|line| !line.starts_with("# I/O timing"));
        let log = Log::open(path).expect("a log");
        let kept = [
            "total_",
            "# total:",
            "# read_only:",
            "# write_only:",
            "# read_write:",
            "# unique:",
            "# shared:",
            "# total_bytes:",
            "# unique files:",
            "# shared files:",
            "# agg_time",
            "# agg_perf",
        ];
        let is_kept = |line: &String| kept.iter().any(|start| line.starts_with(start));
        let got: Vec<String> = printed(&log, false).0.into_iter().filter(is_kept).collect();
        compare(name(path), &got, &want, &mut known);
    }
    if !logs.is_empty() {
        known.all_met();
    }
}

#[test]
fn header_lines_equal_what_the_tools_print() {
    for path in logs() {
        let Some(want) = stored(&path, "header.txt") else { continue };
        let log = Log::open(&path).expect("a log");
        let mut out = Vec::new();
        text::header(&log, UTC, &mut out).expect("memory can be written");
        let got = lines(&out);
        assert_eq!(got[..want.len()], want[..], "{}", path.display());
    }
}
