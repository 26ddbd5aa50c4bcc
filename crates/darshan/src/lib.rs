//! Darshan 3.x logs: what they contain, and how to read, write, reduce and print them.
//!
//! Without the default feature `std` this is a `no_std` crate of facts alone: [`counter`] (the
//! names and places of counters), [`record`] (byte layouts) and [`checksum`]. The capture library
//! writes logs with them from inside an application, where it may not allocate.
#![cfg_attr(not(any(test, feature = "std")), no_std)]
#![forbid(unsafe_code)]

pub mod checksum;
pub mod counter;
pub mod record;
pub mod section;
