//! How many processes wanted to run or waited for disks, on average: `/proc/loadavg`.

use super::{Root, Sample, Sampler};

/// See the module.
#[derive(Debug)]
pub(super) struct Load;

const COLUMNS: [&str; 3] = ["load.one_minute", "load.five_minutes", "load.fifteen_minutes"];

impl Sampler for Load {
    fn sample(&mut self, root: &Root, into: &mut Sample) {
        let text = root.text("proc/loadavg").unwrap_or_default();
        for (column, word) in COLUMNS.into_iter().zip(text.split_ascii_whitespace()) {
            if let Ok(load) = word.parse() {
                into.gauge("", column, load);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::root::captured::{lines, survives};
    use super::*;

    #[test]
    fn three_averages() {
        let files = [("proc/loadavg", "3.88 2.31 2.25 5/234 1234\n")];
        assert_eq!(
            lines(&mut Load, &files),
            [" load.one_minute 3.88", " load.five_minutes 2.31", " load.fifteen_minutes 2.25"]
        );
        survives(&mut Load, &files);
    }
}
