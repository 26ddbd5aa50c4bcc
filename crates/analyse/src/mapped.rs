//! Files that are mapped into memory: what a program reads and writes there passes without a call, so neither the bytes
//! nor the time are in any counter. How much of a file was mapped is known, and is said where it is more than
//! calls moved of it.

use std::collections::BTreeMap;

use netra_event::{Bytes, RecordId};

use crate::{Job, Layer};

/// Files of which more was mapped than moved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Mapped {
    /// Files.
    pub files: u64,
    /// Bytes of all their mappings, over all processes.
    pub bytes: u64,
}

impl Mapped {
    /// Of the mapped bytes of each file, and what calls moved of one; none where calls moved as much of each.
    #[must_use]
    pub fn of(mapped: &BTreeMap<RecordId, u64>, moved: impl Fn(RecordId) -> u64) -> Option<Mapped> {
        let more = mapped.iter().filter(|&(&file, &bytes)| bytes > moved(file));
        let sum = more.fold(Mapped::default(), |sum, (_, &bytes)| Mapped {
            files: sum.files + 1,
            bytes: sum.bytes.saturating_add(bytes),
        });
        (sum.files > 0).then_some(sum)
    }

    pub(crate) fn of_job(job: &Job) -> Option<Mapped> {
        let mut moved: BTreeMap<RecordId, u64> = BTreeMap::new();
        let calls = |layer| matches!(layer, Layer::Posix | Layer::Stdio);
        for usage in job.usages.iter().filter(|usage| calls(usage.layer)) {
            let sum = moved.entry(usage.file).or_default();
            *sum = sum.saturating_add(usage.bytes());
        }
        Mapped::of(&job.mapped, |file| moved.get(&file).copied().unwrap_or(0))
    }

    /// A sentence about it.
    #[must_use]
    pub fn says(&self) -> String {
        let files = if self.files == 1 { "file" } else { "files" };
        format!(
            "{} of {} {files} are mapped: what is read and written there is not seen",
            Bytes(self.bytes),
            self.files,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::Mapped;
    use crate::sample::Sample;

    #[test]
    fn what_is_mapped_beyond_what_moved_is_told() {
        let mut job = Sample::new(2, 10.0);
        for (path, moved, mapped) in [
            ("/data/a", 0, 64 << 20),
            ("/data/b", 4096, 4096),
            ("/dev/shm/ucx_shm_posix_1", 0, 1 << 30),
        ] {
            job.posix(path, 0).read.bytes = moved;
            let id = job.id(path);
            job.job.mapped.insert(id, mapped);
        }
        job.job.set_aside();
        let trust = job.facts().trust;
        assert_eq!(trust.mapped, Some(Mapped { files: 1, bytes: 64 << 20 }));
        assert!(!trust.is_complete());
        assert_eq!(
            trust.caveats(),
            ["64.0 MiB of 1 file are mapped: what is read and written there is not seen"]
        );
    }

    #[test]
    fn calls_of_all_ranks_and_of_streams_count_as_moved() {
        let mut job = Sample::new(2, 10.0);
        job.posix("/data/a", 0).read.bytes = 60;
        job.posix("/data/a", 1).write.bytes = 20;
        job.stdio("/data/a", 1).read.bytes = 20;
        let id = job.id("/data/a");
        job.job.mapped.insert(id, 100);
        assert_eq!(job.facts().trust.mapped, None);
        job.job.mapped.insert(id, 101);
        assert_eq!(job.facts().trust.mapped, Some(Mapped { files: 1, bytes: 101 }));
    }
}
