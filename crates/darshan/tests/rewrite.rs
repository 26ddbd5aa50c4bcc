//! Logs of the shared corpus, written again: every compression gives the same lines.

use netra_darshan::convert::{self, convert};
use netra_darshan::record::header::Compression;
use netra_darshan::{Log, Reason, text};
use std::io::Cursor;
use std::path::{Path, PathBuf};

fn logs() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/logs");
    let Ok(folders) = std::fs::read_dir(&root) else {
        eprintln!("skipped: {} is not here", root.display());
        return Vec::new();
    };
    let folders = folders.map(|folder| folder.expect("a folder").path());
    let files = folders.flat_map(|folder| std::fs::read_dir(folder).expect("a folder"));
    let paths = files.map(|file| file.expect("a file").path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "darshan")).collect()
}

/// All lines but those that tell how the log is packed.
fn lines(log: &Log) -> Vec<String> {
    let options = text::Options { base: true, total: true, file: true, perf: true, zone: &|_| 0 };
    let mut out = Vec::new();
    text::parse(log, &options, &mut out).expect("memory can be written");
    text::traces(log, &|_| 0, &mut out).expect("memory can be written");
    let packing = [
        "#          ",
        "# darshan log version",
        "# compression",
        "# WARNING: logs of",
        "# job data",
        "# run time",
    ];
    let is_packing = |line: &str| {
        packing.iter().any(|start| line.starts_with(start)) || line.contains("bytes (compressed)")
    };
    String::from_utf8_lossy(&out)
        .lines()
        .filter(|line| !is_packing(line))
        .map(str::to_owned)
        .collect()
}

#[test]
fn a_log_that_is_written_again_says_the_same() {
    for path in logs() {
        let log = Log::open(&path).expect("a log");
        let want = lines(&log);
        // The few large logs would take half a minute.
        let all = [Compression::Zlib, Compression::Bzip2, Compression::None];
        let some = if log.file_length() > 100_000 { &all[..1] } else { &all[..] };
        for &compression in some {
            let options = convert::Options { compression, ..convert::Options::default() };
            let (out, done) =
                convert(&log, &options, Cursor::new(Vec::new())).expect("memory can be written");
            assert!(done.damage.iter().all(|damage| damage.reason == Reason::Incomplete));
            let again = Log::from_bytes(out.into_inner()).expect("a log");
            assert_eq!(again.header().compression, compression);
            assert_eq!(again.job(), log.job(), "{}", path.display());
            let got = lines(&again);
            for (got, want) in got.iter().zip(&want) {
                assert_eq!(got, want, "{}", path.display());
            }
            assert_eq!(got.len(), want.len(), "{}", path.display());
        }
    }
}
