//! The live page's server: HTTP for browsers and programs, over the jobs that [`crate::live`] holds.
//!
//! [`Server::start`] listens (on this machine alone unless told otherwise) and answers until it is
//! stopped. Every address is a row in `route.rs`; every request passes `guard.rs`. A user sees their
//! own jobs, an administrator all. Connections, bodies, followers and answers are bounded.
//! Other machines are answered over TLS alone, unless whoever starts it says otherwise.

#[cfg(feature = "store")]
mod analyse;
mod answer;
mod asset;
mod guard;
mod job;
mod listen;
mod neighbour;
mod report;
mod route;
mod run;
mod runs;
mod session;
mod shape;
mod site;
#[cfg(feature = "store")]
mod sql;
#[cfg(feature = "store")]
mod stored;
mod stream;
mod update;
mod user;

use std::collections::BTreeMap;
use std::future::IntoFuture as _;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use futures::future::select;
use netra_stream::clock::Clock;
use tokio::sync::watch;

use crate::live::Live;
use crate::tls::Tls;
use report::Reports;

pub use guard::Hosts;
#[cfg(feature = "store")]
pub use stored::Stored;
pub use user::{User, Users, make_token};

/// What is served, and to whom.
#[derive(Debug)]
pub struct Settings {
    /// Where to listen; port 0 lets the system choose.
    pub address: SocketAddr,
    /// Names besides the loopback's that the server answers to.
    pub hosts: Vec<String>,
    /// Who may look.
    pub users: Users,
    /// What the system's users are called.
    pub names: BTreeMap<u32, String>,
    /// Which server a storage target belongs to.
    pub servers: BTreeMap<u64, String>,
    /// The certificate; without one nothing is encrypted.
    pub tls: Option<Tls>,
    /// Whether other machines may be answered without encryption.
    pub allow_plain: bool,
}

impl Settings {
    /// For these users, at this address, and nothing besides.
    #[must_use]
    pub fn new(address: SocketAddr, users: Users) -> Settings {
        Settings {
            address,
            hosts: Vec::new(),
            users,
            names: BTreeMap::new(),
            servers: BTreeMap::new(),
            tls: None,
            allow_plain: false,
        }
    }
}

/// What all answers are made from.
#[derive(Debug)]
pub(crate) struct Served {
    live: Arc<Live>,
    clock: Arc<Clock>,
    users: Users,
    names: BTreeMap<u32, String>,
    servers: BTreeMap<u64, String>,
    hosts: Hosts,
    tls: Option<Tls>,
    port: u16,
    /// Tells this start from others.
    epoch: u64,
    viewers: AtomicUsize,
    stopping: watch::Receiver<bool>,
    reports: Reports,
    #[cfg(feature = "store")]
    stored: Option<Stored>,
}

impl Served {
    fn user_name(&self, uid: u32) -> Option<&str> {
        self.names.get(&uid).map(String::as_str).or_else(|| self.users.name(uid))
    }

    /// Whether there is a store to ask.
    fn has_store(&self) -> bool {
        #[cfg(feature = "store")]
        let has = self.stored.is_some();
        #[cfg(not(feature = "store"))]
        let has = false;
        has
    }

    /// The store, for somebody whose rows can be in it.
    #[cfg(feature = "store")]
    fn stored_for(&self, user: &User) -> Option<(Stored, netra_store::ask::Who)> {
        Some((self.stored.clone()?, stored::who(user)?))
    }
}

/// A server at work.
#[derive(Debug)]
pub struct Server {
    /// Where it listens.
    pub address: SocketAddr,
    served: Arc<Served>,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Listens, and answers on threads of its own.
    ///
    /// # Errors
    /// The address can not be listened on.
    pub fn start(settings: Settings, live: Arc<Live>, clock: Arc<Clock>) -> io::Result<Server> {
        Server::begin(
            settings,
            live,
            clock,
            #[cfg(feature = "store")]
            None,
        )
    }

    /// The same, and answers questions to a store too.
    ///
    /// # Errors
    /// The address can not be listened on.
    #[cfg(feature = "store")]
    pub fn start_over(
        stored: Stored,
        settings: Settings,
        live: Arc<Live>,
        clock: Arc<Clock>,
    ) -> io::Result<Server> {
        Server::begin(settings, live, clock, Some(stored))
    }

    fn begin(
        settings: Settings,
        live: Arc<Live>,
        clock: Arc<Clock>,
        #[cfg(feature = "store")] stored: Option<Stored>,
    ) -> io::Result<Server> {
        if settings.tls.is_none() && !settings.address.ip().is_loopback() && !settings.allow_plain {
            let says =
                "other machines could read along: give it a certificate, or say that this is meant";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, says));
        }
        let listener = TcpListener::bind(settings.address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (stop, stopping) = watch::channel(false);
        let served = Arc::new(Served {
            live,
            epoch: clock.now(),
            clock,
            users: settings.users,
            names: settings.names,
            servers: settings.servers,
            hosts: Hosts::new(&settings.hosts),
            tls: settings.tls,
            port: address.port(),
            viewers: AtomicUsize::new(0),
            stopping: stopping.clone(),
            reports: Reports::default(),
            #[cfg(feature = "store")]
            stored,
        });
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(4)
            .thread_name("netra-serve")
            .enable_all()
            .build()?;
        let shared = Arc::clone(&served);
        let thread =
            std::thread::Builder::new().name("netra-serve".to_owned()).spawn(move || {
                runtime.block_on(answer_all(listener, shared, stopping));
                // Who still reads a long answer is not waited for.
                runtime.shutdown_timeout(Duration::from_millis(200));
            })?;
        Ok(Server { address, served, stop, thread: Some(thread) })
    }

    /// Pages that follow now.
    #[must_use]
    pub fn viewers(&self) -> usize {
        self.served.viewers.load(Ordering::Relaxed)
    }

    /// Ends. Pages that follow are told so and try again by themselves.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.stop.send_replace(true);
        if let Some(thread) = self.thread.take() {
            // A panic in it was told already; there is nothing to undo.
            thread.join().ok();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

async fn answer_all(
    listener: TcpListener,
    served: Arc<Served>,
    mut stopping: watch::Receiver<bool>,
) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let listener = listen::Bounded::new(listener, served.tls.as_ref());
    let router = route::router(served);
    let mut ended = stopping.clone();
    let serving = axum::serve(listener, router)
        .with_graceful_shutdown(async move { drop(ended.wait_for(|stop| *stop).await) });
    // Accepting never fails for good (see `listen`); who still reads when it ends has a second.
    let patience = async {
        drop(stopping.wait_for(|stop| *stop).await);
        tokio::time::sleep(Duration::from_secs(1)).await;
    };
    drop(select(pin!(serving.into_future()), pin!(patience)).await);
}

/// Waits until a condition holds, or for so long.
pub fn wait_until(patience: Duration, mut holds: impl FnMut() -> bool) -> bool {
    let until = Instant::now() + patience;
    while !holds() {
        if Instant::now() >= until {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    true
}
