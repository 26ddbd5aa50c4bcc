//! System calls of our own: raw, so that they neither pass through our hooks nor touch errno.

pub mod door;
mod filter;
mod mounted;

use core::ffi::{CStr, c_int};
use core::ptr;

#[cfg(not(test))]
use door::syscall;
#[cfg(test)]
use fake::syscall;

pub use mounted::Mounted;

use crate::text::decimal;

/// A failed call: the kernel's error number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused(pub i32);

type Result<T> = core::result::Result<T, Refused>;

/// A descriptor of our own; closed when it goes out of scope. None is ever held for long.
pub struct Descriptor(c_int);

impl Drop for Descriptor {
    fn drop(&mut self) {
        // SAFETY: the descriptor is ours, and closed once.
        unsafe { syscall(libc::SYS_close, [word(self.0), 0, 0, 0, 0, 0]) };
    }
}

/// A page of nothing.
static ZEROES: [u8; 4096] = [0; 4096];

/// What [`Descriptor::identity`] and [`metadata`] tell of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// The file system.
    pub device: u64,
    /// The file on it.
    pub inode: u64,
    /// Type and rights.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Bytes.
    pub size: i64,
}

/// Opens a path.
///
/// # Errors
/// The kernel refuses.
pub fn open(path: &CStr, flags: c_int, mode: u32) -> Result<Descriptor> {
    open_in(libc::AT_FDCWD, path, flags, mode)
}

/// Asks whether the real user may read a file, without rights that go beyond a user's.
///
/// # Errors
/// That user may not.
pub fn may_read(path: &CStr) -> Result<()> {
    let args = [word(libc::AT_FDCWD), path.as_ptr().expose_provenance(), word(libc::R_OK), 0, 0, 0];
    // SAFETY: the path ends with NUL and outlives the call.
    done(unsafe { syscall(libc::SYS_faccessat, args) })
}

/// Opens a path that is relative to a directory.
///
/// # Errors
/// The kernel refuses.
pub fn open_in(directory: c_int, path: &CStr, flags: c_int, mode: u32) -> Result<Descriptor> {
    let flags = flags | libc::O_CLOEXEC;
    let args =
        [word(directory), path.as_ptr().expose_provenance(), word(flags), mode as usize, 0, 0];
    // SAFETY: the path ends with NUL and outlives the call.
    let done = unsafe { syscall(libc::SYS_openat, args) };
    check(done).map(|descriptor| Descriptor(descriptor as c_int))
}

impl Descriptor {
    /// Reads at the descriptor's position.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn read(&self, into: &mut [u8]) -> Result<usize> {
        let args = [word(self.0), into.as_mut_ptr().expose_provenance(), into.len(), 0, 0, 0];
        // SAFETY: the slice is ours to fill.
        check(unsafe { syscall(libc::SYS_read, args) })
    }

    /// Reads at an offset.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn read_at(&self, into: &mut [u8], offset: u64) -> Result<usize> {
        let place = into.as_mut_ptr().expose_provenance();
        let args = [word(self.0), place, into.len(), offset as usize, 0, 0];
        // SAFETY: the slice is ours to fill.
        check(unsafe { syscall(libc::SYS_pread64, args) })
    }

    /// Reads until the slice is full or the file ends.
    pub fn read_full(&self, into: &mut [u8]) -> usize {
        let mut filled = 0_usize;
        while let Some(rest) = into.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match self.read(rest) {
                Ok(0) => break,
                Ok(count) => filled = filled.saturating_add(count),
                Err(Refused(libc::EINTR)) => {}
                Err(_) => break,
            }
        }
        filled
    }

    /// Writes everything at an offset.
    ///
    /// # Errors
    /// The kernel refuses; some of it may be written.
    pub fn write_at(&self, mut from: &[u8], mut offset: u64) -> Result<()> {
        while !from.is_empty() {
            let args = [
                word(self.0),
                from.as_ptr().expose_provenance(),
                from.len(),
                offset as usize,
                0,
                0,
            ];
            // SAFETY: the slice is only read.
            match check(unsafe { syscall(libc::SYS_pwrite64, args) }) {
                Ok(0) => return Err(Refused(libc::EIO)),
                Ok(count) => {
                    from = from.get(count..).unwrap_or_default();
                    offset = offset.wrapping_add(count as u64);
                }
                Err(Refused(libc::EINTR)) => {}
                Err(refused) => return Err(refused),
            }
        }
        Ok(())
    }

    /// Appends bytes by one call, to a file that was opened for that.
    ///
    /// # Errors
    /// The kernel refuses, or took less.
    pub fn append(&self, bytes: &[u8]) -> Result<()> {
        append(self.0, bytes)
    }

    /// Gives the file to a user.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn set_owner(&self, user: u32) -> Result<()> {
        let same = word(-1);
        // SAFETY: changes a file of ours only.
        done(unsafe { syscall(libc::SYS_fchown, [word(self.0), user as usize, same, 0, 0, 0]) })
    }

    /// Changes who may do what with the file.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn set_rights(&self, mode: u32) -> Result<()> {
        // SAFETY: changes a file of ours only.
        done(unsafe { syscall(libc::SYS_fchmod, [word(self.0), mode as usize, 0, 0, 0, 0]) })
    }

    /// Gives the file a length.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn set_length(&self, bytes: u64) -> Result<()> {
        // SAFETY: changes a file of ours only.
        done(unsafe { syscall(libc::SYS_ftruncate, [word(self.0), bytes as usize, 0, 0, 0, 0]) })
    }

    /// Reserves space, so that touching it later cannot fail, by writing zeroes; for kernels that cannot
    /// [`populate`]. That is promised by
    /// every file system, leaves the pages where they are needed next, and waits for nothing:
    /// `fallocate` has to change the file system's own data, which on a busy disk takes
    /// milliseconds, and which a file that is soon removed never needs.
    ///
    /// # Errors
    /// There is none.
    pub fn reserve(&self, offset: u64, bytes: u64) -> Result<()> {
        const PAGE: usize = ZEROES.len();
        const TOGETHER: usize = 16;
        let pages =
            [libc::iovec { iov_base: ZEROES.as_ptr().cast_mut().cast(), iov_len: PAGE }; TOGETHER];
        let (mut at, end) = (offset, offset.saturating_add(bytes));
        while at < end {
            let left = end.saturating_sub(at);
            let whole = (left >> PAGE.trailing_zeros()).min(TOGETHER as u64);
            if whole == 0 {
                self.write_at(ZEROES.get(..left as usize).unwrap_or_default(), at)?;
                return Ok(());
            }
            let list = pages.as_ptr().expose_provenance();
            let args = [word(self.0), list, whole as usize, at as usize, 0, 0];
            // SAFETY: the pages are only read.
            match check(unsafe { syscall(libc::SYS_pwritev, args) }) {
                Ok(0) => return Err(Refused(libc::EIO)),
                Ok(count) => at = at.saturating_add(count as u64),
                Err(Refused(libc::EINTR)) => {}
                Err(refused) => return Err(refused),
            }
        }
        Ok(())
    }

    /// How many targets the Lustre file system of a directory has, for data or for metadata.
    ///
    /// # Errors
    /// It is not on Lustre.
    pub fn lustre_targets(&self, metadata: bool) -> Result<u32> {
        /// `LL_IOC_GETOBDCOUNT`: takes which kind, and gives the number, in the same int.
        const COUNT_TARGETS: usize = 0x8008_66a8;
        let mut count = [u32::from(metadata), 0];
        let args = [word(self.0), COUNT_TARGETS, (&raw mut count).expose_provenance(), 0, 0, 0];
        // SAFETY: the buffer has room for a long, the most that this call can mean.
        done(unsafe { syscall(libc::SYS_ioctl, args) })?;
        Ok(count[0])
    }

    /// Which file it is.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn identity(&self) -> Result<Identity> {
        identity_of(self.0)
    }

    /// Holds the file under a number of `least` or more, until the process ends or its image is
    /// replaced; the number.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn hold(&self, least: c_int) -> Result<c_int> {
        let args = [word(self.0), word(libc::F_DUPFD_CLOEXEC), word(least), 0, 0, 0];
        // SAFETY: makes a new number only.
        check(unsafe { syscall(libc::SYS_fcntl, args) }).map(|number| number as c_int)
    }

    /// Maps the file's bytes, shared and writable, at `at` (anywhere if it is 0).
    ///
    /// # Errors
    /// The kernel refuses.
    ///
    /// # Safety
    /// What was mapped at `at` before is replaced: it must be ours.
    pub unsafe fn map(&self, at: usize, bytes: usize) -> Result<*mut u8> {
        let fixed = if at == 0 { 0 } else { libc::MAP_FIXED };
        // SAFETY: handed to the caller.
        unsafe { mmap(at, bytes, libc::MAP_SHARED | fixed, self.0) }
    }
}

/// Maps zeroed private memory at `at` (anywhere if it is 0), of which only touched pages exist.
///
/// # Errors
/// The kernel refuses.
///
/// # Safety
/// What was mapped at `at` before is replaced: it must be ours.
pub unsafe fn map_private(at: usize, bytes: usize) -> Result<*mut u8> {
    let fixed = if at == 0 { 0 } else { libc::MAP_FIXED };
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | fixed;
    // SAFETY: handed to the caller.
    unsafe { mmap(at, bytes, flags, -1) }
}

unsafe fn mmap(at: usize, bytes: usize, flags: c_int, descriptor: c_int) -> Result<*mut u8> {
    let access = word(libc::PROT_READ | libc::PROT_WRITE);
    let args = [at, bytes, access, word(flags), word(descriptor), 0];
    // SAFETY: without MAP_FIXED the kernel chooses free addresses; with it the caller vouches.
    let place = check(unsafe { syscall(libc::SYS_mmap, args) })?;
    Ok(ptr::with_exposed_provenance_mut(place))
}

/// Gives memory back.
///
/// # Safety
/// Nothing may refer to it any more.
pub unsafe fn unmap(at: *mut u8, bytes: usize) {
    // SAFETY: the caller vouches.
    unsafe { syscall(libc::SYS_munmap, [at.expose_provenance(), bytes, 0, 0, 0, 0]) };
}

/// Makes pages readable, and writable or not.
///
/// # Errors
/// The kernel refuses.
///
/// # Safety
/// The pages are whole, and nobody counts on rights that they lose.
pub unsafe fn protect(at: usize, bytes: usize, writable: bool) -> Result<()> {
    let access = if writable { libc::PROT_READ | libc::PROT_WRITE } else { libc::PROT_READ };
    // SAFETY: the caller vouches.
    done(unsafe { syscall(libc::SYS_mprotect, [at, bytes, word(access), 0, 0, 0]) })
}

/// Says that memory is not touched in order: a fault then reads one page of the file, not
/// megabytes around it.
pub fn touch_at_random(at: *mut u8, bytes: usize) {
    let advice = libc::MADV_RANDOM as usize;
    // SAFETY: advice only.
    unsafe { syscall(libc::SYS_madvise, [at.expose_provenance(), bytes, advice, 0, 0, 0]) };
}

/// Makes pages of a mapped file exist, so that touching them cannot fail: as touching them would, but what
/// would be a signal (a full disk, a file that was cut off) is an error.
///
/// # Errors
/// There is no space, or the kernel is older than 5.14: that is `EINVAL`.
pub fn populate(at: *mut u8, bytes: usize) -> Result<()> {
    const MADV_POPULATE_WRITE: usize = 23;
    loop {
        let args = [at.expose_provenance(), bytes, MADV_POPULATE_WRITE, 0, 0, 0];
        // SAFETY: changes no byte.
        match done(unsafe { syscall(libc::SYS_madvise, args) }) {
            Err(Refused(libc::EINTR | libc::EAGAIN)) => {}
            result => return result,
        }
    }
}

/// Makes memory read as zeroes in a child after fork.
///
/// # Errors
/// The kernel is older than 4.14.
pub fn wipe_on_fork(at: *mut u8, bytes: usize) -> Result<()> {
    const MADV_WIPEONFORK: usize = 18;
    // SAFETY: changes what a child sees, not what is there now.
    done(unsafe {
        syscall(libc::SYS_madvise, [at.expose_provenance(), bytes, MADV_WIPEONFORK, 0, 0, 0])
    })
}

/// Which file a path leads to; symbolic links are not followed.
///
/// # Errors
/// The kernel refuses.
pub fn metadata(path: &CStr) -> Result<Identity> {
    identity(|stat| {
        let no_follow = word(libc::AT_SYMLINK_NOFOLLOW);
        let args = [word(libc::AT_FDCWD), path.as_ptr().expose_provenance(), stat, no_follow, 0, 0];
        // SAFETY: the path ends with NUL, `stat` is a buffer of the kernel's own layout.
        unsafe { syscall(libc::SYS_newfstatat, args) }
    })
}

fn identity(ask: impl FnOnce(usize) -> isize) -> Result<Identity> {
    // SAFETY: the structure is numbers only, for which zero is a value.
    let mut stat: libc::stat = unsafe { core::mem::zeroed() };
    done(ask((&raw mut stat).expose_provenance()))?;
    Ok(Identity {
        device: stat.st_dev,
        inode: stat.st_ino,
        mode: stat.st_mode,
        uid: stat.st_uid,
        size: stat.st_size,
    })
}

/// Type and block size of the file system a path lies on.
///
/// # Errors
/// The kernel refuses.
pub fn file_system(path: &CStr) -> Result<(u64, u64)> {
    // SAFETY: the structure is numbers only, for which zero is a value.
    let mut stat: libc::statfs = unsafe { core::mem::zeroed() };
    let args = [path.as_ptr().expose_provenance(), (&raw mut stat).expose_provenance(), 0, 0, 0, 0];
    // SAFETY: the path ends with NUL, the buffer has the kernel's own layout.
    done(unsafe { syscall(libc::SYS_statfs, args) })?;
    Ok((stat.f_type.cast_unsigned(), stat.f_bsize.cast_unsigned()))
}

/// An extended attribute of an application's descriptor: bytes of `into` that were filled.
///
/// # Errors
/// There is none, or `ERANGE`: it is longer.
pub fn attribute(descriptor: c_int, name: &CStr, into: &mut [u8]) -> Result<usize> {
    let args = [
        word(descriptor),
        name.as_ptr().expose_provenance(),
        into.as_mut_ptr().expose_provenance(),
        into.len(),
        0,
        0,
    ];
    // SAFETY: the name ends with NUL, the slice is ours to fill.
    check(unsafe { syscall(libc::SYS_fgetxattr, args) })
}

/// Whether a path has an extended attribute.
#[must_use]
pub fn has_attribute(path: &CStr, name: &CStr) -> bool {
    let (path, name) = (path.as_ptr().expose_provenance(), name.as_ptr().expose_provenance());
    // SAFETY: both texts end with NUL; with no room to fill, only the length is told.
    check(unsafe { syscall(libc::SYS_getxattr, [path, name, 0, 0, 0, 0]) }).is_ok()
}

/// Makes a directory.
///
/// # Errors
/// The kernel refuses; `EEXIST` if it is there.
pub fn make_directory(path: &CStr, mode: u32) -> Result<()> {
    make_directory_in(libc::AT_FDCWD, path, mode)
}

/// The same for a path that is relative to a directory.
///
/// # Errors
/// The kernel refuses; `EEXIST` if it is there.
pub fn make_directory_in(directory: c_int, path: &CStr, mode: u32) -> Result<()> {
    let args = [word(directory), path.as_ptr().expose_provenance(), mode as usize, 0, 0, 0];
    // SAFETY: the path ends with NUL.
    done(unsafe { syscall(libc::SYS_mkdirat, args) })
}

/// Appends bytes by one call to a file of ours that was opened for that.
///
/// # Errors
/// The kernel refuses, or took less.
pub fn append(descriptor: c_int, bytes: &[u8]) -> Result<()> {
    let args = [word(descriptor), bytes.as_ptr().expose_provenance(), bytes.len(), 0, 0, 0];
    // SAFETY: the slice is only read.
    match check(unsafe { syscall(libc::SYS_write, args) }) {
        Ok(taken) if taken == bytes.len() => Ok(()),
        Ok(_) => Err(Refused(libc::ENOSPC)),
        Err(refused) => Err(refused),
    }
}

/// Closes a number that is ours.
pub fn close(descriptor: c_int) {
    drop(Descriptor(descriptor));
}

/// Removes a file.
///
/// # Errors
/// The kernel refuses.
pub fn remove(path: &CStr) -> Result<()> {
    // SAFETY: the path ends with NUL.
    done(unsafe {
        syscall(
            libc::SYS_unlinkat,
            [word(libc::AT_FDCWD), path.as_ptr().expose_provenance(), 0, 0, 0, 0],
        )
    })
}

/// Renames a file.
///
/// # Errors
/// The kernel refuses.
pub fn rename(from: &CStr, to: &CStr) -> Result<()> {
    let here = word(libc::AT_FDCWD);
    let args =
        [here, from.as_ptr().expose_provenance(), here, to.as_ptr().expose_provenance(), 0, 0];
    // SAFETY: both paths end with NUL.
    done(unsafe { syscall(libc::SYS_renameat2, args) })
}

/// Where a symbolic link leads: the part of `into` that was filled.
pub fn read_link<'a>(path: &CStr, into: &'a mut [u8]) -> Option<&'a [u8]> {
    let args = [
        word(libc::AT_FDCWD),
        path.as_ptr().expose_provenance(),
        into.as_mut_ptr().expose_provenance(),
        into.len(),
        0,
        0,
    ];
    // SAFETY: the path ends with NUL, the slice is ours to fill.
    let length = check(unsafe { syscall(libc::SYS_readlinkat, args) }).ok()?;
    into.get(..length)
}

/// The working directory: the part of `into` that was filled, without the NUL.
pub fn working_directory(into: &mut [u8]) -> Option<&[u8]> {
    let args = [into.as_mut_ptr().expose_provenance(), into.len(), 0, 0, 0, 0];
    // SAFETY: the slice is ours to fill.
    let length = check(unsafe { syscall(libc::SYS_getcwd, args) }).ok()?;
    // A directory outside the root is given as "(unreachable)/…".
    into.get(..length.checked_sub(1)?).filter(|path| path.first() == Some(&b'/'))
}

/// The position of an application's descriptor.
#[must_use]
pub fn position(descriptor: c_int) -> Option<u64> {
    let args = [word(descriptor), 0, word(libc::SEEK_CUR), 0, 0, 0];
    // SAFETY: asks only.
    check(unsafe { syscall(libc::SYS_lseek, args) }).ok().map(|position| position as u64)
}

/// The status flags of an application's descriptor.
#[must_use]
pub fn status_flags(descriptor: c_int) -> Option<c_int> {
    let args = [word(descriptor), word(libc::F_GETFL), 0, 0, 0, 0];
    // SAFETY: asks only.
    check(unsafe { syscall(libc::SYS_fcntl, args) }).ok().map(|flags| flags as c_int)
}

/// Which file a descriptor leads to.
///
/// # Errors
/// It is none.
pub fn identity_of(descriptor: c_int) -> Result<Identity> {
    identity(|stat| {
        // SAFETY: `stat` is a buffer of the kernel's own layout.
        unsafe { syscall(libc::SYS_fstat, [word(descriptor), stat, 0, 0, 0, 0]) }
    })
}

/// Nanoseconds of one of the kernel's clocks, by a call where libc would read the processor's counter.
///
/// # Errors
/// The kernel may not be asked.
pub fn clock(id: libc::clockid_t) -> Result<u64> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let args = [word(id), (&raw mut time).expose_provenance(), 0, 0, 0, 0];
    // SAFETY: the buffer outlives the call.
    done(unsafe { syscall(libc::SYS_clock_gettime, args) })?;
    let seconds = time.tv_sec.cast_unsigned().wrapping_mul(1_000_000_000);
    Ok(seconds.wrapping_add(time.tv_nsec.cast_unsigned()))
}

/// Bytes of an application's open file.
#[must_use]
pub fn size(descriptor: c_int) -> Option<u64> {
    identity_of(descriptor).ok().map(|found| found.size.max(0).cast_unsigned())
}

/// A question without arguments: `getpid`, `gettid`, `getppid`, `getuid`, `geteuid`. It cannot fail; the answer
/// is 0 where the process has forbidden itself to ask.
#[must_use]
pub fn ask(number: i64) -> u32 {
    // SAFETY: takes nothing. Ids fit 32 bits.
    let answer = check(unsafe { syscall(number, [0; 6]) });
    answer.map_or(0, |answer| answer as u32)
}

/// Whether a file may grow to `bytes`. Beyond the limit the kernel would send SIGXFSZ.
#[must_use]
pub fn file_size_allowed(bytes: u64) -> bool {
    limit(libc::RLIMIT_FSIZE) >= bytes
}

/// A limit of this process, the largest number if there is none.
#[must_use]
pub fn limit(resource: libc::__rlimit_resource_t) -> u64 {
    let mut limit = [u64::MAX; 2];
    let args = [0, resource as usize, 0, (&raw mut limit).expose_provenance(), 0, 0];
    // SAFETY: the buffer has the kernel's own layout, two 64-bit numbers.
    let asked = unsafe { syscall(libc::SYS_prlimit64, args) };
    if asked < 0 { u64::MAX } else { limit[0] }
}

/// Bytes of addresses and of data in use, as `RLIMIT_AS` and `RLIMIT_DATA` count them, but for some pages.
#[must_use]
pub fn memory_in_use() -> Option<[u64; 2]> {
    let mut buffer = [0_u8; 128];
    let file = open(c"/proc/self/statm", libc::O_RDONLY, 0).ok()?;
    let length = file.read(&mut buffer).ok()?;
    let mut words = buffer.get(..length)?.split(|&byte| byte == b' ');
    let mut pages = |nth| words.nth(nth).and_then(crate::text::decimal);
    let page = crate::arch::page_bytes() as u64;
    let (space, data) = (pages(0)?, pages(4)?);
    Some([space.wrapping_mul(page), data.wrapping_mul(page)])
}

/// The host's name: the part of `into` that was filled.
pub fn host_name(into: &mut [u8; 65]) -> &[u8] {
    // SAFETY: the structure is bytes only, for which zero is a value.
    let mut names: libc::utsname = unsafe { core::mem::zeroed() };
    // SAFETY: the buffer has the kernel's own layout.
    unsafe { syscall(libc::SYS_uname, [(&raw mut names).expose_provenance(), 0, 0, 0, 0, 0]) };
    let mut length = 0_usize;
    for (to, from) in into.iter_mut().zip(names.nodename) {
        if from == 0 {
            break;
        }
        // C's char has a sign on some architectures only.
        *to = from as u8;
        length = length.saturating_add(1);
    }
    into.get(..length).unwrap_or_default()
}

/// The kernel's release: the part of `into` that was filled.
pub fn kernel_release(into: &mut [u8; 65]) -> &[u8] {
    // SAFETY: the structure is bytes only, for which zero is a value.
    let mut names: libc::utsname = unsafe { core::mem::zeroed() };
    // SAFETY: the buffer has the kernel's own layout.
    unsafe { syscall(libc::SYS_uname, [(&raw mut names).expose_provenance(), 0, 0, 0, 0, 0]) };
    let mut length = 0_usize;
    for (to, from) in into.iter_mut().zip(names.release).take_while(|(_, from)| *from != 0) {
        // C's char has a sign on some architectures only.
        *to = from as u8;
        length = length.saturating_add(1);
    }
    into.get(..length).unwrap_or_default()
}

/// Processors that this process may run on; 0 if the kernel does not say.
#[must_use]
pub fn processors() -> u64 {
    let mut mask = [0_u64; 128];
    let args = [0, size_of_val(&mask), mask.as_mut_ptr().expose_provenance(), 0, 0, 0];
    // SAFETY: the kernel fills as much of the mask as it has.
    if check(unsafe { syscall(libc::SYS_sched_getaffinity, args) }).is_err() {
        return 0;
    }
    mask.iter().map(|word| u64::from(word.count_ones())).sum()
}

/// Bytes of the node's memory; 0 if the kernel does not say.
#[must_use]
pub fn memory_bytes() -> u64 {
    // SAFETY: the structure is numbers only, for which zero is a value.
    let mut facts: libc::sysinfo = unsafe { core::mem::zeroed() };
    let args = [(&raw mut facts).expose_provenance(), 0, 0, 0, 0, 0];
    // SAFETY: the buffer has the kernel's own layout.
    if check(unsafe { syscall(libc::SYS_sysinfo, args) }).is_err() {
        return 0;
    }
    facts.totalram.saturating_mul(u64::from(facts.mem_unit))
}

/// Goes through the names in a directory but `.` and `..`.
pub fn each_entry(path: &CStr, mut take: impl FnMut(&[u8])) {
    each_entry_of(path, |_, name| take(name));
}

/// The same, with the number under which the directory is open meanwhile.
fn each_entry_of(path: &CStr, mut take: impl FnMut(c_int, &[u8])) {
    /// Where the length of an entry and its name lie.
    const LENGTH: usize = 16;
    const NAME: usize = 19;
    let Ok(folder) = open(path, libc::O_RDONLY | libc::O_DIRECTORY, 0) else { return };
    let mut buffer = [0_u8; 2048];
    loop {
        let place = buffer.as_mut_ptr().expose_provenance();
        let args = [word(folder.0), place, buffer.len(), 0, 0, 0];
        // SAFETY: the buffer is ours to fill.
        let Ok(filled @ 1..) = check(unsafe { syscall(libc::SYS_getdents64, args) }) else {
            return;
        };
        let mut rest = buffer.get(..filled).unwrap_or_default();
        while let Some(&[low, high]) = rest.get(LENGTH..).and_then(|rest| rest.first_chunk()) {
            let length = usize::from(u16::from_le_bytes([low, high]));
            let name = rest.get(NAME..length).unwrap_or_default();
            let name = name.split(|&byte| byte == 0).next().unwrap_or_default();
            if !matches!(name, b"." | b"..") {
                take(folder.0, name);
            }
            rest = rest.get(length.max(1)..).unwrap_or_default();
        }
    }
}

/// Goes through the process's descriptors, but not the one that it takes to find them.
pub fn each_descriptor(mut take: impl FnMut(c_int)) {
    each_entry_of(c"/proc/self/fd", |own, name| {
        let number = decimal(name).and_then(|number| c_int::try_from(number).ok());
        if let Some(number) = number.filter(|&number| number != own) {
            take(number);
        }
    });
}

/// Writes to a descriptor of the application, for `NETRA_DEBUG` alone.
pub fn say(descriptor: c_int, line: &[u8]) {
    let args = [word(descriptor), line.as_ptr().expose_provenance(), line.len(), 0, 0, 0];
    // SAFETY: the slice is only read.
    unsafe { syscall(libc::SYS_write, args) };
}

/// The session's first process.
#[must_use]
pub fn session() -> u32 {
    // SAFETY: asks only. Ids fit 32 bits.
    unsafe { syscall(libc::SYS_getsid, [0; 6]) as u32 }
}

/// The process group.
#[must_use]
pub fn group() -> u32 {
    // SAFETY: asks only. Ids fit 32 bits.
    unsafe { syscall(libc::SYS_getpgid, [0; 6]) as u32 }
}

/// Where the alternate stack of signal handlers begins, if the calling thread is on it.
///
/// # Errors
/// The kernel may not be asked.
pub fn alternate_stack() -> Result<Option<usize>> {
    let mut stack = libc::stack_t { ss_sp: ptr::null_mut(), ss_flags: 0, ss_size: 0 };
    let args = [0, (&raw mut stack).expose_provenance(), 0, 0, 0, 0];
    // SAFETY: only asks; the structure outlives the call.
    done(unsafe { syscall(libc::SYS_sigaltstack, args) })?;
    Ok((stack.ss_flags & libc::SS_ONSTACK != 0).then(|| stack.ss_sp.addr()))
}

/// Copies from our own memory; false instead of a signal where nothing is mapped.
pub fn peek(at: u64, into: &mut [u8]) -> bool {
    let length = into.len();
    let local = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: length };
    let place = ptr::with_exposed_provenance_mut(at as usize);
    let remote = libc::iovec { iov_base: place, iov_len: length };
    let args = [
        ask(libc::SYS_getpid) as usize,
        (&raw const local).expose_provenance(),
        1,
        (&raw const remote).expose_provenance(),
        1,
        0,
    ];
    // SAFETY: both descriptions outlive the call; the kernel checks the addresses.
    let copied = unsafe { syscall(libc::SYS_process_vm_readv, args) };
    copied == length.cast_signed()
}

/// Goes through the lines of a file; the front of one longer than 4 KiB is left out.
pub fn each_line(path: &CStr, take: impl FnMut(&[u8])) {
    each_line_through(&mut [0; 4096], path, take);
}

/// The same with a buffer of the caller's, for who may have little stack.
pub fn each_line_through(buffer: &mut [u8; 4096], path: &CStr, mut take: impl FnMut(&[u8])) {
    let Ok(file) = open(path, libc::O_RDONLY, 0) else { return };
    let mut held = 0_usize;
    loop {
        let count = file.read(buffer.get_mut(held..).unwrap_or_default()).unwrap_or(0);
        let filled = held.saturating_add(count);
        let mut from = 0_usize;
        while let Some(rest) = buffer.get(from..filled)
            && let Some(end) = rest.iter().position(|&byte| byte == b'\n')
        {
            take(rest.get(..end).unwrap_or_default());
            from = from.saturating_add(end).saturating_add(1);
        }
        if count == 0 {
            return;
        }
        held = filled.saturating_sub(from);
        if held == buffer.len() {
            held = 0;
        }
        // The start of a line that goes on moves to the front.
        for at in 0..held {
            let byte = buffer.get(from.saturating_add(at)).copied().unwrap_or(0);
            if let Some(to) = buffer.get_mut(at) {
                *to = byte;
            }
        }
    }
}

/// Sleeps for some nanoseconds, less than a second.
pub fn sleep(nanos: u32) {
    let time = libc::timespec { tv_sec: 0, tv_nsec: i64::from(nanos.min(999_999_999)) };
    let at = (&raw const time).expose_provenance();
    // SAFETY: the time outlives the call. An interruption ends the sleep, which is all right.
    unsafe { syscall(libc::SYS_nanosleep, [at, 0, 0, 0, 0, 0]) };
}

/// Lets another thread run.
pub fn give_way() {
    // SAFETY: takes nothing.
    unsafe { syscall(libc::SYS_sched_yield, [0; 6]) };
}

/// The kernel takes C's int sign-extended in a register.
fn word(value: c_int) -> usize {
    value as isize as usize
}

fn check(done: isize) -> Result<usize> {
    if (-4095..0).contains(&done) {
        // Error numbers are below 4,096.
        Err(Refused(done.wrapping_neg() as i32))
    } else {
        Ok(done.cast_unsigned())
    }
}

fn done(result: isize) -> Result<()> {
    check(result).map(|_| ())
}

/// The one door to the kernel, in tests: a test may stand in it and answer calls itself.
#[cfg(test)]
pub(crate) mod fake {
    use std::cell::RefCell;

    /// Answers a call, or lets it pass.
    type Answer = Box<dyn FnMut(i64, [usize; 6]) -> Option<isize>>;

    std::thread_local! {
        static ANSWER: RefCell<Option<Answer>> = const { RefCell::new(None) };
    }

    /// Answers this thread's calls while `body` runs.
    pub(crate) fn answering<T>(
        answer: impl FnMut(i64, [usize; 6]) -> Option<isize> + 'static,
        body: impl FnOnce() -> T,
    ) -> T {
        ANSWER.with(|place| *place.borrow_mut() = Some(Box::new(answer)));
        let done = body();
        ANSWER.with(|place| *place.borrow_mut() = None);
        done
    }

    pub(super) unsafe fn syscall(number: i64, args: [usize; 6]) -> isize {
        let answer = ANSWER.with(|place| match place.try_borrow_mut() {
            Ok(mut place) => place.as_mut().and_then(|answer| answer(number, args)),
            Err(_) => None,
        });
        // SAFETY: the caller vouches.
        answer.unwrap_or_else(|| unsafe { crate::arch::syscall(number, args) })
    }
}
