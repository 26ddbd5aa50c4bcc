//! A connection, whatever carries it.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream, ToSocketAddrs as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::Duration;

use super::Address;

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(5);

/// A connection. Encryption is another kind that wraps one.
#[derive(Debug)]
pub enum Channel {
    /// TCP.
    Tcp(TcpStream),
    /// A Unix socket.
    Unix(UnixStream),
}

impl Channel {
    /// Calls an address.
    ///
    /// # Errors
    /// Nobody answers.
    pub fn connect(address: &Address) -> io::Result<Channel> {
        match address {
            Address::Unix(path) => UnixStream::connect(path).map(Channel::Unix),
            Address::Tcp(host) => {
                let mut last = io::Error::new(io::ErrorKind::NotFound, "no such host");
                for address in host.to_socket_addrs()? {
                    match TcpStream::connect_timeout(&address, CONNECT) {
                        Ok(stream) => return Channel::tcp(stream),
                        Err(error) => last = error,
                    }
                }
                Err(last)
            }
        }
    }

    fn tcp(stream: TcpStream) -> io::Result<Channel> {
        // Small frames and acknowledgements must not wait for each other.
        stream.set_nodelay(true)?;
        // A peer whose machine died is noticed though it sends nothing.
        rustix::net::sockopt::set_socket_keepalive(&stream, true)?;
        rustix::net::sockopt::set_tcp_keepidle(&stream, Duration::from_secs(30))?;
        rustix::net::sockopt::set_tcp_keepintvl(&stream, Duration::from_secs(10))?;
        Ok(Channel::Tcp(stream))
    }

    /// How long reading and writing may take.
    ///
    /// # Errors
    /// The socket is gone.
    pub fn set_patience(&self, patience: Option<Duration>) -> io::Result<()> {
        match self {
            Channel::Tcp(stream) => {
                stream.set_read_timeout(patience)?;
                stream.set_write_timeout(patience)
            }
            Channel::Unix(stream) => {
                stream.set_read_timeout(patience)?;
                stream.set_write_timeout(patience)
            }
        }
    }

    /// The user at the other end, where the kernel knows.
    #[must_use]
    pub fn user(&self) -> Option<u32> {
        match self {
            Channel::Unix(stream) => {
                let peer = rustix::net::sockopt::socket_peercred(stream).ok()?;
                Some(peer.uid.as_raw())
            }
            Channel::Tcp(_) => None,
        }
    }

    /// What names this connection and no other, for proofs that shall be good here only; empty where nothing
    /// below protects it.
    #[must_use]
    pub fn binding(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Who is at the other end, for people.
    #[must_use]
    pub fn peer(&self) -> String {
        match self {
            Channel::Tcp(stream) => stream
                .peer_addr()
                .map_or_else(|_| "a peer that is gone".to_owned(), |peer| peer.to_string()),
            Channel::Unix(_) => match self.user() {
                Some(user) => format!("user {user}"),
                None => "a local peer".to_owned(),
            },
        }
    }
}

impl Read for Channel {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Channel::Tcp(stream) => stream.read(bytes),
            Channel::Unix(stream) => stream.read(bytes),
        }
    }
}

impl Write for Channel {
    #[expect(clippy::disallowed_methods, reason = "this is the `write` that `write_all` calls")]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Channel::Tcp(stream) => stream.write(bytes),
            Channel::Unix(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Channel::Tcp(stream) => stream.as_fd(),
            Channel::Unix(stream) => stream.as_fd(),
        }
    }
}

/// A place where connections come in.
#[derive(Debug)]
pub enum Listener {
    /// TCP.
    Tcp(TcpListener),
    /// A Unix socket.
    Unix(UnixListener),
}

impl Listener {
    /// Listens. A socket that a dead daemon left is taken over; `mode` says who may connect to it.
    ///
    /// # Errors
    /// The address is in use, or may not be used.
    pub fn bind(address: &Address, mode: u32) -> io::Result<Listener> {
        match address {
            Address::Tcp(host) => {
                let listener = TcpListener::bind(host.as_str())?;
                listener.set_nonblocking(true)?;
                Ok(Listener::Tcp(listener))
            }
            Address::Unix(path) => {
                if fs::symlink_metadata(path).is_ok_and(|about| about.file_type().is_socket())
                    && UnixStream::connect(path).is_err()
                {
                    fs::remove_file(path)?;
                }
                let listener = UnixListener::bind(path)?;
                fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
                listener.set_nonblocking(true)?;
                Ok(Listener::Unix(listener))
            }
        }
    }

    /// The next connection that has come in; none if there is none now.
    ///
    /// # Errors
    /// There are no more descriptors.
    pub fn accept(&self) -> io::Result<Option<Channel>> {
        let accepted = match self {
            Listener::Tcp(listener) => listener.accept().and_then(|(stream, _)| {
                stream.set_nonblocking(false)?;
                Channel::tcp(stream)
            }),
            Listener::Unix(listener) => listener.accept().and_then(|(stream, _)| {
                stream.set_nonblocking(false)?;
                Ok(Channel::Unix(stream))
            }),
        };
        match accepted {
            Ok(channel) => Ok(Some(channel)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Where it listens, with the port that the system chose.
    #[must_use]
    pub fn port(&self) -> Option<u16> {
        match self {
            Listener::Tcp(listener) => listener.local_addr().ok().map(|address| address.port()),
            Listener::Unix(_) => None,
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Listener::Tcp(listener) => listener.as_fd(),
            Listener::Unix(listener) => listener.as_fd(),
        }
    }
}
