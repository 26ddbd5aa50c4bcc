//! Where things come from: the tables `[node]`, `[[listen]]` and `[tls]`.

use netra_event::Layer;

use super::section::{Section, size};
use crate::node::{self, Filter, Root};
use crate::topic;
use crate::wire::{Address, tls};

/// A place where others connect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listen {
    /// Where.
    pub address: Address,
    /// Who may connect to a Unix socket.
    pub mode: u32,
    /// Whether strangers may connect from other machines.
    pub insecure: bool,
    /// What a subscriber here may leave untaken.
    pub queue: topic::Limits,
}

impl Listen {
    /// A place that only this user reaches.
    #[must_use]
    pub fn new(address: Address) -> Listen {
        Listen { address, mode: 0o600, insecure: false, queue: topic::Limits::default() }
    }
}

pub(super) fn node(mut section: Section<'_>) -> node::Settings {
    let mut roots: Vec<Root> =
        section.list("segments").into_iter().map(|path| Root::All(path.into())).collect();
    let own = section.list("own").into_iter().map(|path| Root::Own(path.into()));
    roots.extend(own);
    if roots.is_empty() {
        roots.push(Root::All("/tmp".into()));
    }
    let mut filter = Filter {
        exclude: section.list("exclude"),
        include: section.list("include"),
        ..Filter::default()
    };
    for name in section.list("without") {
        match layer(&name) {
            Some(layer) => filter.layers.push(layer),
            None => section.complain("without", format!("{name} is no module")),
        }
    }
    let (job, logs) = (section.text("job"), section.path("logs"));
    section.end();
    node::Settings { roots, filter, job, logs }
}

fn layer(name: &str) -> Option<Layer> {
    let all =
        [Layer::Posix, Layer::Stdio, Layer::Process, Layer::Mpiio, Layer::Hdf5, Layer::Pnetcdf];
    let plain = |text: &str| text.replace('-', "").to_ascii_uppercase();
    all.into_iter().find(|layer| plain(layer.name()) == plain(name))
}

pub(super) fn listen(mut section: Section<'_>) -> Option<Listen> {
    let address = section.parsed("address", str::parse);
    if address.is_none() {
        section.complain("address", "says where others connect");
    }
    let octal = |text: &str| u32::from_str_radix(text, 8).map_err(|_| "a mode such as 0660");
    let mode = section.parsed("mode", octal);
    let insecure = section.switch("insecure", false);
    let queue = section.parsed("queue", size);
    section.end();
    let mut listen = Listen { insecure, ..Listen::new(address?) };
    listen.mode = mode.unwrap_or(listen.mode);
    let ordinary = queue.map(|queue| usize::try_from(queue).unwrap_or(usize::MAX));
    listen.queue.ordinary = ordinary.unwrap_or(listen.queue.ordinary);
    Some(listen)
}

/// Certificates and keys; broken ones are found here, not when somebody calls.
pub(super) fn encryption(mut section: Section<'_>) -> tls::Files {
    let files = tls::Files {
        certificate: section.path("certificate"),
        key: section.path("key"),
        ca: section.path("ca"),
        clients: section.path("clients"),
    };
    for (key, problem) in files.load().err().into_iter().flatten() {
        section.complain(key, problem);
    }
    section.end();
    files
}
