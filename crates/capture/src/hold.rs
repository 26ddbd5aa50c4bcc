//! Files that are held open because they are about to be out of reach: `chroot` takes the path to them away, another
//! user the right. They are held under high numbers and checked before each use: an application may close everything.

use core::ffi::c_int;
use core::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};

use crate::sys::{self, Descriptor, Identity};

/// Numbers an application hands out itself lie below, as a rule.
const LEAST: c_int = 200;

/// A file that is found again: device and inode, 0 before it is known.
pub struct Mark {
    device: AtomicU64,
    inode: AtomicU64,
}

impl Mark {
    /// None yet.
    pub(crate) const fn new() -> Mark {
        Mark { device: AtomicU64::new(0), inode: AtomicU64::new(0) }
    }

    /// Remembers a file.
    pub fn set(&self, found: &Identity) {
        self.device.store(found.device, Ordering::Relaxed);
        self.inode.store(found.inode, Ordering::Relaxed);
    }

    /// Whether it is this one.
    pub fn is(&self, found: &Identity) -> bool {
        self.device.load(Ordering::Relaxed) == found.device
            && self.inode.load(Ordering::Relaxed) == found.inode
    }
}

/// A file that is held.
pub struct Held {
    mark: Mark,
    owner: AtomicU32,
    number: AtomicI32,
}

/// The directory of segments of whom this process is, or will be.
pub static SEGMENTS: Held = Held::new();
/// The roll of this host.
pub static ROLL: Held = Held::new();

impl Held {
    const fn new() -> Held {
        Held { mark: Mark::new(), owner: AtomicU32::new(0), number: AtomicI32::new(0) }
    }

    /// Holds a file, instead of what was held here before; false if the kernel refuses.
    pub fn keep(&self, file: &Descriptor) -> bool {
        let Ok(found) = file.identity() else { return false };
        if let Some(number) = self.number() {
            if self.mark.is(&found) {
                return true;
            }
            sys::close(number);
        }
        self.number.store(0, Ordering::Release);
        let Ok(number) = file.hold(LEAST) else { return false };
        self.mark.set(&found);
        self.owner.store(found.uid, Ordering::Relaxed);
        self.number.store(number.wrapping_add(1), Ordering::Release);
        true
    }

    /// Holds nothing any more.
    pub fn release(&self) {
        if let Some(number) = self.number() {
            sys::close(number);
        }
        self.number.store(0, Ordering::Release);
    }

    /// Its number, if it is held and still what it was.
    pub fn number(&self) -> Option<c_int> {
        let number = self.number.load(Ordering::Acquire).checked_sub(1).filter(|&at| at >= 0)?;
        sys::identity_of(number).is_ok_and(|found| self.mark.is(&found)).then_some(number)
    }

    /// The same, if it belongs to this user.
    pub fn number_of(&self, user: u32) -> Option<c_int> {
        self.number().filter(|_| self.owner.load(Ordering::Relaxed) == user)
    }

    /// Whether anything was ever held.
    pub fn is_known(&self) -> bool {
        self.number.load(Ordering::Relaxed) != 0
    }
}
