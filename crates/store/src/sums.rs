//! What calls add up to, in every roll-up.

use crate::sheet::Sheet;

/// What calls add up to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sums {
    calls: i64,
    bytes: i64,
    time: i64,
    slowest: i64,
    failed: i64,
    /// When the first began: nanoseconds since 1970.
    pub(crate) first: i64,
    /// When the last did.
    pub(crate) last: i64,
}

impl Sums {
    /// Of no call.
    pub(crate) const NOTHING: Sums = Sums {
        calls: 0,
        bytes: 0,
        time: 0,
        slowest: 0,
        failed: 0,
        first: i64::MAX,
        last: i64::MIN,
    };

    /// Takes a call in: when it began, how long it took, what it moved, and whether it failed.
    #[inline]
    pub(crate) fn add(&mut self, start: i64, took: i64, bytes: i64, failed: bool) {
        self.calls += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        self.time = self.time.saturating_add(took);
        self.slowest = self.slowest.max(took);
        self.failed += i64::from(failed);
        self.first = self.first.min(start);
        self.last = self.last.max(start);
    }

    /// The columns that every roll-up has.
    pub(crate) fn put(&self, sheet: &mut Sheet) {
        sheet.put("calls", self.calls).put("bytes", self.bytes).put("time", self.time);
        sheet.put("slowest", self.slowest).put("failed", self.failed);
    }
}
