//! Every event kept once, asked in SQL: Delta Lake tables of sorted Parquet in a directory or at an object-store URL.
//!
//! A [`Store`] has the tables of [`schema::TABLES`]; a [`Place`] is where it lies; a [`Scan`] is one version of a table
//! as queries see it, with rows that are in no file yet. `LAYOUT.md` says where the bytes lie and which filter reads what.
//!
//! There is no file format of our own here, and no face: JSON, HTTP and the PostgreSQL wire are in `show`.
#![forbid(unsafe_code)]

mod aside;
pub mod ask;
mod calendar;
mod error;
pub mod export;
mod folder;
pub mod import;
mod ingest;
pub mod maintain;
mod meaning;
mod place;
mod quick;
pub mod recall;
pub mod schema;
mod sheet;
mod stack;
mod store;
mod sums;
mod table;

pub use aside::Aside;
pub use error::{Error, Result};
pub use folder::{Step, Watch};
pub use ingest::Ingest;
pub use place::Place;
pub use sheet::{Cell, Sheet};
pub use store::Store;
pub use table::{Mark, Scan};
