//! What a daemon says about itself: every thing worth telling is one function here that counts it and,
//! where a person may want to know, writes one line to standard error. So lines and counters can not
//! differ. Nothing is told per event.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::{self, Write as _};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// When a line may be said again, and how many are remembered until then.
const AGAIN: Duration = Duration::from_secs(60);
const REMEMBERED: usize = 16;

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident, $metric:literal, $kind:literal;)*) => {
        /// Numbers that others read from the port for metrics.
        #[derive(Debug, Default)]
        pub struct Counters { $($(#[$doc])* pub $name: AtomicU64),* }

        impl Counters {
            fn write(&self, out: &mut String) -> fmt::Result {
                $(writeln!(out, "# TYPE {} {}\n{} {}", $metric, $kind, $metric,
                    self.$name.load(Ordering::Relaxed))?;)*
                Ok(())
            }
        }
    };
}

counters! {
    /// Frames taken into the spool.
    frames_received, "netra_stream_frames_received_total", "counter";
    /// Events taken into the spool.
    events_received, "netra_stream_events_received_total", "counter";
    /// Bytes of frames taken into the spool.
    bytes_received, "netra_stream_bytes_received_total", "counter";
    /// Frames that were here already.
    frames_repeated, "netra_stream_frames_repeated_total", "counter";
    /// Times that the spool had no room.
    spool_full, "netra_stream_spool_full_total", "counter";
    /// Bytes in the spool.
    spool_bytes, "netra_stream_spool_bytes", "gauge";
    /// Spans of the spool that are not what was written.
    spool_damaged, "netra_stream_spool_damaged_total", "counter";
    /// Checkpoints written.
    checkpoints, "netra_stream_checkpoints_total", "counter";
    /// Segments followed now.
    segments, "netra_stream_segments", "gauge";
    /// Segments that could not be read.
    segments_refused, "netra_stream_segments_refused_total", "counter";
    /// Logs made of processes that could not write their own.
    logs_made, "netra_stream_logs_made_total", "counter";
    /// Connections that are open.
    connections, "netra_stream_connections", "gauge";
    /// Connections that were refused or broken off because of what came over them.
    connections_refused, "netra_stream_connections_refused_total", "counter";
    /// Events that sinks have got.
    events_delivered, "netra_stream_events_delivered_total", "counter";
    /// Events that optional sinks were told to go without.
    events_skipped, "netra_stream_events_skipped_total", "counter";
    /// Events and messages that subscribers were too slow for.
    subscribers_missed, "netra_stream_subscribers_missed_total", "counter";
    /// Batches that a sink could not take at once.
    sink_failures, "netra_stream_sink_failures_total", "counter";
    /// Times an upstream could not be reached, or was lost.
    upstream_lost, "netra_stream_upstream_lost_total", "counter";
    /// Times the ledger did not add up.
    ledger_broken, "netra_stream_ledger_broken_total", "counter";
}

/// What a daemon tells.
#[derive(Debug, Default)]
pub struct Told {
    /// The counters.
    pub counters: Counters,
    /// Numbers by label that samplers and sinks add: metric name with its labels.
    extra: Mutex<BTreeMap<String, i64>>,
    quiet: bool,
    last: Mutex<VecDeque<(Instant, String)>>,
}

impl Told {
    /// Says nothing on standard error.
    #[must_use]
    pub fn quiet() -> Told {
        Told { quiet: true, ..Told::default() }
    }

    /// A line for the operator. One that was said a moment ago is not said again.
    pub fn say(&self, line: impl fmt::Display) {
        if self.quiet {
            return;
        }
        let line = line.to_string();
        let Ok(mut last) = self.last.lock() else { return };
        last.retain(|(said, _)| said.elapsed() < AGAIN);
        if last.iter().all(|(_, said)| *said != line) {
            eprintln!("netra: {line}");
            last.truncate(REMEMBERED - 1);
            last.push_front((Instant::now(), line));
        }
    }

    /// Sets a number with labels.
    pub fn set(&self, metric: &str, value: i64) {
        if let Ok(mut extra) = self.extra.lock() {
            extra.insert(metric.to_owned(), value);
        }
    }

    /// The text that Prometheus reads.
    #[must_use]
    pub fn metrics(&self) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        self.counters.write(&mut text).ok();
        if let Ok(extra) = self.extra.lock() {
            for (metric, value) in extra.iter() {
                writeln!(text, "{metric} {value}").ok();
            }
        }
        text
    }
}

/// Adds to a counter.
pub fn add(counter: &AtomicU64, count: u64) {
    counter.fetch_add(count, Ordering::Relaxed);
}

/// Sets a gauge.
pub fn set(gauge: &AtomicU64, value: u64) {
    gauge.store(value, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_become_text() {
        let told = Told::quiet();
        add(&told.counters.events_received, 7);
        told.set("netra_stream_lag_bytes{sink=\"a\"}", 3);
        let text = told.metrics();
        assert!(text.contains("\nnetra_stream_events_received_total 7\n"), "{text}");
        assert!(text.contains("netra_stream_lag_bytes{sink=\"a\"} 3\n"), "{text}");
    }
}
