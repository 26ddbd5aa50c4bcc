//! Doors to the store: rows on their way to a person or a program.
//!
//! [`Format`] says how rows are written, [`writer`] writes them batch by batch in bounded memory, and [`postgres`] speaks
//! PostgreSQL's wire protocol. What a question may see and cost is decided behind the doors, in `netra_store::ask`.

mod align;
mod cell;
mod format;
pub mod http;
pub mod postgres;
pub mod question;

pub use datafusion::arrow::datatypes::DataType;
pub use format::{Format, Rows, writer};
