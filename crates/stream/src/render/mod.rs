//! Events as other programs want to read them, made far from the application.
//!
//! A [`Process`] turns the events of one process, in their order, into [`Call`]s: with names, absolute
//! time and the fields that depend on what was before ([`Running`]). A [`Render`] writes calls. The
//! published connector's message and its table are two renderings ([`Message`] says what they have
//! in common), netra's own lines a third; a new one is a file here and a row in [`Form`].

mod call;
mod connector;
mod document;
mod json;
mod line;
mod live;
mod message;
mod names;
mod only;
mod perfetto;
mod process;
mod published;
mod quote;
mod rows;
mod running;
mod segment;
mod table;
mod traced;

use std::io::{self, Write};

pub use call::{Call, File, Share};
pub use live::Live;
pub use message::{Message, Type};
pub use only::{Chosen, Only};
pub use process::{About, Process, Reference};
pub use published::{message, sample};
pub use running::{Operation, Running, Selected};
pub use segment::{Told, segment};
pub use traced::{start, traced};

/// How calls are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Form {
    /// The connector's JSON message, one a line.
    ConnectorJson,
    /// The connector's table: the columns and their order as published.
    ConnectorCsv,
    /// Every call with netra's own names, one JSON object a line.
    JsonLines,
    /// The same as one JSON array.
    Json,
    /// The same as a table.
    Csv,
    /// A trace for Perfetto and Chrome's tracing page.
    Perfetto,
}

impl Form {
    /// Every form.
    pub const ALL: &[Form] = &[
        Form::ConnectorJson,
        Form::ConnectorCsv,
        Form::JsonLines,
        Form::Json,
        Form::Csv,
        Form::Perfetto,
    ];

    /// The word that chooses it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Form::ConnectorJson => "connector-json",
            Form::ConnectorCsv => "connector-csv",
            Form::JsonLines => "json-lines",
            Form::Json => "json",
            Form::Csv => "csv",
            Form::Perfetto => "perfetto",
        }
    }

    /// Whether what is written is good at every line end, so that it may grow for ever.
    #[must_use]
    pub const fn is_lines(self) -> bool {
        match self {
            Form::ConnectorJson | Form::ConnectorCsv | Form::JsonLines | Form::Csv => true,
            Form::Json | Form::Perfetto => false,
        }
    }

    /// The form that this word chooses.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Form> {
        Form::ALL.iter().copied().find(|form| form.name() == name)
    }

    /// Begins a rendering.
    #[must_use]
    pub fn render(self) -> Box<dyn Render> {
        match self {
            Form::ConnectorJson => Box::new(connector::Json::default()),
            Form::ConnectorCsv => Box::new(table::Table::default()),
            Form::JsonLines => Box::new(line::Lines::default()),
            Form::Json => Box::new(document::Document::default()),
            Form::Csv => Box::new(rows::Rows::default()),
            Form::Perfetto => Box::new(perfetto::Perfetto::default()),
        }
    }
}

/// Writes calls, each as a whole: what was written before stays valid if nothing follows.
pub trait Render: Send {
    /// What stands before the first call.
    ///
    /// # Errors
    /// The output can not be written.
    fn begin(&mut self, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    /// One call; says whether this form has a place for it.
    ///
    /// # Errors
    /// The output can not be written.
    fn call(&mut self, out: &mut dyn Write, call: &Call<'_>) -> io::Result<bool>;

    /// What stands behind the last call.
    ///
    /// # Errors
    /// The output can not be written.
    fn end(&mut self, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Form;

    #[test]
    fn a_name_leads_back_to_its_form() {
        for &form in Form::ALL {
            assert_eq!(Form::from_name(form.name()), Some(form));
        }
        assert_eq!(Form::from_name("xml"), None);
    }
}
