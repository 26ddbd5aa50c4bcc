//! `netra serve`: running jobs on a page, for browsers and programs.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Result, bail};
use netra_show::live::{Doctor, Live, Setup, follow};
#[cfg(feature = "store")]
use netra_show::serve::Stored;
use netra_show::serve::{Server, Settings, User, Users, make_token};
use netra_show::tls::Tls;
#[cfg(feature = "store")]
use netra_store::ask::{Ground, Limits};
#[cfg(feature = "store")]
use netra_store::{Place, Store};
use netra_stream::clock::Clock;
use netra_stream::stop::Stop;
use netra_stream::wire::Address;
use signal_hook::consts::signal::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::calling::Calling;
use crate::launch::alarm::{Alarm, Watch};
use crate::launch::page::{address, names, scratch, setup};
use crate::surroundings;

const EXAMPLES: &str = "\
The page follows a daemon: that of this node, or the hub to which all nodes send. Without a file of
users there is one, you, and the printed address lets you in. This machine alone is answered unless
there is a certificate; from another one use ssh -L PORT:127.0.0.1:PORT, or put a server with TLS in front.

A file of users has for each:
  [[user]]
  name = \"ann\"
  uid = 1000                       # sees the jobs of this user
  token_sha256 = \"…\"               # of the token: printf %s TOKEN | sha256sum
  administrator = false            # true: sees everybody's

Examples:
  netra serve
  netra serve --daemon tcp:hub1:4040 --munge --users /etc/netra/users.toml --listen 0.0.0.0:8443 --host hub1 \\
    --page-certificate /etc/netra/cert.pem --page-key /etc/netra/key.pem";

/// A question over HTTP takes no longer.
#[cfg(feature = "store")]
const LONGEST_QUESTION: std::time::Duration = std::time::Duration::from_secs(300);

/// Which daemon, where, and for whom.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Where to listen; a port of 0 lets the system choose
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7480")]
    listen: SocketAddr,
    /// A name of this machine by which browsers may call it; may be given several times
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,
    /// Certificate (PEM): the page is then encrypted, and may be served to other machines
    #[arg(long, value_name = "FILE", requires = "page_key")]
    page_certificate: Option<PathBuf>,
    /// Its key (PEM)
    #[arg(long, value_name = "FILE", requires = "page_certificate")]
    page_key: Option<PathBuf>,
    /// Answer other machines although nothing is encrypted: tokens and data can then be read along
    #[arg(long, conflicts_with = "page_certificate")]
    unencrypted: bool,
    /// Who may look, and what they see
    #[arg(long, value_name = "FILE")]
    users: Option<PathBuf>,
    /// A file of thresholds and silenced rules, beside /etc/netra/report.toml and your own
    #[arg(long, value_name = "FILE")]
    thresholds: Option<PathBuf>,
    /// A store: its jobs are on the page, and may be asked (/api/sql); without it your own, where there is one
    #[cfg(feature = "store")]
    #[arg(long, value_name = "DIR|URL")]
    store: Option<String>,
    #[command(flatten)]
    alarm: Alarm,
    #[command(flatten)]
    calling: Calling,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let mut signals = Signals::new([SIGTERM, SIGINT]).context("watching for signals")?;
    let (daemon, caller) = (followed(args)?, args.calling.caller()?);
    let clock = Arc::new(Clock::default());
    let live = Arc::new(Live::default());
    let folder = std::env::temp_dir().join(format!("netra-{}", surroundings::uid()));
    let setup = setup(args.thresholds.as_deref())?;
    let doctor =
        Doctor::new(Arc::clone(&live), Arc::clone(&clock), setup.clone(), scratch(&folder));
    let (users, token) = users(args.users.as_deref())?;
    let settings = Settings {
        address: args.listen,
        hosts: args.host.iter().cloned().chain([args.listen.ip().to_string()]).collect(),
        users,
        names: names(),
        servers: setup.servers.clone(),
        tls: tls(args)?,
        allow_plain: args.unencrypted,
    };
    let scheme = if settings.tls.is_some() { "https" } else { "http" };
    let server = start(args, setup, settings, Arc::clone(&live), Arc::clone(&clock))?;
    match token {
        Some(token) => eprintln!("netra: {}", address(scheme, server.address, "", &token)),
        None => eprintln!("netra: {scheme}://{}/ for the users of the file", server.address),
    }
    let stop = Stop::new()?;
    let last = Mutex::new(String::new());
    // A daemon that stays away is said once, however often it is called.
    let say = |gone: Option<&str>| {
        let word = gone.map_or_else(|| "the daemon is followed".to_owned(), str::to_owned);
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        if *last != word {
            eprintln!("netra: {word}");
            *last = word;
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            if let Some(daemon) = &daemon {
                follow(&live, daemon, &caller, &stop, &say);
            }
        });
        scope.spawn(|| doctor.run(&stop));
        scope.spawn(|| {
            if let Some(daemon) = &daemon {
                args.alarm.run(daemon, Watch { live: &live, clock: &clock, stop: &stop });
            }
        });
        signals.forever().next();
        stop.set();
    });
    server.stop();
    Ok(ExitCode::SUCCESS)
}

/// The daemon that is followed. A store, one's own too, has jobs to show without one.
fn followed(args: &Args) -> Result<Option<Address>> {
    #[cfg(feature = "store")]
    let has_store = args.store.is_some() || Place::usual().and_then(Store::open).is_ok();
    #[cfg(not(feature = "store"))]
    let has_store = false;
    match args.calling.address() {
        Ok(address) => Ok(Some(address)),
        Err(error) if has_store && args.calling.named().is_none() => {
            eprintln!("netra: {error}; the page has the jobs of the store alone");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// The certificate that was given. What is not encrypted stays on this machine, unless that is meant.
fn tls(args: &Args) -> Result<Option<Tls>> {
    if let (Some(certificate), Some(key)) = (&args.page_certificate, &args.page_key) {
        return Ok(Some(Tls::read(certificate, key)?));
    }
    if !args.listen.ip().is_loopback() && !args.unencrypted {
        bail!(
            "{} can be reached from other machines, and nothing would be encrypted: give --page-certificate and --page-key, \
             listen on 127.0.0.1 behind ssh -L or a server with TLS, or say --unencrypted",
            args.listen
        );
    }
    Ok(None)
}

/// Over the store, if there is one.
fn start(
    args: &Args,
    #[cfg_attr(not(feature = "store"), expect(unused_variables, reason = "stored jobs need it"))]
    setup: Setup,
    settings: Settings,
    live: Arc<Live>,
    clock: Arc<Clock>,
) -> Result<Server> {
    let listening = || format!("listening on {}", args.listen);
    #[cfg(feature = "store")]
    if let Some(stored) = stored(args.store.as_deref(), setup)? {
        return Server::start_over(stored, settings, live, clock).with_context(listening);
    }
    Server::start(settings, live, clock).with_context(listening)
}

/// The store that was named must be there; one's own need not.
#[cfg(feature = "store")]
fn stored(named: Option<&str>, setup: Setup) -> Result<Option<Stored>> {
    let store = match named {
        Some(text) => Store::open(Place::parse(text)?)?,
        None => match Store::open(Place::usual()?) {
            Ok(store) => store,
            Err(_) => return Ok(None),
        },
    };
    let limits = Limits { timeout: Some(LONGEST_QUESTION), ..Limits::default() };
    let stored = Stored::new(Arc::new(store), Ground::new(&limits)?, setup);
    Ok(Some(stored.context("starting threads")?))
}

/// Those of the file; without one whoever started this, and their token.
fn users(file: Option<&Path>) -> Result<(Users, Option<String>)> {
    let Some(path) = file else {
        let (uid, token) = (surroundings::uid(), make_token()?);
        let me = User::new(&surroundings::user(), Some(uid), uid == 0, &token);
        return Ok((Users::new(vec![me]), Some(token)));
    };
    let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    match Users::read(&text) {
        Ok(users) => Ok((users, None)),
        Err(wrong) => {
            let wrong: Vec<String> =
                wrong.iter().map(|what| format!("{}: {what}", path.display())).collect();
            bail!("{}", wrong.join("\nnetra: "))
        }
    }
}
