//! A metric, and a sample of many; and the body of the frame that carries them.

use crate::pack::{Malformed, Packer, Unpacker};

/// Metrics that one sample holds at most; what is beyond is counted and left out.
pub const LARGEST_SAMPLE: usize = 10_000;
/// Bytes of a name or target at most.
const LONGEST_TEXT: usize = 256;

/// A number, and what kind of number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// Rises since the system started; differences mean something.
    Count(u64),
    /// Rises and falls.
    Gauge(f64),
}

impl Value {
    /// The number; counts beyond 2⁵³ lose their last digits.
    #[must_use]
    pub fn number(self) -> f64 {
        match self {
            Value::Count(count) => count as f64,
            Value::Gauge(gauge) => gauge,
        }
    }
}

/// One number of a node.
#[derive(Debug, Clone, PartialEq)]
pub struct Metric {
    /// What it is a number of: a disk, a network device, a mounted file system; empty for the node.
    pub target: String,
    /// Sampler, thing and unit: `disk.read_bytes`.
    pub name: String,
    /// The number.
    pub value: Value,
}

/// The metrics of one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sample {
    metrics: Vec<Metric>,
    left_out: u64,
}

impl Sample {
    /// Adds a number that rises.
    pub fn count(&mut self, target: &str, name: &str, value: u64) {
        self.add(target, name, Value::Count(value));
    }

    /// Adds a number that rises and falls; what is not finite is no number.
    pub fn gauge(&mut self, target: &str, name: &str, value: f64) {
        if value.is_finite() {
            self.add(target, name, Value::Gauge(value));
        }
    }

    /// Adds a metric.
    pub fn add(&mut self, target: &str, name: &str, value: Value) {
        let fits = target.len() <= LONGEST_TEXT && name.len() <= LONGEST_TEXT;
        if !fits || self.metrics.len() >= LARGEST_SAMPLE {
            self.left_out += 1;
            return;
        }
        self.metrics.push(Metric { target: target.to_owned(), name: name.to_owned(), value });
    }

    /// The metrics, in the order they were added.
    #[must_use]
    pub fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    /// Metrics that had no room.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// The value of a metric.
    #[must_use]
    pub fn value(&self, target: &str, name: &str) -> Option<Value> {
        let found = |metric: &&Metric| metric.target == target && metric.name == name;
        self.metrics.iter().find(found).map(|metric| metric.value)
    }

    /// The body of a frame; the frame's head has the time.
    #[must_use]
    pub fn pack(&self) -> Vec<u8> {
        let mut packer = Packer::default();
        packer.long(self.left_out).count(self.metrics.len());
        for metric in &self.metrics {
            packer.text(metric.target.as_bytes()).text(metric.name.as_bytes());
            match metric.value {
                Value::Count(count) => packer.byte(0).long(count),
                Value::Gauge(gauge) => packer.byte(1).long(gauge.to_bits()),
            };
        }
        packer.bytes
    }

    /// Reads the body of a frame.
    ///
    /// # Errors
    /// It is none.
    pub fn unpack(body: &[u8]) -> Result<Sample, Malformed> {
        let mut unpacker = Unpacker::new(body);
        let mut sample = Sample { metrics: Vec::new(), left_out: unpacker.long()? };
        // Two lengths, a byte and a number.
        let count = unpacker.count(17)?;
        if count > LARGEST_SAMPLE {
            return Err(unpacker.malformed("more metrics than a sample holds"));
        }
        for _ in 0..count {
            let (target, name) = (unpacker.text()?, unpacker.text()?);
            let (kind, bits) = (unpacker.byte()?, unpacker.long()?);
            let value = match kind {
                0 => Value::Count(bits),
                1 => Value::Gauge(f64::from_bits(bits)),
                _ => return Err(unpacker.malformed("no such kind of metric")),
            };
            let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
            sample.metrics.push(Metric { target: text(target), name: text(name), value });
        }
        unpacker.end()?;
        Ok(sample)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_sample_comes_back() {
        let mut sample = Sample::default();
        sample.count("sda", "disk.read_bytes", u64::MAX);
        sample.gauge("", "load.one_minute", 0.25);
        sample.gauge("", "never", f64::NAN);
        sample.count(&"x".repeat(257), "long", 1);
        assert_eq!((sample.metrics().len(), sample.left_out()), (2, 1));
        assert_eq!(Sample::unpack(&sample.pack()), Ok(sample));
    }

    #[test]
    fn a_flood_is_counted() {
        let mut sample = Sample::default();
        for number in 0..LARGEST_SAMPLE as u64 + 7 {
            sample.count("", "a", number);
        }
        assert_eq!((sample.metrics().len(), sample.left_out()), (LARGEST_SAMPLE, 7));
    }

    proptest! {
        #[test]
        fn any_bytes_are_refused_or_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(sample) = Sample::unpack(&bytes) {
                prop_assert!(sample.metrics().len() <= bytes.len());
            }
        }
    }
}
