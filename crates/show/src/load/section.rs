//! What netra's own part of a log adds to a [`Job`]: every function of every layer, failed calls, call
//! sites, nesting, threads and the account of what is missing.

use std::collections::BTreeMap;
use std::path::Path;

use netra_analyse::{Job, Who};
use netra_darshan::Missing;
use netra_darshan::missing::lost;
use netra_darshan::read::Log;
use netra_darshan::section::layout::KIND_SEGMENT;
use netra_event::segment::View;
use netra_event::{Loss, RecordId};
use netra_stream::job;
use netra_stream::source::{self, Piece, Segment};

use crate::attendance;

use super::calls::{Below, Process, Seen, Sums};

/// Adds what the section holds; false where it holds no events, so that others may.
pub(super) fn add(job: &mut Job, log: &Log, missing: &mut Missing<'_>) -> bool {
    job.attendance = log.section().attendance().as_ref().map(attendance::of);
    let (mut found, mut damage) = (Vec::new(), Vec::new());
    for (block, held) in log.section().blocks().iter().enumerate() {
        if held.head.kind != KIND_SEGMENT {
            damage.extend(held.check().err());
            continue;
        }
        match held.bytes() {
            Ok(bytes) => {
                damage.extend(lost(held, &bytes));
                found.push((block, bytes));
            }
            Err(broken) => damage.push(broken),
        }
    }
    missing.read_blocks(damage);
    let path = Path::new(&job.source).to_owned();
    let mut segments: BTreeMap<usize, Segment> = BTreeMap::new();
    for (block, bytes) in found {
        if let Ok(segment) = Segment::from_bytes(&path, bytes) {
            segments.insert(block, segment);
        }
    }
    if segments.is_empty() {
        return false;
    }
    let pieces: Vec<Piece> = segments
        .iter()
        .map(|(&block, segment)| Piece::new(&path, source::Kind::Log { block }, &segment.view()))
        .collect();
    let whole = job::Job::new(pieces);
    let start = start_of(log);
    let mut sums = Sums::default();
    let mut numbered: Vec<_> = whole.numbered().collect();
    // The order in which a store gives them back.
    numbered
        .sort_by_key(|(piece, number)| (number.map_or(-1, |rank| rank.0), piece.start, piece.pid));
    job.who.ranks = u64::from(whole.ranks().unwrap_or(0));
    name_others(&mut job.who, &whole);
    let mut mapped = BTreeMap::new();
    for (piece, number) in numbered {
        piece.add_mapped(&mut mapped);
        let source::Kind::Log { block } = piece.kind else { continue };
        let Some(segment) = segments.remove(&block) else { continue };
        let rank = number.and_then(|rank| u32::try_from(rank.0).ok());
        process(&mut sums, job, &segment.view(), rank, start);
        if let Some(rank) = rank {
            job.hosts.insert(rank, String::from_utf8_lossy(&piece.host).into_owned());
        }
        job.remarks.extend(piece.notes.iter().map(|note| format!("process {}: {note}", piece.pid)));
    }
    // The counters know those that the trace has not.
    job.mapped = mapped;
    sums.finish(job)
}

/// Who the processes of a log are. Where all are ranks its header says so, and nothing else is read.
pub(crate) fn who(log: &Log) -> Who {
    let numbers = &log.job().numbers;
    let ranks = log.job().ranks();
    let mut who = Who::ranks(u64::try_from(ranks).unwrap_or(0));
    if ranks >= numbers.nprocs {
        return who;
    }
    let section = log.section();
    let blocks = section.blocks().iter().filter(|held| held.head.kind == KIND_SEGMENT);
    let pieces = blocks.enumerate().filter_map(|(block, held)| {
        let bytes = held.bytes().ok()?;
        Some(Piece::new(Path::new(""), source::Kind::Log { block }, &View::new(&bytes).ok()?))
    });
    name_others(&mut who, &job::Job::new(pieces.collect()));
    who
}

/// Names the processes that are no ranks.
fn name_others(who: &mut Who, whole: &job::Job) {
    for (piece, number) in whole.numbered().filter(|(_, number)| !whole.is_rank(*number)) {
        let Some(number) = number.and_then(|number| u32::try_from(number.0).ok()) else { continue };
        let command = String::from_utf8_lossy(&piece.command);
        who.others.insert(number, Who::name(&command, piece.pid));
    }
}

/// When the log's clock begins, in nanoseconds since 1970.
fn start_of(log: &Log) -> i64 {
    let numbers = &log.job().numbers;
    numbers.start_sec.saturating_mul(1_000_000_000).saturating_add(numbers.start_nsec)
}

fn process(sums: &mut Sums, job: &mut Job, view: &View<'_>, rank: Option<u32>, start: i64) {
    let last = view.files().map(|file| file.index).max().unwrap_or(0) as usize;
    let mut ids = vec![None; last + 1];
    for file in view.files() {
        ids[file.index as usize] = Some(RecordId(file.id));
    }
    sums.places.enter(view);
    let mut process = Process::new(rank);
    for (number, lane) in view.lanes().enumerate() {
        let dropped = Loss::ALL.iter().map(|&loss| (loss, lane.dropped(loss).0));
        let made = lane.calls().map(|of_function| of_function.1).fold(0, u64::saturating_add);
        sums.account(&mut process, made, lane.produced(), dropped, lane.calls());
        let mut below = Below::default();
        for (_, event) in lane.events() {
            let began = view.time(event.start);
            let ended = view.time(event.start.saturating_add(event.duration));
            let seen = Seen {
                code: event.code,
                start: began.cast_signed().saturating_sub(start),
                took: ended.saturating_sub(began),
                offset: event.offset,
                result: event.result,
                failed: event.failed,
                file: ids.get(event.file as usize).copied().flatten(),
                place: sums.places.of(event.site),
                number: event.number,
                parent: event.parent,
                behind: number > 0,
            };
            sums.call(job, &mut process, &mut below, &seen);
        }
    }
    sums.end(job, process);
}
