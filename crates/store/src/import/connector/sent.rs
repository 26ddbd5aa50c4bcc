//! One message of the connector, as values.

use std::collections::HashSet;
use std::sync::Arc;

/// A text that many messages share.
pub type Text = Arc<str>;

/// A message. Numbers that do not apply are −1, as they were sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// The user.
    pub uid: i64,
    /// The executable, once an open of the job has named it.
    pub exe: Option<Text>,
    /// The scheduler's number.
    pub job_id: i64,
    /// The process.
    pub rank: i64,
    /// `ProducerName`: the host.
    pub node: Text,
    /// The file, once an open has named it.
    pub file: Option<Text>,
    /// The file's record id.
    pub record_id: u64,
    /// `POSIX`, `MPIIO`, `STDIO`, `H5F`, `H5D`.
    pub module: Text,
    /// `open`, `read`, `write`, `close`.
    pub op: Text,
    /// Highest byte so far.
    pub max_byte: i64,
    /// Changes between reading and writing so far.
    pub switches: i64,
    /// Flushes so far.
    pub flushes: i64,
    /// Calls of this operation so far.
    pub cnt: i64,
    /// The data set, where there is one.
    pub data_set: Option<Text>,
    /// Selections of points, irregular and regular hyperslabs, dimensions and elements.
    pub selection: [i64; 5],
    /// Where in the file.
    pub offset: i64,
    /// Bytes.
    pub length: i64,
    /// When the call began: nanoseconds since 1970, UTC.
    pub start: i64,
    /// Nanoseconds that it took.
    pub took: i64,
}

/// Texts, each kept once.
#[derive(Debug, Default)]
pub(super) struct Texts(HashSet<Text>);

impl Texts {
    /// A text; nothing where it does not apply.
    pub(super) fn get(&mut self, text: &str) -> Option<Text> {
        (text != "N/A").then(|| self.always(text))
    }

    /// A text, whatever it says.
    pub(super) fn always(&mut self, text: &str) -> Text {
        if let Some(known) = self.0.get(text) {
            return known.clone();
        }
        let text: Text = text.into();
        self.0.insert(text.clone());
        text
    }
}

/// When a call began, from its end and how long it took; both in nanoseconds.
pub(super) fn began(end: i64, took: i64) -> i64 {
    end.saturating_sub(took.max(0))
}
