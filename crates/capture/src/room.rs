//! How much memory netra may take. Where the process's address space or its data is limited (`ulimit -v`,
//! `ulimit -d`, batch systems), what we map is what the application lacks: then all of ours together is a
//! small share of what is left, and where that is too little for anything, netra stays out.

use crate::sys;

/// Of what is left under a limit, private memory and the segment may each take so small a part.
const SHARE: u64 = 256;

/// Bytes that are left under each limit; without a limit no number is larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    address_space: u64,
    data: u64,
}

impl Room {
    /// The most private memory that may be taken.
    #[must_use]
    pub fn memory(self) -> u64 {
        self.address_space.min(self.data) / SHARE
    }

    /// The most of a file that may be mapped.
    #[must_use]
    pub fn mapped(self) -> u64 {
        self.address_space / SHARE
    }
}

/// What is left now.
#[must_use]
pub fn left() -> Room {
    let limits = [sys::limit(libc::RLIMIT_AS), sys::limit(libc::RLIMIT_DATA)];
    if limits == [u64::MAX; 2] {
        return Room { address_space: u64::MAX, data: u64::MAX };
    }
    // Where the kernel does not say what is in use, it may be half.
    let used = sys::memory_in_use().unwrap_or_else(|| limits.map(|limit| limit / 2));
    let [address_space, data] = [0, 1].map(|which| match (limits.get(which), used.get(which)) {
        (Some(&u64::MAX), _) => u64::MAX,
        (Some(limit), Some(used)) => limit.saturating_sub(*used),
        _ => 0,
    });
    Room { address_space, data }
}

#[cfg(test)]
mod tests {
    use super::{Room, left};
    use crate::sys::fake;

    const NOWHERE: u64 = u64::MAX;

    /// What is left where the kernel gives these limits, and 100 pages are mapped, 20 of them data.
    fn under(address_space: u64, data: u64) -> Room {
        let answer = move |number: i64, args: [usize; 6]| match number {
            libc::SYS_prlimit64 => {
                let limit = if args[1] == libc::RLIMIT_AS as usize { address_space } else { data };
                let place = core::ptr::with_exposed_provenance_mut::<[u64; 2]>(args[3]);
                // SAFETY: the caller's buffer.
                unsafe { place.write([limit, NOWHERE]) };
                Some(0)
            }
            libc::SYS_openat => Some(1000),
            libc::SYS_read => {
                let line = b"100 30 10 5 0 20 0\n";
                let place = core::ptr::with_exposed_provenance_mut::<u8>(args[1]);
                // SAFETY: the caller's buffer, which is longer.
                unsafe { place.copy_from(line.as_ptr(), line.len()) };
                Some(line.len() as isize)
            }
            libc::SYS_close => Some(0),
            _ => None,
        };
        fake::answering(answer, left)
    }

    #[test]
    fn a_small_share_of_what_a_limit_leaves() {
        assert_eq!(under(NOWHERE, NOWHERE).memory(), NOWHERE / 256);
        let tight = under(4096 * 1124, NOWHERE);
        assert_eq!((tight.memory(), tight.mapped()), (4096 * 4, 4096 * 4));
        let data = under(NOWHERE, 4096 * 276);
        assert_eq!((data.memory(), data.mapped()), (4096, NOWHERE / 256));
        assert_eq!(under(4096 * 50, 4096 * 10).memory(), 0, "less is allowed than is there");
    }
}
