//! What a segment's header says: the process, its place in the job, its clock.

use core::mem::offset_of;

use super::View;
use crate::segment::{CALIBRATIONS, Calibration, Header, Region, State};

impl<'a> View<'a> {
    /// What became of the process; nothing for a code this build does not know.
    #[must_use]
    pub fn state(&self) -> Option<State> {
        State::from_code(self.u32(offset_of!(Header, state)))
    }

    /// The segment's flags: [`crate::segment::PACKED`] and its like.
    #[must_use]
    pub fn flags(&self) -> u32 {
        self.u32(offset_of!(Header, flags))
    }

    /// The process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.u32(offset_of!(Header, pid))
    }

    /// The parent's process id.
    #[must_use]
    pub fn ppid(&self) -> u32 {
        self.u32(offset_of!(Header, ppid))
    }

    /// The process this one was forked from while netra was on.
    #[must_use]
    pub fn fork_parent(&self) -> Option<u32> {
        Some(self.u32(offset_of!(Header, fork_parent))).filter(|&pid| pid != 0)
    }

    /// The kernel's clock ticks since boot by which the process had been started.
    #[must_use]
    pub fn process_start(&self) -> u64 {
        self.u64(offset_of!(Header, process_start))
    }

    /// The inode of the PID namespace that the process's number belongs to, if it is known.
    #[must_use]
    pub fn namespace(&self) -> Option<u64> {
        Some(self.u64(offset_of!(Header, namespace))).filter(|&inode| inode != 0)
    }

    /// When the process was started, exactly, in the kernel's clock ticks since boot, if it is known.
    #[must_use]
    pub fn started(&self) -> Option<u64> {
        Some(self.u64(offset_of!(Header, started))).filter(|&ticks| ticks != 0)
    }

    /// The user.
    #[must_use]
    pub fn uid(&self) -> u32 {
        self.u32(offset_of!(Header, uid))
    }

    /// The rank, if it is known.
    #[must_use]
    pub fn rank(&self) -> Option<u32> {
        self.u32(offset_of!(Header, rank_plus_one)).checked_sub(1)
    }

    /// Whether MPI itself told the rank; else it is the launcher's word, which every process hears that
    /// a rank starts.
    #[must_use]
    pub fn rank_is_from_mpi(&self) -> bool {
        self.u32(offset_of!(Header, rank_source)) == 1
    }

    /// Processes of the job, if known.
    #[must_use]
    pub fn nprocs(&self) -> Option<u32> {
        Some(self.u32(offset_of!(Header, nprocs))).filter(|&count| count != 0)
    }

    /// Darshan's number of the job.
    #[must_use]
    pub fn job_id(&self) -> i64 {
        self.u64(offset_of!(Header, job_id)).cast_signed()
    }

    /// Modules that summed files under one record, a bit each.
    #[must_use]
    pub fn partial(&self) -> u64 {
        self.u64(offset_of!(Header, partial))
    }

    /// Bytes of chunks that may be taken when nobody reads.
    #[must_use]
    pub fn budget(&self) -> u64 {
        self.u64(offset_of!(Header, budget))
    }

    /// When recording ended, CLOCK_REALTIME in nanoseconds.
    #[must_use]
    pub fn end(&self) -> Option<u64> {
        Some(self.u64(offset_of!(Header, end))).filter(|&end| end != 0)
    }

    /// The job's text key.
    #[must_use]
    pub fn job(&self) -> &'a [u8] {
        self.text(self.u64(offset_of!(Header, job)))
    }

    /// The host's name.
    #[must_use]
    pub fn host(&self) -> &'a [u8] {
        self.text(self.u64(offset_of!(Header, host)))
    }

    /// The executable's path.
    #[must_use]
    pub fn exe(&self) -> &'a [u8] {
        self.text(self.u64(offset_of!(Header, exe)))
    }

    /// The command line.
    #[must_use]
    pub fn command(&self) -> &'a [u8] {
        self.text(self.u64(offset_of!(Header, command)))
    }

    /// The path of the segment, if it is a file.
    #[must_use]
    pub fn path(&self) -> &'a [u8] {
        self.text(self.u64(offset_of!(Header, path)))
    }

    /// The kind of MPI that was found.
    #[must_use]
    pub fn mpi(&self) -> &'a [u8] {
        self.text(self.u64(offset_of!(Header, mpi)))
    }

    /// The path of the job's log that what was done until MPI ended is in; empty if there is none.
    #[must_use]
    pub fn log(&self) -> &'a [u8] {
        self.text(self.u64(offset_of!(Header, log)))
    }

    /// What the node and the job's allocation are: keys and values.
    pub fn platform(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        let lines = self.region(Region::Platform).1.split(|&byte| byte == b'\n');
        lines.filter_map(|line| {
            let at = line.iter().position(|&byte| byte == b'=')?;
            Some((line.get(..at)?, line.get(at + 1..)?))
        })
    }

    /// What the library complained about, a line each.
    pub fn notes(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let notes = self.region(Region::Notes).1;
        let lines = notes.split(|&byte| byte == b'\n');
        // Where a thread did not come to write its line there are zeroes, then the next one's.
        let written =
            |line: &'a [u8]| line.iter().position(|&byte| byte != 0).map(|at| &line[at..]);
        lines.filter_map(written)
    }

    /// The first calibration, the start of recording: ticks and nanoseconds.
    #[must_use]
    pub fn start(&self) -> (u64, u64) {
        self.calibration(0)
    }

    /// The newest calibration; equal to the first one if there is no other.
    #[must_use]
    pub fn newest(&self) -> (u64, u64) {
        let count = self.u64(offset_of!(Header, calibrations));
        // The first place is the start's for ever; the others take turns.
        match count {
            0 | 1 => self.start(),
            _ => self.calibration(1 + ((count - 2) % (CALIBRATIONS as u64 - 1)) as usize),
        }
    }

    fn calibration(&self, place: usize) -> (u64, u64) {
        let at = offset_of!(Header, calibration) + place * size_of::<Calibration>();
        (self.u64(at), self.u64(at + offset_of!(Calibration, realtime)))
    }

    /// Nanoseconds of a tick, from the first and the newest calibration; 1 if there is only one.
    #[must_use]
    pub fn tick(&self) -> f64 {
        let ((ticks, time), (ticks_2, time_2)) = (self.start(), self.newest());
        match (ticks_2.checked_sub(ticks), time_2.checked_sub(time)) {
            // Spans of ticks and nanoseconds lie far below 2^53 for runs of months.
            (Some(ticks @ 1..), Some(time @ 1..)) => time as f64 / ticks as f64,
            _ => 1.0,
        }
    }

    /// The moment of a tick, nanoseconds of CLOCK_REALTIME.
    #[must_use]
    pub fn time(&self, ticks: u64) -> u64 {
        let (start, time) = self.start();
        let since = ticks.wrapping_sub(start).cast_signed() as f64 * self.tick();
        // Saturates at the ends, which only damaged ticks reach.
        time.saturating_add_signed(since as i64)
    }
}
