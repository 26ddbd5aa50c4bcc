//! The contract that every stage of netra shares: units, ids, modules and the reasons for loss.
//!
//! It is `no_std` and depends on nothing, because the part that lives inside the application
//! uses it too. The main types are [`Bytes`], [`RecordId`] and [`Module`].
//!
//! There is no logic here beyond naming and converting: a layout or a code that two stages must
//! agree on belongs here, what a stage does with it does not.
#![no_std]
#![forbid(unsafe_code)]

mod id;
mod loss;
mod module;
mod unit;

pub use id::{Rank, RecordId, jenkins64};
pub use loss::Loss;
pub use module::Module;
pub use unit::{Bytes, Nanos, Seconds};
