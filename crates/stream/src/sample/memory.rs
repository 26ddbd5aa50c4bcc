//! Memory and paging: `/proc/meminfo`, `/proc/vmstat`.

use super::{Root, Sample, Sampler};

/// See the module.
#[derive(Debug)]
pub(super) struct Memory;

/// Lines of `meminfo`, all in kB.
const NOW: [(&str, &str); 14] = [
    ("MemTotal", "memory.total_bytes"),
    ("MemFree", "memory.free_bytes"),
    ("MemAvailable", "memory.available_bytes"),
    ("Buffers", "memory.buffers_bytes"),
    ("Cached", "memory.cached_bytes"),
    ("Dirty", "memory.dirty_bytes"),
    ("Writeback", "memory.writeback_bytes"),
    ("NFS_Unstable", "memory.nfs_unstable_bytes"),
    ("AnonPages", "memory.anonymous_bytes"),
    ("Mapped", "memory.mapped_bytes"),
    ("Shmem", "memory.shared_bytes"),
    ("Slab", "memory.slab_bytes"),
    ("SwapTotal", "memory.swap_total_bytes"),
    ("SwapFree", "memory.swap_free_bytes"),
];
/// Lines of `vmstat`, with what turns them into the unit of the name.
const COUNTED: [(&str, &str, u64); 8] = [
    ("pgpgin", "memory.paged_in_bytes", 1024),
    ("pgpgout", "memory.paged_out_bytes", 1024),
    ("pswpin", "memory.swapped_in_pages", 1),
    ("pswpout", "memory.swapped_out_pages", 1),
    ("pgfault", "memory.faults", 1),
    ("pgmajfault", "memory.major_faults", 1),
    ("nr_dirtied", "memory.dirtied_pages", 1),
    ("nr_written", "memory.written_pages", 1),
];

impl Sampler for Memory {
    fn sample(&mut self, root: &Root, into: &mut Sample) {
        for line in root.text("proc/meminfo").unwrap_or_default().lines() {
            let Some((key, rest)) = line.split_once(':') else { continue };
            let value =
                rest.split_ascii_whitespace().next().and_then(|word| word.parse::<u64>().ok());
            let row = NOW.iter().find(|row| row.0 == key);
            if let (Some(row), Some(value)) = (row, value) {
                into.gauge("", row.1, value as f64 * 1024.0);
            }
        }
        for line in root.text("proc/vmstat").unwrap_or_default().lines() {
            let Some((key, value)) = line.split_once(' ') else { continue };
            let row = COUNTED.iter().find(|row| row.0 == key);
            if let (Some(row), Ok(value)) = (row, value.trim().parse::<u64>()) {
                into.count("", row.1, value.saturating_mul(row.2));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::root::captured::{lines, survives};
    use super::*;

    #[test]
    fn known_lines_become_bytes() {
        let files = [
            (
                "proc/meminfo",
                "MemTotal:       16384 kB\nMemFree: 5 kB\nHugePages_Total:       0\nDirty:  12 kB\n",
            ),
            ("proc/vmstat", "nr_free_pages 7\npgpgin 3\npgmajfault 9\nnr_dirtied 4\n"),
        ];
        assert_eq!(
            lines(&mut Memory, &files),
            [
                " memory.total_bytes 16777216",
                " memory.free_bytes 5120",
                " memory.dirty_bytes 12288",
                " memory.paged_in_bytes 3072",
                " memory.major_faults 9",
                " memory.dirtied_pages 4",
            ]
        );
        survives(&mut Memory, &files);
    }
}
