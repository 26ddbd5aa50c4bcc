//! File systems: what went to each.

use std::collections::BTreeMap;

use super::FileFacts;
use crate::Usage;

/// One mounted file system.
#[derive(Debug, Clone, PartialEq)]
pub struct SystemFacts {
    /// Where it is mounted; nothing for files whose mount is not known.
    pub mount: Option<String>,
    /// Its type.
    pub kind: Option<String>,
    /// Files.
    pub files: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Seconds of all ranks, by the layer that took most in each file.
    pub rank_seconds: f64,
}

pub(super) fn all(files: &[FileFacts]) -> Vec<SystemFacts> {
    let mut systems: BTreeMap<Option<&String>, SystemFacts> = BTreeMap::new();
    for file in files.iter().filter(|file| !file.is_standard_stream()) {
        let system = systems.entry(file.mount.as_ref()).or_insert_with(|| SystemFacts {
            mount: file.mount.clone(),
            kind: file.file_system.clone(),
            files: 0,
            bytes: 0,
            rank_seconds: 0.0,
        });
        let io = file.layers.values().filter(|usage| usage.layer.is_io());
        system.files += 1;
        system.bytes = system.bytes.saturating_add(file.bytes());
        system.rank_seconds += io.map(Usage::seconds).fold(0.0, f64::max);
    }
    let mut systems: Vec<SystemFacts> = systems.into_values().collect();
    systems.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.mount.cmp(&b.mount)));
    systems
}

#[cfg(test)]
mod tests {
    use crate::sample::Sample;

    #[test]
    fn files_add_up_where_they_lie() {
        let mut job = Sample::new(1, 10.0);
        job.posix("/lus/a", 0).write.bytes = 10;
        job.mpiio("/lus/a", 0).write.bytes = 10;
        job.posix("/lus/b", 0).write.seconds = 2.0;
        job.posix("/home/c", 0).read.bytes = 5;
        job.stdio("<STDOUT>", 0).write.bytes = 100;
        let systems = job.facts().systems;
        let seen: Vec<_> = systems
            .iter()
            .map(|one| (one.mount.as_deref(), one.files, one.bytes, one.rank_seconds))
            .collect();
        assert_eq!(seen, [(Some("/lus"), 2, 10, 2.0), (None, 1, 5, 0.0)]);
    }
}
