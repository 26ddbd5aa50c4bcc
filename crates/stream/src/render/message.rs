//! The message of the published connector, as values: `docs/format/connector.md` says what each
//! field means and where it does not apply.

use netra_event::Nanos;

use super::call::{Call, Share};
use super::process::module;
use super::running::{Operation, Running, Selected};

/// What text fields hold where they do not apply.
pub(super) const NOT_APPLICABLE: &[u8] = b"N/A";
/// The current connector's name of the table that messages go to.
const SCHEMA: &[u8] = b"darshan_data";

/// Whether a message describes the file, or only what was done to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// On open: executable and file are named.
    Met,
    /// Otherwise: they are left out, and found by the record id.
    Mod,
}

impl Type {
    /// The connector's word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Type::Met => "MET",
            Type::Mod => "MOD",
        }
    }
}

/// One message. Fields have the connector's names where those are words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message<'a> {
    /// Table for the store; only with `MET`.
    pub schema: &'a [u8],
    /// The user.
    pub uid: u32,
    /// Path of the executable; only with `MET`.
    pub exe: &'a [u8],
    /// The job's number.
    pub job_id: i64,
    /// The process's number in the job, −1 for helpers that have none.
    pub rank: i64,
    /// `ProducerName`: the host.
    pub producer: &'a [u8],
    /// Path of the file; only with `MET`.
    pub file: &'a [u8],
    /// Record id of the file (for a data set, of the file it lies in).
    pub record_id: u64,
    /// Which layer.
    pub module: &'static str,
    /// Whether the file is described.
    pub kind: Type,
    /// Highest byte so far in the direction of a read or write.
    pub max_byte: i64,
    /// Changes between reading and writing so far.
    pub switches: i64,
    /// Flushes so far.
    pub flushes: i64,
    /// Calls of this operation since the last close.
    pub cnt: u64,
    /// What was done.
    pub op: Operation,
    /// The HDF5 data set.
    pub data_set: &'a [u8],
    /// What was selected of it, where the call says so.
    pub selected: Option<Selected>,
    /// Elements of the data set, if they are known.
    pub elements: Option<u64>,
    /// Where in the file.
    pub off: i64,
    /// Bytes moved.
    pub len: i64,
    /// Begin, since recording began.
    pub start: Nanos,
    /// How long it took.
    pub dur: Nanos,
    /// Time so far in calls of this direction, or on metadata.
    pub total: Nanos,
    /// End, since 1970.
    pub timestamp: Nanos,
    /// Whether events before this one are missing: `cnt`, `switches`, `flushes`, `max_byte` and `total`
    /// may then be too small.
    pub partial: bool,
}

impl<'a> Message<'a> {
    /// The messages for a call: none if the connector does not send such, one for each data set of a call
    /// on several.
    pub fn of(call: &Call<'a>) -> impl Iterator<Item = Message<'a>> {
        let alone = match (call.running, call.file) {
            (Some(running), Some(file)) if call.shares.is_empty() => {
                Some(Share { file, moved: call.moved(), running })
            }
            _ => None,
        };
        let took = Nanos(call.duration.0 / call.shares.len().max(1) as u64);
        let all = alone.into_iter().chain(call.shares.iter().copied());
        all.filter_map(move |share| Message::one(call, share, took))
    }

    fn one(call: &Call<'a>, share: Share<'a>, took: Nanos) -> Option<Message<'a>> {
        let Share { file, moved, running } = share;
        let module = module(call.function()?, &file)?;
        let kind = if running.operation == Operation::Open { Type::Met } else { Type::Mod };
        let on_open = |text: &'a [u8]| if kind == Type::Met { text } else { NOT_APPLICABLE };
        let (record_id, name) = file.within.unwrap_or((file.id, file.name));
        let data_set = file.within.map_or(NOT_APPLICABLE, |(_, path)| inside(file.name, path));
        let (off, len) = place(module, &running, call.event.offset, moved);
        Some(Message {
            schema: on_open(SCHEMA),
            uid: call.about.uid,
            exe: on_open(call.about.exe.as_bytes()),
            job_id: call.about.job_id,
            rank: call.about.rank.map_or(-1, |rank| rank.0),
            producer: call.about.host.as_bytes(),
            file: on_open(name),
            record_id,
            module,
            kind,
            max_byte: max_byte(module, &running),
            switches: switches(module, &running),
            flushes: flushes(module, &running),
            cnt: running.count,
            op: running.operation,
            data_set,
            selected: running.selected.filter(|_| module == "H5D"),
            elements: file.elements,
            off,
            len,
            start: Nanos(call.start.0.saturating_sub(call.about.start.0)),
            dur: took,
            total: running.total,
            timestamp: call.end(),
            partial: call.after_loss,
        })
    }
}

impl Message<'_> {
    /// `pt_sel`, `irreg_hslab`, `reg_hslab`, `ndims` and `npoints`; −1 where they do not apply.
    #[must_use]
    pub fn selection(&self) -> [i64; 5] {
        self.selected.map_or([-1; 5], |selected| {
            let Selected { points, irregular, regular, dimensions, elements } = selected;
            // What is selected of a data set that nobody counted is a part of it at least.
            let elements = self.elements.unwrap_or(elements);
            [points, irregular, regular, u64::from(dimensions), elements].map(whole)
        })
    }
}

/// The name of a data set inside its file: records are named `file:/group/set`.
fn inside<'a>(name: &'a [u8], path: &[u8]) -> &'a [u8] {
    name.strip_prefix(path).and_then(|rest| rest.strip_prefix(b":")).unwrap_or(name)
}

const fn transfers(running: &Running) -> bool {
    matches!(running.operation, Operation::Read | Operation::Write)
}

/// Offset and length; HDF5 has no offset, and nothing but transfers has either.
fn place(module: &str, running: &Running, offset: i64, moved: u64) -> (i64, i64) {
    match module {
        _ if !transfers(running) => (-1, -1),
        "H5D" => (-1, whole(moved)),
        _ => (offset.max(-1), whole(moved)),
    }
}

fn max_byte(module: &str, running: &Running) -> i64 {
    match module {
        "POSIX" | "STDIO" if transfers(running) => whole(running.max_byte),
        _ => -1,
    }
}

fn switches(module: &str, running: &Running) -> i64 {
    match module {
        "POSIX" | "MPIIO" | "H5D" if transfers(running) => whole(running.switches),
        _ => -1,
    }
}

fn flushes(module: &str, running: &Running) -> i64 {
    match (module, running.operation) {
        ("H5F" | "H5D", _) | ("STDIO", Operation::Write | Operation::Close) => {
            whole(running.flushes)
        }
        _ => -1,
    }
}

fn whole(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::inside;

    #[test]
    fn a_data_set_is_named_without_its_file() {
        assert_eq!(inside(b"/s/a.h5:/g/x", b"/s/a.h5"), b"/g/x");
        assert_eq!(inside(b"/elsewhere:/x", b"/s/a.h5"), b"/elsewhere:/x");
    }
}
