//! The program as a user meets it: every test starts the real `netra` in a folder of its own.

mod account;
#[cfg(feature = "store")]
mod aside;
#[cfg(feature = "store")]
mod ask;
#[cfg(feature = "store")]
mod asked;
#[cfg(feature = "store")]
mod bucket;
mod damaged;
mod doctor;
mod export;
mod golden;
#[cfg(feature = "store")]
mod import;
mod judge;
#[cfg(feature = "store")]
mod killed;
mod netra;
mod page;
mod pattern;
mod query;
mod recover;
mod report;
mod rewrite;
mod run;
mod stored;
mod topic;
mod usage;
mod whole;
mod word;
