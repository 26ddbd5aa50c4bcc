//! A disk in memory that forgets what was not synced, tears it, runs full, and stops at a chosen
//! step.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use netra_stream::spool::{Storage, Stored};

use crate::random::Random;

#[derive(Debug, Default, Clone)]
struct Content {
    /// What a crash leaves for certain.
    durable: Vec<u8>,
    now: Vec<u8>,
}

/// Bytes that are set aside for what is replaced as a whole.
pub(crate) const RESERVE: usize = 1 << 10;

#[derive(Debug)]
struct State {
    files: BTreeMap<String, Content>,
    /// Bytes it holds at most; frames leave the reserve alone.
    room: usize,
    /// Steps until everything fails; none while nothing does.
    fuse: Option<u64>,
    steps: u64,
}

/// The disk; clones are the same one.
#[derive(Debug, Clone)]
pub(crate) struct Disk(Arc<Mutex<State>>);

#[derive(Debug)]
struct Handle {
    disk: Disk,
    name: String,
}

impl Disk {
    pub(crate) fn new(room: usize) -> Disk {
        let state = State { files: BTreeMap::new(), room, fuse: None, steps: 0 };
        Disk(Arc::new(Mutex::new(state)))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    /// Everything fails after so many steps.
    pub(crate) fn light(&self, fuse: u64) {
        self.state().fuse = Some(fuse);
    }

    pub(crate) fn set_room(&self, room: usize) {
        self.state().room = room;
    }

    /// Steps done so far.
    pub(crate) fn steps(&self) -> u64 {
        self.state().steps
    }

    /// The machine crashes: of what was not synced some stays, some is torn, the rest is gone.
    pub(crate) fn crash(&self, random: &mut Random) {
        let mut state = self.state();
        state.fuse = None;
        for content in state.files.values_mut() {
            let common = content.durable.len().min(content.now.len());
            let unsynced = content.now.len() - common;
            let keep = common + random.below(unsynced as u64 + 1) as usize;
            let mut left = content.now[..keep].to_vec();
            if keep > common && random.once_in(3) {
                // A sector that never reached the disk reads as zeroes.
                let from = common + random.below((keep - common) as u64) as usize;
                left[from..].fill(0);
            }
            left[..common.min(keep)].copy_from_slice(&content.durable[..common.min(keep)]);
            *content = Content { durable: left.clone(), now: left };
        }
    }

    /// Turns one bit of a file over.
    pub(crate) fn flip(&self, name: &str, bit: usize) {
        if let Some(content) = self.state().files.get_mut(name) {
            content.now[bit / 8] ^= 1 << (bit % 8);
            content.durable = content.now.clone();
        }
    }

    pub(crate) fn length(&self, name: &str) -> usize {
        self.state().files.get(name).map_or(0, |content| content.now.len())
    }
}

impl State {
    fn step(&mut self) -> io::Result<()> {
        self.steps += 1;
        match &mut self.fuse {
            Some(0) => Err(io::Error::other("the machine is down")),
            Some(fuse) => {
                *fuse -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn used(&self) -> usize {
        self.files.values().map(|content| content.now.len()).sum()
    }

    fn room_for_frames(&self) -> usize {
        self.room.saturating_sub(self.used() + RESERVE)
    }
}

impl Storage for Disk {
    fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.state().files.keys().cloned().collect())
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn Stored>> {
        let mut state = self.state();
        state.step()?;
        if state.room_for_frames() == 0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        state.files.insert(name.to_owned(), Content::default());
        Ok(Arc::new(Handle { disk: self.clone(), name: name.to_owned() }))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn Stored>> {
        if !self.state().files.contains_key(name) {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(Arc::new(Handle { disk: self.clone(), name: name.to_owned() }))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut state = self.state();
        state.step()?;
        state.files.remove(name);
        Ok(())
    }

    fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.state();
        state.step()?;
        // The old one goes when the new one is whole.
        if state.used() + bytes.len() > state.room {
            return Err(io::ErrorKind::StorageFull.into());
        }
        state.step()?;
        let content = Content { durable: bytes.to_vec(), now: bytes.to_vec() };
        state.files.insert(name.to_owned(), content);
        // It may have happened, though nobody is told.
        state.step()
    }
}

impl Handle {
    fn content<T>(&self, with: impl FnOnce(&mut Content) -> T) -> io::Result<T> {
        let mut state = self.disk.state();
        let content = state.files.get_mut(&self.name);
        content.map(with).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

impl Stored for Handle {
    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let at = at as usize;
        let (room, failed) = {
            let mut state = self.disk.state();
            let failed = state.step().is_err();
            (state.room_for_frames(), failed)
        };
        // A machine that goes down, or a disk that is full, has written the first half.
        let fits = if failed { bytes.len() / 2 } else { bytes.len().min(room) };
        self.content(|content| {
            let end = at + fits;
            if content.now.len() < end {
                content.now.resize(end, 0);
            }
            content.now[at..end].copy_from_slice(&bytes[..fits]);
        })?;
        match (failed, fits < bytes.len()) {
            (true, _) => Err(io::Error::other("the machine is down")),
            (_, true) => Err(io::ErrorKind::StorageFull.into()),
            _ => Ok(()),
        }
    }

    fn read_at(&self, at: u64, bytes: &mut [u8]) -> io::Result<usize> {
        self.content(|content| {
            let rest = content.now.get(at as usize..).unwrap_or_default();
            let count = rest.len().min(bytes.len());
            bytes[..count].copy_from_slice(&rest[..count]);
            count
        })
    }

    fn length(&self) -> io::Result<u64> {
        self.content(|content| content.now.len() as u64)
    }

    fn cut(&self, length: u64) -> io::Result<()> {
        self.disk.state().step()?;
        self.content(|content| {
            content.now.truncate(length as usize);
            content.durable.truncate(length as usize);
        })
    }

    fn sync(&self) -> io::Result<()> {
        self.disk.state().step()?;
        self.content(|content| content.durable = content.now.clone())
    }
}
