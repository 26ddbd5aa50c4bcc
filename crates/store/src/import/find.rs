//! What is there to import: files by what they begin with, folders with everything below them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use netra_event::segment::MAGIC;
use netra_stream::source::Piece;

use super::connector;
use super::source::Source;

/// The sources that paths name; what can not be looked at comes with its reason.
///
/// In folders, files that are neither logs nor segments nor the connector's are passed over; a file that
/// was named is always a source, and reading it says what is wrong.
#[must_use]
pub fn find(paths: &[PathBuf]) -> (Vec<Source>, Vec<(PathBuf, String)>) {
    let mut looking = Looking::default();
    for path in paths {
        if path.is_dir() {
            looking.folder(path);
        } else {
            looking.file(path, true);
        }
    }
    let segments = looking.pieces.into_values().map(Source::Segments);
    looking.sources.extend(segments);
    (looking.sources, looking.refused)
}

#[derive(Default)]
struct Looking {
    sources: Vec<Source>,
    pieces: BTreeMap<Vec<u8>, Vec<Piece>>,
    refused: Vec<(PathBuf, String)>,
}

impl Looking {
    fn folder(&mut self, folder: &Path) {
        let entries = fs::read_dir(folder).and_then(|entries| {
            entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()
        });
        let mut paths = match entries {
            Ok(paths) => paths,
            Err(error) => return self.refused.push((folder.to_owned(), error.to_string())),
        };
        // The same folder gives the same order.
        paths.sort();
        for path in paths {
            // Links are not followed: they may lead round.
            match path.symlink_metadata() {
                Ok(about) if about.is_dir() => self.folder(&path),
                Ok(about) if about.is_file() => self.file(&path, false),
                _ => {}
            }
        }
    }

    fn file(&mut self, path: &Path, named: bool) {
        let is_log = path.extension().is_some_and(|end| end == "darshan");
        let refuse = |error: io::Error| (path.to_owned(), error.to_string());
        let mut begin = Vec::new();
        let read = File::open(path).and_then(|file| file.take(8).read_to_end(&mut begin));
        if let Err(error) = read {
            return self.refused.push(refuse(error));
        }
        if begin == MAGIC {
            match Piece::of_segment(path, None) {
                Ok(piece) => self.pieces.entry(piece.job.clone()).or_default().push(piece),
                Err(error) => self.refused.push((path.to_owned(), error.to_string())),
            }
            return;
        }
        if is_log {
            return self.sources.push(Source::Log(path.to_owned()));
        }
        let table = path.extension().is_some_and(|end| {
            ["csv", "json", "jsonl", "ndjson"].iter().any(|known| end.eq_ignore_ascii_case(known))
        });
        if table || named {
            match connector::kind(path) {
                Ok(Some(kind)) => {
                    return self.sources.push(Source::Connector(path.to_owned(), kind));
                }
                Ok(None) => {}
                Err(error) => return self.refused.push(refuse(error)),
            }
        }
        if named {
            self.sources.push(Source::Log(path.to_owned()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::find;
    use crate::import::Source;
    use std::fs;

    #[test]
    fn folders_are_looked_through_and_strangers_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("2026")).unwrap();
        fs::write(at("2026/a.darshan"), b"whatever").unwrap();
        fs::write(at("notes.txt"), b"module,record_id,job_id").unwrap();
        fs::write(at("table.csv"), b"#module,record_id,job_id\n").unwrap();
        fs::write(at("other.csv"), b"a,b\n").unwrap();
        fs::write(at("old.JSON"), b" {\"uid\":0}").unwrap();
        let (sources, refused) = find(&[folder.path().to_owned()]);
        let names: Vec<String> = sources.iter().map(Source::name).collect();
        let want = ["2026/a.darshan", "old.JSON", "table.csv"];
        assert_eq!(names, want.map(|name| at(name).display().to_string()));
        assert!(refused.is_empty());
        // What was named is looked at, whatever it is called.
        let (sources, _) = find(&[at("notes.txt"), at("other.csv")]);
        assert!(matches!(&sources[..], [Source::Connector(..), Source::Log(_)]));
        let (sources, refused) = find(&[at("gone")]);
        assert!(sources.is_empty() && refused[0].1.contains("No such file"));
    }
}
