//! Lustre layouts: head, components, then the storage targets of all components in their order.

use super::put;
use netra_event::{Rank, RecordId};

/// Bytes of the head: base, number of components, number of stripes.
pub const HEAD: usize = 32;
/// Bytes of version 1's head, which is its only component.
pub const OLD_HEAD: usize = 56;
/// Bytes of a component.
pub const COMPONENT: usize = 72;
/// Numbers of a component.
pub const NUMBERS: usize = 7;
/// Bytes of a component's pool name.
pub const POOL: usize = 16;

/// Encodes a head.
#[must_use]
pub fn head(id: RecordId, rank: Rank, components: u64, stripes: u64) -> [u8; HEAD] {
    let mut bytes = [0; HEAD];
    put(&mut bytes, 0, id.0);
    put(&mut bytes, 8, rank.0.cast_unsigned());
    put(&mut bytes, 16, components);
    put(&mut bytes, 24, stripes);
    bytes
}

/// A part of a file with a layout of its own. Its numbers are named in
/// [`counter::lustre`](crate::counter::lustre).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Component {
    /// Stripe size, count and so on.
    pub numbers: [i64; NUMBERS],
    /// The pool of targets, padded with NULs; empty where there is none.
    pub pool: [u8; POOL],
}

impl Component {
    /// The component's bytes.
    #[must_use]
    pub fn encode(&self) -> [u8; COMPONENT] {
        let mut bytes = [0; COMPONENT];
        for (place, number) in self.numbers.into_iter().enumerate() {
            put(&mut bytes, 8 * place, number.cast_unsigned());
        }
        bytes[8 * NUMBERS..].copy_from_slice(&self.pool);
        bytes
    }
}
