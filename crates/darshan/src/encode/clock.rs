//! Ticks as the seconds that a log holds, and when the process began and ended.

use super::Options;
use netra_event::Module;
use netra_event::segment::View;
use netra_event::segment::shard::{
    direction, flow, h5d, h5f, mpiio, pnetcdf_file, pnetcdf_var, posix, stdio,
};

/// A segment's clock.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    start_ticks: u64,
    /// Seconds of a tick.
    tick: f64,
    /// Nanoseconds since 1970 when what the log is about began: recording, or the job.
    pub(super) start: u64,
    /// And when it ended, or as far as is known.
    pub(super) end: u64,
    /// Nanoseconds by which recording began later than that.
    pub(super) late: u64,
}

impl Clock {
    pub(super) fn new(view: &View<'_>, options: &Options) -> Clock {
        let (start_ticks, start) = view.start();
        let tick = view.tick() / 1e9;
        if let Some(job) = options.job {
            let late = start.saturating_sub(job.start);
            return Clock { start_ticks, tick, start: job.start, end: job.end, late };
        }
        let end = options.ended.or(view.end()).unwrap_or_else(|| last_seen(view)).max(start);
        Clock { start_ticks, tick, start, end, late: 0 }
    }

    /// A span of ticks in seconds.
    pub(super) fn span(&self, ticks: u64) -> f64 {
        // Ticks of months lie below 2^53.
        ticks as f64 * self.tick
    }

    /// A moment in seconds since the start; 0, which means "never", stays 0.
    pub(super) fn moment(&self, ticks: u64) -> f64 {
        match ticks {
            0 => 0.0,
            // As ticks, so spans of nanoseconds, lie far below 2^53.
            ticks => self.span(ticks.saturating_sub(self.start_ticks)) + self.late as f64 / 1e9,
        }
    }

    /// How long was recorded, in nanoseconds.
    pub(super) fn length(&self) -> u64 {
        self.end.saturating_sub(self.start)
    }
}

/// The last moment that a process without an end is known to have lived.
fn last_seen(view: &View<'_>) -> u64 {
    let ends = view.records().map(|record| {
        let words: &[usize] = match record.module {
            code if code == u32::from(Module::Posix.code()) => &POSIX_ENDS,
            code if code == u32::from(Module::Stdio.code()) => &STDIO_ENDS,
            code if code == u32::from(Module::H5f.code()) => &[h5f::OPEN_END, h5f::CLOSE_END],
            code if code == u32::from(Module::H5d.code()) => &H5D_ENDS,
            code if code == u32::from(Module::PnetcdfFile.code()) => &PNETCDF_FILE_ENDS,
            code if code == u32::from(Module::PnetcdfVar.code()) => &PNETCDF_VAR_ENDS,
            code if code == u32::from(Module::Mpiio.code()) => &MPIIO_ENDS,
            _ => &[],
        };
        words.iter().map(|&word| record.word(word)).max().unwrap_or(0)
    });
    let last = ends.max().unwrap_or(0);
    let calibrated = view.newest().1;
    if last == 0 { calibrated } else { view.time(last).max(calibrated) }
}

const POSIX_ENDS: [usize; 4] = [
    posix::READ + direction::END,
    posix::WRITE + direction::END,
    posix::OPEN_END,
    posix::CLOSE_END,
];
const STDIO_ENDS: [usize; 4] =
    [stdio::READ + stdio::END, stdio::WRITE + stdio::END, stdio::OPEN_END, stdio::CLOSE_END];
const H5D_ENDS: [usize; 4] =
    [h5d::READ + flow::END, h5d::WRITE + flow::END, h5d::OPEN_END, h5d::CLOSE_END];
const PNETCDF_FILE_ENDS: [usize; 3] =
    [pnetcdf_file::OPEN_END, pnetcdf_file::CLOSE_END, pnetcdf_file::WAIT_END];
const PNETCDF_VAR_ENDS: [usize; 3] =
    [pnetcdf_var::READ + flow::END, pnetcdf_var::WRITE + flow::END, pnetcdf_var::OPEN_END];
const MPIIO_ENDS: [usize; 4] = [
    mpiio::READ + direction::END,
    mpiio::WRITE + direction::END,
    mpiio::OPEN_END,
    mpiio::CLOSE_END,
];
