//! The roll: who there was in a job. One file a host, to which a process appends an entry of fixed size the moment it
//! begins, and its parent one for whom it starts without us. Bytes that are no entry are passed over.
//! `docs/format/roll.md` is the page of grammar.

use core::fmt;

/// The bytes that an entry begins with.
pub const MAGIC: [u8; 4] = *b"NROL";
/// The version of this layout.
pub const VERSION: u16 = 1;
/// Bytes of an entry: small enough that a kernel appends it at once.
pub const BYTES: usize = 256;
/// Bytes of a name in it.
pub const NAME: usize = 192;
/// What the name of a roll's file begins with; the host's name follows.
pub const FILE: &str = "roll.";

/// What an entry says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
pub enum Kind {
    /// A program began, with us in it; the name is its executable.
    Began = 1,
    /// It has something to record, from now on in the segment of this name; without a name only in its memory.
    SetUp = 2,
    /// It is not recorded, by its own word; the name is its executable.
    Out = 3,
    /// It becomes, or has started, a program that is not recorded, whose name this is.
    Passed = 4,
    /// The last such did not come about.
    Undone = 5,
    /// It goes on as another user.
    User = 6,
}

impl Kind {
    /// The kind with this code, if it is known.
    #[must_use]
    pub const fn from_code(code: u16) -> Option<Kind> {
        match code {
            1 => Some(Kind::Began),
            2 => Some(Kind::SetUp),
            3 => Some(Kind::Out),
            4 => Some(Kind::Passed),
            5 => Some(Kind::Undone),
            6 => Some(Kind::User),
            _ => None,
        }
    }
}

macro_rules! absences {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $slug:literal, $text:literal;)*) => {
        /// Why a process is not recorded, or not to its end.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u32)]
        pub enum Absence { $($(#[$doc])* $name = $code),* }

        impl Absence {
            /// Every reason, in the order of their codes.
            pub const ALL: &[Absence] = &[$(Absence::$name),*];

            /// The reason with this code, if it is known.
            #[must_use]
            pub const fn from_code(code: u32) -> Option<Absence> {
                match code { $($code => Some(Absence::$name),)* _ => None }
            }

            /// The reason with this slug, if it is known.
            #[must_use]
            pub fn from_slug(slug: &str) -> Option<Absence> {
                Absence::ALL.iter().copied().find(|absence| absence.slug() == slug)
            }

            /// A stable word for JSON and logs.
            #[must_use]
            pub const fn slug(self) -> &'static str {
                match self { $(Absence::$name => $slug),* }
            }
        }

        impl fmt::Display for Absence {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(match self { $(Absence::$name => $text),* })
            }
        }
    };
}

absences! {
    /// There is no loader that could add a library.
    Static = 1, "static", "statically linked";
    /// Not glibc.
    OtherLibc = 2, "other_libc", "made for another C library";
    /// Go's runtime makes its system calls itself.
    Go = 3, "go", "written in Go, whose system calls do not pass through the C library";
    /// `LD_PRELOAD` is not in the environment that it was given.
    Cleared = 4, "cleared_environment", "started without LD_PRELOAD in the environment";
    /// The loader leaves preloaded libraries out of programs with more rights than whoever starts them.
    Rights = 5, "other_rights", "setuid, setgid or with capabilities: the loader leaves the library out";
    /// Made for another processor.
    Machine = 6, "other_machine", "made for another processor";
    /// No memory for what is recorded.
    NoRoom = 7, "no_room", "without room for what would be recorded";
    /// It was confined before it could be set up.
    Sandbox = 8, "sandbox", "confined before anything could be recorded";
    /// Another user's part cannot be read.
    User = 9, "other_user", "of another user, whose part can not be read";
    /// Its part lies on another host.
    Host = 10, "other_host", "on another host, and their part is not here";
    /// It ended before its part was where somebody finds it.
    Killed = 11, "killed", "ended before what was recorded was safe";
    /// It goes on.
    Running = 12, "running", "still running";
    /// `--only` or `--except`.
    Chosen = 13, "chosen", "left out by --only or --except";
    /// The table of programs that are left out unless they are asked for.
    Default = 14, "default", "left out unless asked for, as they give up rights or confine themselves";
    /// `NETRA_DISABLE`.
    Disabled = 15, "disabled", "left out by NETRA_DISABLE";
    /// MPI counts a rank that nobody saw.
    Unseen = 16, "unseen_rank", "ranks that MPI counts and nobody saw";
    /// The library's file is out of its reach.
    Unreadable = 17, "unreadable", "where netra's library can not be read";
    /// A reason that this netra does not know.
    Unknown = 255, "unknown", "left out for a reason that this netra does not know";
}

impl Absence {
    /// Whether somebody wished it: nothing is missing then.
    #[must_use]
    pub const fn is_wished(self) -> bool {
        matches!(self, Absence::Chosen | Absence::Default | Absence::Disabled)
    }
}

/// One entry. A number that is not known is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry<'a> {
    /// What it says.
    pub kind: Kind,
    /// Why, where somebody is not recorded: an [`Absence`].
    pub why: u32,
    /// The process, in its own namespace.
    pub pid: u32,
    /// Its parent.
    pub parent: u32,
    /// Its user; the one it goes on as where it says so.
    pub uid: u32,
    /// Its rank plus one.
    pub rank_plus_one: u32,
    /// Ranks of its job.
    pub nprocs: u32,
    /// The inode of its PID namespace.
    pub namespace: u64,
    /// When the process was started, in the kernel's clock ticks since boot: field 22 of its `stat`.
    pub start: u64,
    /// Nanoseconds since 1970: when its recording began, or when this was written.
    pub time: u64,
    /// A path; of one that is too long, its end.
    pub name: &'a [u8],
}

const KIND: usize = 6;
const NUMBERS: usize = 8;
const WIDE: usize = 32;
const NAME_LENGTH: usize = 56;
const _: () = assert!(NAME_LENGTH + 8 + NAME == BYTES);

impl<'a> Entry<'a> {
    /// The entry's bytes.
    #[must_use]
    pub fn encode(&self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        let name = self.name.get(self.name.len().saturating_sub(NAME)..).unwrap_or_default();
        let numbers = [self.why, self.pid, self.parent, self.uid, self.rank_plus_one, self.nprocs];
        let parts = [
            (0, &MAGIC[..]),
            (4, &VERSION.to_le_bytes()),
            (KIND, &(self.kind as u16).to_le_bytes()),
            (WIDE, &self.namespace.to_le_bytes()),
            (WIDE + 8, &self.start.to_le_bytes()),
            (WIDE + 16, &self.time.to_le_bytes()),
            (NAME_LENGTH, &(name.len() as u32).to_le_bytes()),
            (BYTES - NAME, name),
        ];
        let mut put = |at: usize, part: &[u8]| {
            for (to, from) in bytes.iter_mut().skip(at).zip(part) {
                *to = *from;
            }
        };
        for (at, part) in parts {
            put(at, part);
        }
        for (place, number) in numbers.iter().enumerate() {
            put(NUMBERS + 4 * place, &number.to_le_bytes());
        }
        bytes
    }

    /// Reads an entry; nothing if it is none that this build understands.
    #[must_use]
    pub fn decode(bytes: &'a [u8; BYTES]) -> Option<Entry<'a>> {
        let narrow = |at: usize| {
            bytes
                .get(at..)
                .and_then(|rest| rest.first_chunk())
                .map(|word| u32::from_le_bytes(*word))
        };
        let wide = |at: usize| {
            bytes
                .get(at..)
                .and_then(|rest| rest.first_chunk())
                .map(|word| u64::from_le_bytes(*word))
        };
        let kinds = narrow(4)?;
        if bytes.first_chunk() != Some(&MAGIC) || kinds & 0xffff != u32::from(VERSION) {
            return None;
        }
        let length = usize::try_from(narrow(NAME_LENGTH)?).ok()?;
        Some(Entry {
            // The upper half of a word fits 16 bits.
            kind: Kind::from_code((kinds >> 16) as u16)?,
            why: narrow(NUMBERS)?,
            pid: narrow(NUMBERS + 4)?,
            parent: narrow(NUMBERS + 8)?,
            uid: narrow(NUMBERS + 12)?,
            rank_plus_one: narrow(NUMBERS + 16)?,
            nprocs: narrow(NUMBERS + 20)?,
            namespace: wide(WIDE)?,
            start: wide(WIDE + 8)?,
            time: wide(WIDE + 16)?,
            name: bytes.get(BYTES - NAME..)?.get(..length)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &[u8]) -> Entry<'_> {
        Entry {
            kind: Kind::Passed,
            why: Absence::Go as u32,
            pid: 1,
            parent: 2,
            uid: 3,
            rank_plus_one: 4,
            nprocs: 5,
            namespace: 6 << 32,
            start: 7 << 32,
            time: 8 << 32,
            name,
        }
    }

    #[test]
    fn bytes_lead_back() {
        let bytes = entry(b"/bin/true").encode();
        assert_eq!(Entry::decode(&bytes), Some(entry(b"/bin/true")));
        let long = [b'x'; 300];
        let bytes = entry(&long).encode();
        assert_eq!(Entry::decode(&bytes), Some(entry(&long[..NAME])));
    }

    #[test]
    fn what_is_no_entry_is_none() {
        let good = entry(b"a").encode();
        for (at, wrong) in [(0, b'x'), (4, 9), (KIND, 99), (NAME_LENGTH, 193)] {
            let mut bytes = good;
            bytes[at] = wrong;
            assert_eq!(Entry::decode(&bytes), None, "{at}");
        }
    }

    #[test]
    fn reasons_lead_back() {
        for &absence in Absence::ALL {
            assert_eq!(Absence::from_code(absence as u32), Some(absence));
            assert_eq!(Absence::from_slug(absence.slug()), Some(absence));
        }
        assert_eq!(Absence::from_code(99), None);
    }
}
