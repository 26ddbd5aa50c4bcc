//! Memory of our own for a while: zeroes, of which only what is touched exists.

use crate::sys;

/// The memory.
pub(super) struct Area {
    at: *mut u64,
    words: usize,
}

impl Area {
    /// At least this many words; none if there is no memory.
    pub(super) fn words(words: usize) -> Option<Area> {
        let words = words.max(1);
        // SAFETY: anywhere.
        let at = unsafe { sys::map_private(0, words.checked_mul(8)?) }.ok()?;
        Some(Area { at: at.cast(), words })
    }

    /// At least this many bytes; none if there is no memory.
    pub(super) fn bytes(bytes: usize) -> Option<Area> {
        Area::words(bytes.div_ceil(8))
    }

    pub(super) fn as_words(&mut self) -> &mut [u64] {
        // SAFETY: the mapping is ours, this large, aligned to a page, and borrowed as long as the slice.
        unsafe { core::slice::from_raw_parts_mut(self.at, self.words) }
    }

    pub(super) fn as_bytes(&mut self) -> &mut [u8] {
        // SAFETY: as above.
        unsafe { core::slice::from_raw_parts_mut(self.at.cast(), self.words.saturating_mul(8)) }
    }
}

impl Drop for Area {
    fn drop(&mut self) {
        // SAFETY: the borrows have ended.
        unsafe { sys::unmap(self.at.cast(), self.words.saturating_mul(8)) };
    }
}
