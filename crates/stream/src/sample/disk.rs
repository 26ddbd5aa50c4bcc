//! Block devices: `/proc/diskstats`. Partitions and devices that were never used are left out.

use super::root::numbers;
use super::{Root, Sample, Sampler};

/// See the module.
#[derive(Debug)]
pub(super) struct Disk;

/// The kernel counts in sectors of 512 bytes whatever the device has.
const SECTOR: u64 = 512;

impl Sampler for Disk {
    fn sample(&mut self, root: &Root, into: &mut Sample) {
        // A partition is a folder inside its disk's, and has none of its own here.
        let disks = root.names("sys/block");
        for line in root.text("proc/diskstats").unwrap_or_default().lines() {
            let mut words = line.split_ascii_whitespace().skip(2);
            let Some(name) = words.next() else { continue };
            let found = numbers(words);
            let whole = disks.is_empty() || disks.iter().any(|disk| disk == name);
            if whole && let Some(numbers) = found.first_chunk::<11>() {
                device(name, numbers, into);
            }
        }
    }
}

fn device(name: &str, numbers: &[u64; 11], into: &mut Sample) {
    let &[reads, _, read, reading, writes, _, written, writing, now, busy, waited] = numbers;
    if reads == 0 && writes == 0 {
        return;
    }
    into.count(name, "disk.reads", reads);
    into.count(name, "disk.read_bytes", read.saturating_mul(SECTOR));
    into.count(name, "disk.read_ms", reading);
    into.count(name, "disk.writes", writes);
    into.count(name, "disk.written_bytes", written.saturating_mul(SECTOR));
    into.count(name, "disk.write_ms", writing);
    into.gauge(name, "disk.in_flight", now as f64);
    into.count(name, "disk.busy_ms", busy);
    into.count(name, "disk.waited_ms", waited);
}

#[cfg(test)]
mod tests {
    use super::super::root::captured::{lines, survives};
    use super::*;

    #[test]
    fn sectors_become_bytes_and_partitions_are_left_out() {
        let files = [
            (
                "proc/diskstats",
                "   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n 253       0 vda 10 1 20 30 40 2 50 60 3 70 80 0 0 0 0 5 6\n \
                 253       1 vda1 9 1 18 30 40 2 50 60 3 70 80 0 0 0 0 5 6\n",
            ),
            ("sys/block/vda/size", "1"),
            ("sys/block/loop0/size", "1"),
        ];
        assert_eq!(
            lines(&mut Disk, &files),
            [
                "vda disk.reads 10",
                "vda disk.read_bytes 10240",
                "vda disk.read_ms 30",
                "vda disk.writes 40",
                "vda disk.written_bytes 25600",
                "vda disk.write_ms 60",
                "vda disk.in_flight 3",
                "vda disk.busy_ms 70",
                "vda disk.waited_ms 80",
            ]
        );
        survives(&mut Disk, &files);
    }
}
