//! Files that MPI and the libraries below it make for themselves: the memory that processes of one node share, and
//! what launchers leave for the ranks. They are files to the kernel and count as such in a log, but nobody who asks
//! what a job did to its files means them, and nobody can change them. So no fact and no finding is about
//! them, and [`Trust`](crate::Trust) says how much that is.

use std::collections::BTreeSet;

use netra_event::{Bytes, RecordId};

use crate::{Job, Layer};

/// What was set aside.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Aside {
    /// Files.
    pub files: u64,
    /// Bytes read from them.
    pub bytes_read: u64,
    /// Bytes written to them.
    pub bytes_written: u64,
    /// Seconds of all ranks.
    pub rank_seconds: f64,
}

/// How the names in `/dev/shm` begin that each library gives.
const SHARED_MEMORY: &[&str] = &[
    // UCX
    "ucx_shm_",
    // MPICH and what is made of it
    "mpich_sh",
    "cray-shared-mem-",
    "Intel_MPI_",
    "shm_coll_",
    // MVAPICH2
    "ib_shmem",
    "ib_pool",
    "mv2_",
    // Open MPI and PMIx
    "vader_segment.",
    "sm_segment.",
    "osc_rdma.",
    "open_mpi.",
    "ompi_",
    "pmix_",
    "gds-",
    // PSM of Omni-Path, libfabric
    "psm2_shm.",
    "psm3_shm.",
    "ofi_shm_",
    "fi_shm_",
    // NCCL
    "nccl-",
];

/// How the names of folders begin, in a directory for temporary files, that Open MPI, PRRTE and PMIx make for a session.
const SESSIONS: &[&str] =
    &["ompi.", "openmpi-sessions-", "prte.", "prted.", "pmix-", "pmix_dstor_", "pmix_dstor_ds"];

/// Whether a path is one of these files.
#[must_use]
pub fn is_of_mpi(path: &str) -> bool {
    if let Some(name) = path.strip_prefix("/dev/shm/") {
        return SHARED_MEMORY.iter().any(|begin| name.starts_with(begin))
            || SESSIONS.iter().any(|begin| name.starts_with(begin));
    }
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    // Open MPI's pointer that ranks share into a file of MPI-IO, beside that file: `data.nc_cid-0-5710.sm`.
    if name.strip_suffix(".sm").is_some_and(|stem| stem.contains("_cid-")) {
        return true;
    }
    let temporary = folders.starts_with("/tmp/") || folders.starts_with("/var/tmp/");
    temporary
        && folders.split('/').any(|folder| SESSIONS.iter().any(|begin| folder.starts_with(begin)))
}

impl Job {
    /// Takes out what is about files of MPI's own and keeps how much that was; for those who read a job, when they
    /// have read all of it. Counts of functions stay: those calls were made.
    pub fn set_aside(&mut self) {
        let own: BTreeSet<RecordId> =
            self.names.iter().filter(|(_, path)| is_of_mpi(path)).map(|(id, _)| *id).collect();
        if own.is_empty() {
            return;
        }
        let mut aside = Aside::default();
        let mut files: BTreeSet<RecordId> = BTreeSet::new();
        self.usages.retain(|usage| {
            let is_own = own.contains(&usage.file);
            if is_own {
                files.insert(usage.file);
                aside.bytes_read = aside.bytes_read.saturating_add(usage.read.bytes);
                aside.bytes_written = aside.bytes_written.saturating_add(usage.write.bytes);
                aside.rank_seconds += usage.seconds();
            }
            !is_own
        });
        let of_trace = |file: u32, files: &[RecordId]| {
            files.get(file as usize).is_some_and(|id| own.contains(id))
        };
        // Both traces and the opens number files as the first does.
        let numbered = self.trace.files().to_vec();
        self.trace.retain(|run| !of_trace(run.file, &numbered));
        self.above.retain(|run| !of_trace(run.file, &numbered));
        self.opens.retain(|open| !of_trace(open.file, &numbered));
        self.commits.retain(|commit| !own.contains(&commit.file));
        self.sites.retain(|site| site.file.is_none_or(|file| !own.contains(&file)));
        self.layouts.retain(|layout| !own.contains(&layout.file));
        self.mapped.retain(|file, _| !own.contains(file));
        // Bytes over time do not say of which file: where all of them can only be of these, nothing is drawn.
        let left =
            |layer| self.usages.iter().any(|usage| usage.layer == layer && usage.bytes() > 0);
        let drawn: BTreeSet<Layer> =
            self.heatmaps.iter().map(|map| map.layer).filter(|&layer| left(layer)).collect();
        self.heatmaps.retain(|map| drawn.contains(&map.layer));
        aside.files = files.len() as u64;
        self.aside = Some(aside).filter(|aside| aside.files > 0);
    }
}

impl Aside {
    /// Adds what was set aside of another process.
    pub fn absorb(&mut self, other: &Aside) {
        self.files += other.files;
        self.bytes_read = self.bytes_read.saturating_add(other.bytes_read);
        self.bytes_written = self.bytes_written.saturating_add(other.bytes_written);
        self.rank_seconds += other.rank_seconds;
    }

    /// A sentence about it.
    #[must_use]
    pub fn says(&self) -> String {
        let files = if self.files == 1 { "file" } else { "files" };
        format!(
            "{} {files} of MPI's own, such as its shared memory ({} written, {} read), {} left out",
            self.files,
            Bytes(self.bytes_written),
            Bytes(self.bytes_read),
            if self.files == 1 { "is" } else { "are" },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{Aside, is_of_mpi};
    use crate::sample::Sample;
    use crate::{Direction, Heatmap, Layer, TraceRow};

    #[test]
    fn bytes_over_time_that_can_only_be_of_these_files_are_not_drawn() {
        let of = |layer| Heatmap { layer, rank: 0, width: 1.0, read: vec![], write: vec![8] };
        let mut job = Sample::new(1, 1.0);
        job.posix("/dev/shm/mpich_shar_tmp1", 0).write.bytes = 8;
        job.posix("/home/only-opened", 0).opens = 1;
        job.stdio("/home/log", 0).write.bytes = 8;
        job.job.heatmaps = vec![of(Layer::Posix), of(Layer::Stdio)];
        job.job.set_aside();
        assert_eq!(job.job.heatmaps, [of(Layer::Stdio)]);
    }

    #[test]
    fn files_of_mpi_are_known_by_their_names() {
        for path in [
            "/dev/shm/ucx_shm_posix_7944d30e",
            "/dev/shm/mpich_shar_tmpkc4w4B",
            "/dev/shm/vader_segment.node1.0.2a130001.3",
            "/dev/shm/sm_segment.node1.0.2a130001.3",
            "/dev/shm/psm2_shm.4000000000001c00",
            "/tmp/ompi.node1.1000/pid.4711/1/shared_mem_pool.node1",
            "/tmp/prte.node1.4711.0/pmix-server.4711",
            "/scratch/run/variables.nc_cid-0-5710.sm",
        ] {
            assert!(is_of_mpi(path), "{path}");
        }
        for path in [
            "/dev/shm/my_results.h5",
            "/scratch/ucx_shm_posix_7944d30e",
            "/scratch/ompi.results/out.dat",
            "/tmp/data.sm",
            "/tmp/results/ompi.txt",
            "variables.nc",
            "",
        ] {
            assert!(!is_of_mpi(path), "{path}");
        }
    }

    #[test]
    fn what_is_mpis_own_is_in_no_fact_and_is_told() {
        let mut job = Sample::new(2, 10.0);
        for (path, bytes) in [("/scratch/out", 100), ("/dev/shm/ucx_shm_posix_1", 5_000)] {
            let usage = job.posix(path, 0);
            usage.write.bytes = bytes;
            usage.write.calls = 1;
            usage.write.seconds = 0.5;
            let id = job.id(path);
            let file = job.job.trace.file(id);
            let (layer, direction) = (Layer::Posix, Direction::Write);
            let (rank, start, end, offset) = (0, 1.0, 2.0, 0);
            let length = bytes;
            job.job.trace.push(TraceRow {
                file,
                rank,
                layer,
                direction,
                start,
                end,
                offset,
                length,
            });
        }
        job.job.set_aside();
        let facts = job.facts();
        assert_eq!(facts.layer(Layer::Posix).bytes_written, 100);
        assert_eq!(facts.files.len(), 1);
        assert_eq!((job.job.trace.len(), job.job.trace.rows().count()), (1, 1));
        let aside = facts.trust.aside.unwrap();
        let want = Aside { files: 1, bytes_read: 0, bytes_written: 5_000, rank_seconds: 0.5 };
        assert_eq!(aside, want);
        assert_eq!(
            aside.says(),
            "1 file of MPI's own, such as its shared memory (4.88 KiB written, 0 B read), is left out"
        );
        assert!(facts.trust.is_complete());
        // Nothing of the kind, nothing said.
        let mut plain = Sample::new(1, 1.0);
        plain.posix("/scratch/out", 0);
        plain.job.set_aside();
        assert_eq!(plain.facts().trust.aside, None);
    }
}
