//! Time lost to waiting for a resource (pressure stall information): `/proc/pressure`.

use super::{Root, Sample, Sampler};

/// See the module.
#[derive(Debug)]
pub(super) struct Pressure;

impl Sampler for Pressure {
    fn sample(&mut self, root: &Root, into: &mut Sample) {
        for resource in ["cpu", "io", "memory"] {
            let text = root.text(&format!("proc/pressure/{resource}")).unwrap_or_default();
            stalls(&text, "", &format!("pressure.{resource}"), into);
        }
    }
}

/// Lines such as `some avg10=0.05 avg60=0.10 avg300=0.19 total=119948972`; `some` is time in which at least one
/// task waited, `full` time in which all did.
pub(super) fn stalls(text: &str, target: &str, begin: &str, into: &mut Sample) {
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace();
        let Some(who @ ("some" | "full")) = words.next() else { continue };
        for word in words {
            let Some((key, value)) = word.split_once('=') else { continue };
            match (key, value.parse::<f64>(), value.parse::<u64>()) {
                ("avg10", Ok(share), _) => {
                    into.gauge(target, &format!("{begin}_{who}_percent_10s"), share);
                }
                ("total", _, Ok(total)) => into.count(target, &format!("{begin}_{who}_us"), total),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::root::captured::{lines, survives};
    use super::*;

    #[test]
    fn stalls_are_counted_in_microseconds() {
        let files = [(
            "proc/pressure/io",
            "some avg10=0.05 avg60=0.10 avg300=0.19 total=119948972\n\
             full avg10=1.50 avg60=0.00 avg300=0.00 total=26227689\n",
        )];
        assert_eq!(
            lines(&mut Pressure, &files),
            [
                " pressure.io_some_percent_10s 0.05",
                " pressure.io_some_us 119948972",
                " pressure.io_full_percent_10s 1.5",
                " pressure.io_full_us 26227689",
            ]
        );
        survives(&mut Pressure, &files);
    }
}
