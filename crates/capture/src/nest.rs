//! Calls inside calls: while a call of an upper layer (HDF5, MPI-IO) goes on, the calls that the library
//! makes below it carry its number as their parent, so that the layers can be shown one over the other.
//!
//! A hook of an upper layer is
//!
//! ```text
//! let Some(outer) = nest::enter(Function::MpiFileWriteAt, taken) else { return real(…) };
//! let done = real(…);
//! if let Some(within) = outer.leave() { within.with(…); within.event(…); }
//! ```
//!
//! A call inside another one of the same layer is the library's own business: `enter` is none, and the
//! hook only forwards. Nothing is left behind if the real call never returns (an exception, `longjmp`,
//! cancellation): a frame of the stack that is gone no longer counts.

use core::cell::Cell;
use core::ops::Deref;
use core::sync::atomic::{Ordering, compiler_fence};

use netra_event::{Event, Function, Layer};

use crate::arch;
use crate::call::{self, Call, Ended};
use crate::got::Taken;
use crate::lane;
use crate::life;
use crate::settings::SETTINGS;
use crate::site;
use crate::tls::{self, Thread};

/// How deep layers stand over each other; deeper calls are only forwarded.
pub const DEPTH: usize = 8;

/// A call of an upper layer that goes on in a thread. All zeroes is none.
#[derive(Default)]
pub struct Frame {
    /// The caller's stack pointer.
    stack: Cell<usize>,
    /// Its layer plus one.
    layer: Cell<u8>,
    /// Its number.
    number: Cell<u32>,
}

/// The calls of upper layers that go on in a thread, the outermost first.
#[derive(Default)]
pub struct Frames {
    frames: [Frame; DEPTH],
    depth: Cell<usize>,
}

/// A call of an upper layer that has begun.
pub struct Enclosing {
    call: Call,
    thread: &'static Thread,
    level: usize,
    number: u32,
}

/// A call of an upper layer that has ended and is being recorded.
pub struct Within {
    ended: Ended,
    number: u32,
}

/// Begins a call of an upper layer; none where it must only be forwarded: inside a call of the same
/// layer or our own work, in a child of vfork, or with netra off.
#[must_use]
pub fn enter(function: Function, taken: Taken) -> Option<Enclosing> {
    let thread = thread()?;
    let level = thread.nested.live(taken.stack);
    if thread.nested.inside(function.layer(), level) {
        return None;
    }
    let call = Call::begin(function, taken.site);
    begin(thread, call, (level, taken.stack), next_number(thread))
}

/// Goes on with a call that began before: calls made from now on carry its number again. It is ended by
/// [`Enclosing::pass`].
#[must_use]
pub fn resume(call: Call, number: u32, taken: Taken) -> Option<Enclosing> {
    let thread = thread()?;
    let level = thread.nested.live(taken.stack);
    if thread.nested.inside(call.function.layer(), level) {
        return None;
    }
    begin(thread, call, (level, taken.stack), number)
}

/// Does work of our own in the calling thread: what it calls leaves no trace.
pub fn own<T>(work: impl FnOnce(&'static Thread) -> T) -> Option<T> {
    let thread = thread()?;
    let slot = tls::slot();
    arch::mark(&slot.busy);
    compiler_fence(Ordering::SeqCst);
    let done = work(thread);
    compiler_fence(Ordering::SeqCst);
    slot.busy.set(0);
    Some(done)
}

fn begin(
    thread: &'static Thread,
    call: Call,
    (level, stack): (usize, usize),
    number: u32,
) -> Option<Enclosing> {
    let frame = thread.nested.frames.get(level)?;
    frame.stack.set(stack);
    frame.layer.set((call.function.layer() as u8).wrapping_add(1));
    frame.number.set(number);
    thread.nested.depth.set(level.wrapping_add(1));
    thread.parent.set(number);
    Some(Enclosing { call, thread, level, number })
}

/// The calling thread, set up if it was not; none inside our own work.
fn thread() -> Option<&'static Thread> {
    let slot = tls::slot();
    if slot.borrowed.get() != 0 {
        return None;
    }
    if slot.busy.get() != 0 {
        if !call::stale(slot) {
            return None;
        }
        slot.busy.set(0);
    }
    if let Some(thread) = slot.attached() {
        return Some(thread);
    }
    arch::mark(&slot.busy);
    compiler_fence(Ordering::SeqCst);
    let thread = life::ready().and_then(|()| lane::attach(slot));
    compiler_fence(Ordering::SeqCst);
    slot.busy.set(0);
    thread
}

/// Numbers begin at 1: 0 is no call.
fn next_number(thread: &Thread) -> u32 {
    let number = thread.numbered.get().wrapping_add(1).max(1);
    thread.numbered.set(number);
    number
}

impl Frames {
    /// Calls that still go on: those that began further up the stack.
    fn live(&self, stack: usize) -> usize {
        let depth = self.depth.get().min(DEPTH);
        let gone = |frame: &Frame| frame.stack.get() <= stack;
        self.frames.iter().take(depth).position(gone).unwrap_or(depth)
    }

    fn inside(&self, layer: Layer, level: usize) -> bool {
        let layer = (layer as u8).wrapping_add(1);
        self.frames.iter().take(level).any(|frame| frame.layer.get() == layer)
    }

    /// Forgets everything: another thread takes the place over.
    pub fn clear(&self) {
        self.depth.set(0);
    }
}

impl Enclosing {
    /// The call's number, which the calls inside it carry.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The call.
    #[must_use]
    pub fn call(&self) -> Call {
        self.call
    }

    /// Ends the call; none where it must leave no trace.
    #[must_use]
    pub fn leave(self) -> Option<Within> {
        let (call, number) = (self.call, self.number);
        let ended = call.end();
        self.pass();
        Some(Within { ended: ended?, number })
    }

    /// Ends a call that is not worth an event of its own; the calls inside it keep its number.
    pub fn pass(self) {
        self.thread.nested.depth.set(self.level);
        let outer =
            self.level.checked_sub(1).and_then(|level| self.thread.nested.frames.get(level));
        self.thread.parent.set(outer.map_or(0, |frame| frame.number.get()));
    }
}

impl Deref for Within {
    type Target = Ended;

    fn deref(&self) -> &Ended {
        &self.ended
    }
}

/// What the event of a call of an upper layer says.
pub struct Said {
    /// Index of the file.
    pub file: u32,
    /// Where in the file, or −1.
    pub offset: i64,
    /// Bytes asked for.
    pub length: u64,
    /// Bytes moved, or another result; −errno or −(error class) of a call that failed.
    pub result: i64,
    /// Whether it failed.
    pub failed: bool,
    /// Offset into the extensions plus one, 0 if there is none.
    pub extension: u32,
}

impl Within {
    /// A call that began earlier and ends now; none where it must leave no trace.
    #[must_use]
    pub fn late(call: Call, number: u32) -> Option<Within> {
        Some(Within { ended: call.end()?, number })
    }

    /// Writes the event.
    pub fn say(&self, said: &Said) {
        let call = &self.ended.call;
        let site = if SETTINGS.traces() { site::of(call.site) } else { 0 };
        lane::push(
            self.ended.thread,
            &Event {
                start: call.start,
                duration: self.ended.took(),
                offset: said.offset,
                length: said.length,
                result: said.result,
                file: said.file,
                code: call.function.code(),
                failed: said.failed,
                site,
                parent: self.ended.thread.parent.get(),
                number: self.number,
                extension: said.extension,
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_that_are_gone_do_not_count() {
        let frames = Frames::default();
        for (place, (stack, layer)) in
            [(9000, Layer::Hdf5), (8000, Layer::Mpiio)].into_iter().enumerate()
        {
            frames.frames[place].stack.set(stack);
            frames.frames[place].layer.set(layer as u8 + 1);
        }
        frames.depth.set(2);
        assert_eq!(frames.live(7000), 2);
        assert!(frames.inside(Layer::Mpiio, 2) && frames.inside(Layer::Hdf5, 2));
        // Left by longjmp: the inner one is gone, then both.
        assert_eq!(frames.live(8500), 1);
        assert!(!frames.inside(Layer::Mpiio, 1));
        assert_eq!(frames.live(9000), 0);
        frames.clear();
        assert_eq!(frames.live(1), 0);
    }
}
