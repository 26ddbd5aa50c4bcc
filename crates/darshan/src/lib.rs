//! Darshan 3.x logs: what they contain, and how to read, write, reduce and print them.
//!
//! [`Log`] is an open log, [`Record`] is what it is made of, and [`Damage`] is what is missing from it;
//! [`Missing`] finds all of that.
//! Every log version, module version, byte order and compression that Darshan 3 ever wrote is read,
//! and records come in the shape of their module's current version. A log is never held in memory:
//! the records of a module are read one by one, the segments of a trace piece by piece.
//!
//! Without the default feature `std` this is a `no_std` crate: [`counter`] (the
//! names and places of counters), [`record`] (byte layouts), [`section`] and [`checksum`],
//! [`encode`], which makes a log of a segment, and [`reduce::Pair`], which makes one record of two. The capture library uses it from inside an
//! application, where it may not allocate.
//!
//! There is no analysis here, no JSON and no terminal, and nothing is known about streams or about
//! what stands in the blocks of the netra section. Logs of Darshan 2 are not read.
#![cfg_attr(not(any(test, feature = "std")), no_std)]
#![forbid(unsafe_code)]

pub mod checksum;
pub mod counter;
pub mod encode;
pub mod record;
pub mod reduce;
pub mod section;

#[cfg(feature = "std")]
pub mod convert;
#[cfg(feature = "std")]
mod damage;
#[cfg(feature = "std")]
pub mod diff;
#[cfg(feature = "std")]
mod error;
#[cfg(feature = "std")]
pub mod merge;
#[cfg(feature = "std")]
pub mod missing;
#[cfg(feature = "std")]
pub mod read;
#[cfg(feature = "std")]
pub mod text;
#[cfg(feature = "std")]
mod upgrade;
#[cfg(feature = "std")]
pub mod write;

#[cfg(feature = "std")]
pub use damage::{Damage, Part, Reason};
#[cfg(feature = "std")]
pub use error::{Error, Result};
#[cfg(feature = "std")]
pub use missing::Missing;
#[cfg(feature = "std")]
pub use read::{Log, Record, Records};
