//! What a daemon is to do, from its file. Reading it finds every problem, not only the first.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use toml::Table;

use super::door::Door;
use super::inward::{self, Listen};
use super::outward::{self, SinkKind, SinkSettings, Upstream};
use super::sampling::Sampling;
use super::section::Section;
use super::trust::Trust;
use crate::node;
use crate::spool::Limits;
use crate::wire::{Address, tls};

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
    /// How TCP is encrypted, if it is.
    pub tls: Option<tls::Files>,
    /// Where others connect.
    pub listen: Vec<Listen>,
    /// Hubs that get everything.
    pub upstreams: Vec<Upstream>,
    /// Where batches end here.
    pub sinks: Vec<SinkSettings>,
    /// Where metrics of the daemon itself are read.
    pub metrics: Option<Address>,
    /// Where clients of PostgreSQL ask its store.
    pub postgres: Option<Door>,
    /// How long the end waits for sinks to get everything.
    pub drain: Duration,
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
            tls: None,
            listen: Vec::new(),
            upstreams: Vec::new(),
            sinks: Vec::new(),
            metrics: None,
            postgres: None,
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
            settings.node = Some(inward::node(Section::new("node", table, top.problems())));
            settings.sampling = Some(Sampling::default());
        }
        if let Some(table) = top.inner("sample") {
            settings.sampling = Sampling::read(Section::new("sample", table, top.problems()));
        }
        if let Some(table) = top.inner("auth") {
            settings.trust = Trust::read(Section::new("auth", table, top.problems()));
        }
        if let Some(table) = top.inner("tls") {
            let section = Section::new("tls", table, top.problems());
            settings.tls = Some(inward::encryption(section));
        }
        for table in top.several("listen") {
            settings.listen.extend(inward::listen(Section::new("listen", table, top.problems())));
        }
        for table in top.several("upstream") {
            let section = Section::new("upstream", table, top.problems());
            settings.upstreams.extend(outward::upstream(section));
        }
        for table in top.several("sink") {
            settings.sinks.extend(outward::sink(Section::new("sink", table, top.problems())));
        }
        if let Some(table) = top.inner("metrics") {
            let mut section = Section::new("metrics", table, top.problems());
            settings.metrics = section.parsed("address", str::parse);
            section.end();
        }
        if let Some(table) = top.inner("postgres") {
            settings.postgres = Some(Door::read(Section::new("postgres", table, top.problems())));
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
        let is_store = |sink: &SinkSettings| matches!(sink.kind, SinkKind::Store(_));
        if self.postgres.is_some() && !self.sinks.iter().any(is_store) {
            problems
                .push("[postgres] asks the daemon's store: a [[sink]] of kind store".to_owned());
        }
        problems.extend(self.unencrypted());
        let certified = self.tls.as_ref().is_some_and(|tls| tls.clients.is_some());
        let strangers = |listen: &&Listen| !listen.insecure && !listen.address.is_local();
        if self.trust == Trust::Open && !certified {
            for listen in self.listen.iter().filter(strangers) {
                problems.push(format!(
                    "[listen] {} can be reached from other machines and nobody proves who they are: \
                     [auth] asks for that, clients of [tls] too, insecure = true says that it shall be so",
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

    /// What would go over TCP in plain text though encryption is set.
    fn unencrypted(&self) -> Vec<String> {
        let Some(tls) = &self.tls else { return Vec::new() };
        let is_tcp = |address: &&Address| matches!(address, Address::Tcp(_));
        let mut problems = Vec::new();
        if tls.certificate.is_none() {
            for address in self.listen.iter().map(|listen| &listen.address).filter(is_tcp) {
                problems.push(format!(
                    "[tls] certificate: {address} is encrypted with one, and it is missing"
                ));
            }
        }
        if tls.ca.is_none() {
            for address in self.upstreams.iter().map(|upstream| &upstream.address).filter(is_tcp) {
                problems.push(format!("[tls] ca: says who vouches for {address}, and is missing"));
            }
        }
        problems
    }

    /// The names of those that may go without.
    #[must_use]
    pub fn optional(&self) -> BTreeSet<String> {
        let upstreams = self.upstreams.iter().map(|one| (one.optional, &one.name));
        let sinks = self.sinks.iter().map(|one| (one.optional, &one.name));
        upstreams.chain(sinks).filter(|(may, _)| *may).map(|(_, name)| name.clone()).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::Root;
    use netra_event::Layer;

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
        let door = "[postgres]\nsocket = \"/run/netra\"\ntimeout = \"20s\"\n";
        let door = Settings::parse(&format!("{text}{door}")).unwrap().postgres.unwrap();
        assert_eq!((door.socket, door.timeout.as_secs()), (Some("/run/netra".into()), 20));
        let wrong = Settings::parse(&format!("{text}[postgres]\nlisten = \"[::]:5433\"\n"));
        assert_eq!(
            wrong.unwrap_err(),
            ["[postgres] users: says who may come over the network, and is missing"]
        );
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
