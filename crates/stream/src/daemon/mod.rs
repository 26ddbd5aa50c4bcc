//! A daemon: sources, the intake, and sinks, each on threads of their own, set up from
//! [`Settings`] and taken down in order.
//!
//! The end: first nothing more comes in (a node reads what processes that ended have left), then the
//! sinks get what is there, as far as the time for that goes, then everything is kept. What a sink
//! did not get it gets after the next start.

mod door;
mod inward;
mod metrics;
mod outward;
mod sampling;
mod section;
mod settings;
mod trust;

use std::fs::{self, File};
use std::io;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use netra_event::frame::Producer;
use netra_event::jenkins64;
use rustix::fs::{FlockOperation, flock};

use crate::clock::Clock;
use crate::intake::{CHECKPOINT, Intake, Setup};
use crate::ledger::Checkpoint;
use crate::node::Node;
use crate::outlet::Runner;
use crate::sink::{Lines, Null, Sink, Trace};
use crate::spool::{Folder, Storage as _};
use crate::stop::Stop;
use crate::told::Told;
use crate::wire::tls::{Problem, Tls};
use crate::wire::{Guard, Link, Listener, Proven, Server};

pub use door::Door;
pub use inward::Listen;
pub use outward::{SinkKind, SinkSettings, StoreSettings, Upstream};
pub use sampling::Sampling;
pub use section::{Section, duration, size};
pub use settings::Settings;
pub use trust::Trust;

/// Makes a sink that keeps everything in a store; it says what it does through the other argument.
pub type MakeStore<'a> = dyn Fn(&StoreSettings, &Arc<Told>) -> io::Result<Box<dyn Sink>> + 'a;

/// How long the end waits for a sink that does not answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Sinks with their names.
pub type Sinks = Vec<(String, Box<dyn Sink>)>;

/// A daemon at work.
#[derive(Debug)]
pub struct Daemon {
    settings: Settings,
    /// Its middle.
    pub intake: Arc<Intake>,
    stop: Arc<Stop>,
    sources: Vec<JoinHandle<()>>,
    servers: Vec<Arc<Server>>,
    sinks: Vec<JoinHandle<()>>,
    /// Where others connect, with ports that the system chose.
    pub addresses: Vec<String>,
    _lock: File,
}

/// Where bytes of a daemon lie that must not be two daemons'.
fn lock(state: &Path) -> io::Result<File> {
    let path = state.join("lock");
    let file = File::create(&path)?;
    flock(&file, FlockOperation::NonBlockingLockExclusive)
        .map_err(|_| io::Error::other(format!("another daemon uses {}", state.display())))?;
    Ok(file)
}

impl Daemon {
    /// Starts everything.
    ///
    /// # Errors
    /// The state can not be used, or an address not be listened on.
    pub fn start(settings: Settings, told: Arc<Told>, clock: Arc<Clock>) -> io::Result<Daemon> {
        Daemon::start_with(settings, told, clock, &no_store)
    }

    /// Starts everything; `store` makes the sinks of kind `store`, which this crate knows only by
    /// their settings.
    ///
    /// # Errors
    /// As for [`Daemon::start`], or a store can not be opened.
    pub fn start_with(
        settings: Settings,
        told: Arc<Told>,
        clock: Arc<Clock>,
        store: &MakeStore<'_>,
    ) -> io::Result<Daemon> {
        Daemon::start_beside(settings, told, clock, store, Vec::new())
    }

    /// Starts everything, with sinks besides those of the settings: each has a name of its own.
    ///
    /// # Errors
    /// As for [`Daemon::start_with`].
    pub fn start_beside(
        settings: Settings,
        told: Arc<Told>,
        clock: Arc<Clock>,
        store: &MakeStore<'_>,
        sinks: Sinks,
    ) -> io::Result<Daemon> {
        let storage = Folder::new(&settings.state, settings.durable)?;
        let lock = lock(&settings.state)?;
        let storage = Arc::new(storage.set_aside());
        let own = Producer {
            host: jenkins64(rustix::system::uname().nodename().to_bytes(), 0),
            start: clock.now(),
            pid: std::process::id(),
        };
        let outlets =
            settings.outlets().into_iter().chain(sinks.iter().map(|(name, _)| name.clone()));
        let setup = Setup {
            limits: settings.limits,
            own,
            images: !(settings.sinks.is_empty() && settings.listen.is_empty() && sinks.is_empty()),
            outlets: outlets.collect(),
            optional: settings.optional(),
        };
        let intake = Arc::new(Intake::open(storage, setup, Arc::clone(&told), clock)?);
        let stop = Arc::new(Stop::new()?);
        let mut daemon = Daemon {
            settings,
            intake,
            stop,
            sources: Vec::new(),
            servers: Vec::new(),
            sinks: Vec::new(),
            addresses: Vec::new(),
            _lock: lock,
        };
        // Sinks and listeners first: what can fail, fails before anything is read.
        let begun = daemon.begin(store, sinks);
        if let Err(error) = begun {
            daemon.end(Duration::ZERO);
            return Err(error);
        }
        Ok(daemon)
    }

    fn begin(&mut self, store: &MakeStore<'_>, more: Sinks) -> io::Result<()> {
        let settings = self.settings.clone();
        let method = settings.trust.method()?;
        let encryption = match &settings.tls {
            Some(files) => files.load().map_err(broken)?,
            None => Tls::default(),
        };
        let mut listeners = Vec::new();
        for listen in &settings.listen {
            let refused = |error: io::Error| {
                io::Error::new(error.kind(), format!("listening on {}: {error}", listen.address))
            };
            let listener = Listener::bind(&listen.address, listen.mode).map_err(refused)?;
            self.addresses.push(match listener.port() {
                Some(port) => with_port(&listen.address.to_string(), port),
                None => listen.address.to_string(),
            });
            listeners.push(listener);
        }
        if let Some(address) = &settings.metrics {
            let listener = Listener::bind(address, 0o600)?;
            let (told, stop) = (Arc::clone(&self.intake.told), Arc::clone(&self.stop));
            self.sources.push(spawn("metrics", move || metrics::serve(&listener, &told, &stop))?);
        }
        let keeper = Arc::clone(&self.intake);
        self.sinks.push(spawn("keep", move || keeper.keep())?);
        for sink in &settings.sinks {
            let made: Box<dyn Sink> = match &sink.kind {
                SinkKind::Null => Box::new(Null),
                SinkKind::Lines(form, path) => Box::new(Lines::new(path, *form, settings.durable)),
                SinkKind::Trace(folder) => Box::new(Trace::new(folder, settings.durable)),
                SinkKind::Store(of) => store(of, &self.intake.told)?,
            };
            let (name, intake) = (sink.name.clone(), Arc::clone(&self.intake));
            let runner = Runner { name, sink: made, intake };
            self.sinks.push(spawn("sink", move || runner.run())?);
        }
        for (name, sink) in more {
            let runner = Runner { name, sink, intake: Arc::clone(&self.intake) };
            self.sinks.push(spawn("sink", move || runner.run())?);
        }
        for upstream in &settings.upstreams {
            let link = Link {
                name: upstream.name.clone(),
                address: upstream.address.clone(),
                own: settings.name.clone(),
                intake: Arc::clone(&self.intake),
                caller: Box::new(Proven { method: method.clone(), tls: encryption.client.clone() }),
            };
            self.sinks.push(spawn("link", move || link.run())?);
        }
        for (listener, listen) in listeners.into_iter().zip(&settings.listen) {
            let (method, tls) = (method.clone(), encryption.server.clone());
            let guard =
                Guard { method, tls, queue: listen.queue, intake: Arc::clone(&self.intake) };
            let server = Server::new(listener, Arc::clone(&self.intake), Box::new(guard));
            let (server, stop) = (Arc::new(server), Arc::clone(&self.stop));
            self.servers.push(Arc::clone(&server));
            self.sources.push(spawn("listen", move || server.run(&stop))?);
        }
        if let Some(sampling) = settings.sampling {
            let (intake, stop) = (Arc::clone(&self.intake), Arc::clone(&self.stop));
            let run = move || sampling::run(&sampling, &intake, &stop);
            self.sources.push(spawn("sample", run)?);
        }
        if let Some(node) = settings.node {
            let (intake, stop) = (Arc::clone(&self.intake), Arc::clone(&self.stop));
            let mut node = Node::new(node, Arc::clone(&intake))?;
            self.sources.push(spawn("node", move || {
                if let Err(error) = node.run(&stop) {
                    intake.told.say(format_args!("the node ends: {error}"));
                }
            })?);
        }
        Ok(())
    }

    /// Says that it is ready, to people and to systemd.
    pub fn ready(&self) {
        let places = match self.addresses.is_empty() {
            true => String::new(),
            false => format!(", listening on {}", self.addresses.join(", ")),
        };
        self.intake.told.say(format_args!("{} is ready{places}", self.settings.name));
        // Whoever wants to connect finds the ports that the system chose here.
        let lines: String = self.addresses.iter().map(|line| format!("{line}\n")).collect();
        fs::write(self.settings.state.join("addresses"), lines).ok();
        notify("READY=1");
    }

    /// Ends: nothing more comes in, sinks get what is there, everything is kept. True if every sink
    /// has everything.
    #[must_use]
    pub fn finish(mut self) -> bool {
        notify("STOPPING=1");
        let drain = self.settings.drain;
        self.end(drain)
    }

    /// Ends without waiting for sinks: it is started again at once.
    pub fn pause(mut self) {
        self.end(Duration::ZERO);
    }

    fn end(&mut self, drain: Duration) -> bool {
        self.stop.set();
        for source in self.sources.drain(..) {
            if source.join().is_err() {
                self.intake.told.say("a source ended with a panic; please report it");
            }
        }
        // Connections see the wish to stop at once; their last frames are taken or not at all.
        let until = Instant::now() + Duration::from_secs(10);
        while self.servers.iter().any(|server| server.connections() > 0) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(2));
        }
        self.intake.drain();
        let until = Instant::now() + drain;
        while !self.intake.is_drained() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        let drained = self.intake.is_drained();
        self.intake.stop();
        let until = Instant::now() + PATIENCE;
        for sink in self.sinks.drain(..) {
            while !sink.is_finished() && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(2));
            }
            if !sink.is_finished() {
                self.intake.told.say(
                    "a sink is stuck and is left as it is; the next start goes on at its last mark",
                );
            } else if sink.join().is_err() {
                self.intake.told.say("a sink ended with a panic; please report it");
            }
        }
        if let Err(error) = self.intake.checkpoint() {
            self.intake.told.say(format_args!("the state can not be kept: {error}"));
        }
        drained
    }
}

/// Where there is no store to be had.
///
/// # Errors
/// Always.
pub fn no_store(_: &StoreSettings, _: &Arc<Told>) -> io::Result<Box<dyn Sink>> {
    Err(io::Error::other("this netra is built without the store"))
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name(format!("netra-{name}")).spawn(run)
}

/// Certificates that were whole when the file was read, and are not any more.
fn broken(problems: Vec<Problem>) -> io::Error {
    let lines: Vec<String> =
        problems.into_iter().map(|(key, problem)| format!("[tls] {key}: {problem}")).collect();
    io::Error::new(io::ErrorKind::InvalidData, lines.join("; "))
}

/// An address with the port that the system chose in place of 0.
fn with_port(address: &str, port: u16) -> String {
    match address.rsplit_once(':') {
        Some((host, _)) => format!("{host}:{port}"),
        None => address.to_owned(),
    }
}

/// Tells systemd, if it started us and wants to know.
fn notify(what: &str) {
    let Some(path) = std::env::var_os("NOTIFY_SOCKET") else { return };
    if let Ok(socket) = UnixDatagram::unbound() {
        // A service manager that went away needs no answer.
        socket.send_to(what.as_bytes(), path).ok();
    }
}

/// The state that a daemon kept last, for whoever wants to know while it runs or after.
///
/// # Errors
/// There is none, or it is damaged.
pub fn last_state(state: &Path) -> io::Result<Checkpoint> {
    let folder = Folder::new(state, false)?;
    if !folder.list()?.iter().any(|name| name == CHECKPOINT) {
        let what = format!("{} holds no state of a daemon", state.display());
        return Err(io::Error::new(io::ErrorKind::NotFound, what));
    }
    let bytes = fs::read(state.join(CHECKPOINT))?;
    Checkpoint::unpack(&bytes).map_err(io::Error::other)
}
