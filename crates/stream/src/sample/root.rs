//! The file system as samplers see it: everything below one folder.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Bytes of a file that are read; files of `/proc` and `/sys` are far smaller, but for `mountstats`.
const MOST: u64 = 4 << 20;

/// Where `proc` and `sys` are.
#[derive(Debug, Clone)]
pub struct Root {
    path: PathBuf,
}

impl Default for Root {
    fn default() -> Root {
        Root::new(Path::new("/"))
    }
}

impl Root {
    /// Reads below this folder.
    #[must_use]
    pub fn new(path: &Path) -> Root {
        Root { path: path.to_owned() }
    }

    /// A file's text, if it is there and can be read; bytes that are no text are replaced.
    pub(super) fn text(&self, path: &str) -> Option<String> {
        let mut bytes = Vec::new();
        let file = File::open(self.path.join(path)).ok()?;
        file.take(MOST).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The number that a file holds.
    pub(super) fn number(&self, path: &str) -> Option<u64> {
        self.text(path)?.trim().parse().ok()
    }

    /// Names in a folder, sorted, none if it is not there.
    pub(super) fn names(&self, path: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path.join(path)).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }
}

/// The whole numbers of a text, in order; ends at the first that is none.
pub(super) fn numbers<'a>(words: impl Iterator<Item = &'a str>) -> Vec<u64> {
    words.map_while(|word| word.parse().ok()).collect()
}

/// A captured tree for tests.
#[cfg(test)]
pub(super) mod captured {
    use super::super::{Sample, Sampler};
    use super::*;

    /// What a sampler finds in these files.
    #[track_caller]
    pub(crate) fn sample(sampler: &mut dyn Sampler, files: &[(&str, &str)]) -> Sample {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        let mut sample = Sample::default();
        sampler.sample(&Root::new(folder.path()), &mut sample);
        sample
    }

    /// The same as lines `target name value`.
    #[track_caller]
    pub(crate) fn lines(sampler: &mut dyn Sampler, files: &[(&str, &str)]) -> Vec<String> {
        let sample = sample(sampler, files);
        let line = |metric: &super::super::Metric| {
            format!("{} {} {}", metric.target, metric.name, metric.value.number())
        };
        sample.metrics().iter().map(line).collect()
    }

    /// Nothing that a file may hold makes a sampler fail.
    pub(crate) fn survives(sampler: &mut dyn Sampler, files: &[(&str, &str)]) {
        sample(sampler, &[]);
        for (at, &(name, text)) in files.iter().enumerate() {
            let mut bent = vec![String::new(), "\0\u{fffd}\n\n:".to_owned(), text.replace(' ', "")];
            bent.push(text.replace(|c: char| c.is_ascii_digit(), "-99999999999999999999"));
            bent.push(text.replace('\n', " "));
            bent.extend(
                (0..text.len()).step_by(7).filter_map(|cut| text.get(..cut)).map(str::to_owned),
            );
            for text in &bent {
                let mut files = files.to_vec();
                files[at] = (name, text);
                sample(sampler, &files);
            }
        }
    }
}
