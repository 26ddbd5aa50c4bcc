//! Lustre: how a file is spread over storage targets, asked of the kernel by the extended attribute
//! `lustre.lov`, which needs no library. A file is asked about when it is first opened, and again when it
//! is closed while components of its layout were still waiting to be used. On any other file system, and
//! where the kernel refuses, nothing happens.

use core::ffi::c_int;
use core::sync::atomic::{AtomicU32, Ordering};

use netra_event::segment::shard::lustre::{COMPONENTS, FIRST, TARGETS, WIDTH};

use crate::memory;
use crate::module::LUSTRE;
use crate::mount;
use crate::settings::SETTINGS;
use crate::shard;
use crate::sys::{self, Refused};

/// The file lies on Lustre, and nobody has asked yet.
pub const TO_ASK: u32 = 1;
const ASKED: u32 = 2;
/// Asked, but a later component may come into use.
const TO_ASK_AGAIN: u32 = 3;

const MAGIC_PLAIN: u32 = 0x0bd1_0bd0;
const MAGIC_POOL: u32 = 0x0bd3_0bd0;
const MAGIC_SPECIFIC: u32 = 0x0bd5_0bd0;
const MAGIC_COMPOSITE: u32 = 0x0bd6_0bd0;

/// Flags of a component: its targets are chosen; it never has any of its own.
const INITIALISED: u32 = 0x10;
const EXTENSION: u32 = 0x40;
/// Bits of a pattern: on the metadata target, more than one stripe on a target, not Lustre's own.
const ON_METADATA: u32 = 0x100;
const OVERSTRIPED: u32 = 0x200;
const FOREIGN: u32 = 0x400;

/// Bytes of a composite layout's head, of an entry in it, and of a target in a component.
const COMPOSITE_HEAD: usize = 32;
const ENTRY: usize = 48;
const TARGET: usize = 24;
const POOL: usize = 16;
/// Bytes of a layout that are read without asking for memory: some 160 stripes.
const USUAL: usize = 4096;
/// The most that an extended attribute has.
const MOST: usize = 64 << 10;
/// Words that a record may have; Darshan's tools take records of 80 KiB.
const LONGEST: usize = 10_000;

/// A file was opened.
pub fn opened(file: u32, descriptor: c_int) {
    if state(file).is_some_and(|state| state.load(Ordering::Relaxed) == TO_ASK) {
        ask(file, descriptor);
    }
}

/// A file is about to be closed.
pub fn closing(file: u32, descriptor: c_int) {
    if state(file).is_some_and(|state| state.load(Ordering::Relaxed) == TO_ASK_AGAIN) {
        ask(file, descriptor);
    }
}

#[inline(always)]
fn state(file: u32) -> Option<&'static AtomicU32> {
    memory::files().get(file as usize).map(|known| &known.lustre)
}

#[cold]
#[inline(never)]
fn ask(file: u32, descriptor: c_int) {
    let Some(state) = state(file) else { return };
    state.store(ASKED, Ordering::Relaxed);
    if !SETTINGS.records(&LUSTRE) {
        return;
    }
    mount::count_targets(file);
    let mut usual = [0_u8; USUAL];
    match sys::attribute(descriptor, c"lustre.lov", &mut usual) {
        Ok(length) => keep(file, usual.get(..length).unwrap_or_default()),
        Err(Refused(libc::ERANGE)) => {
            // SAFETY: anywhere.
            let Ok(memory) = (unsafe { sys::map_private(0, MOST) }) else { return };
            // SAFETY: just mapped, ours alone, and so large.
            let large = unsafe { core::slice::from_raw_parts_mut(memory, MOST) };
            if let Ok(length) = sys::attribute(descriptor, c"lustre.lov", large) {
                keep(file, large.get(..length).unwrap_or_default());
            }
            // SAFETY: what was read from it has been copied.
            unsafe { sys::unmap(memory, MOST) };
        }
        Err(_) => {}
    }
}

/// Writes the record of a layout.
fn keep(file: u32, bytes: &[u8]) {
    let layout = Layout { bytes };
    if layout.waits()
        && let Some(state) = state(file)
    {
        state.store(TO_ASK_AGAIN, Ordering::Relaxed);
    }
    let (mut components, mut targets) = (0_usize, 0_usize);
    for component in layout.components() {
        components = components.saturating_add(1);
        targets = targets.saturating_add(component.targets.len() / TARGET);
    }
    let words = components.saturating_mul(WIDTH).saturating_add(targets).saturating_add(FIRST);
    if components == 0 || words > LONGEST {
        return;
    }
    let Some(record) = shard::Written::take(&LUSTRE, file, words) else { return };
    let mut at = FIRST;
    for component in layout.components() {
        for number in component.numbers() {
            record.set(&mut at, number.cast_unsigned());
        }
        for half in component.pool.as_chunks::<8>().0 {
            record.set(&mut at, u64::from_le_bytes(*half));
        }
    }
    for component in layout.components() {
        for target in component.targets.as_chunks::<TARGET>().0 {
            let number = word(target, 20).cast_signed();
            record.set(&mut at, i64::from(number).cast_unsigned());
        }
    }
    // A record without components is none: they are said last.
    record.set(&mut { TARGETS }, targets as u64);
    record.set(&mut { COMPONENTS }, components as u64);
}

/// The attribute's bytes.
#[derive(Clone, Copy)]
struct Layout<'a> {
    bytes: &'a [u8],
}

/// A part of a file with a layout of its own.
struct Component<'a> {
    flags: u32,
    extent: (u64, u64),
    mirror: u32,
    stripe_size: u32,
    pattern: u32,
    pool: [u8; POOL],
    targets: &'a [u8],
}

impl<'a> Layout<'a> {
    fn is_composite(self) -> bool {
        word(self.bytes, 0) == MAGIC_COMPOSITE
    }

    /// The entries of a composite layout: flags, extent, id, and the bytes of its component.
    fn entries(self) -> impl Iterator<Item = (&'a [u8; ENTRY], &'a [u8])> {
        let count = if self.is_composite() { word(self.bytes, 12) >> 16 } else { 0 };
        let entries = self.bytes.get(COMPOSITE_HEAD..).unwrap_or_default().as_chunks::<ENTRY>().0;
        entries.iter().take(count as usize).filter_map(move |entry| {
            let (from, length) = (word(entry, 24) as usize, word(entry, 28) as usize);
            Some((entry, self.bytes.get(from..from.checked_add(length)?)?))
        })
    }

    /// Whether a component has no targets yet that may get some.
    fn waits(self) -> bool {
        self.entries().any(|(entry, _)| word(entry, 4) & (INITIALISED | EXTENSION) == 0)
    }

    /// The components in use.
    fn components(self) -> impl Iterator<Item = Component<'a>> {
        let whole = (0, u64::MAX);
        let plain = (!self.is_composite()).then(|| component(self.bytes, 0, whole, 0)).flatten();
        let parts = self.entries().filter_map(|(entry, bytes)| {
            let flags = word(entry, 4);
            if flags & INITIALISED == 0 {
                return None;
            }
            let extent = (long(entry, 8), long(entry, 16));
            component(bytes, flags, extent, word(entry, 0) >> 16 & 0x7fff)
        });
        plain.into_iter().chain(parts)
    }
}

/// Reads one component; none if its bytes are something else or too few.
fn component(bytes: &[u8], flags: u32, extent: (u64, u64), mirror: u32) -> Option<Component<'_>> {
    let (pool, first) = match word(bytes, 0) {
        MAGIC_PLAIN => ([0; POOL], 32),
        MAGIC_POOL | MAGIC_SPECIFIC => (*bytes.get(32..)?.first_chunk()?, 48),
        _ => return None,
    };
    let pattern = word(bytes, 4);
    let count = if pattern & ON_METADATA == 0 { word(bytes, 28) & 0xffff } else { 0 };
    let room = bytes.get(first..)?;
    Some(Component {
        flags,
        extent,
        mirror,
        stripe_size: word(bytes, 24),
        pattern,
        pool,
        targets: room.get(..(count as usize).checked_mul(TARGET)?)?,
    })
}

impl Component<'_> {
    /// The numbers of Darshan's record, in its order.
    fn numbers(&self) -> [i64; 7] {
        let pattern = if self.pattern & FOREIGN != 0 {
            8
        } else if self.pattern & ON_METADATA != 0 {
            2
        } else if self.pattern & OVERSTRIPED != 0 {
            4
        } else {
            0
        };
        [
            i64::from(self.stripe_size),
            (self.targets.len() / TARGET) as i64,
            pattern,
            i64::from(self.flags),
            self.extent.0.cast_signed(),
            self.extent.1.cast_signed(),
            i64::from(self.mirror),
        ]
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    let four = bytes.get(at..).and_then(|rest| rest.first_chunk());
    four.map_or(0, |four| u32::from_le_bytes(*four))
}

fn long(bytes: &[u8], at: usize) -> u64 {
    let eight = bytes.get(at..).and_then(|rest| rest.first_chunk());
    eight.map_or(0, |eight| u64::from_le_bytes(*eight))
}

#[cfg(test)]
mod tests;
