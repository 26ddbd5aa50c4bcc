//! Where everything goes: the tables `[[upstream]]` and `[[sink]]`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use super::section::Section;
use crate::render::Form;
use crate::wire::Address;

/// A hub that gets everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstream {
    /// Its name; another name is another sink, which gets everything from the beginning.
    pub name: String,
    /// Where it is.
    pub address: Address,
    /// Whether it goes without what does not fit into the spool.
    pub optional: bool,
}

/// A sink.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SinkSettings {
    /// Its name; another name is another sink, which gets everything from the beginning.
    pub name: String,
    /// What it is.
    pub kind: SinkKind,
    /// Whether it goes without what does not fit into the spool.
    pub optional: bool,
}

/// The sinks there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SinkKind {
    /// Keeps nothing but the ledger.
    Null,
    /// Keeps events as they are, in this folder.
    Trace(PathBuf),
    /// Writes events as lines of text into this file.
    Lines(Form, PathBuf),
    /// Keeps everything in the tables of a store.
    Store(StoreSettings),
}

/// How a store is kept; what the texts mean is the store's business.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreSettings {
    /// Where it is: an absolute path or a URL; the user's own if nothing is said.
    pub place: Option<String>,
    /// How long rows gather before they are committed.
    pub every: Duration,
    /// Whether files are put together, cleaned up and expired here.
    pub maintain: bool,
    /// How long a table's rows are kept, by the table's name.
    pub keep: BTreeMap<String, Duration>,
    /// How large a table may become, by its name: the oldest days go first.
    pub limit: BTreeMap<String, u64>,
}

impl Default for StoreSettings {
    fn default() -> StoreSettings {
        StoreSettings {
            place: None,
            every: Duration::from_secs(10),
            maintain: true,
            keep: BTreeMap::new(),
            limit: BTreeMap::new(),
        }
    }
}

pub(super) fn upstream(mut section: Section<'_>) -> Option<Upstream> {
    let address: Option<Address> = section.parsed("address", str::parse);
    if address.is_none() {
        section.complain("address", "says where the hub is");
    }
    let (name, optional) = (section.text("name"), section.switch("optional", false));
    section.end();
    let address = address?;
    Some(Upstream { name: name.unwrap_or_else(|| address.to_string()), address, optional })
}

/// The form of lines with this name.
fn lines(name: &str) -> Option<Form> {
    Form::from_name(name).filter(|form| form.is_lines())
}

/// The settings of a store.
fn store(section: &mut Section<'_>) -> StoreSettings {
    let default = StoreSettings::default();
    StoreSettings {
        place: section.text("place"),
        every: section.duration("every", default.every),
        maintain: section.switch("maintain", default.maintain),
        keep: section.each("keep", super::section::duration),
        limit: section.each("limit", super::section::size),
    }
}

pub(super) fn sink(mut section: Section<'_>) -> Option<SinkSettings> {
    let word = section.needed("kind");
    if word == "store" {
        let kind = SinkKind::Store(store(&mut section));
        let name = section.text("name").unwrap_or(word);
        let optional = section.switch("optional", false);
        section.end();
        return Some(SinkSettings { name, kind, optional });
    }
    let path = section.path("path");
    let kind = match (word.as_str(), path) {
        ("null", None) => Some(SinkKind::Null),
        ("trace", Some(path)) => Some(SinkKind::Trace(path)),
        (word, Some(path)) if lines(word).is_some() => {
            lines(word).map(|form| SinkKind::Lines(form, path))
        }
        ("null", Some(_)) => {
            section.complain("path", "a null sink keeps nothing");
            None
        }
        (word, None) if word == "trace" || lines(word).is_some() => {
            section.complain("path", "says where the sink keeps what it gets");
            None
        }
        ("", _) => None,
        (other, _) => {
            let all = Form::ALL.iter().filter(|form| form.is_lines());
            let forms: Vec<&str> = all.map(|form| form.name()).collect();
            let forms = forms.join(", ");
            section.complain(
                "kind",
                format!("{other} is no sink; there are null, store, trace, {forms}"),
            );
            None
        }
    };
    let name = section.text("name").unwrap_or(word);
    let optional = section.switch("optional", false);
    section.end();
    Some(SinkSettings { name, kind: kind?, optional })
}
