//! A report on one screen, in the order in which a person asks: is I/O my problem, where, why, what
//! do I change, can I trust it; then findings by what they cost, then what passed.

mod csv;
pub(crate) mod finding;
mod headline;
mod json;
mod list;
pub(crate) mod query;
mod settings;
mod text;

pub use csv::{header as csv_header, rows as csv};
pub(crate) use headline::{place, verdict};
pub use json::document as json;
pub use list::List;
pub use settings::Settings;
pub use text::{Page, page as text};
