//! The ledger: the account of every event. A [`Book`] says what a daemon has received and what it was
//! told should come, a [`Tally`] what one of its sinks has got, a [`Checkpoint`] keeps both, and a
//! [`Certificate`] says for a job whether anything is missing. [`audit()`] looks all the time whether the books add up.
//!
//! For every lane and sink: `produced = delivered + dropped + in flight`. What was produced and dropped
//! comes from the process's own segment, what was delivered is counted where it ends.

mod audit;
mod book;
mod certificate;
mod checkpoint;
mod range;
mod tally;

pub use audit::{Breach, Rule, audit, in_flight};
pub use book::{Book, Producing, Row, Verdict};
pub use certificate::{Certificate, FunctionLine, ProcessLine, Sums};
pub use checkpoint::{Checkpoint, Outlet};
pub use range::Ranges;
pub use tally::{Got, Tally};
