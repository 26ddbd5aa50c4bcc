//! The contract that every stage of netra shares: units, ids, modules and the reasons for loss.
//!
//! It is `no_std` and depends on nothing, because the part that lives inside the application
//! uses it too. The main types are [`Bytes`], [`RecordId`] and [`Module`].
//!
//! There is no logic here beyond naming and converting: a layout or a code that two stages must
//! agree on belongs here, what a stage does with it does not.
#![no_std]
#![forbid(unsafe_code)]

pub mod frame;
mod function;
mod id;
pub mod lane;
mod loss;
mod module;
pub mod roll;
pub mod segment;
mod setting;
mod slot;
mod unit;

/// The atomics of the lane; its model test puts others in their place.
mod sync {
    pub(crate) use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
}

pub use function::{Function, Kind, Layer};
pub use id::{Rank, RecordId, jenkins64};
pub use loss::Loss;
pub use module::Module;
pub use setting::{Reader, Setting, Value, switch};
pub use slot::{CODE, Event, FAILED, NO_FILE, NO_OFFSET, NO_SITE, Odd, SECOND, SLOT_BYTES, WIDE};
pub use unit::{Bytes, Nanos, Seconds};
