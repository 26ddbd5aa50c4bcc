//! Names and places of a log's records, as text: looked up once, given to every row.

use std::collections::{BTreeMap, BTreeSet};

use netra_darshan::read::{Extra, Log, Record};
use netra_event::{Module, RecordId};

use super::row::Name;

/// The names of a log.
#[derive(Debug, Default)]
pub(super) struct Files {
    names: BTreeMap<RecordId, Known>,
    /// Data sets and variables, with the files they are in.
    within: BTreeMap<RecordId, RecordId>,
}

#[derive(Debug)]
struct Known {
    name: String,
    mount: Option<String>,
    kind: Option<String>,
    /// Where the name inside its file begins.
    object: Option<usize>,
}

impl Files {
    /// Everything that a log names.
    pub(super) fn of(log: &Log) -> Files {
        let mut files = Files::default();
        for module in [Module::H5d, Module::PnetcdfVar] {
            let mut records = log.records(module);
            while let Some(record) = records.next_record() {
                if let Record::Counters(counters) = record
                    && let Extra::File(file) = counters.extra
                    && file != counters.id
                    && file.0 != 0
                {
                    files.within.insert(counters.id, file);
                }
            }
        }
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        for (id, name) in log.names().iter() {
            let place = log.names().place(id);
            let known = |bytes: &[u8]| (bytes != b"UNKNOWN").then(|| text(bytes));
            let (mount, kind) = (known(place.mount), known(place.kind));
            let inside = files.within.get(&id).and_then(|file| log.names().get(*file));
            let name = text(name);
            // Records of data sets are named `file:/group/set`.
            let object = inside.and_then(|file| {
                let file = text(file);
                let rest = name.strip_prefix(&file)?;
                rest.starts_with(':').then_some(file.len() + 1)
            });
            files.names.insert(id, Known { name, mount, kind, object });
        }
        files
    }

    /// A record's name and place.
    pub(super) fn get(&self, id: RecordId) -> Name<'_> {
        let Some(known) = self.names.get(&id) else { return Name::only(id) };
        let (file, object) = match known.object {
            Some(at) => (known.name.get(..at - 1), known.name.get(at..)),
            None => (Some(known.name.as_str()), None),
        };
        let (mount, kind) = (known.mount.as_deref(), known.kind.as_deref());
        Name { id, file, object, mount, kind }
    }

    /// Every name, with the word for what it is.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Name<'_>, &'static str)> {
        let inside: BTreeSet<&RecordId> = self.within.keys().collect();
        self.names.keys().map(move |id| {
            let name = self.get(*id);
            let stream = name.file.is_some_and(|file| file.starts_with('<'));
            let what = match () {
                () if inside.contains(id) => "object",
                () if stream => "stream",
                () => "path",
            };
            (name, what)
        })
    }
}
