//! The frame: what travels between daemons and lies in their spools. `docs/format/frame.md` is the
//! page of grammar; here are its head and its codes, no more.
//!
//! A frame carries items of one kind from one producer: a range `from .. from + count` of them. The
//! range is the frame's name, so a receiver knows what it already has.

/// The first bytes of a frame.
pub const MAGIC: [u8; 4] = *b"NTRF";
/// The version of this layout.
pub const VERSION: u16 = 1;
/// Bytes of a head.
pub const HEAD_BYTES: usize = 72;
/// The largest body, stored or unpacked; a head that claims more is refused before anything is
/// read.
pub const LARGEST_BODY: u32 = 4 << 20;

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $slug:literal;)*) => {
        /// What a frame carries.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Kind { $($(#[$doc])* $name = $code),* }

        impl Kind {
            /// Every kind, in the order of their codes.
            pub const ALL: &[Kind] = &[$(Kind::$name),*];

            /// The kind with this code, if it is known.
            #[must_use]
            pub const fn from_code(code: u8) -> Option<Kind> {
                match code { $($code => Some(Kind::$name),)* _ => None }
            }

            /// A stable word for metrics and messages.
            #[must_use]
            pub const fn slug(self) -> &'static str {
                match self { $(Kind::$name => $slug),* }
            }
        }
    };
}

kinds! {
    /// Slots of one lane of one process; `count` slots of which `events` begin an event.
    Events = 1, "events";
    /// More of a segment's growing regions: names, files, mounts, objects, call sites, stacks,
    /// extensions, notes.
    Tables = 2, "tables";
    /// A segment's header and changing regions as they are now: lanes, calls, records, heatmaps.
    Snapshot = 3, "snapshot";
    /// A process began or ended, and what is known about it.
    Life = 4, "life";
    /// What a process's lanes have produced and dropped, and what was read of them.
    Ledger = 5, "ledger";
    /// System metrics of a node.
    Metrics = 6, "metrics";
    /// A published message with its tag.
    Message = 7, "message";
    /// Who calls, and which versions it speaks; the first frame of a connection.
    Hello = 129, "hello";
    /// The answer to a hello: the version that is spoken from now on, and limits.
    Welcome = 130, "welcome";
    /// How many frames of this connection are durable.
    Ack = 131, "ack";
    /// The connection ends, and why.
    Refusal = 132, "refusal";
    /// A question that only who knows the secret can answer.
    Challenge = 133, "challenge";
    /// The answer to a challenge.
    Proof = 134, "proof";
    /// A wish to get a tag's messages.
    Subscribe = 135, "subscribe";
    /// Messages that a slow subscriber did not get.
    Missed = 136, "missed";
    /// Nothing, to see whether the other side is there.
    Ping = 137, "ping";
}

impl Kind {
    /// Whether it is said between two daemons and neither stored nor passed on.
    #[must_use]
    pub const fn is_control(self) -> bool {
        self as u8 >= 128
    }
}

/// How a body is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum Packing {
    /// As it is.
    #[default]
    Plain = 0,
    /// One LZ4 block.
    Lz4 = 1,
}

impl Packing {
    /// The packing with this code, if it is known.
    #[must_use]
    pub const fn from_code(code: u8) -> Option<Packing> {
        match code {
            0 => Some(Packing::Plain),
            1 => Some(Packing::Lz4),
            _ => None,
        }
    }
}

/// Who made what a frame carries: a process of a job, or a daemon itself. Unique for ever: a host
/// does not start two processes with one number in the same nanosecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Producer {
    /// [`crate::jenkins64`] of the host's name with seed 0.
    pub host: u64,
    /// When its recording began, nanoseconds since 1970.
    pub start: u64,
    /// Its number.
    pub pid: u32,
}

/// The head of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// What the body is.
    pub kind: Kind,
    /// How it is packed.
    pub packing: Packing,
    /// Bytes of the body as they follow.
    pub stored: u32,
    /// Bytes of the body when unpacked.
    pub raw: u32,
    /// Who made it.
    pub producer: Producer,
    /// The lane of events; for other kinds a row of its own, numbered from 0.
    pub lane: u32,
    /// Index of the first item.
    pub from: u64,
    /// Items: slots of events, one for each frame of other kinds.
    pub count: u32,
    /// Events among the slots; items for other kinds.
    pub events: u32,
    /// When the frame was made, nanoseconds since 1970 on the clock of who made it.
    pub time: u64,
    /// CRC-32 of the body as stored.
    pub body_sum: u32,
}

/// Why bytes are not the head of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    /// They do not begin as a frame does.
    Magic,
    /// A version this build does not read.
    Version(u16),
    /// A kind this build does not know.
    Kind(u8),
    /// A packing this build does not know.
    Packing(u8),
    /// A body beyond [`LARGEST_BODY`].
    Length(u32),
    /// The head's own checksum does not match.
    Sum,
}

impl core::fmt::Display for Flaw {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Flaw::Magic => f.write_str("not a frame"),
            Flaw::Version(found) => {
                write!(f, "frame of version {found}; this netra reads {VERSION}")
            }
            Flaw::Kind(found) => write!(f, "frame of unknown kind {found}"),
            Flaw::Packing(found) => write!(f, "frame with unknown packing {found}"),
            Flaw::Length(found) => {
                write!(f, "frame of {found} bytes; at most {LARGEST_BODY} are taken")
            }
            Flaw::Sum => f.write_str("the checksum of a frame's head does not match"),
        }
    }
}

impl core::error::Error for Flaw {}

/// Bytes of the head that its checksum covers; the checksum follows them.
pub const SUMMED_BYTES: usize = HEAD_BYTES - 4;

impl Head {
    /// The head's bytes; `sum` computes the CRC-32 of the part before the checksum.
    #[must_use]
    pub fn encode(&self, sum: impl FnOnce(&[u8]) -> u32) -> [u8; HEAD_BYTES] {
        let mut out = [0; HEAD_BYTES];
        let mut at = 0;
        let mut put = |bytes: &[u8]| {
            for (to, from) in out.iter_mut().skip(at).zip(bytes) {
                *to = *from;
            }
            at += bytes.len();
        };
        put(&MAGIC);
        put(&VERSION.to_le_bytes());
        put(&[self.kind as u8, self.packing as u8]);
        put(&self.stored.to_le_bytes());
        put(&self.raw.to_le_bytes());
        put(&self.producer.host.to_le_bytes());
        put(&self.producer.start.to_le_bytes());
        put(&self.producer.pid.to_le_bytes());
        put(&self.lane.to_le_bytes());
        put(&self.from.to_le_bytes());
        put(&self.count.to_le_bytes());
        put(&self.events.to_le_bytes());
        put(&self.time.to_le_bytes());
        put(&self.body_sum.to_le_bytes());
        let sum = sum(out.get(..SUMMED_BYTES).unwrap_or_default());
        if let Some(place) = out.last_chunk_mut::<4>() {
            *place = sum.to_le_bytes();
        }
        out
    }

    /// Reads a head.
    ///
    /// # Errors
    /// The bytes are not one, or one of another version, or claim a body that is too large.
    pub fn decode(bytes: &[u8; HEAD_BYTES], sum: impl FnOnce(&[u8]) -> u32) -> Result<Head, Flaw> {
        if !bytes.starts_with(&MAGIC) {
            return Err(Flaw::Magic);
        }
        let version = u16::from_le_bytes([bytes[4], bytes[5]]);
        if version != VERSION {
            return Err(Flaw::Version(version));
        }
        if sum(&bytes[..SUMMED_BYTES]) != word(bytes, SUMMED_BYTES) {
            return Err(Flaw::Sum);
        }
        let (stored, raw) = (word(bytes, 8), word(bytes, 12));
        if stored.max(raw) > LARGEST_BODY {
            return Err(Flaw::Length(stored.max(raw)));
        }
        Ok(Head {
            kind: Kind::from_code(bytes[6]).ok_or(Flaw::Kind(bytes[6]))?,
            packing: Packing::from_code(bytes[7]).ok_or(Flaw::Packing(bytes[7]))?,
            stored,
            raw,
            producer: Producer {
                host: long(bytes, 16),
                start: long(bytes, 24),
                pid: word(bytes, 32),
            },
            lane: word(bytes, 36),
            from: long(bytes, 40),
            count: word(bytes, 48),
            events: word(bytes, 52),
            time: long(bytes, 56),
            body_sum: word(bytes, 64),
        })
    }
}

fn word(bytes: &[u8; HEAD_BYTES], at: usize) -> u32 {
    let word = bytes.get(at..).and_then(|rest| rest.first_chunk());
    u32::from_le_bytes(*word.unwrap_or(&[0; 4]))
}

fn long(bytes: &[u8; HEAD_BYTES], at: usize) -> u64 {
    let word = bytes.get(at..).and_then(|rest| rest.first_chunk());
    u64::from_le_bytes(*word.unwrap_or(&[0; 8]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head() -> Head {
        Head {
            kind: Kind::Events,
            packing: Packing::Lz4,
            stored: 0x0101,
            raw: 0x0202,
            producer: Producer { host: 3, start: 4, pid: 5 },
            lane: 6,
            from: 7,
            count: 8,
            events: 9,
            time: 10,
            body_sum: 11,
        }
    }

    fn sum(bytes: &[u8]) -> u32 {
        bytes.iter().fold(17, |sum: u32, &byte| sum.rotate_left(5) ^ u32::from(byte))
    }

    #[test]
    fn a_head_comes_back() {
        let bytes = head().encode(sum);
        assert_eq!(&bytes[..12], b"NTRF\x01\x00\x01\x01\x01\x01\0\0");
        assert_eq!(Head::decode(&bytes, sum), Ok(head()));
    }

    #[test]
    fn every_changed_byte_is_noticed() {
        let good = head().encode(sum);
        for at in 0..HEAD_BYTES {
            let mut bytes = good;
            bytes[at] ^= 0x40;
            assert!(Head::decode(&bytes, sum).is_err(), "byte {at}");
        }
    }

    #[test]
    fn a_claim_beyond_the_limit_is_refused() {
        let claim = Head { raw: LARGEST_BODY + 1, ..head() };
        let found = Head::decode(&claim.encode(sum), sum);
        assert_eq!(found, Err(Flaw::Length(LARGEST_BODY + 1)));
    }

    #[test]
    fn codes_lead_back_and_control_stays_apart() {
        for &kind in Kind::ALL {
            assert_eq!(Kind::from_code(kind as u8), Some(kind));
        }
        assert!(!Kind::Message.is_control() && Kind::Hello.is_control());
    }
}
