//! The same events through LDMS: two daemons of a real installation (`LDMS_PREFIX=`), the second subscribed to the
//! first, and LDMS's own publisher that sends the connector's messages, as netra renders them, line by line and
//! then ends, as an application does.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use super::site::{Running, Site, cost, wait};
use crate::place::output;

const MESSAGES: usize = 100_000;
const STREAM: &str = "darshanConnector";
/// How long the daemons may take for what they have got.
const DRAIN: Duration = Duration::from_secs(10);

/// What came of it, in microseconds of processor time for a message that the first daemon received.
pub(super) struct Ldms {
    pub(super) publisher: f64,
    pub(super) first: f64,
    pub(super) second: f64,
    /// Messages that the first daemon never received, of a hundred.
    pub(super) lost: f64,
}

pub(super) fn measure(site: &Site) -> Result<Option<Ldms>> {
    let Some(prefix) = std::env::var_os("LDMS_PREFIX").filter(|prefix| !prefix.is_empty()) else {
        return Ok(None);
    };
    let peer = Peer { prefix: prefix.into(), folder: site.folder.join("ldms") };
    fs::create_dir_all(&peer.folder)?;
    let messages = peer.folder.join("messages");
    render(site, &messages)?;
    let (first, second) = (port()?, port()?);
    let sampler = peer.daemon("first", first, "stream_enable\n")?;
    let aggregator = peer.daemon(
        "second",
        second,
        &format!(
            "stream_enable\nprdcr_add name=first type=active host=127.0.0.1 port={first} xprt=sock reconnect=1s\n\
             prdcr_subscribe regex=.* stream={STREAM}\nprdcr_start name=first\n"
        ),
    )?;
    wait(|| TcpListener::bind((Ipv4Addr::LOCALHOST, second)).is_err())?;
    // The second looks for the first once a second.
    std::thread::sleep(Duration::from_secs(3));
    let before = (sampler.seconds()?, aggregator.seconds()?);
    let mut publish = peer.program("ldmsd_stream_publish");
    publish.args(["-x", "sock", "-h", "127.0.0.1", "-p", &first.to_string(), "-a", "none"]);
    publish.args(["-t", "json", "-s", STREAM, "-l", "-f"]).arg(&messages);
    let publisher = cost(&mut publish)?;
    std::thread::sleep(DRAIN);
    let received = peer.received(first)?;
    ensure!(received > 0, "LDMS received nothing");
    let each = |seconds: f64| seconds * 1e6 / received as f64;
    Ok(Some(Ldms {
        publisher: publisher * 1e6 / MESSAGES as f64,
        first: each(sampler.seconds()? - before.0),
        second: each(aggregator.seconds()? - before.1),
        lost: (1.0 - received as f64 / MESSAGES as f64) * 100.0,
    }))
}

/// The connector's messages of a run, as often as it takes.
fn render(site: &Site, path: &Path) -> Result<()> {
    let mut command = Command::new(&site.netra);
    let address = format!("unix:{}", site.folder.join("far.sock").display());
    command.args(["subscribe", "io", "--as", "connector-json", "--daemon", &address]);
    let mut reader = Running(command.stdout(Stdio::piped()).spawn().context("a subscriber")?);
    let lines = BufReader::new(reader.0.stdout.take().context("no output")?).lines();
    let mut producer = Command::new(Site::program("paced")?);
    producer.arg(site.folder.join("rendered")).args(["1000", "2"]);
    cost(site.record(&mut producer, "rendered"))?;
    let some: Vec<String> = lines.take(1000).collect::<std::io::Result<_>>()?;
    let mut file = std::io::BufWriter::new(fs::File::create(path)?);
    for line in some.iter().cycle().take(MESSAGES) {
        writeln!(file, "{line}")?;
    }
    Ok(file.flush()?)
}

/// A port that nobody listens on.
fn port() -> Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

struct Peer {
    prefix: PathBuf,
    folder: PathBuf,
}

impl Peer {
    fn program(&self, name: &str) -> Command {
        let plugins = self.prefix.join("lib/ovis-ldms");
        let mut command = Command::new(self.prefix.join("sbin").join(name));
        command.env("LD_LIBRARY_PATH", self.prefix.join("lib"));
        command.env("ZAP_LIBPATH", &plugins).env("LDMSD_PLUGIN_LIBPATH", plugins);
        command
    }

    fn daemon(&self, name: &str, port: u16, settings: &str) -> Result<Running> {
        let file = self.folder.join(format!("{name}.conf"));
        fs::write(&file, settings)?;
        let mut command = self.program("ldmsd");
        command.args(["-F", "-x", &format!("sock:{port}"), "-a", "none", "-c"]).arg(file);
        command.arg("-l").arg(self.folder.join(format!("{name}.log"))).stdin(Stdio::null());
        let daemon = Running(command.spawn().context("starting ldmsd")?);
        wait(|| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_err())?;
        Ok(daemon)
    }

    /// Messages that a daemon says it has received: the last word of that line of its table.
    fn received(&self, port: u16) -> Result<u64> {
        let question = self.folder.join("question");
        fs::write(&question, "stream_status\n")?;
        let mut command = self.program("ldmsctl");
        command.args(["-x", "sock", "-h", "127.0.0.1", "-p", &port.to_string(), "-a", "none"]);
        let said = output(command.stdin(fs::File::open(question)?))?;
        let said = String::from_utf8_lossy(&said).into_owned();
        let line = said.lines().find(|line| line.trim_start().starts_with("received"));
        let count = line.and_then(|line| line.split_whitespace().last()?.parse().ok());
        count.with_context(|| format!("ldmsctl said `{said}`"))
    }
}
