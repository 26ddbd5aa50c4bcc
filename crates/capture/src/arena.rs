//! The segment: a mapped file (or, where none can be made, private memory) with a header and
//! regions that only grow. Space is reserved before it is touched, step by step: a full disk must
//! never become SIGBUS. What is refused goes on in private memory at the same addresses.
//!
//! No descriptor is held. To reserve more, the kernel is asked to make the pages exist; one that cannot
//! (before 5.14) is given zeroes to write, for which the file is opened again by its path, and checked to be
//! the same file.

use core::cell::UnsafeCell;
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use netra_event::lane::Lane;
use netra_event::segment::{ANONYMOUS, CALL_CODES, CHUNK_BYTES, Entry, Header, Region, table};

use crate::jail;
use crate::memory::{self, FILES, SITES, THREADS};
use crate::room;
use crate::settings::{LONGEST_PATH, SETTINGS};
use crate::sys::{self, Refused};
use crate::text::Text;

/// Space reserved in a region.
#[derive(Default)]
pub struct Growth {
    reserved: AtomicU64,
    claimed: AtomicU32,
}

/// Regions with their stride, and their bytes: at most, and at least where there is little room; the chunks'
/// depend on the budget. The first one begins in the header's page, all others at a page of their own: they
/// grow page by page.
const LAYOUT: [(Region, usize, usize, usize); 15] = [
    (Region::Mounts, size_of::<table::Mount>(), 3 * PAGE - FIRST, 3 * PAGE - FIRST),
    (Region::Notes, 1, 8 << 10, 8 << 10),
    (Region::Names, 1, 4 << 20, 32 << 10),
    (Region::Files, size_of::<table::File>(), size_of::<table::File>() * FILES, 16 << 10),
    (Region::Objects, size_of::<table::Object>(), 2048 * size_of::<table::Object>(), 16 << 10),
    (Region::Sites, size_of::<table::Site>(), size_of::<table::Site>() * SITES, 8 << 10),
    (Region::Stacks, 8, 4 << 20, 32 << 10),
    (Region::Records, 0, 64 << 20, 128 << 10),
    (Region::Heatmaps, size_of::<table::Heatmap>(), 1024 * size_of::<table::Heatmap>(), 16 << 10),
    (Region::Lanes, size_of::<Lane>(), THREADS * size_of::<Lane>(), 8 << 10),
    (Region::Calls, CALL_CODES * 8, 8192 * CALL_CODES * 8, 128 << 10),
    (Region::Extensions, 0, 16 << 20, 16 << 10),
    (Region::Modules, size_of::<table::Module>(), PAGE, PAGE),
    (Region::Platform, 1, 4 << 10, 4 << 10),
    (Region::Chunks, CHUNK_BYTES, 0, 0),
];
/// Bytes of chunks where there is little room, if events are traced at all.
const FEW_CHUNKS: usize = 4 * CHUNK_BYTES;
/// How often regions may be halved.
const MOST_HALVED: u32 = 9;
const PAGE: usize = 4096;
/// The header with its directory, and where the first region begins.
const FIRST: usize = size_of::<Header>().next_multiple_of(64);
const _: () = assert!((3 * PAGE - FIRST).is_multiple_of(size_of::<table::Mount>()));
/// Regions grow by doubling, up to this: what is reserved and not used yet counts as memory of the process.
const LARGEST_STEP: u64 = 64 << 10;
/// What is reserved for a process that may soon be unable to: names of some hundred files, and what a thread
/// counts of each.
const AHEAD: [(Region, u64); 9] = [
    (Region::Notes, 1 << 10),
    (Region::Names, 16 << 10),
    (Region::Files, 16 << 10),
    (Region::Sites, 8 << 10),
    (Region::Stacks, 16 << 10),
    (Region::Records, 64 << 10),
    (Region::Lanes, 4 << 10),
    (Region::Calls, 32 << 10),
    (Region::Extensions, 4 << 10),
];
/// And some thousand events.
const CHUNKS_AHEAD: u64 = 8;

/// The bytes of each region, one behind the other from [`FIRST`] on.
#[derive(Clone, Copy)]
struct Plan {
    capacity: [usize; LAYOUT.len()],
    bytes: usize,
}

impl Plan {
    /// All regions with room for `chunks` bytes of events, each halved so often.
    fn new(chunks: usize, halved: u32) -> Plan {
        let mut plan = Plan { capacity: [0; LAYOUT.len()], bytes: FIRST };
        for (place, (region, _, most, least)) in plan.capacity.iter_mut().zip(LAYOUT) {
            *place = match region {
                // The first begins behind the header, and ends with a page all the same.
                Region::Mounts => most,
                Region::Chunks => memory::halve(chunks, chunks.min(FEW_CHUNKS), halved)
                    .next_multiple_of(CHUNK_BYTES),
                _ => memory::halve(most, least, halved).next_multiple_of(PAGE),
            };
            plan.bytes = plan.bytes.wrapping_add(*place);
        }
        plan
    }

    /// The largest plan that keeps within so many bytes.
    fn within(chunks: usize, most: u64) -> Option<Plan> {
        (0..=MOST_HALVED)
            .map(|halved| Plan::new(chunks, halved))
            .find(|plan| plan.bytes as u64 <= most)
    }
}

/// Where the segment lies.
pub struct Arena {
    base: AtomicPtr<u8>,
    bytes: AtomicUsize,
    /// 1 while it is a file.
    file: AtomicU32,
    device: AtomicU64,
    inode: AtomicU64,
    path: UnsafeCell<Text<LONGEST_PATH>>,
}

// SAFETY: `path` is written while the process is set up, before other threads can come here
// (`Private::starting`), and only read afterwards.
unsafe impl Sync for Arena {}

/// This process's segment.
pub static ARENA: Arena = Arena {
    base: AtomicPtr::new(ptr::null_mut()),
    bytes: AtomicUsize::new(0),
    file: AtomicU32::new(0),
    device: AtomicU64::new(0),
    inode: AtomicU64::new(0),
    path: UnsafeCell::new(Text::new()),
};

impl Arena {
    /// Makes the segment, at `path` or without a file. The header is not filled yet.
    pub fn create(
        &self,
        path: Option<Text<LONGEST_PATH>>,
        budget: usize,
    ) -> Option<&'static Header> {
        let chunks = budget.next_multiple_of(CHUNK_BYTES);
        let room = room::left();
        // A child after fork maps its own over its parent's: addresses in private memory that
        // were not wiped (there are none) would stay valid, and nothing piles up.
        let old = self.base.swap(ptr::null_mut(), Ordering::Relaxed);
        let held = self.bytes.swap(0, Ordering::Relaxed);
        let place = |plan: Plan| if plan.bytes <= held { old.expose_provenance() } else { 0 };
        // What is left does not count what is mapped over.
        let limit = |most: u64| most.max(held as u64);
        self.file.store(0, Ordering::Relaxed);
        let mapped = path.and_then(|path| {
            let plan = Plan::within(chunks, limit(room.mapped()))?;
            Some((self.map_file(path, place(plan), plan).ok()?, plan))
        });
        let (base, plan) = mapped.or_else(|| {
            // Nothing is reserved after all, and nothing needs to be.
            for growth in memory::private().iter().flat_map(|private| &private.growth) {
                growth.reserved.store(0, Ordering::Release);
            }
            let plan = Plan::within(chunks, room.memory())?;
            // SAFETY: 0 or the mapping of the parent, which this process no longer uses.
            Some((unsafe { sys::map_private(place(plan), plan.bytes) }.ok()?, plan))
        })?;
        if base == old && plan.bytes < held {
            // SAFETY: the rest of the parent's.
            unsafe { sys::unmap(base.wrapping_add(plan.bytes), held.wrapping_sub(plan.bytes)) };
        } else if base != old && held != 0 {
            // SAFETY: the parent's.
            unsafe { sys::unmap(old, held) };
        }
        self.bytes.store(plan.bytes, Ordering::Relaxed);
        self.base.store(base, Ordering::Release);
        let header = self.header()?;
        self.lay_out(header, &plan);
        if self.file.load(Ordering::Relaxed) == 0 {
            header.flags.fetch_or(ANONYMOUS, Ordering::Relaxed);
        }
        Some(header)
    }

    fn map_file(
        &self,
        mut path: Text<LONGEST_PATH>,
        at: usize,
        plan: Plan,
    ) -> Result<*mut u8, Refused> {
        let bytes = plan.bytes;
        let name = path.path().ok_or(Refused(libc::ENAMETOOLONG))?;
        let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW;
        let file = jail::open(name, flags, 0o600)?;
        let prepare = || {
            if !sys::file_size_allowed(bytes as u64) {
                return Err(Refused(libc::EFBIG));
            }
            file.set_length(bytes as u64)?;
            let identity = file.identity()?;
            self.device.store(identity.device, Ordering::Relaxed);
            self.inode.store(identity.inode, Ordering::Relaxed);
            // SAFETY: `at` is 0 or the mapping of the parent, which this process no longer uses.
            let mapped = unsafe { file.map(at, bytes) }?;
            sys::touch_at_random(mapped, bytes);
            let beginnings = self.reserve_beginnings(&file, mapped, &plan);
            if beginnings.is_err() && at == 0 {
                // SAFETY: nobody knows the mapping yet.
                unsafe { sys::unmap(mapped, bytes) };
            }
            beginnings.map(|()| mapped)
        };
        let mapped = prepare();
        match mapped {
            Ok(_) => {
                // SAFETY: nobody else is here while the process is set up.
                unsafe { *self.path.get() = path };
                self.file.store(1, Ordering::Relaxed);
            }
            // Cannot fail in a way that matters: an empty file stays behind.
            Err(_) => drop(sys::remove(name)),
        }
        mapped
    }

    /// Reserves the header and the first page of the regions that every process uses, while the file is
    /// open: enough for a small program.
    fn reserve_beginnings(
        &self,
        file: &sys::Descriptor,
        mapped: *mut u8,
        plan: &Plan,
    ) -> Result<(), Refused> {
        let private = memory::private().ok_or(Refused(libc::ENOMEM))?;
        let reserve = |offset: u64, bytes: usize| match sys::populate(
            mapped.wrapping_add(offset as usize),
            bytes,
        ) {
            Err(Refused(libc::EINVAL)) => file.reserve(offset, bytes as u64),
            populated => populated,
        };
        reserve(0, PAGE)?;
        let mut offset = FIRST as u64;
        for ((growth, (region, ..)), capacity) in
            private.growth.iter().zip(LAYOUT).zip(plan.capacity)
        {
            let seldom = matches!(region, Region::Notes | Region::Extensions | Region::Modules);
            let first = match region {
                _ if seldom => 0,
                // The header's page is there already.
                Region::Mounts => {
                    growth.reserved.store((PAGE - FIRST) as u64, Ordering::Release);
                    0
                }
                // The first thread needs two pages of counts.
                Region::Calls => 2 * PAGE,
                Region::Chunks if !SETTINGS.traces() => 0,
                _ => PAGE,
            };
            if first > 0 {
                match reserve(offset, first) {
                    Ok(()) => growth.reserved.store(first as u64, Ordering::Release),
                    // The trace is not worth the segment: it can do without.
                    Err(_) if region == Region::Chunks => {}
                    Err(refused) => return Err(refused),
                }
            }
            offset = offset.wrapping_add(capacity as u64);
        }
        Ok(())
    }

    fn lay_out(&self, header: &Header, plan: &Plan) {
        let mut offset = FIRST as u64;
        for ((entry, (region, stride, ..)), capacity) in
            header.directory.iter().zip(LAYOUT).zip(plan.capacity)
        {
            let capacity = capacity as u64;
            entry.stride.store(stride as u32, Ordering::Relaxed);
            entry.offset.store(offset, Ordering::Relaxed);
            entry.capacity.store(capacity, Ordering::Relaxed);
            entry.kind.store(region as u32, Ordering::Relaxed);
            offset = offset.wrapping_add(capacity);
        }
        header.total_bytes.store(offset, Ordering::Relaxed);
        header.header_bytes.store(size_of::<Header>() as u32, Ordering::Relaxed);
    }

    /// The header, if there is a segment.
    #[must_use]
    pub fn header(&self) -> Option<&'static Header> {
        // SAFETY: the base is null or a mapping of at least a header, never unmapped; its fields
        // are atomics, for which any bytes are a value.
        unsafe { self.base.load(Ordering::Acquire).cast::<Header>().as_ref() }
    }

    /// A region's row in the directory, and its number.
    #[must_use]
    pub fn entry(&self, region: Region) -> Option<(&'static Entry, usize)> {
        let index = LAYOUT.iter().position(|row| row.0 == region)?;
        Some((self.header()?.directory.get(index)?, index))
    }

    /// Takes `bytes` of a region (a multiple of 8, but for text); their offset in it.
    pub fn take(&self, region: Region, bytes: u64) -> Option<u64> {
        let (entry, index) = self.entry(region)?;
        let capacity = entry.capacity.load(Ordering::Relaxed);
        let more = |used: u64| used.checked_add(bytes).filter(|&new| new <= capacity);
        let offset = entry.used.fetch_update(Ordering::AcqRel, Ordering::Relaxed, more).ok()?;
        self.ensure(entry, index, offset.wrapping_add(bytes)).then_some(offset)
    }

    /// Makes sure that a region may be touched up to `until`.
    fn ensure(&self, entry: &Entry, index: usize, until: u64) -> bool {
        let Some(growth) = memory::private().and_then(|private| private.growth.get(index)) else {
            return false;
        };
        // Only opening a file that was never seen and the like come here, not calls that move
        // data; still nobody waits for ever.
        for _ in 0..10_000 {
            let reserved = growth.reserved.load(Ordering::Acquire);
            if until <= reserved {
                return true;
            }
            if growth.claimed.swap(1, Ordering::Acquire) != 0 {
                sys::give_way();
                continue;
            }
            let reserved = growth.reserved.load(Ordering::Acquire);
            if until > reserved {
                let from = entry.offset.load(Ordering::Relaxed);
                let to = grown(from, reserved, until).min(entry.capacity.load(Ordering::Relaxed));
                if self.reserve(from.wrapping_add(reserved), to.wrapping_sub(reserved)) {
                    growth.reserved.store(to, Ordering::Release);
                } else {
                    // Neither space nor memory: asked again at once, the kernel says the same.
                    growth.claimed.store(0, Ordering::Release);
                    return false;
                }
            }
            growth.claimed.store(0, Ordering::Release);
        }
        false
    }

    /// Bytes of a region that are reserved.
    #[must_use]
    pub fn reserved(&self, region: Region) -> u64 {
        let growth = self
            .entry(region)
            .and_then(|(_, index)| memory::private().and_then(|private| private.growth.get(index)));
        growth.map_or(0, |growth| growth.reserved.load(Ordering::Acquire))
    }

    /// Reserves a range of the segment that nobody has touched yet. Refused, it becomes private
    /// memory: the process goes on, others no longer see what it writes there.
    pub fn reserve(&self, offset: u64, bytes: u64) -> bool {
        if self.file.load(Ordering::Relaxed) == 0 || bytes == 0 {
            return true;
        }
        let base = self.base.load(Ordering::Relaxed);
        let reserved = match sys::populate(base.wrapping_add(offset as usize), bytes as usize) {
            Err(Refused(libc::EINVAL)) => self.reserve_in_file(offset, bytes),
            populated => populated,
        };
        if reserved.is_ok() {
            return true;
        }
        let base = base.expose_provenance();
        // SAFETY: the range lies in our mapping, page by page (regions and chunks are multiples
        // of a page), and nobody has touched it.
        let done = unsafe { sys::map_private(base.wrapping_add(offset as usize), bytes as usize) };
        if let Some(header) = self.header() {
            let before = header.flags.fetch_or(ANONYMOUS, Ordering::Relaxed);
            if before & ANONYMOUS == 0 {
                note(b"no space for the segment: what follows is in memory only");
            }
        }
        done.is_ok()
    }

    /// Reserves room for a while in all regions, for a process that may soon be unable to.
    pub fn reserve_ahead(&self) {
        for (region, bytes) in AHEAD {
            if let Some((entry, index)) = self.entry(region) {
                let used = entry.used.load(Ordering::Relaxed);
                let capacity = entry.capacity.load(Ordering::Relaxed);
                let _reserved = self.ensure(entry, index, used.saturating_add(bytes).min(capacity));
            }
        }
        self.reserve_chunks();
    }

    /// The same for chunks, which their takers reserve one by one: the rest of the first one, and some more.
    fn reserve_chunks(&self) {
        const CHUNK: u64 = CHUNK_BYTES as u64;
        let Some((entry, index)) = self.entry(Region::Chunks) else { return };
        let Some(growth) = memory::private().and_then(|private| private.growth.get(index)) else {
            return;
        };
        let used = entry.used.load(Ordering::Relaxed);
        let until = used.saturating_add(CHUNKS_AHEAD.wrapping_mul(CHUNK));
        let until = until.min(entry.capacity.load(Ordering::Relaxed));
        let reserved = growth.reserved.load(Ordering::Acquire);
        let rest = (reserved, reserved.next_multiple_of(CHUNK).min(until));
        for (from, to) in [rest, (used.max(rest.1), until)] {
            let at = entry.offset.load(Ordering::Relaxed).wrapping_add(from);
            let bytes = to.saturating_sub(from);
            let base = self.base.load(Ordering::Relaxed);
            let done = self.file.load(Ordering::Relaxed) == 0
                || bytes == 0
                || match sys::populate(base.wrapping_add(at as usize), bytes as usize) {
                    Ok(()) => true,
                    // Zeroes are written only where nobody else can have begun to write events.
                    Err(Refused(libc::EINVAL)) if memory::one_thread() => {
                        self.reserve_in_file(at, bytes).is_ok()
                    }
                    Err(_) => false,
                };
            if !done {
                return;
            }
            growth.reserved.fetch_max(to, Ordering::AcqRel);
        }
    }

    fn reserve_in_file(&self, offset: u64, bytes: u64) -> Result<(), Refused> {
        // SAFETY: the path was written while the process was set up, and is only read since.
        let path = unsafe { &*self.path.get() };
        let mut path = Text::<LONGEST_PATH>::copy(path);
        let name = path.path().ok_or(Refused(libc::ENOENT))?;
        let file = jail::open(name, libc::O_RDWR | libc::O_NOFOLLOW, 0)?;
        let identity = file.identity()?;
        let same = identity.device == self.device.load(Ordering::Relaxed)
            && identity.inode == self.inode.load(Ordering::Relaxed);
        if !same || identity.size < offset.wrapping_add(bytes).cast_signed() {
            return Err(Refused(libc::ENOENT));
        }
        file.reserve(offset, bytes)
    }

    /// The path of the segment, if it is a file.
    #[must_use]
    pub fn path(&self) -> Option<Text<LONGEST_PATH>> {
        // SAFETY: as in `reserve_in_file`.
        let path = unsafe { &*self.path.get() };
        (self.file.load(Ordering::Relaxed) == 1).then(|| Text::copy(path))
    }

    /// A structure in a region, at a byte offset that `take` gave.
    ///
    /// # Safety
    /// `T` consists of atomics only (or of bytes nobody writes any more), and the range was taken.
    #[must_use]
    pub unsafe fn at<T>(&self, region: Region, offset: u64) -> Option<&'static T> {
        let (entry, _) = self.entry(region)?;
        let end = offset.checked_add(size_of::<T>() as u64)?;
        if end > entry.capacity.load(Ordering::Relaxed) {
            return None;
        }
        let place = entry.offset.load(Ordering::Relaxed).checked_add(offset)?;
        let base = self.base.load(Ordering::Relaxed);
        // SAFETY: in bounds of the mapping; the caller vouches for the type.
        Some(unsafe { &*base.wrapping_add(usize::try_from(place).ok()?).cast::<T>() })
    }

    /// The used bytes of a region, to read them at exit.
    #[must_use]
    pub fn bytes(&self, region: Region) -> &'static [u8] {
        let Some((entry, _)) = self.entry(region) else { return &[] };
        let used = entry.used.load(Ordering::Acquire).min(entry.capacity.load(Ordering::Relaxed));
        let base = self.base.load(Ordering::Relaxed);
        let at = base.wrapping_add(entry.offset.load(Ordering::Relaxed) as usize);
        // SAFETY: in bounds of the mapping. Other threads may still count while the log is
        // written; single words then are older or newer, which every reader of a segment expects.
        unsafe { core::slice::from_raw_parts(at, used as usize) }
    }

    /// The whole segment, to read it at exit.
    #[must_use]
    pub fn whole(&self) -> Option<&'static [u8]> {
        let base = self.base.load(Ordering::Acquire);
        if base.is_null() {
            return None;
        }
        // SAFETY: the mapping, as in `bytes`.
        Some(unsafe { core::slice::from_raw_parts(base, self.bytes.load(Ordering::Relaxed)) })
    }

    /// Copies bytes into the names; a reference to them, 0 if there is no room.
    pub fn text(&self, bytes: &[u8]) -> u64 {
        match self.append(Region::Names, bytes) {
            Some(offset) => offset | (bytes.len() as u64) << 32,
            None => 0,
        }
    }

    /// Copies bytes to the end of a region; where they begin there.
    pub(crate) fn append(&self, region: Region, bytes: &[u8]) -> Option<u64> {
        if bytes.is_empty() {
            return None;
        }
        let offset = self.take(region, bytes.len() as u64)?;
        self.fill(region, offset, bytes)?;
        Some(offset)
    }

    /// Copies bytes to a place in a region that `take` gave to the caller, who alone writes there.
    pub(crate) fn fill(&self, region: Region, offset: u64, bytes: &[u8]) -> Option<()> {
        let (entry, _) = self.entry(region)?;
        if offset.checked_add(bytes.len() as u64)? > entry.used.load(Ordering::Relaxed) {
            return None;
        }
        let base = self.base.load(Ordering::Relaxed);
        let at = entry.offset.load(Ordering::Relaxed).wrapping_add(offset) as usize;
        // SAFETY: the range was taken: it is in bounds and nobody else writes it.
        unsafe {
            ptr::copy_nonoverlapping(bytes.as_ptr(), base.wrapping_add(at), bytes.len());
        }
        Some(())
    }
}

/// How much of a region that begins at `from` is reserved next, up to the end of a page.
fn grown(from: u64, reserved: u64, until: u64) -> u64 {
    let step = reserved.clamp(PAGE as u64, LARGEST_STEP);
    let end = from.wrapping_add(until.max(reserved.wrapping_add(step)));
    end.next_multiple_of(PAGE as u64).wrapping_sub(from)
}

/// Leaves a complaint in the segment, a line of text.
pub fn note(line: &[u8]) {
    let mut text = Text::<256>::new();
    text.push(line.get(..line.len().min(255)).unwrap_or_default()).push(b"\n");
    // With no room for a complaint there is nobody to complain to.
    let _at = ARENA.append(Region::Notes, text.bytes());
}

#[cfg(test)]
mod tests {
    use super::{CHUNK_BYTES, FIRST, LAYOUT, MOST_HALVED, PAGE, Plan, grown};

    #[test]
    fn regions_begin_and_grow_page_by_page() {
        for halved in 0..=MOST_HALVED {
            let mut offset = FIRST;
            for capacity in Plan::new(5 * CHUNK_BYTES, halved).capacity {
                offset += capacity;
                assert_eq!(offset % PAGE, 0, "what is refused becomes private, in whole pages");
            }
        }
        for (_, stride, most, least) in LAYOUT {
            assert!(stride == 0 || most % stride == 0);
            assert!(least <= most && (most == 0 || least >= stride));
        }
        let first = FIRST as u64;
        assert_eq!((first + grown(first, 4096 - first, 4096 - first + 1)) % 4096, 0);
        assert_eq!(grown(8192, 4096, 4097), 8192);
        assert_eq!(grown(8192, 4096, 20_000), 20_480);
        assert_eq!(grown(8192, 1 << 20, (1 << 20) + 1), (1 << 20) + (64 << 10), "by steps");
    }

    #[test]
    fn a_segment_keeps_within_what_it_may_take() {
        let budget = 64 << 20;
        assert_eq!(Plan::within(budget, u64::MAX).unwrap().bytes, Plan::new(budget, 0).bytes);
        for most in [1 << 20, 3 << 20, 50 << 20] {
            let plan = Plan::within(budget, most).unwrap();
            assert!(plan.bytes as u64 <= most && plan.bytes as u64 > most / 4, "{}", plan.bytes);
        }
        assert!(Plan::within(budget, 500_000).is_none());
        assert_eq!(Plan::new(0, 3).capacity.last(), Some(&0), "no events, no chunks");
    }
}
