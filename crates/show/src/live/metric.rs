//! What a node itself does over time, from its samples: numbers that rise become rates.

use std::collections::BTreeMap;

use netra_stream::sample::{Sample, Value};

use super::series::{Fold, Series};

/// Metrics that are followed on one host.
const MOST: usize = 512;
/// Steps of a metric.
const STEPS: usize = 2048;

/// The mean of the values in a step.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Mean {
    sum: f64,
    count: u32,
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1;
    }

    /// The mean; nothing where there is no value.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / f64::from(self.count))
    }
}

impl Fold for Mean {
    fn fold(&mut self, other: &Mean) {
        self.sum += other.sum;
        self.count += other.count;
    }
}

/// One metric over time.
#[derive(Debug, Clone)]
pub struct Metric {
    /// Its values; of one that rises, how much in a second.
    pub values: Series<Mean>,
    /// Whether it rises.
    pub is_rate: bool,
    last: Option<(u64, u64)>,
}

/// The metrics of a host by target and name.
#[derive(Debug, Clone, Default)]
pub struct Host {
    /// What it is called, where somebody publishes its metrics: a storage server, or whatever else jobs may wait
    /// for. A node is called by the processes that run on it.
    pub server: Option<String>,
    metrics: BTreeMap<(String, String), Metric>,
}

impl Host {
    /// Takes a sample.
    pub fn take(&mut self, time: u64, sample: &Sample, version: u64) {
        for metric in sample.metrics() {
            self.value((&metric.target, &metric.name), time, metric.value, version);
        }
    }

    /// Takes one number.
    pub fn value(&mut self, (target, name): (&str, &str), time: u64, value: Value, version: u64) {
        let key = (target.to_owned(), name.to_owned());
        if !self.metrics.contains_key(&key) && self.metrics.len() >= MOST {
            return;
        }
        let is_rate = matches!(value, Value::Count(_));
        let metric = self.metrics.entry(key).or_insert_with(|| Metric {
            values: Series::new(STEPS),
            is_rate,
            last: None,
        });
        let second = time / 1_000_000_000;
        match value {
            Value::Gauge(gauge) => metric.values.at(second, version).add(gauge),
            Value::Count(count) => {
                let before = metric.last.replace((time, count));
                // A number that fell has begun again: there is no difference to tell.
                if let Some((then, had)) = before.filter(|&(then, had)| then < time && had <= count)
                {
                    let rate = (count - had) as f64 / ((time - then) as f64 / 1e9);
                    metric.values.at(second, version).add(rate);
                }
            }
        }
    }

    /// All metrics: target, name, values.
    pub fn metrics(&self) -> impl Iterator<Item = (&str, &str, &Metric)> {
        self.metrics.iter().map(|((target, name), metric)| (&**target, &**name, metric))
    }
}

/// Whether a metric has a place in the pictures, and how people read its unit. Everything else is
/// followed too, for correlations.
#[must_use]
pub fn shown(name: &str) -> Option<(&'static str, &'static str)> {
    const SHOWN: &[(&str, &str, &str)] = &[
        ("cpu.user_ms", "processor", "ms/s"),
        ("cpu.system_ms", "processor", "ms/s"),
        ("cpu.wait_io_ms", "processor", "ms/s"),
        ("memory.available_bytes", "memory", "B"),
        ("memory.dirty_bytes", "memory", "B"),
        ("pressure.cpu_some_us", "pressure", "µs/s"),
        ("pressure.io_some_us", "pressure", "µs/s"),
        ("pressure.memory_some_us", "pressure", "µs/s"),
        ("disk.read_bytes", "disk", "B/s"),
        ("disk.written_bytes", "disk", "B/s"),
        ("network.received_bytes", "network", "B/s"),
        ("network.sent_bytes", "network", "B/s"),
        ("infiniband.received_bytes", "network", "B/s"),
        ("infiniband.sent_bytes", "network", "B/s"),
        ("nfs.server_read_bytes", "file system client", "B/s"),
        ("nfs.server_written_bytes", "file system client", "B/s"),
        ("lustre.read_bytes", "file system client", "B/s"),
        ("lustre.write_bytes", "file system client", "B/s"),
    ];
    SHOWN.iter().find(|row| row.0 == name).map(|row| (row.1, row.2))
}

/// Whether a metric can be the reason for slow calls. Totals of memory and counts of what the job
/// itself does to its control group are none.
#[must_use]
pub(super) fn is_asked(name: &str) -> bool {
    const ASKED: [&str; 12] = [
        "cpu.user_ms",
        "cpu.system_ms",
        "cpu.running",
        "cpu.blocked_on_io",
        "memory.dirty_bytes",
        "memory.major_faults",
        "pressure.cpu_some_us",
        "pressure.io_some_us",
        "pressure.memory_some_us",
        "disk.busy_ms",
        "disk.in_flight",
        "network.sent_bytes",
    ];
    const FAMILIES: [&str; 4] = ["nfs.", "lustre.", "infiniband.send_wait", "slingshot."];
    ASKED.contains(&name) || FAMILIES.iter().any(|family| name.starts_with(family))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(host: &Host, name: &str) -> Vec<(u64, Option<f64>)> {
        let found = host.metrics().find(|metric| metric.1 == name).unwrap();
        found.2.values.iter().map(|(at, mean)| (at, mean.value())).collect()
    }

    #[test]
    fn what_rises_becomes_a_rate_and_a_new_beginning_none() {
        let mut host = Host::default();
        for (second, count) in [(10, 100), (11, 300), (13, 700), (14, 5), (15, 6)] {
            let mut sample = Sample::default();
            sample.count("sda", "disk.read_bytes", count);
            sample.gauge("", "cpu.running", count as f64);
            host.take(second * 1_000_000_000, &sample, second);
        }
        let rates = [(11, Some(200.0)), (12, None), (13, Some(200.0)), (14, None), (15, Some(1.0))];
        assert_eq!(values(&host, "disk.read_bytes"), rates);
        assert_eq!(values(&host, "cpu.running")[0], (10, Some(100.0)));
    }

    #[test]
    fn a_host_of_endless_metrics_is_bounded() {
        let mut host = Host::default();
        for number in 0..2 * MOST {
            host.value(("", &format!("own.{number}")), 1, Value::Gauge(1.0), 1);
        }
        assert_eq!(host.metrics().count(), MOST);
    }
}
