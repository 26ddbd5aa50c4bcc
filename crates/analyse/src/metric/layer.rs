//! Totals of a layer.

use std::collections::BTreeMap;

use crate::{Layer, Usage};

/// What all ranks did through one layer.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LayerFacts {
    /// Files with a record.
    pub files: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Opens.
    pub opens: u64,
    /// Seconds of all ranks in reads, writes and metadata calls.
    pub rank_seconds: [f64; 3],
}

impl LayerFacts {
    /// Bytes in both directions.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes_read.saturating_add(self.bytes_written)
    }
}

pub(super) fn all(usages: &[Usage]) -> BTreeMap<Layer, LayerFacts> {
    let mut layers = BTreeMap::new();
    let mut seen = std::collections::BTreeSet::new();
    for usage in usages {
        let layer: &mut LayerFacts = layers.entry(usage.layer).or_default();
        layer.files += u64::from(seen.insert((usage.layer, usage.file)));
        layer.reads += usage.read.calls;
        layer.writes += usage.write.calls;
        layer.bytes_read = layer.bytes_read.saturating_add(usage.read.bytes);
        layer.bytes_written = layer.bytes_written.saturating_add(usage.write.bytes);
        layer.opens += usage.opens;
        layer.rank_seconds[0] += usage.read.seconds;
        layer.rank_seconds[1] += usage.write.seconds;
        layer.rank_seconds[2] += usage.meta;
    }
    layers
}
