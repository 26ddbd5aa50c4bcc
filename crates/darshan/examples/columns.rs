//! Loads every segment of a log's traces into columns, as one does before asking questions of them.
//! `cargo xtask bench parse` compares this with PyDarshan's data frames.
//!
//! usage: columns LOG
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::ops::Range;

use netra_darshan::read::Direction;
use netra_darshan::{Log, Record, Result};
use netra_event::{Module, Rank, RecordId};

/// One entry a segment in each column; whose segments they are is said once for each run of them.
#[derive(Default)]
struct Columns {
    runs: Vec<Run>,
    offset: Vec<i64>,
    length: Vec<i64>,
    start: Vec<f64>,
    end: Vec<f64>,
}

/// Segments of one file, process and direction.
struct Run {
    id: RecordId,
    rank: Rank,
    direction: Direction,
    segments: Range<usize>,
}

impl Columns {
    fn load(log: &Log, module: Module) -> Columns {
        let mut columns = Columns::default();
        let mut records = log.records(module);
        while let Some(Record::Dxt(mut trace)) = records.next_record() {
            let (id, rank) = (trace.head.id, trace.head.rank);
            while let Some((direction, piece)) = trace.segments.next_piece() {
                let first = columns.offset.len();
                columns.offset.extend(piece.iter().map(|segment| segment.offset));
                columns.length.extend(piece.iter().map(|segment| segment.length));
                columns.start.extend(piece.iter().map(|segment| segment.start));
                columns.end.extend(piece.iter().map(|segment| segment.end));
                let segments = first..columns.offset.len();
                columns.runs.push(Run { id, rank, direction, segments });
            }
        }
        columns
    }
}

fn main() -> Result<()> {
    let path = std::env::args_os().nth(1).unwrap_or_default();
    let log = Log::open(path)?;
    for module in [Module::DxtPosix, Module::DxtMpiio] {
        let columns = Columns::load(&log, module);
        for run in columns.runs.iter().take(3) {
            let Run { id, rank, direction, segments } = run;
            println!(
                "{module}: file {id}, rank {rank}, {direction:?}, {} segments",
                segments.len()
            );
        }
        let bytes: i64 = columns.length.last().copied().unwrap_or_default();
        println!("{module}: {} segments, the last of {bytes} bytes", columns.offset.len());
        if let (Some(start), Some(end)) = (columns.start.first(), columns.end.last()) {
            println!("{module}: from {start:.4} to {end:.4} s");
        }
    }
    Ok(())
}
