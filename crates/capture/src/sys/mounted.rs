//! What is mounted where a path leads, asked of the kernel for that path alone (Linux 6.8): the list of all
//! mounts takes it ten times as long to write.

use core::ffi::CStr;

use crate::arch;

use super::{Refused, Result, check, done, syscall, word};

/// A mount: where it is, and what type it has.
#[derive(Debug)]
pub struct Mounted<'a> {
    buffer: &'a [u8],
}

impl<'a> Mounted<'a> {
    /// Where the texts begin, to which offsets are counted.
    const TEXTS: usize = 512;
    const TYPE: usize = 36;
    const POINT: usize = 108;

    /// The mount that a path leads to; the answer goes into the buffer.
    ///
    /// # Errors
    /// The kernel is older, or refuses, or valgrind stands before it, or the answer is too long.
    pub fn at(path: &CStr, buffer: &'a mut [u8]) -> Result<Mounted<'a>> {
        /// `STATMOUNT_MNT_POINT` and `STATMOUNT_FS_TYPE`.
        const WANTED: u64 = 0x10 | 0x20;
        const STATMOUNT: i64 = 457;
        // Where the call is not known, that would be said where the application speaks.
        if arch::simulated() {
            return Err(Refused(libc::ENOSYS));
        }
        // The length of the question, the mount, and what is wanted of it.
        let question = [24, number(path)?, WANTED];
        let (place, bytes) = (buffer.as_mut_ptr().expose_provenance(), buffer.len());
        let args = [(&raw const question).expose_provenance(), place, bytes, 0, 0, 0];
        // SAFETY: the question is as long as it says; the kernel fills the buffer up to its length.
        done(unsafe { syscall(STATMOUNT, args) })?;
        let mounted = Mounted { buffer };
        let mask = mounted.buffer.get(8..).and_then(|rest| rest.first_chunk());
        if mask.is_none_or(|mask| u64::from_le_bytes(*mask) & WANTED != WANTED) {
            return Err(Refused(libc::ENOSYS));
        }
        Ok(mounted)
    }

    /// Where it is mounted.
    #[must_use]
    pub fn point(&self) -> &'a [u8] {
        self.text(Self::POINT)
    }

    /// Its type.
    #[must_use]
    pub fn kind(&self) -> &'a [u8] {
        self.text(Self::TYPE)
    }

    fn text(&self, field: usize) -> &'a [u8] {
        let offset = self.buffer.get(field..).and_then(|rest| rest.first_chunk());
        let offset = offset.map_or(0, |offset| u32::from_le_bytes(*offset));
        let text = self.buffer.get(Self::TEXTS.saturating_add(offset as usize)..);
        text.unwrap_or_default().split(|&byte| byte == 0).next().unwrap_or_default()
    }
}

/// The number of the mount that a path leads to, which is never given to another one.
fn number(path: &CStr) -> Result<u64> {
    /// `STATX_MNT_ID_UNIQUE`.
    const WANTED: u32 = 0x4000;
    /// Where `struct statx` has it.
    const MOUNT: usize = 18;
    /// What is known here will do: nobody asks a server.
    const AT_ONCE: i32 = libc::AT_STATX_DONT_SYNC | libc::AT_NO_AUTOMOUNT;
    let mut found = [0_u64; 32];
    let args = [
        word(libc::AT_FDCWD),
        path.as_ptr().expose_provenance(),
        word(AT_ONCE),
        WANTED as usize,
        (&raw mut found).expose_provenance(),
        0,
    ];
    // SAFETY: the path ends with NUL; the buffer has the 256 bytes of `struct statx`.
    check(unsafe { syscall(libc::SYS_statx, args) })?;
    // The low half of the first word tells what was filled in.
    if found[0] as u32 & WANTED == 0 {
        return Err(Refused(libc::ENOSYS));
    }
    Ok(found[MOUNT])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a kernel that can say it, the answer is a line of the list.
    #[test]
    fn a_path_leads_to_a_mount_of_the_list() {
        let list = std::fs::read_to_string("/proc/self/mounts").unwrap();
        for path in [c"/", c"/proc/self/stat", c"/dev/shm"] {
            let mut buffer = [0; 4096];
            let mounted = match Mounted::at(path, &mut buffer) {
                Err(Refused(libc::ENOSYS)) => return,
                mounted => mounted.unwrap(),
            };
            let said = std::format!(
                " {} {} ",
                mounted.point().escape_ascii(),
                mounted.kind().escape_ascii()
            );
            assert!(list.lines().any(|line| line.contains(&said)), "{said}\n{list}");
        }
        assert!(Mounted::at(c"/netra has no such file", &mut [0; 4096]).is_err());
    }
}
