//! Every face of netra: what is said, as text for people and as JSON or CSV for machines.
//!
//! One file per thing shown: [`info`] (a log on one screen), [`report`] (a diagnosis), [`counters`],
//! [`segments`], [`difference`], [`rewrite`] (what is said about a log that was made of others), [`run`] (what is said when a recorded command has ended), [`html`] (the page) and [`view`] (its charts
//! from files).
//! [`load`] fills the input of the diagnosis. With the feature `serve` there are jobs while they run
//! (`live`), their page (`serve`) and the terminal's view of them (`top`).
//! Lines that equal those of the real tools byte for byte are made by `netra_darshan`; this
//! crate decides nothing about them.
//!
//! There is no other crate that knows JSON, CSV or terminals, and nothing here opens a file but the
//! logs that a running job becomes for the moment of its diagnosis.
#![forbid(unsafe_code)]

mod attendance;
mod base64;
mod csv;
mod derived;
mod head;
mod json;
mod member;
mod only;
mod own;
mod plain;
mod platform;
mod progress;
mod summary;
mod time;

pub mod compare;
pub mod counters;
pub mod difference;
#[cfg(feature = "store")]
pub mod door;
pub mod field;
pub mod history;
pub mod html;
pub mod info;
pub mod ledger;
#[cfg(feature = "serve")]
pub mod live;
pub mod load;
pub mod moment;
pub mod report;
pub mod rewrite;
pub mod run;
pub mod segments;
#[cfg(feature = "serve")]
pub mod serve;
#[cfg(feature = "serve")]
pub mod tls;
#[cfg(feature = "serve")]
pub mod top;
pub mod view;

pub use json::Json;
pub use only::{Lines, Only};
pub use progress::Progress;
pub use summary::Summary;
pub use time::zone;

/// What is missing from a log, as a line for people.
#[must_use]
pub fn sentence(damage: &netra_darshan::Damage) -> String {
    damage.sentence()
}
