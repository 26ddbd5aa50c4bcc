//! What a daemon is to do, from its file. Reading it finds every problem, not only the first.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use netra_event::Layer;
use toml::Table;

use super::sampling::Sampling;
use super::section::Section;
use super::trust::Trust;
use crate::node::{self, Filter, Root};
use crate::render::Form;
use crate::spool::Limits;
use crate::wire::Address;

/// What a daemon is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Its name, for people and other daemons.
    pub name: String,
    /// Where spool, checkpoint and ledger lie.
    pub state: PathBuf,
    /// Whether the spool outlives the machine, and not only the daemon.
    pub durable: bool,
    /// How large the spool may become.
    pub limits: Limits,
    /// What segments it reads, if it is a node.
    pub node: Option<node::Settings>,
    /// What it samples, if it does.
    pub sampling: Option<Sampling>,
    /// Whom it believes over TCP.
    pub trust: Trust,
    /// Where others connect.
    pub listen: Vec<Listen>,
    /// Hubs that get everything.
    pub upstreams: Vec<Upstream>,
    /// Where batches end here.
    pub sinks: Vec<SinkSettings>,
    /// Where metrics of the daemon itself are read.
    pub metrics: Option<Address>,
    /// How long the end waits for sinks to get everything.
    pub drain: Duration,
}

/// A place where others connect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listen {
    /// Where.
    pub address: Address,
    /// Who may connect to a Unix socket.
    pub mode: u32,
    /// Whether strangers may connect from other machines.
    pub insecure: bool,
}

/// A hub that gets everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstream {
    /// Its name; another name is another sink, which gets everything from the beginning.
    pub name: String,
    /// Where it is.
    pub address: Address,
}

/// A sink.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SinkSettings {
    /// Its name; another name is another sink, which gets everything from the beginning.
    pub name: String,
    /// What it is.
    pub kind: SinkKind,
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

impl Settings {
    /// A daemon that does nothing: what others begin from.
    #[must_use]
    pub fn nothing() -> Settings {
        Settings {
            name: host(),
            state: PathBuf::new(),
            durable: true,
            limits: Limits::default(),
            node: None,
            sampling: None,
            trust: Trust::Open,
            listen: Vec::new(),
            upstreams: Vec::new(),
            sinks: Vec::new(),
            metrics: None,
            drain: Duration::from_secs(30),
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// Everything that is wrong with it, a sentence each.
    pub fn read(path: &Path) -> Result<Settings, Vec<String>> {
        let text = std::fs::read_to_string(path);
        let text = text.map_err(|error| vec![format!("{}: {error}", path.display())])?;
        Settings::parse(&text)
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// As for [`Settings::read`].
    pub fn parse(text: &str) -> Result<Settings, Vec<String>> {
        let table: Table =
            text.parse().map_err(|error: toml::de::Error| vec![error.to_string()])?;
        let mut problems = Vec::new();
        let mut top = Section::new("", table, &mut problems);
        let mut settings = Settings::nothing();
        settings.name = top.text("name").unwrap_or(settings.name);
        settings.state = top.path("state").unwrap_or_default();
        settings.durable = top.switch("durable", true);
        settings.drain = top.duration("drain", settings.drain);
        if settings.state.as_os_str().is_empty() {
            top.complain("state", "says where the spool lies, and is missing");
        }
        if let Some(table) = top.inner("spool") {
            settings.limits = spool(Section::new("spool", table, top.problems()));
        }
        if let Some(table) = top.inner("node") {
            settings.node = Some(node(Section::new("node", table, top.problems())));
            settings.sampling = Some(Sampling::default());
        }
        if let Some(table) = top.inner("sample") {
            settings.sampling = Sampling::read(Section::new("sample", table, top.problems()));
        }
        if let Some(table) = top.inner("auth") {
            settings.trust = Trust::read(Section::new("auth", table, top.problems()));
        }
        for table in top.several("listen") {
            settings.listen.extend(listen(Section::new("listen", table, top.problems())));
        }
        for table in top.several("upstream") {
            settings.upstreams.extend(upstream(Section::new("upstream", table, top.problems())));
        }
        for table in top.several("sink") {
            settings.sinks.extend(sink(Section::new("sink", table, top.problems())));
        }
        if let Some(table) = top.inner("metrics") {
            let mut section = Section::new("metrics", table, top.problems());
            settings.metrics = section.parsed("address", str::parse);
            section.end();
        }
        top.end();
        problems.extend(settings.contradictions());
        if problems.is_empty() { Ok(settings) } else { Err(problems) }
    }

    /// What is right by itself and wrong together.
    fn contradictions(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if self.node.is_none() && self.listen.is_empty() {
            problems.push(
                "nothing comes in: [node] reads segments, [[listen]] takes connections".to_owned(),
            );
        }
        if self.upstreams.is_empty() && self.sinks.is_empty() {
            problems.push("nothing goes out: [[upstream]] sends on, [[sink]] keeps".to_owned());
        }
        let strangers = |listen: &&Listen| !listen.insecure && !listen.address.is_local();
        if self.trust == Trust::Open {
            for listen in self.listen.iter().filter(strangers) {
                problems.push(format!(
                    "[listen] {} can be reached from other machines and nobody proves who they are: \
                     [auth] asks for that, insecure = true says that it shall be so",
                    listen.address
                ));
            }
        }
        let mut names = self.outlets();
        names.sort();
        for pair in names.windows(2).filter(|pair| pair[0] == pair[1]) {
            problems.push(format!("two sinks are called {:?}", pair[0]));
        }
        problems
    }

    /// The names of upstreams and sinks.
    #[must_use]
    pub fn outlets(&self) -> Vec<String> {
        let upstreams = self.upstreams.iter().map(|upstream| upstream.name.clone());
        upstreams.chain(self.sinks.iter().map(|sink| sink.name.clone())).collect()
    }
}

fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

fn spool(mut section: Section<'_>) -> Limits {
    let default = Limits::default();
    let total = section.size("limit", default.total);
    let file = section.size("file", default.file.min(total / 8).max(1 << 20));
    if total < 16 << 20 {
        section.complain("limit", "at least 16MiB are needed");
    }
    if file > total / 4 {
        section.complain("file", "must be at most a quarter of the limit");
    }
    section.end();
    Limits { total, file }
}

fn node(mut section: Section<'_>) -> node::Settings {
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
    let job = section.text("job");
    section.end();
    node::Settings { roots, filter, job }
}

fn layer(name: &str) -> Option<Layer> {
    let all =
        [Layer::Posix, Layer::Stdio, Layer::Process, Layer::Mpiio, Layer::Hdf5, Layer::Pnetcdf];
    let plain = |text: &str| text.replace('-', "").to_ascii_uppercase();
    all.into_iter().find(|layer| plain(layer.name()) == plain(name))
}

fn listen(mut section: Section<'_>) -> Option<Listen> {
    let address = section.parsed("address", str::parse);
    if address.is_none() {
        section.complain("address", "says where others connect");
    }
    let octal = |text: &str| u32::from_str_radix(text, 8).map_err(|_| "a mode such as 0660");
    let mode = section.parsed("mode", octal).unwrap_or(0o600);
    let insecure = section.switch("insecure", false);
    section.end();
    Some(Listen { address: address?, mode, insecure })
}

fn upstream(mut section: Section<'_>) -> Option<Upstream> {
    let address: Option<Address> = section.parsed("address", str::parse);
    if address.is_none() {
        section.complain("address", "says where the hub is");
    }
    let name = section.text("name");
    section.end();
    let address = address?;
    Some(Upstream { name: name.unwrap_or_else(|| address.to_string()), address })
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

fn sink(mut section: Section<'_>) -> Option<SinkSettings> {
    let word = section.needed("kind");
    if word == "store" {
        let kind = SinkKind::Store(store(&mut section));
        let name = section.text("name").unwrap_or(word);
        section.end();
        return Some(SinkSettings { name, kind });
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
    section.end();
    Some(SinkSettings { name, kind: kind? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_described_in_a_few_lines() {
        let settings = Settings::parse(
            r#"
            name = "n1"
            state = "/var/lib/netra"
            drain = "5s"
            [spool]
            limit = "2GiB"
            [node]
            segments = ["/dev/shm"]
            without = ["STDIO", "mpiio"]
            exclude = ["/home"]
            [[upstream]]
            name = "hub"
            address = "tcp:hub:4040"
            [metrics]
            address = "127.0.0.1:9400"
            "#,
        )
        .unwrap();
        assert_eq!((settings.limits.total, settings.limits.file), (2 << 30, 16 << 20));
        let node = settings.node.unwrap();
        assert_eq!(node.roots, [Root::All("/dev/shm".into())]);
        assert_eq!(node.filter.layers, [Layer::Stdio, Layer::Mpiio]);
        assert_eq!(settings.upstreams[0].address, Address::Tcp("hub:4040".to_owned()));
        assert_eq!(settings.drain, Duration::from_secs(5));
    }

    #[test]
    fn a_store_says_how_long_it_keeps_what() {
        let text = r#"
            state = "/var/lib/netra"
            [[listen]]
            address = "unix:/run/netra/hub"
            [[sink]]
            kind = "store"
            place = "/data/netra"
            every = "3s"
            keep = { events = "30d", activity = "8760h" }
            limit = { events = "10GiB" }
            "#;
        let SinkKind::Store(store) = &Settings::parse(text).unwrap().sinks[0].kind else {
            panic!("no store");
        };
        assert_eq!((store.place.as_deref(), store.every.as_secs()), (Some("/data/netra"), 3));
        assert_eq!(store.keep["events"], Duration::from_secs(30 * 86_400));
        assert_eq!((store.limit["events"], store.maintain), (10 << 30, true));
        let wrong = Settings::parse(&text.replace("30d", "long")).unwrap_err();
        assert_eq!(wrong, ["[sink] keep: events: \"long\" is no duration such as 250ms"]);
    }

    #[test]
    fn every_problem_is_named_at_once() {
        let problems = Settings::parse(
            r#"
            stat = "/x"
            [spool]
            limit = 5
            [[listen]]
            address = "here"
            mod = "0660"
            [[sink]]
            kind = "sieve"
            "#,
        )
        .unwrap_err();
        for part in [
            "state: says where the spool lies, and is missing",
            "stat: no such key",
            "[spool] limit: a text in quotes belongs here",
            "[listen] address: here: an address is tcp:HOST:PORT or unix:PATH",
            "[listen] mod: no such key",
            "[sink] kind: sieve is no sink",
            "nothing goes out",
        ] {
            assert!(problems.iter().any(|problem| problem.contains(part)), "{part}: {problems:#?}");
        }
    }
}
