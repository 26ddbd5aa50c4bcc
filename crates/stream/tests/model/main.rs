//! A daemon's middle (spool, book, checkpoint) against a model, on a disk that crashes at any step,
//! tears what was not synced, and runs full. Seeds are printed; `NETRA_SEEDS` asks for more of them.
//!
//! The promises: what was acknowledged is never lost, nothing is delivered twice, and after
//! recovery the account holds: received = delivered, each index once, in order.

#![expect(clippy::unwrap_used, reason = "a test that can not go on has failed")]

mod disk;
mod full;
mod random;
mod run;
mod spool;

/// How many seeds a test walks through.
fn seeds() -> u64 {
    std::env::var("NETRA_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(60)
}
