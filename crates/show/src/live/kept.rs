//! The newest events of a job as they came, for the diagnosis: it reads a running job as it reads a log.
//! What has no room is forgotten, oldest first; the account then says how much the trace lacks.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use netra_event::frame::Producer;
use netra_stream::sink;

/// Bytes of events that are kept of one job: a million calls.
const MOST: usize = 32 << 20;

/// Slots of one lane.
#[derive(Debug, Clone)]
struct Piece {
    producer: Producer,
    lane: u32,
    from: u64,
    slots: Arc<[u8]>,
}

/// Events that are kept.
#[derive(Debug, Clone, Default)]
pub struct Kept {
    pieces: VecDeque<Piece>,
    bytes: usize,
}

impl Kept {
    /// Takes the slots of a batch.
    pub fn take(&mut self, producer: Producer, lane: u32, from: u64, slots: &[u8]) {
        self.bytes += slots.len();
        self.pieces.push_back(Piece { producer, lane, from, slots: slots.into() });
        self.shrink(MOST);
    }

    /// Forgets the oldest until no more than so many bytes are left.
    pub fn shrink(&mut self, most: usize) {
        while self.bytes > most
            && let Some(oldest) = self.pieces.pop_front()
        {
            self.bytes -= oldest.slots.len();
        }
    }

    /// Bytes that are kept.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// By process and lane, as a segment takes them.
    #[must_use]
    pub fn by_process(&self) -> BTreeMap<Producer, sink::Kept> {
        let mut all: BTreeMap<Producer, sink::Kept> = BTreeMap::new();
        for piece in &self.pieces {
            let lanes = all.entry(piece.producer).or_default();
            lanes.entry(piece.lane).or_default().push((piece.from, piece.slots.to_vec()));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_go_first() {
        let mut kept = Kept::default();
        let half = vec![7; MOST / 2];
        for (number, lane) in [(0, 0), (10, 0), (0, 1)] {
            kept.take(Producer::default(), lane, number, &half);
        }
        let all = kept.by_process();
        let lanes = &all[&Producer::default()];
        let froms = |lane: u32| lanes[&lane].iter().map(|run| run.0).collect::<Vec<_>>();
        assert_eq!((froms(0), froms(1), kept.bytes()), (vec![10], vec![0], MOST));
        kept.shrink(0);
        assert!(kept.by_process().is_empty());
    }
}
