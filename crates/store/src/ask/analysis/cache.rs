//! What modules have made, by everything that went into it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use netra_event::Bytes;

use super::Made;

/// Tables that are kept.
const KEPT: usize = 64;

/// The last tables, the newest first, and what they take.
#[derive(Debug)]
pub(super) struct Cache {
    room: usize,
    list: Mutex<VecDeque<(Sum, usize, Arc<Made>)>>,
}

type Sum = [u8; 32];

impl Cache {
    pub(super) fn new(room: Bytes) -> Cache {
        let room = usize::try_from(room.0).unwrap_or(usize::MAX);
        Cache { room, list: Mutex::default() }
    }

    pub(super) fn get(&self, sum: &Sum) -> Option<Arc<Made>> {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        let place = list.iter().position(|(known, _, _)| known == sum)?;
        let found = list.remove(place)?;
        let made = Arc::clone(&found.2);
        list.push_front(found);
        Some(made)
    }

    pub(super) fn put(&self, sum: Sum, size: usize, made: &Arc<Made>) {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        list.retain(|(known, _, _)| *known != sum);
        list.push_front((sum, size, Arc::clone(made)));
        let mut taken = 0_usize;
        list.retain(|(_, size, _)| {
            taken = taken.saturating_add(*size);
            taken <= self.room
        });
        list.truncate(KEPT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::arrow::datatypes::Schema;

    #[test]
    fn the_oldest_go_when_there_is_no_room() {
        let cache = Cache::new(Bytes(100));
        let made = Arc::new(Made { schema: Arc::new(Schema::empty()), rows: Vec::new() });
        cache.put([1; 32], 40, &made);
        cache.put([2; 32], 40, &made);
        assert!(cache.get(&[1; 32]).is_some());
        // The second is now the oldest.
        cache.put([3; 32], 40, &made);
        assert!(cache.get(&[2; 32]).is_none());
        assert!(cache.get(&[1; 32]).is_some() && cache.get(&[3; 32]).is_some());
        cache.put([4; 32], 101, &made);
        assert!(cache.get(&[4; 32]).is_none());
    }
}
