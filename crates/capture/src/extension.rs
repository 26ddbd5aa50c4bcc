//! Extensions: what few events need beside their slots. They are put together on the stack
//! (`netra_event::segment::extension::Writer`) and copied into the segment; a thread that asks for one
//! it used lately gets that again, so that a loop over equal selections takes room once.

use core::cell::Cell;
use core::sync::atomic::Ordering;

use netra_event::jenkins64;
use netra_event::segment::extension::Writer;
use netra_event::segment::{Region, UNEXTENDED, table};

use crate::arena::{ARENA, note};
use crate::settings::SETTINGS;
use crate::tls::Thread;

/// Extensions that a thread finds again.
pub const CACHED: usize = 16;

/// One that was used lately: the hash of its bytes and its reference.
#[derive(Default)]
pub struct Used {
    hash: Cell<u64>,
    reference: Cell<u32>,
}

/// Puts an extension into the segment; what an event refers to it by, 0 if there is nothing to keep,
/// no trace, or no room.
pub fn put(thread: &Thread, kind: u32, writer: &Writer) -> u32 {
    let bytes = writer.bytes();
    if bytes.is_empty() || !SETTINGS.traces() {
        return 0;
    }
    let hash = jenkins64(bytes, u64::from(kind));
    let used = thread.extensions.get(hash as usize % CACHED);
    if let Some(used) = used.filter(|used| used.hash.get() == hash && used.reference.get() != 0) {
        return used.reference.get();
    }
    let Some(reference) = append(kind, bytes) else {
        run_out();
        return 0;
    };
    if let Some(used) = used {
        used.hash.set(hash);
        used.reference.set(reference);
    }
    reference
}

fn append(kind: u32, bytes: &[u8]) -> Option<u32> {
    const HEAD: usize = size_of::<table::Extension>();
    let length = HEAD.checked_add(bytes.len())?;
    let at = ARENA.take(Region::Extensions, length.next_multiple_of(8) as u64)?;
    let reference = u32::try_from(at.checked_add(1)?).ok()?;
    // SAFETY: just taken, atomics only.
    let head = unsafe { ARENA.at::<table::Extension>(Region::Extensions, at) }?;
    ARENA.fill(Region::Extensions, at.checked_add(HEAD as u64)?, bytes)?;
    head.kind.store(kind, Ordering::Relaxed);
    head.bytes.store(u32::try_from(length).ok()?, Ordering::Release);
    Some(reference)
}

#[cold]
fn run_out() {
    let Some(header) = ARENA.header() else { return };
    if header.flags.fetch_or(UNEXTENDED, Ordering::Relaxed) & UNEXTENDED == 0 {
        note(b"no room for more selections and hints: later events come without");
    }
}
