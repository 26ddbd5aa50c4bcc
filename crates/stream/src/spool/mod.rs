//! The spool: frames on disk, from when they came until every sink has them. An append-only row of
//! files, each frame with its own checksums; `docs/format/spool.md` is the page of grammar.
//!
//! A place in the spool is a *position*: the number of bytes of frames before it since the spool
//! began. Files are named by the position they begin with, so nothing else says where a frame is.
//!
//! **Full.** The spool never drops what it holds: it refuses more ([`Refused::Full`]), and whoever
//! offered it waits. So the only place where events are lost is the lane, which counts them. Room comes from
//! files that nobody needs any more; after a refusal that goes for the last one, too.
//!
//! **Failure.** A write that fails is taken back by cutting the file; if even that fails, the file is
//! closed as it is and the next frame goes to a new one. After a failed sync nobody knows what is
//! on disk: the spool takes nothing more until it is opened again.

mod reader;
mod recovery;
mod reserve;
mod storage;

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

pub use reader::{Piece, Reader};
pub use recovery::Damage;
pub use storage::{Folder, Storage, Stored};

/// The first bytes of a spool file.
pub const MAGIC: [u8; 8] = *b"NTRSPOOL";
/// The version of its layout.
pub const VERSION: u32 = 1;
/// Bytes before the first frame: magic, version, reserved, spool's id, position.
pub const HEADER_BYTES: u64 = 32;

/// Why a frame was not taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// There is no room within the limit, or on the disk.
    #[error("the spool is full")]
    Full,
    /// The disk failed.
    #[error("the spool can not be written")]
    Failed(#[source] io::Error),
}

/// How large a spool may become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of all files.
    pub total: u64,
    /// Bytes of one file.
    pub file: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { total: 1 << 30, file: 16 << 20 }
    }
}

/// One file of the row: where its frames begin and how many bytes they take.
#[derive(Debug, Clone)]
struct Span {
    base: u64,
    bytes: u64,
}

impl Span {
    fn end(&self) -> u64 {
        self.base + self.bytes
    }

    fn name(&self) -> String {
        format!("{:020}.spool", self.base)
    }
}

/// Frames on disk.
#[derive(Debug)]
pub struct Spool {
    storage: Arc<dyn Storage>,
    limits: Limits,
    id: u64,
    spans: VecDeque<Span>,
    /// The last file, if frames may be appended to it.
    last: Option<Arc<dyn Stored>>,
    committed: u64,
    failed: bool,
    /// A frame was refused for want of room: every file that can go, goes.
    cramped: bool,
}

impl Spool {
    /// Opens what is there, or begins: torn ends are cut, damage is named and stepped over. A new
    /// spool takes `id`; one that exists keeps its own.
    ///
    /// # Errors
    /// The folder can not be read or written.
    pub fn open(
        storage: Arc<dyn Storage>,
        limits: Limits,
        id: u64,
    ) -> io::Result<(Spool, Vec<Damage>)> {
        let found = recovery::recover(&*storage)?;
        let end = found.spans.back().map_or(0, Span::end);
        let last = match found.spans.back() {
            Some(span) => Some(storage.open(&span.name())?),
            None => None,
        };
        if let Some(last) = &last {
            // What survived is made durable before anybody is told that it is there.
            last.sync()?;
        }
        let spool = Spool {
            storage,
            limits,
            id: found.id.unwrap_or(id),
            spans: found.spans,
            last,
            committed: end,
            failed: false,
            cramped: false,
        };
        Ok((spool, found.damage))
    }

    /// The spool's id: with a position, a place that no other spool has.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The position of the oldest frame that is still here.
    #[must_use]
    pub fn begin(&self) -> u64 {
        self.spans.front().map_or(0, |span| span.base)
    }

    /// The position behind the newest frame.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.spans.back().map_or(0, Span::end)
    }

    /// Everything before this position is durable.
    #[must_use]
    pub fn committed(&self) -> u64 {
        self.committed
    }

    /// Bytes on disk.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.spans.iter().map(|span| span.bytes + HEADER_BYTES).sum()
    }

    /// Bytes that all files may take.
    #[must_use]
    pub fn limit(&self) -> u64 {
        self.limits.total
    }

    /// Bytes that may still come.
    #[must_use]
    pub fn room(&self) -> u64 {
        self.limits.total.saturating_sub(self.bytes())
    }

    /// Appends a frame; says the position behind it. It is durable when [`Spool::committed`]
    /// reaches that.
    ///
    /// # Errors
    /// There is no room, or the disk failed; the frame is not there then.
    pub fn append(&mut self, frame: &[u8]) -> Result<u64, Refused> {
        self.check().map_err(Refused::Failed)?;
        let appended = self.append_now(frame);
        self.cramped |= matches!(appended, Err(Refused::Full));
        appended
    }

    /// Whether the disk can still be believed.
    ///
    /// # Errors
    /// It can not.
    pub fn check(&self) -> io::Result<()> {
        if self.failed { Err(io::Error::other("an earlier sync failed")) } else { Ok(()) }
    }

    fn append_now(&mut self, frame: &[u8]) -> Result<u64, Refused> {
        let bytes = frame.len() as u64;
        let fresh = match (&self.last, self.spans.back()) {
            (Some(_), Some(span)) => {
                span.bytes > 0 && span.bytes + bytes + HEADER_BYTES > self.limits.file
            }
            _ => true,
        };
        let more = if fresh { bytes + HEADER_BYTES } else { bytes };
        if self.bytes() + more > self.limits.total {
            return Err(Refused::Full);
        }
        if fresh {
            self.roll()?;
        }
        let (Some(last), Some(span)) = (&self.last, self.spans.back_mut()) else {
            return Err(Refused::Failed(io::Error::other("no file to write to")));
        };
        let at = HEADER_BYTES + span.bytes;
        if let Err(error) = last.write_at(at, frame) {
            if last.cut(at).is_err() {
                // What lies behind the last whole frame is a torn end, and recovery knows those.
                self.failed |= last.sync().is_err();
                self.last = None;
            }
            return Err(refused(error));
        }
        span.bytes += bytes;
        Ok(span.end())
    }

    /// Begins the next file. The one before is made durable first, so that what is durable has no
    /// holes.
    fn roll(&mut self) -> Result<(), Refused> {
        if let Some(last) = self.last.take()
            && let Err(error) = last.sync()
        {
            self.failed = true;
            return Err(Refused::Failed(error));
        }
        let end = self.end();
        if self.spans.back().is_some_and(|span| span.bytes == 0) {
            // A file without frames has the name that the next one needs.
            if let Some(span) = self.spans.pop_back() {
                self.storage.remove(&span.name()).map_err(refused)?;
            }
        }
        let span = Span { base: end, bytes: 0 };
        let file = self.storage.create(&span.name()).map_err(refused)?;
        if let Err(error) = file.write_at(0, &self.header(end)) {
            // A file that says nothing is removed when the spool is opened the next time.
            self.storage.remove(&span.name()).ok();
            return Err(refused(error));
        }
        self.committed = self.committed.max(end);
        self.last = Some(file);
        self.spans.push_back(span);
        Ok(())
    }

    /// The first bytes of a file whose frames begin at a position.
    fn header(&self, base: u64) -> Vec<u8> {
        let words = [u64::from(VERSION), self.id, base];
        let words = words.iter().flat_map(|word| word.to_le_bytes());
        MAGIC.into_iter().chain(words).collect()
    }

    /// What is to be synced so that everything up to the position is durable; outside of any lock.
    #[must_use]
    pub fn pending(&self) -> Option<(Arc<dyn Stored>, u64)> {
        let last = self.last.as_ref().filter(|_| !self.failed && self.end() > self.committed)?;
        Some((Arc::clone(last), self.end()))
    }

    /// The sync of what [`Spool::pending`] gave has ended.
    pub fn synced(&mut self, until: u64, result: &io::Result<()>) {
        match result {
            // A sync that follows a failed one says nothing of what that one lost.
            Ok(()) if !self.failed => self.committed = self.committed.max(until),
            _ => self.failed = true,
        }
    }

    /// Makes everything durable.
    ///
    /// # Errors
    /// The disk failed; nothing more is taken.
    pub fn commit(&mut self) -> io::Result<u64> {
        if let Some((file, until)) = self.pending() {
            let result = file.sync();
            self.synced(until, &result);
            result?;
        }
        Ok(self.committed)
    }

    /// Removes files whose frames all lie before a position. The last one stays, unless there was no room for
    /// a frame.
    ///
    /// # Errors
    /// A file can not be removed; it is tried again next time.
    pub fn trim(&mut self, until: u64) -> io::Result<()> {
        if self.cramped && until >= self.end() && self.committed >= self.end() {
            self.renew()?;
        }
        while self.spans.len() > 1 {
            let Some(span) = self.spans.front().filter(|span| span.end() <= until) else { break };
            self.storage.remove(&span.name())?;
            self.spans.pop_front();
        }
        Ok(())
    }

    /// Puts an empty file behind the last one, so that that can go, on a disk that takes no frame.
    fn renew(&mut self) -> io::Result<()> {
        let end = self.end();
        if self.spans.back().is_some_and(|span| span.bytes > 0) {
            let span = Span { base: end, bytes: 0 };
            self.storage.replace(&span.name(), &self.header(end))?;
            self.last = Some(self.storage.open(&span.name())?);
            self.spans.push_back(span);
        }
        self.cramped = false;
        Ok(())
    }

    /// A reader that begins at a position; one that is gone begins with the oldest frame, one that
    /// has not come yet at the end.
    #[must_use]
    pub fn reader(&self, position: u64) -> Reader {
        Reader::new(Arc::clone(&self.storage), position.clamp(self.begin(), self.end()))
    }

    /// Where the frames at a position lie: the name of the file, its first position, and where its
    /// frames end now.
    pub(crate) fn locate(&self, position: u64) -> Option<(String, u64, u64)> {
        let after = self.spans.partition_point(|span| span.base <= position);
        let span = self.spans.get(after.checked_sub(1)?)?;
        if position < span.end() {
            return Some((span.name(), span.base, span.end()));
        }
        // At the end of a file the next one goes on, behind what may be missing in between.
        let next = self.spans.get(after)?;
        Some((next.name(), next.base, next.end()))
    }
}

/// A disk without room is a full spool; everything else is a failure.
fn refused(error: io::Error) -> Refused {
    if storage::is_full(&error) { Refused::Full } else { Refused::Failed(error) }
}
