//! The limits that rules compare with, each with its unit, default and reason. A site or a user
//! may set any of them by name.

use netra_event::{Bytes, Seconds};

/// A part of a whole, or a factor.
#[derive(Debug, Default, Clone, Copy, PartialEq, PartialOrd)]
pub struct Ratio(pub f64);

/// What a limit is measured in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Bytes.
    Bytes,
    /// Seconds.
    Seconds,
    /// A part of a whole, or a factor.
    Ratio,
    /// A number of things.
    Count,
}

/// A limit as the reference page shows it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limit {
    /// Its name in the file of thresholds.
    pub name: &'static str,
    /// What it is measured in.
    pub unit: Unit,
    /// What holds when nobody says otherwise.
    pub default: f64,
    /// What it decides.
    pub page: &'static str,
}

trait Measured: Copy {
    const UNIT: Unit;
    fn number(self) -> f64;
    fn from_number(number: f64) -> Self;
}

impl Measured for Bytes {
    const UNIT: Unit = Unit::Bytes;
    fn number(self) -> f64 {
        self.0 as f64
    }
    fn from_number(number: f64) -> Self {
        Bytes(number as u64)
    }
}

impl Measured for Seconds {
    const UNIT: Unit = Unit::Seconds;
    fn number(self) -> f64 {
        self.0
    }
    fn from_number(number: f64) -> Self {
        Seconds(number)
    }
}

impl Measured for Ratio {
    const UNIT: Unit = Unit::Ratio;
    fn number(self) -> f64 {
        self.0
    }
    fn from_number(number: f64) -> Self {
        Ratio(number)
    }
}

impl Measured for u64 {
    const UNIT: Unit = Unit::Count;
    fn number(self) -> f64 {
        self as f64
    }
    fn from_number(number: f64) -> Self {
        number as u64
    }
}

macro_rules! thresholds {
    ($($name:ident: $kind:ty = $default:expr, $page:literal;)*) => {
        /// The limits in force.
        #[derive(Debug, Clone, PartialEq)]
        pub struct Thresholds {
            $(#[doc = $page] pub $name: $kind,)*
        }

        impl Default for Thresholds {
            fn default() -> Self {
                Thresholds { $($name: $default,)* }
            }
        }

        impl Thresholds {
            /// Sets a limit by its name, in its unit. Says so if there is no such limit or the
            /// number cannot be one.
            pub fn set(&mut self, name: &str, number: f64) -> Result<(), String> {
                if !number.is_finite() || number < 0.0 {
                    return Err(format!("{name} must be a number from 0 up, not {number}"));
                }
                match name {
                    $(stringify!($name) => self.$name = <$kind>::from_number(number),)*
                    _ => return Err(format!("there is no threshold called {name:?}")),
                }
                Ok(())
            }

            /// Every limit in force with its name.
            #[must_use]
            pub fn all(&self) -> Vec<(&'static str, f64)> {
                vec![$((stringify!($name), self.$name.number())),*]
            }
        }

        /// Every limit there is.
        pub const LIMITS: &[fn() -> Limit] = &[$(|| Limit {
            name: stringify!($name),
            unit: <$kind as Measured>::UNIT,
            default: <$kind as Measured>::number($default),
            page: $page,
        }),*];
    };
}

const MIB: u64 = 1 << 20;

thresholds! {
    high_share: Ratio = Ratio(0.10), "A finding that costs this share of the run, and `high_seconds`, is HIGH.";
    high_seconds: Seconds = Seconds(1.0), "A finding that costs less is never HIGH.";
    warn_share: Ratio = Ratio(0.02), "A finding that costs this share of the run, and `warn_seconds`, is a WARN; below it is INFO.";
    warn_seconds: Seconds = Seconds(0.3), "A finding that costs less is no more than INFO, unless it costs `high_share` of a short run.";
    floor_seconds: Seconds = Seconds(0.005), "A finding that costs less is INFO, whatever its share of the run.";
    small_request: Bytes = Bytes(MIB), "A call below this is small: the usual stripe. Exactly this is not small.";
    small_share: Ratio = Ratio(0.10), "Share of a file's calls that must be small.";
    small_count: u64 = 1000, "Small calls it takes to matter.";
    worth_share: Ratio = Ratio(0.001), "Share of the run that small, random or misaligned calls must take to be worth a word.";
    large_rate: Bytes = Bytes(200 * MIB), "Bytes per second that one rank gets with large calls, where the job itself does not show it.";
    call_cost: Seconds = Seconds(1e-6), "What a call costs whatever its size, at least, where the job itself does not show it.";
    rate_calls: u64 = 8, "Large calls it takes to know what large calls get.";
    random_share: Ratio = Ratio(0.20), "Share of calls that jump backwards.";
    random_count: u64 = 1000, "Backward jumps it takes to matter.";
    misaligned_share: Ratio = Ratio(0.10), "Share of calls off the file system's blocks.";
    misaligned_count: u64 = 1000, "Misaligned calls it takes to matter.";
    misaligned_request: Bytes = Bytes(16 * MIB), "Where calls are on average at least this large, their ends do not matter.";
    metadata_seconds: Seconds = Seconds(30.0), "Metadata time of one rank that is too long.";
    metadata_share: Ratio = Ratio(0.30), "Or: share of the run that one rank spends in metadata calls, from `floor_seconds` up.";
    redundant_factor: Ratio = Ratio(1.5), "Bytes moved as a multiple of the different bytes there are.";
    redundant_bytes: Bytes = Bytes(64 * MIB), "Bytes moved again it takes to matter.";
    stdio_share: Ratio = Ratio(0.10), "Share of all bytes through C streams.";
    stdio_bytes: Bytes = Bytes(64 * MIB), "Bytes through C streams it takes to matter.";
    stdout_bytes: Bytes = Bytes(64 * MIB), "Bytes through standard output and error it takes to matter.";
    tiny_stream_call: Bytes = Bytes(64), "A call of a C stream that moves less, on the average of its file, is tiny.";
    tiny_stream_count: u64 = 100_000, "Tiny calls of C streams it takes to matter.";
    stream_rate: Bytes = Bytes(MIB), "Bytes per second below which a stream is slow.";
    stream_seconds: Seconds = Seconds(5.0), "Seconds in one stream it takes to matter.";
    heavy_share: Ratio = Ratio(0.90), "Share of a shared file's bytes that one rank moves alone.";
    heavy_bytes: Bytes = Bytes(256 * MIB), "Bytes by one rank it takes to matter.";
    imbalance_share: Ratio = Ratio(0.15), "How far the rank that moves most may be above the mean, as a share of its own bytes.";
    time_imbalance: Ratio = Ratio(0.25), "How far the slowest rank may be above the mean, as a share of its own time.";
    imbalance_seconds: Seconds = Seconds(1.0), "Seconds beyond the mean it takes to matter.";
    straggler_deviations: Ratio = Ratio(5.0), "Median absolute deviations (scaled to standard deviations) beyond the median that make a straggler.";
    straggler_seconds: Seconds = Seconds(1.0), "Seconds beyond the median it takes at least.";
    straggler_ratio: Ratio = Ratio(0.5), "Share of the median it takes at least.";
    straggler_part: Ratio = Ratio(0.10), "Where more ranks than this share stand out, they are not stragglers but a second kind of rank.";
    collective_share: Ratio = Ratio(0.50), "Share of MPI-IO calls to a shared file that should be collective.";
    collective_count: u64 = 1000, "Independent calls it takes to matter.";
    layer_factor: Ratio = Ratio(2.0), "MPI-IO time as a multiple of the POSIX time below, independent calls.";
    layer_share: Ratio = Ratio(0.10), "Share of the run that goes between the layers, independent calls.";
    layer_seconds: Seconds = Seconds(1.0), "Seconds between the layers it takes to matter, independent calls.";
    collective_layer_factor: Ratio = Ratio(1.5), "The same multiple for collective calls, against the busiest rank below.";
    collective_layer_share: Ratio = Ratio(0.25), "The same share for collective calls, in which ranks wait for aggregators by design.";
    collective_layer_seconds: Seconds = Seconds(10.0), "The same seconds for collective calls.";
    collective_layer_most: Ratio = Ratio(0.50), "Share of the run for collective calls that matters however short the run is.";
    sieving_factor: Ratio = Ratio(1.2), "POSIX bytes written as a multiple of the MPI-IO bytes written.";
    sieving_bytes: Bytes = Bytes(16 * MIB), "Extra bytes it takes to matter.";
    narrow_bytes: Bytes = Bytes(1024 * MIB), "A shared file of at least this size should have more than one stripe.";
    narrow_ranks: u64 = 8, "Ranks that share a file before one stripe is too few.";
    ost_factor: Ratio = Ratio(4.0), "Time of files on a target as a multiple of the median target's.";
    ost_seconds: Seconds = Seconds(1.0), "Seconds a file is slower there it takes to matter.";
    ost_count: u64 = 4, "Targets it takes to speak of a median.";
    ost_files: u64 = 2, "Files on a target it takes to accuse it.";
    ost_bytes_factor: Ratio = Ratio(2.5), "Bytes on one target as a multiple of the mean target's.";
    ost_active_share: Ratio = Ratio(0.25), "Share of the targets of the widest file that should work at a time.";
    stats_per_rank: u64 = 1000, "Stats of the same file per rank it takes to matter.";
    failed_count: u64 = 1000, "Calls of a function that fail it takes to matter.";
    failed_share: Ratio = Ratio(0.10), "Share of a function's calls that must fail.";
    unclosed_count: u64 = 100, "Files per rank that stay open it takes to matter.";
    attribute_count: u64 = 1000, "Opens of HDF5 attributes it takes to matter.";
    attribute_factor: Ratio = Ratio(2.0), "Opens of attributes as a multiple of their reads and writes.";
    file_per_process: u64 = 1000, "Files of one rank each it takes to speak of a file per process.";
    file_per_process_share: Ratio = Ratio(0.9), "Ranks that must have such a file.";
    seeks_per_call: Ratio = Ratio(4.0), "Seeks per read and write.";
    seek_count: u64 = 10_000, "Seeks it takes to matter.";
    sync_count: u64 = 100, "Flushes by one rank it takes to matter.";
    sync_bytes: Bytes = Bytes(16 * MIB), "Bytes written per flush below which it flushes too often.";
    opens_per_rank: u64 = 100, "Opens of the same file per rank it takes to matter.";
    stall_seconds: Seconds = Seconds(5.0), "A single call that takes this long for less than a `small_request` is stalled.";
    waiting_call: Seconds = Seconds(10.0), "Seconds per open or stat that are waiting (a pipe, a lock), not I/O.";
    waiting_share: Ratio = Ratio(0.01), "Share of the run such waiting must take.";
    phase_gap_min: Seconds = Seconds(0.01), "A quiet time below this never separates two phases.";
    phase_gap_share: Ratio = Ratio(0.05), "A quiet time above this share of the traced time always does.";
    phase_count: u64 = 100, "Phases that are too many.";
    period_jitter: Ratio = Ratio(0.10), "How evenly phases must repeat to have a period.";
    common_block_ranks: u64 = 8, "Ranks it takes to speak of everybody.";
    common_block_share: Ratio = Ratio(0.9), "Share of ranks that read a block before everybody does.";
    common_block_calls: u64 = 1000, "Such reads it takes to matter.";
    stripe_calls: u64 = 1000, "Writes to stripes of several writers it takes to matter.";
    stripe_share: Ratio = Ratio(0.10), "Share of a file's writes that go to such stripes.";
    clock_skew: Seconds = Seconds(0.001), "Order of calls on different nodes is uncertain within this.";
    shared_posix_seconds: Seconds = Seconds(1.0), "Seconds in a file that many ranks share without MPI-IO it takes to matter.";
    shared_posix_ranks: u64 = 16, "Ranks it takes for that.";
    hidden_share: Ratio = Ratio(0.05), "Share of the run that asynchronous I/O could hide before it is worth saying.";
    reread_bytes: Bytes = Bytes(64 * MIB), "A file up to this size that everybody reads can be staged on the nodes.";
}

#[cfg(test)]
mod tests {
    use super::{LIMITS, Thresholds, Unit};

    #[test]
    fn every_limit_can_be_set_by_its_name() {
        let mut limits = Thresholds::default();
        for limit in LIMITS {
            let limit = limit();
            limits.set(limit.name, limit.default + 1.0).unwrap();
        }
        for ((name, now), limit) in limits.all().into_iter().zip(LIMITS) {
            assert_eq!((name, now), (limit().name, limit().default + 1.0));
        }
    }

    #[test]
    fn wrong_names_and_numbers_are_refused() {
        let mut limits = Thresholds::default();
        assert!(limits.set("smal_request", 1.0).unwrap_err().contains("smal_request"));
        assert!(limits.set("small_share", -0.1).unwrap_err().contains("from 0 up"));
        assert_eq!(limits, Thresholds::default());
    }

    #[test]
    fn lengths_and_shares_have_different_units() {
        let unit = |name: &str| {
            LIMITS.iter().map(|limit| limit()).find(|limit| limit.name == name).unwrap().unit
        };
        assert_eq!((unit("small_request"), unit("small_share")), (Unit::Bytes, Unit::Ratio));
    }
}
