//! Lustre's network layer: `lnet/stats` below `/proc/sys` or debugfs, one line of eleven numbers.

use super::root::numbers;
use super::{Root, Sample, Sampler};

/// See the module.
#[derive(Debug)]
pub(super) struct Lnet;

/// The columns behind the two that count messages in memory.
const COLUMNS: [&str; 9] = [
    "lnet.errors",
    "lnet.sent_messages",
    "lnet.received_messages",
    "lnet.routed_messages",
    "lnet.dropped_messages",
    "lnet.sent_bytes",
    "lnet.received_bytes",
    "lnet.routed_bytes",
    "lnet.dropped_bytes",
];

impl Sampler for Lnet {
    fn sample(&mut self, root: &Root, into: &mut Sample) {
        let places = ["proc/sys/lnet/stats", "sys/kernel/debug/lnet/stats"];
        let Some(text) = places.into_iter().find_map(|path| root.text(path)) else { return };
        let found = numbers(text.split_ascii_whitespace());
        if found.len() == COLUMNS.len() + 2 {
            for (column, &value) in COLUMNS.into_iter().zip(&found[2..]) {
                into.count("", column, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::root::captured::{lines, survives};
    use super::*;

    #[test]
    fn the_columns_have_names() {
        let files = [("sys/kernel/debug/lnet/stats", "0 87 1 2 3 4 5 6 7 8 9\n")];
        let found = lines(&mut Lnet, &files);
        assert_eq!(found.len(), 9);
        assert_eq!(
            (found[0].as_str(), found[5].as_str()),
            (" lnet.errors 1", " lnet.sent_bytes 6")
        );
        survives(&mut Lnet, &files);
    }
}
