//! Call sites: the return address of each hooked call, numbered when it is first seen, with the stack of
//! that moment.

use core::sync::atomic::Ordering;

use netra_event::NO_SITE;
use netra_event::segment::{Region, table};

use crate::arena::ARENA;
use crate::memory;
use crate::object;
use crate::stack;

/// Addresses have 48 bits where it matters; the number takes the other 16 of a word.
const ADDRESS: u64 = 0xffff_ffff_ffff;
/// Places to look at before giving up; the table has as many places as there are numbers.
const PROBES: usize = 16;

/// The number of a call site, 0 if there is no room for another.
#[inline(always)]
#[must_use]
pub fn of(address: usize) -> u16 {
    let key = address as u64;
    let entry = memory::site(place(key)).load(Ordering::Relaxed);
    // The lower 16 bits are the number; addresses of programs have 48 bits at most.
    if entry >> 16 == key { entry as u16 } else { find(key & ADDRESS) }
}

#[inline(always)]
fn place(key: u64) -> usize {
    // Neighbours stay neighbours: the call sites of a small program share a page of the table.
    (key ^ key >> 16) as usize
}

#[cold]
#[inline(never)]
fn find(key: u64) -> u16 {
    if key == 0 {
        return NO_SITE;
    }
    let first = place(key);
    for probe in 0..PROBES {
        let entry = memory::site(first.wrapping_add(probe));
        let held = entry.load(Ordering::Acquire);
        if held >> 16 == key {
            return held as u16;
        }
        if held == 0 {
            let number = add(key);
            let word = key << 16 | u64::from(number);
            // Another thread may have been first with another address: look on.
            match entry.compare_exchange(0, word, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return number,
                Err(now) if now >> 16 == key => return now as u16,
                Err(_) => {}
            }
        }
    }
    NO_SITE
}

/// Takes row 0, which stands for no call site.
pub fn set_up() {
    let _none = ARENA.take(Region::Sites, size_of::<table::Site>() as u64);
}

/// Writes a row of the table; 0 when it is full.
fn add(address: u64) -> u16 {
    const ROW: u64 = size_of::<table::Site>() as u64;
    let Some(at) = ARENA.take(Region::Sites, ROW) else { return NO_SITE };
    let Ok(number) = u16::try_from(at / ROW) else { return NO_SITE };
    // SAFETY: just taken, atomics only.
    let Some(site) = (unsafe { ARENA.at::<table::Site>(Region::Sites, at) }) else {
        return NO_SITE;
    };
    site.address.store(address, Ordering::Relaxed);
    // To look for new objects and at the stack takes more of it than a signal handler may have.
    let (object, (stack, frames)) = if stack::has_room() {
        (object::holding(address), stack::take(address))
    } else {
        (object::search(address), (0, 0))
    };
    site.object.store(object, Ordering::Relaxed);
    site.stack.store(stack, Ordering::Relaxed);
    site.frames.store(frames, Ordering::Relaxed);
    site.ready.store(1, Ordering::Release);
    number
}
