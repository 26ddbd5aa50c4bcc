//! The Lustre client: what applications asked of each mounted file system (`llite`) and what that cost
//! at the metadata and object servers (`mdc`, `osc`). The files lie below `/proc/fs/lustre` or, for root, in debugfs.

use super::{Root, Sample, Sampler};

/// See the module.
#[derive(Debug)]
pub(super) struct Lustre;

/// Folder and file of each layer, and what its metrics begin with.
const LAYERS: [(&str, &str, &str); 4] = [
    ("llite", "stats", "lustre"),
    ("mdc", "md_stats", "lustre.mdc"),
    ("mdc", "stats", "lustre.mdc"),
    ("osc", "stats", "lustre.osc"),
];

impl Sampler for Lustre {
    fn sample(&mut self, root: &Root, into: &mut Sample) {
        for base in ["proc/fs/lustre", "sys/kernel/debug/lustre"] {
            for (layer, file, begin) in LAYERS {
                for instance in root.names(&format!("{base}/{layer}")) {
                    let path = format!("{base}/{layer}/{instance}/{file}");
                    let text = root.text(&path).unwrap_or_default();
                    for line in text.lines() {
                        row(target(&instance), begin, line, into);
                    }
                }
            }
        }
    }
}

/// The name without the address of the mount that the kernel appends.
fn target(instance: &str) -> &str {
    match instance.rsplit_once('-') {
        Some((name, tail)) if tail.len() >= 8 && tail.chars().all(|c| c.is_ascii_hexdigit()) => {
            name
        }
        _ => instance,
    }
}

/// Lines such as `read_bytes 12 samples [bytes] 1 1048576 999 5` and `open 7 samples [usec] 1 9 30 100`.
fn row(target: &str, begin: &str, line: &str, into: &mut Sample) {
    let mut words = line.split_ascii_whitespace();
    let (Some(key), Some(samples)) = (words.next(), words.next()) else { return };
    let (Ok(samples), Some("samples"), Some(unit)) = (samples.parse(), words.next(), words.next())
    else {
        return;
    };
    let key = key.strip_suffix("_bytes").unwrap_or(key);
    into.count(target, &format!("{begin}.{key}_calls"), samples);
    let sum = words.nth(2).and_then(|word| word.parse().ok());
    match (unit, sum) {
        ("[bytes]", Some(sum)) => into.count(target, &format!("{begin}.{key}_bytes"), sum),
        ("[usec]" | "[usecs]", Some(sum)) => into.count(target, &format!("{begin}.{key}_us"), sum),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::root::captured::{lines, survives};
    use super::*;

    #[test]
    fn each_mount_has_its_calls_bytes_and_times() {
        let files = [
            (
                "proc/fs/lustre/llite/scratch-ffff9a2b7c3d4000/stats",
                "snapshot_time             1700000000.1 secs.nsecs\n\
                 read_bytes                12 samples [bytes] 1 1048576 999 5\n\
                 open                      7 samples [usec] 1 9 30 100\n\
                 getattr                   5 samples [regs]\n",
            ),
            (
                "sys/kernel/debug/lustre/mdc/scratch-MDT0000-mdc-ffff9a2b7c3d4000/md_stats",
                "close                     4 samples [reqs]\n",
            ),
        ];
        assert_eq!(
            lines(&mut Lustre, &files),
            [
                "scratch lustre.read_calls 12",
                "scratch lustre.read_bytes 999",
                "scratch lustre.open_calls 7",
                "scratch lustre.open_us 30",
                "scratch lustre.getattr_calls 5",
                "scratch-MDT0000-mdc lustre.mdc.close_calls 4",
            ]
        );
        survives(&mut Lustre, &files);
    }
}
