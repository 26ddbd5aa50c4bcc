//! The executable and the libraries: those of the start (`start.rs`), and what `/proc/self/maps` shows when
//! a call site lies in none of those known, as after a library was loaded. The kernel's list needs no lock of
//! the loader, and is right whatever loaded the code.

mod start;

use core::sync::atomic::Ordering;

use netra_event::segment::{Region, table};

use crate::arena::ARENA;
use crate::memory;
use crate::real;
use crate::sys;

pub use start::{start, staying};

const ELF: [u8; 4] = *b"\x7fELF";
const PT_LOAD: u32 = 1;
const PT_NOTE: u32 = 4;
const PT_GNU_EH_FRAME: u32 = 0x6474_e550;
const NT_GNU_BUILD_ID: u32 = 3;

/// The number of the object an address lies in plus one, 0 if it is not known.
#[must_use]
pub fn holding(address: u64) -> u32 {
    match search(address) {
        0 => {
            scan(address);
            search(address)
        }
        found => found,
    }
}

fn rows() -> impl Iterator<Item = &'static table::Object> {
    const ROW: u64 = size_of::<table::Object>() as u64;
    let used =
        ARENA.entry(Region::Objects).map_or(0, |(entry, _)| entry.used.load(Ordering::Acquire));
    // SAFETY: rows below `used` are taken; atomics only.
    (0..used / ROW).filter_map(move |at| unsafe { ARENA.at(Region::Objects, at.wrapping_mul(ROW)) })
}

/// The same among the objects that are known, without looking for new ones.
#[must_use]
pub fn search(address: u64) -> u32 {
    let holds = |object: &table::Object| {
        object.ready.load(Ordering::Acquire) != 0
            && object.start.load(Ordering::Relaxed) <= address
            && address < object.end.load(Ordering::Relaxed)
    };
    rows().position(holds).map_or(0, |index| (index as u32).wrapping_add(1))
}

/// Where an object keeps its unwind data.
pub struct Unwind {
    /// From the object's first byte to behind its last.
    pub object: (u64, u64),
    /// The readable segment that holds the data.
    pub segment: (u64, u64),
    /// The table's head.
    pub header: u64,
}

/// Where the object with this number (see [`holding`]) keeps its unwind data.
#[must_use]
pub fn unwind(number: u32) -> Option<Unwind> {
    const ROW: u64 = size_of::<table::Object>() as u64;
    let at = u64::from(number.checked_sub(1)?).wrapping_mul(ROW);
    // SAFETY: numbers are given to rows that were taken; atomics only.
    let object: &table::Object = unsafe { ARENA.at(Region::Objects, at) }?;
    let start = object.start.load(Ordering::Relaxed);
    let base = object.base.load(Ordering::Relaxed);
    let end = object.end.load(Ordering::Relaxed);
    // It has been read before, or there would be no build id; what stays can be read again.
    let known = object.build_id_bytes.load(Ordering::Relaxed) != 0 && real::stays((start, end));
    let front = if known { Front::of_what_stays(start) } else { Front::read(start)? };
    let table = front.segments().find(|segment| segment.kind == PT_GNU_EH_FRAME)?;
    let holds = |segment: &Segment| {
        let end = segment.address.saturating_add(segment.bytes);
        let inside = segment.address <= table.address && table.address < end;
        segment.kind == PT_LOAD && segment.readable && inside
    };
    let segment = front.segments().find(holds)?;
    let from = base.wrapping_add(segment.address);
    Some(Unwind {
        object: (start, end),
        segment: (from, from.wrapping_add(segment.bytes)),
        header: base.wrapping_add(table.address),
    })
}

/// Adds the objects that are not known yet, until one holds the address.
fn scan(address: u64) {
    let Some(private) = memory::private() else { return };
    // One thread at a time; another does without and asks again at the next new call site.
    if private.objects.swap(1, Ordering::Acquire) != 0 {
        return;
    }
    if rows().next().is_none() {
        start::enter();
    }
    if search(address) == 0 {
        let mut current = Mapped::default();
        sys::each_line(c"/proc/self/maps", |line| current.take(line));
        current.finish();
    }
    private.objects.store(0, Ordering::Release);
}

/// One object while its lines pass by: they follow each other and have one inode.
#[derive(Default)]
struct Mapped {
    inode: u64,
    start: u64,
    end: u64,
    code: bool,
    name: u64,
}

impl Mapped {
    /// A line: `start-end perms offset device inode path`.
    fn take(&mut self, line: &[u8]) {
        let mut fields = line.split(|&byte| byte == b' ').filter(|field| !field.is_empty());
        let (Some(range), Some(rights), Some(offset), Some(_), Some(inode)) =
            (fields.next(), fields.next(), fields.next(), fields.next(), fields.next())
        else {
            return;
        };
        let mut bounds = range.split(|&byte| byte == b'-').map(hexadecimal);
        let (Some(start), Some(end)) = (bounds.next(), bounds.next()) else { return };
        let inode = crate::text::decimal(inode).unwrap_or(0);
        if inode == 0 {
            return;
        }
        if inode != self.inode || (hexadecimal(offset) == 0 && self.code) {
            self.finish();
            let path = line.iter().position(|&byte| byte == b'/');
            let path = path.and_then(|at| line.get(at..)).unwrap_or_default();
            let known = search(start) != 0;
            let name = if known { 0 } else { ARENA.text(path) };
            *self = Mapped { inode, start, end, code: false, name };
        }
        self.end = end;
        self.code |= rights.contains(&b'x');
    }

    /// Writes the row, for an object that has code and was not known.
    fn finish(&mut self) {
        if self.code && self.name != 0 {
            write((self.start, self.end), self.name, Front::read(self.start));
            self.name = 0;
        }
    }
}

/// Writes the row of an object.
fn write((from, to): (u64, u64), name: u64, front: Option<Front>) {
    let Some(at) = ARENA.take(Region::Objects, size_of::<table::Object>() as u64) else { return };
    // SAFETY: just taken, atomics only.
    let Some(object) = (unsafe { ARENA.at::<table::Object>(Region::Objects, at) }) else { return };
    object.start.store(from, Ordering::Relaxed);
    object.end.store(to, Ordering::Relaxed);
    object.name.store(name, Ordering::Relaxed);
    object.base.store(from, Ordering::Relaxed);
    if let Some(front) = front {
        describe(&front, object);
    }
    object.ready.store(1, Ordering::Release);
}

fn hexadecimal(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |value: u64, &byte| {
        let digit = (byte as char).to_digit(16).unwrap_or(0);
        value << 4 | u64::from(digit)
    })
}

/// Bytes of an object that are looked at first; its head and its build id are there as a rule.
const FRONT: usize = 1024;

/// The beginning of an object in memory. Our own memory is read as another process's would be: what
/// has just been unmapped gives an error, not a signal.
struct Front {
    start: u64,
    bytes: [u8; FRONT],
}

impl Front {
    fn read(start: u64) -> Option<Front> {
        let mut bytes = [0; FRONT];
        let there = sys::peek(start, &mut bytes) && bytes.first_chunk() == Some(&ELF);
        there.then_some(Front { start, bytes })
    }

    /// The same of an object that is never unloaded, and is known to begin with its head.
    fn of_what_stays(start: u64) -> Front {
        let from = core::ptr::with_exposed_provenance::<[u8; FRONT]>(start as usize);
        // SAFETY: an object's first page is mapped as a whole, this one readable and for ever.
        Front { start, bytes: unsafe { from.read() } }
    }

    /// Bytes at a distance from the start, as many as `into` takes.
    fn copy(&self, at: u64, into: &mut [u8]) -> bool {
        let from = usize::try_from(at).unwrap_or(usize::MAX);
        let near = self.bytes.get(from..).and_then(|rest| rest.get(..into.len()));
        match near {
            Some(near) => {
                into.copy_from_slice(near);
                true
            }
            None => sys::peek(self.start.wrapping_add(at), into),
        }
    }
}

/// A row of an object's head: what is loaded where.
struct Segment {
    kind: u32,
    readable: bool,
    /// In the object's own numbering.
    address: u64,
    bytes: u64,
}

impl Front {
    /// The object's segments, as far as they can be read.
    fn segments(&self) -> impl Iterator<Item = Segment> {
        const READABLE: u64 = 4 << 32;
        let (table, count) = (word(&self.bytes, 32), word(&self.bytes, 56) & 0xffff);
        (0..count.min(16)).map_while(move |index| {
            let mut row = [0_u8; 56];
            let there = self.copy(table.wrapping_add(index.wrapping_mul(56)), &mut row);
            // The kind is the low half of the first word, the rights are the high one.
            let kind = word(&row, 0);
            there.then(|| Segment {
                kind: kind as u32,
                readable: kind & READABLE != 0,
                address: word(&row, 16),
                bytes: word(&row, 32),
            })
        })
    }
}

/// Reads the object's own head for its first address and its build id.
fn describe(front: &Front, object: &table::Object) {
    let mut first = None;
    for Segment { kind, address, bytes, .. } in front.segments() {
        if kind == PT_LOAD && first.is_none() {
            first = Some(address & !0xfff);
            object.base.store(front.start.wrapping_sub(address & !0xfff), Ordering::Relaxed);
        }
        if kind == PT_NOTE && object.build_id_bytes.load(Ordering::Relaxed) == 0 {
            build_id(front, address.wrapping_sub(first.unwrap_or(0)), bytes, object);
        }
    }
}

fn build_id(front: &Front, at: u64, bytes: u64, object: &table::Object) {
    let mut notes = [0_u8; 256];
    let Some(notes) = notes.get_mut(..bytes.min(256) as usize) else { return };
    if !front.copy(at, notes) {
        return;
    }
    let mut rest: &[u8] = notes;
    while rest.len() >= 12 {
        let name = (word(rest, 0) as u32) as usize;
        let length = (word(rest, 0) >> 32) as usize;
        let kind = word(rest, 8) as u32;
        let from = 12_usize.saturating_add(name.next_multiple_of(4));
        let Some(value) = rest.get(from..from.saturating_add(length)) else { return };
        if kind == NT_GNU_BUILD_ID && name == 4 {
            for (place, to) in object.build_id.iter().enumerate() {
                to.store(word(value, place.wrapping_mul(8)), Ordering::Relaxed);
            }
            object.build_id_bytes.store(length.min(20) as u32, Ordering::Relaxed);
            return;
        }
        let next = from.saturating_add(length.next_multiple_of(4));
        rest = rest.get(next..).unwrap_or_default();
    }
}

/// Up to eight little-endian bytes.
fn word(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    for (to, from) in word.iter_mut().zip(bytes.iter().skip(at)) {
        *to = *from;
    }
    u64::from_le_bytes(word)
}

/// The path of the executable.
pub fn executable(buffer: &mut [u8]) -> &[u8] {
    // The process's own link goes when its first thread ends; the thread's takes the kernel longer.
    let own = [c"/proc/self/exe", c"/proc/thread-self/exe"];
    let length = own.iter().find_map(|path| sys::read_link(path, buffer).map(<[u8]>::len));
    buffer.get(..length.unwrap_or(0)).unwrap_or_default()
}
