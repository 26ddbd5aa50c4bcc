//! The job: numbers, metadata, command line and mounts.

use super::order::{Order, until_nul};
use super::region::Region;
use crate::damage::{Damage, Part, Reason};
use crate::record::job::{self, METADATA};
use netra_event::Seconds;

/// The metadata's key for how many of the processes are ranks.
const RANKS: &[u8] = b"netra_ranks";

/// More than any job takes; what a broken log has beyond it is not looked at.
const LIMIT: usize = 64 << 10;

/// Who ran what, when and where. Texts are bytes, since nothing makes them UTF-8.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Job {
    /// User, times, processes.
    pub numbers: job::Job,
    /// `key=value` lines, each with its newline.
    pub metadata: Vec<u8>,
    /// The command line.
    pub exe: Vec<u8>,
    /// File systems, in the order of the log.
    pub mounts: Vec<Mount>,
}

/// A mounted file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// Where it is mounted.
    pub point: Vec<u8>,
    /// What it is.
    pub kind: Vec<u8>,
}

impl Job {
    /// How many of the processes are ranks, which have the lowest numbers: all, unless netra knew better. Darshan makes
    /// one log of several processes for MPI only.
    #[must_use]
    pub fn ranks(&self) -> i64 {
        let said = self.metadata().find(|pair| pair.0 == RANKS);
        let said = said.and_then(|pair| std::str::from_utf8(pair.1).ok()?.parse().ok());
        said.unwrap_or(self.numbers.nprocs)
    }

    /// Says how many are, in front of what else is said: what does not fit is cut off behind.
    pub(crate) fn say_ranks(&mut self, ranks: u32) {
        let mut kept: Vec<&[u8]> = self.metadata.split(|&byte| byte == b'\n').collect();
        kept.retain(|line| {
            !line.is_empty() && line.strip_prefix(RANKS).is_none_or(|rest| !rest.starts_with(b"="))
        });
        let said = [RANKS, format!("={ranks}").as_bytes()].concat();
        // The first line is who wrote the log.
        kept.insert(kept.len().min(1), &said);
        let mut lines = kept.join(&b'\n');
        lines.push(b'\n');
        self.metadata = lines;
    }

    /// Keys and values of the metadata, in their order.
    pub fn metadata(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.metadata.split(|&byte| byte == b'\n').filter_map(|line| {
            let at = line.iter().position(|&byte| byte == b'=')?;
            Some((&line[..at], &line[at + 1..]))
        })
    }

    /// Seconds since 1970.
    #[must_use]
    pub fn start(&self) -> Seconds {
        Seconds(self.numbers.start_sec as f64 + self.numbers.start_nsec as f64 / 1e9)
    }

    /// Seconds since 1970.
    #[must_use]
    pub fn end(&self) -> Seconds {
        Seconds(self.numbers.end_sec as f64 + self.numbers.end_nsec as f64 / 1e9)
    }

    pub(super) fn read(mut region: Region, order: Order, old: bool) -> (Job, Option<Damage>) {
        let struct_size = if old { job::OLD_SIZE } else { job::SIZE };
        let mut bytes = Vec::new();
        loop {
            let more = region.available();
            if more.is_empty() || bytes.len() > LIMIT {
                break;
            }
            let count = more.len().min(LIMIT);
            bytes.extend_from_slice(&more[..count]);
            region.consume(count);
        }
        let fault = region.fault().or_else(|| {
            let (have, need) = (bytes.len() as u64, struct_size as u64);
            (have < need).then_some((region.place(), Reason::RecordCut { have, need }))
        });
        let damage = fault.map(|(at, reason)| Damage { part: Part::Job, at, reason });
        (Job::decode(&bytes, order, old), damage)
    }

    /// Missing bytes read as zeros.
    fn decode(bytes: &[u8], order: Order, old: bool) -> Job {
        let number = |at: usize| order.i64(bytes, 8 * at);
        let (numbers, at) = if old {
            let numbers = job::Job {
                uid: number(0),
                start_sec: number(1),
                end_sec: number(2),
                nprocs: number(3),
                jobid: number(4),
                ..job::Job::default()
            };
            (numbers, job::OLD_METADATA_AT)
        } else {
            let numbers = job::Job {
                uid: number(0),
                start_sec: number(1),
                start_nsec: number(2),
                end_sec: number(3),
                end_nsec: number(4),
                nprocs: number(5),
                jobid: number(6),
            };
            (numbers, job::METADATA_AT)
        };
        let rest = bytes.get(at..).unwrap_or_default();
        let (metadata, tail) = rest.split_at(rest.len().min(METADATA));
        let mut lines = until_nul(tail).split(|&byte| byte == b'\n');
        Job {
            numbers,
            metadata: until_nul(metadata).to_vec(),
            exe: lines.next().unwrap_or_default().to_vec(),
            mounts: lines.filter_map(Mount::decode).collect(),
        }
    }
}

impl Mount {
    /// `<type>\t<point>`, though any white space is accepted.
    fn decode(line: &[u8]) -> Option<Mount> {
        let mut words = line.split(|byte| byte.is_ascii_whitespace()).filter(|w| !w.is_empty());
        let (kind, point) = (words.next()?.to_vec(), words.next()?.to_vec());
        Some(Mount { point, kind })
    }
}
