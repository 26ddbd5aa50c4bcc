//! The life of a process: that it began or ended, and who it is.

use netra_event::segment::{State, View};

use crate::pack::{Malformed, Packer, Unpacker};

/// Where in its life a process is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
    /// It was seen for the first time.
    Began = 1,
    /// It ended and said so.
    Ended = 2,
    /// It became another image.
    Replaced = 3,
    /// It is gone without a word.
    Killed = 4,
}

impl Phase {
    fn from_code(code: u8) -> Option<Phase> {
        [Phase::Began, Phase::Ended, Phase::Replaced, Phase::Killed]
            .into_iter()
            .find(|phase| *phase as u8 == code)
    }

    /// Whether nothing more will come of it.
    #[must_use]
    pub fn is_over(self) -> bool {
        self != Phase::Began
    }

    /// How a process that is gone ended, by what its segment says.
    #[must_use]
    pub fn of_gone(view: &View<'_>) -> Phase {
        match view.state() {
            Some(State::Clean) => Phase::Ended,
            Some(State::Exec) => Phase::Replaced,
            _ => Phase::Killed,
        }
    }
}

/// A process of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Where in its life it is.
    pub phase: Phase,
    /// Text key of the job.
    pub job: Vec<u8>,
    /// The job's number.
    pub job_id: i64,
    /// The process.
    pub pid: u32,
    /// Its user.
    pub uid: u32,
    /// Its rank, if it has one.
    pub rank: Option<u32>,
    /// Processes of the job, if known.
    pub nprocs: Option<u32>,
    /// Its host.
    pub host: Vec<u8>,
    /// Path of its executable.
    pub exe: Vec<u8>,
    /// Its command line.
    pub command: Vec<u8>,
    /// When recording began, nanoseconds since 1970.
    pub start: u64,
    /// When recording ended.
    pub end: Option<u64>,
}

impl Process {
    /// What a segment says about its process.
    #[must_use]
    pub fn of(view: &View<'_>, phase: Phase) -> Process {
        Process {
            phase,
            job: view.job().to_vec(),
            job_id: view.job_id(),
            pid: view.pid(),
            uid: view.uid(),
            rank: view.rank(),
            nprocs: view.nprocs(),
            host: view.host().to_vec(),
            exe: view.exe().to_vec(),
            command: view.command().to_vec(),
            start: view.start().1,
            end: view.end(),
        }
    }

    /// The body of a frame.
    #[must_use]
    pub fn pack(&self) -> Vec<u8> {
        let mut packer = Packer::default();
        let plus_one = |number: Option<u32>| number.map_or(0, |number| number.saturating_add(1));
        packer.byte(self.phase as u8).word(self.pid).word(self.uid);
        packer.word(plus_one(self.rank)).word(self.nprocs.unwrap_or(0));
        packer.long(self.job_id.cast_unsigned()).long(self.start).long(self.end.unwrap_or(0));
        packer.text(&self.job).text(&self.host).text(&self.exe).text(&self.command);
        packer.bytes
    }

    /// Reads the body of a frame.
    ///
    /// # Errors
    /// It is none.
    pub fn unpack(body: &[u8]) -> Result<Process, Malformed> {
        let mut unpacker = Unpacker::new(body);
        let phase = Phase::from_code(unpacker.byte()?);
        let phase = phase.ok_or(unpacker.malformed("no such phase of a process"))?;
        let (pid, uid) = (unpacker.word()?, unpacker.word()?);
        let (rank, nprocs) = (unpacker.word()?.checked_sub(1), unpacker.word()?);
        let job_id = unpacker.long()?.cast_signed();
        let (start, end) = (unpacker.long()?, unpacker.long()?);
        let mut text = || unpacker.text().map(<[u8]>::to_vec);
        let (job, host, exe, command) = (text()?, text()?, text()?, text()?);
        unpacker.end()?;
        let (nprocs, end) = (Some(nprocs).filter(|&n| n > 0), Some(end).filter(|&end| end > 0));
        Ok(Process { phase, job, job_id, pid, uid, rank, nprocs, host, exe, command, start, end })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_comes_back() {
        let process = Process {
            phase: Phase::Killed,
            job: b"slurm.7.0".to_vec(),
            job_id: -7,
            pid: 12,
            uid: 1000,
            rank: Some(0),
            nprocs: None,
            host: b"n1".to_vec(),
            exe: b"/bin/a".to_vec(),
            command: b"a b".to_vec(),
            start: 5,
            end: Some(9),
        };
        assert_eq!(Process::unpack(&process.pack()), Ok(process.clone()));
        assert!(Process::unpack(&process.pack()[1..]).is_err());
        assert!(process.phase.is_over());
    }
}
