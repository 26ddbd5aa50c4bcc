//! Reads and writes that are done when they return, and what all reads and writes share.

use core::ffi::c_int;

use netra_darshan::counter::bin;
use netra_event::segment::shard::{direction, mpiio};
use netra_event::{Function, Kind, Loss};

use super::handle::{self, Handle, Place};
use crate::call::Call;
use crate::got::Taken;
use crate::heatmap;
use crate::module::MPIIO;
use crate::mpi::{self, Mpi};
use crate::nest::{self, Enclosing, Said, Within};
use crate::shard::Shard;
use crate::slot_hook;

/// The kinds of calls that Darshan counts apart: the word of reads; that of writes follows it.
#[derive(Clone, Copy)]
pub(super) enum Class {
    Independent = mpiio::INDEP_READS as isize,
    Collective = mpiio::COLL_READS as isize,
    Split = mpiio::SPLIT_READS as isize,
    Later = mpiio::NB_READS as isize,
}

/// A read or write as the application asks for it.
#[derive(Clone, Copy)]
pub(super) struct Asked {
    pub(super) function: Function,
    pub(super) class: Class,
    pub(super) handle: usize,
    pub(super) place: Place,
    pub(super) count: i64,
    pub(super) datatype: usize,
}

/// A read or write that goes on.
pub(super) struct Begun {
    pub(super) asked: Asked,
    pub(super) mpi: Mpi,
    pub(super) outer: Enclosing,
    pub(super) open: Option<&'static Handle>,
    /// The byte it begins at, or −1.
    pub(super) at: i64,
}

/// What was moved.
#[derive(Clone, Copy)]
pub(super) struct Moved {
    pub(super) file: u32,
    pub(super) at: i64,
    pub(super) bytes: u64,
}

/// Begins; none where the call is only forwarded.
pub(super) fn begin(asked: Asked, taken: Taken) -> Option<Begun> {
    let mpi = mpi::known(taken.real)?;
    let open = handle::find(asked.handle);
    // SAFETY: the library has given us this handle, and has not taken it back.
    let at = open.map_or(-1, |open| unsafe { open.byte(mpi, asked.handle, asked.place) });
    // Last, because the clock begins here.
    let outer = nest::enter(asked.function, taken)?;
    Some(Begun { asked, mpi, outer, open, at })
}

impl Begun {
    /// The bytes asked for.
    ///
    /// # Safety
    /// The library has just taken the call.
    pub(super) unsafe fn moved(&self, open: &Handle) -> Moved {
        // SAFETY: the caller vouches.
        let bytes = unsafe { self.mpi.bytes(self.asked.datatype, self.asked.count) };
        Moved { file: open.file(), at: self.at, bytes }
    }

    /// Ends a call that has moved its data.
    fn end(self, done: c_int) {
        let moved = match self.open {
            // SAFETY: the library has just taken the call.
            Some(open) if done == 0 => Some(unsafe { self.moved(open) }),
            _ => None,
        };
        let (asked, open, at) = (self.asked, self.open, self.at);
        let Some(within) = self.outer.leave() else { return };
        match (open, moved) {
            (None, _) => within.skip(Loss::Excluded),
            (Some(open), None) => failed(&within, open.file(), at, done),
            (Some(_), Some(moved)) => {
                within.with(&MPIIO, moved.file, |shard, ended| {
                    count(shard, &asked, moved.bytes);
                    time(shard, asked.function, moved.bytes, (ended.start(), ended.end));
                });
                finish(&within, asked.function, moved);
            }
        }
    }
}

/// Writes the event of a call that failed; the result is the negative error code.
pub(super) fn failed(within: &Within, file: u32, offset: i64, done: c_int) {
    let result = i64::from(done).wrapping_neg();
    within.say(&Said { file, offset, length: 0, result, failed: true, extension: 0 });
}

/// Writes the event of a call that moved data, and where it lies in time.
pub(super) fn finish(within: &Within, function: Function, moved: Moved) {
    let (thread, start, end) = (within.thread, within.start(), within.end);
    if function.kind() == Kind::Write {
        heatmap::add::<true>(thread, &MPIIO, start, end, moved.bytes);
    } else {
        heatmap::add::<false>(thread, &MPIIO, start, end, moved.bytes);
    }
    within.say(&Said {
        file: moved.file,
        offset: moved.at,
        length: moved.bytes,
        result: moved.bytes.cast_signed(),
        failed: false,
        extension: 0,
    });
}

fn side(function: Function) -> (usize, u64) {
    if function.kind() == Kind::Write { (mpiio::WRITE, 2) } else { (mpiio::READ, 1) }
}

/// Counts a call and its bytes.
pub(super) fn count(shard: &Shard, asked: &Asked, bytes: u64) {
    let (side, kind) = side(asked.function);
    let at = |field: usize| side.wrapping_add(field);
    shard.add_at((asked.class as usize).wrapping_add(usize::from(kind == 2)), 1);
    shard.add_at(at(direction::CALLS), 1);
    shard.add_at(at(direction::BYTES), bytes);
    shard.add_at(at(direction::SIZES.wrapping_add(bin::of(bytes))), 1);
    if bytes != 0 {
        shard.common::<{ mpiio::ACCESS }, { mpiio::ACCESS_MORE }>(bytes);
    }
    let last = shard.get::<{ mpiio::LAST_KIND }>();
    if last != kind {
        shard.add::<{ mpiio::RW_SWITCHES }>(u64::from(last != 0));
        shard.set::<{ mpiio::LAST_KIND }>(kind);
    }
}

/// Counts the time of a call; moments that an earlier one has counted do not count again.
pub(super) fn time(shard: &Shard, function: Function, bytes: u64, (start, end): (u64, u64)) {
    let (side, _) = side(function);
    let at = |field: usize| side.wrapping_add(field);
    let took = end.wrapping_sub(start);
    let last = shard.at(at(direction::END));
    let counted = if start >= last { took } else { end.saturating_sub(last) };
    shard.add_at(at(direction::TIME), counted);
    let first = shard.at(at(direction::START));
    if first == 0 || start < first {
        shard.set_at(at(direction::START), start);
    }
    shard.set_at(at(direction::END), end.max(last));
    if took > shard.at(at(direction::MAX_TIME)) {
        shard.set_at(at(direction::MAX_TIME), took);
        shard.set_at(at(direction::MAX_TIME_SIZE), bytes);
    }
}

/// Counts time in a record without a call: what was counted before has ended now.
pub(super) fn ended_late(call: Call, number: u32, moved: Moved) {
    let function = call.function;
    let Some(within) = Within::late(call, number) else { return };
    within.with(&MPIIO, moved.file, |shard, ended| {
        time(shard, function, moved.bytes, (ended.start(), ended.end));
    });
    finish(&within, function, moved);
}

/// Hooks of calls that have an offset.
macro_rules! at {
    ($($name:ident $large:ident = $function:ident, $class:ident;)*) => { slot_hook! {$(
        #[doc = concat!("`MPI_File_", stringify!($name), "`.")]
        fn $name(handle: usize, offset: i64, buffer: usize, count: c_int, datatype: usize, status: usize) -> c_int, real, taken => {
            let asked = Asked { function: Function::$function, class: Class::$class, handle, place: Place::At(offset), count: i64::from(count), datatype };
            let begun = begin(asked, taken);
            // SAFETY: the caller's contract is the real function's.
            let done = unsafe { real(handle, offset, buffer, count, datatype, status) };
            if let Some(begun) = begun {
                begun.end(done);
            }
            done
        }
        #[doc = concat!("`MPI_File_", stringify!($large), "`.")]
        fn $large(handle: usize, offset: i64, buffer: usize, count: i64, datatype: usize, status: usize) -> c_int, real, taken => {
            let asked = Asked { function: Function::$function, class: Class::$class, handle, place: Place::At(offset), count, datatype };
            let begun = begin(asked, taken);
            // SAFETY: the caller's contract is the real function's.
            let done = unsafe { real(handle, offset, buffer, count, datatype, status) };
            if let Some(begun) = begun {
                begun.end(done);
            }
            done
        }
    )*}};
}
/// Hooks of calls that begin at a pointer.
macro_rules! pointed {
    ($($name:ident $large:ident = $function:ident, $class:ident, $place:ident;)*) => { slot_hook! {$(
        #[doc = concat!("`MPI_File_", stringify!($name), "`.")]
        fn $name(handle: usize, buffer: usize, count: c_int, datatype: usize, status: usize) -> c_int, real, taken => {
            let asked = Asked { function: Function::$function, class: Class::$class, handle, place: Place::$place, count: i64::from(count), datatype };
            let begun = begin(asked, taken);
            // SAFETY: the caller's contract is the real function's.
            let done = unsafe { real(handle, buffer, count, datatype, status) };
            if let Some(begun) = begun {
                begun.end(done);
            }
            done
        }
        #[doc = concat!("`MPI_File_", stringify!($large), "`.")]
        fn $large(handle: usize, buffer: usize, count: i64, datatype: usize, status: usize) -> c_int, real, taken => {
            let asked = Asked { function: Function::$function, class: Class::$class, handle, place: Place::$place, count, datatype };
            let begun = begin(asked, taken);
            // SAFETY: the caller's contract is the real function's.
            let done = unsafe { real(handle, buffer, count, datatype, status) };
            if let Some(begun) = begun {
                begun.end(done);
            }
            done
        }
    )*}};
}

at! {
    read_at read_at_c = MpiFileReadAt, Independent;
    read_at_all read_at_all_c = MpiFileReadAtAll, Collective;
    write_at write_at_c = MpiFileWriteAt, Independent;
    write_at_all write_at_all_c = MpiFileWriteAtAll, Collective;
}
pointed! {
    read read_c = MpiFileRead, Independent, Pointer;
    read_all read_all_c = MpiFileReadAll, Collective, Pointer;
    read_shared read_shared_c = MpiFileReadShared, Independent, Shared;
    read_ordered read_ordered_c = MpiFileReadOrdered, Collective, Shared;
    write write_c = MpiFileWrite, Independent, Pointer;
    write_all write_all_c = MpiFileWriteAll, Collective, Pointer;
    write_shared write_shared_c = MpiFileWriteShared, Independent, Shared;
    write_ordered write_ordered_c = MpiFileWriteOrdered, Collective, Shared;
}
