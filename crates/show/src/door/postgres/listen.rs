//! Taking connections, as many as are allowed, until the listener is dropped.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use datafusion_postgres::pgwire::api::RandomPidSecretKeyGenerator;
use datafusion_postgres::pgwire::tokio::{process_socket, process_socket_unix};
use netra_store::ask::{Ground, Source, Who};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::Semaphore;

use super::cancel::Running;
use super::connection::{Connection, Handlers, Peer};
use super::user::Users;
use crate::tls::Tls;

/// How connections are treated.
#[derive(Debug)]
pub struct Settings {
    /// Who may come in over a network, with which password.
    pub users: Arc<Users>,
    /// The certificate; with one, connections over a network must be encrypted.
    pub tls: Option<Tls>,
    /// Users of this machine who see everything when they come through its own socket; others see their own jobs.
    pub administrators: Vec<u32>,
    /// Connections at a time.
    pub connections: usize,
    /// What questions may cost, all together.
    pub ground: Ground,
}

impl Settings {
    pub(super) fn rights(&self, uid: u32) -> Who {
        if self.administrators.contains(&uid) { Who::Administrator } else { Who::User(uid) }
    }

    /// Passwords are never sent as they are, but rows would be.
    fn check(&self, listener: &Listener) -> io::Result<()> {
        match listener {
            Listener::Tcp(tcp) if self.tls.is_none() => {
                let address = tcp.local_addr()?;
                if address.ip().is_loopback() {
                    return Ok(());
                }
                let what = format!(
                    "{address} can be reached from outside: it needs a certificate, or listen on 127.0.0.1"
                );
                Err(io::Error::new(io::ErrorKind::InvalidInput, what))
            }
            Listener::Tcp(_) | Listener::Unix(_) => Ok(()),
        }
    }
}

/// Where connections come from.
#[derive(Debug)]
pub enum Listener {
    /// A port.
    Tcp(TcpListener),
    /// A socket of this machine; `psql` looks for `.s.PGSQL.5432` in a directory.
    Unix(UnixListener),
}

/// What all connections share.
pub(super) struct Server {
    pub(super) source: Arc<dyn Source>,
    pub(super) settings: Arc<Settings>,
    pub(super) running: Arc<Running>,
    pub(super) numbers: Arc<RandomPidSecretKeyGenerator>,
    /// Makes up salts for users who are not there.
    pub(super) secret: [u8; 16],
}

/// A door, until the future is dropped; it ends by itself only with an error of the listener.
pub async fn serve(
    listener: Listener,
    source: Arc<dyn Source>,
    settings: Arc<Settings>,
) -> io::Result<()> {
    settings.check(&listener)?;
    let mut secret = [0; 16];
    getrandom::fill(&mut secret).map_err(|error| io::Error::other(error.to_string()))?;
    let room = Arc::new(Semaphore::new(settings.connections));
    let server = Arc::new(Server {
        source,
        settings,
        running: Arc::default(),
        numbers: Arc::default(),
        secret,
    });
    loop {
        let stream = match accept(&listener).await {
            Ok(stream) => stream,
            // Out of descriptors, or a client that was gone at once: the next may fare better.
            Err(_) => {
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                continue;
            }
        };
        let (server, room) = (Arc::clone(&server), Arc::clone(&room));
        tokio::spawn(async move {
            // A connection over the limit is closed; those that are there go on.
            let Ok(_place) = room.try_acquire() else { return };
            stream.talk(server).await;
        });
    }
}

enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream, u32),
}

async fn accept(listener: &Listener) -> io::Result<Stream> {
    match listener {
        Listener::Tcp(tcp) => {
            let (stream, _): (TcpStream, SocketAddr) = tcp.accept().await?;
            Ok(Stream::Tcp(stream))
        }
        Listener::Unix(unix) => {
            let (stream, _) = unix.accept().await?;
            let uid = stream.peer_cred()?.uid();
            Ok(Stream::Unix(stream, uid))
        }
    }
}

impl Stream {
    /// Talks until the client is gone. How it left is nobody's concern.
    async fn talk(self, server: Arc<Server>) {
        let handlers = |server, peer| Handlers(Arc::new(Connection::new(server, peer)));
        let _gone = match self {
            Stream::Tcp(stream) => {
                let tls = server.settings.tls.as_ref().map(|tls| tls.acceptor("postgresql"));
                process_socket(stream, tls, handlers(server, Peer::Network)).await
            }
            Stream::Unix(stream, uid) => {
                process_socket_unix(stream, handlers(server, Peer::Local(uid))).await
            }
        };
    }
}
