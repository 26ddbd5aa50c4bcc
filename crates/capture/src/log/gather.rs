//! Between the encoder, which writes small pieces, and what takes them: a buffer.

use netra_darshan::encode::Sink;

use crate::sys::{self, Descriptor};

/// Takes bytes at a place in a log.
pub(crate) trait Storage {
    /// Stores bytes; false if it is impossible.
    fn store(&mut self, bytes: &[u8], at: u64) -> bool;
}

impl Storage for &Descriptor {
    fn store(&mut self, bytes: &[u8], at: u64) -> bool {
        let end = at.saturating_add(bytes.len() as u64);
        sys::file_size_allowed(end) && self.write_at(bytes, at).is_ok()
    }
}

/// A sink that gathers small pieces.
pub(crate) struct Gather<'a> {
    to: &'a mut dyn Storage,
    /// Where the sink's first byte lies.
    base: u64,
    /// Where the gathered bytes go.
    at: u64,
    gathered: &'a mut [u8],
    held: usize,
}

impl<'a> Gather<'a> {
    /// A sink whose first byte lies at `base`.
    pub(crate) fn new(to: &'a mut dyn Storage, base: u64, gathered: &'a mut [u8]) -> Gather<'a> {
        Gather { to, base, at: base, gathered, held: 0 }
    }

    /// Stores what is still here.
    pub(crate) fn flush(&mut self) -> bool {
        let bytes = self.gathered.get(..self.held).unwrap_or_default();
        let done = bytes.is_empty() || self.to.store(bytes, self.at);
        self.at = self.at.saturating_add(bytes.len() as u64);
        self.held = 0;
        done
    }
}

impl Sink for Gather<'_> {
    fn write(&mut self, bytes: &[u8]) -> bool {
        let mut rest = bytes;
        while !rest.is_empty() {
            let room = self.gathered.get_mut(self.held..).unwrap_or_default();
            let take = rest.len().min(room.len());
            for (to, from) in room.iter_mut().zip(rest) {
                *to = *from;
            }
            self.held = self.held.saturating_add(take);
            rest = rest.get(take..).unwrap_or_default();
            if !rest.is_empty() && !self.flush() {
                return false;
            }
        }
        true
    }

    fn overwrite(&mut self, at: u64, bytes: &[u8]) -> bool {
        let at = self.base.saturating_add(at);
        // What is still here is changed here.
        let held = at.checked_sub(self.at).and_then(|at| usize::try_from(at).ok());
        let place = held.and_then(|from| {
            self.gathered.get_mut(..self.held)?.get_mut(from..from.checked_add(bytes.len())?)
        });
        if let Some(place) = place {
            place.copy_from_slice(bytes);
            return true;
        }
        self.flush() && self.to.store(bytes, at)
    }
}
