//! The segments of a trace, decoded a piece at a time.

use super::order::Order;
use super::region::Region;
use crate::record::dxt::{OLD_SEGMENT, SEGMENT, Segment};
use netra_event::Module;
use std::fmt;

/// Segments decoded at once.
const PIECE: usize = 1024;

/// Whether a segment was written or read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// Into the file.
    Write,
    /// Out of the file.
    Read,
}

/// How the segments of a log are stored.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    order: Order,
    pub(super) size: usize,
    /// Version 1 of MPI-IO's traces has offsets that mean nothing.
    offset: bool,
}

impl Shape {
    pub(super) fn new(module: Module, version: u32, order: Order) -> Shape {
        // Threads came with the newest version of either module.
        let size = if version == crate::counter::version(module) { SEGMENT } else { OLD_SEGMENT };
        Shape { order, size, offset: !(module == Module::DxtMpiio && version == 1) }
    }

    /// Adds the segments that these bytes are.
    fn decode_all(self, bytes: &[u8], piece: &mut Vec<Segment>) {
        // Either size by itself: where it is known, no number has to ask whether its bytes are there.
        match self.size {
            SEGMENT => piece.extend(self.decoded::<SEGMENT>(bytes)),
            _ => piece.extend(self.decoded::<OLD_SEGMENT>(bytes)),
        }
    }

    fn decoded<const SIZE: usize>(self, bytes: &[u8]) -> impl Iterator<Item = Segment> {
        bytes.as_chunks::<SIZE>().0.iter().map(move |one| self.decode(one))
    }

    fn decode<const SIZE: usize>(self, bytes: &[u8; SIZE]) -> Segment {
        let Shape { order, offset, .. } = self;
        Segment {
            offset: if offset { order.i64(bytes, 0) } else { -1 },
            length: order.i64(bytes, 8),
            start: order.f64(bytes, 16),
            end: order.f64(bytes, 24),
            // 0 is no thread: it stands where an older trace was written again.
            thread: (SIZE == SEGMENT).then(|| order.u64(bytes, 32)).filter(|&thread| thread != 0),
        }
    }
}

/// The segments of one record that were not looked at yet.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Left {
    pub(super) writes: u64,
    pub(super) reads: u64,
}

/// Yields the writes of a record, then its reads. Whatever is left when this is dropped, the reader
/// skips.
pub struct Segments<'a> {
    pub(super) region: &'a mut Region,
    pub(super) shape: Shape,
    pub(super) left: &'a mut Left,
    pub(super) piece: &'a mut Vec<Segment>,
}

impl fmt::Debug for Segments<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Segments").field("left", self.left).finish_non_exhaustive()
    }
}

impl Segments<'_> {
    /// The next segments, all of one direction; nothing when there are no more, or when the log is
    /// damaged, which the reader then tells.
    pub fn next_piece(&mut self) -> Option<(Direction, &[Segment])> {
        let mut piece = std::mem::take(self.piece);
        let direction = self.next_into(&mut piece);
        *self.piece = piece;
        Some((direction?, self.piece))
    }

    /// The same into the caller's memory, for who keeps them: what was in it goes.
    pub fn next_into(&mut self, piece: &mut Vec<Segment>) -> Option<Direction> {
        let (direction, left) = if self.left.writes > 0 {
            (Direction::Write, &mut self.left.writes)
        } else {
            (Direction::Read, &mut self.left.reads)
        };
        if *left == 0 {
            return None;
        }
        let size = self.shape.size;
        // One segment must be there in a row; more are taken as far as they are at hand.
        self.region.want(size)?;
        let bytes = self.region.available();
        let count = (bytes.len() / size).min(PIECE).min(usize::try_from(*left).unwrap_or(PIECE));
        piece.clear();
        self.shape.decode_all(&bytes[..count * size], piece);
        self.region.consume(count * size);
        *left -= count as u64;
        Some(direction)
    }

    /// The place in the file up to which the module has been read.
    #[must_use]
    pub fn place(&self) -> u64 {
        self.region.place()
    }

    /// Whether segments tell their thread.
    #[must_use]
    pub fn have_threads(&self) -> bool {
        self.shape.size == SEGMENT
    }
}
