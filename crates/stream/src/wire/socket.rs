//! A socket, TCP or Unix, with patience: how long one read or write may take, and a moment by which
//! everything must have been said.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use super::Address;

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(5);

/// A socket.
#[derive(Debug)]
pub(super) struct Socket {
    carrier: Carrier,
    deadline: Option<Instant>,
}

#[derive(Debug)]
enum Carrier {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Socket {
    pub(super) fn connect(address: &Address) -> io::Result<Socket> {
        match address {
            Address::Unix(path) => UnixStream::connect(path).map(Socket::unix),
            Address::Tcp(host) => {
                let mut last = io::Error::new(io::ErrorKind::NotFound, "no such host");
                for address in host.to_socket_addrs()? {
                    match TcpStream::connect_timeout(&address, CONNECT) {
                        Ok(stream) => return Socket::tcp(stream),
                        Err(error) => last = error,
                    }
                }
                Err(last)
            }
        }
    }

    pub(super) fn tcp(stream: TcpStream) -> io::Result<Socket> {
        // Small frames and acknowledgements must not wait for each other.
        stream.set_nodelay(true)?;
        // A peer whose machine died is noticed though it sends nothing.
        rustix::net::sockopt::set_socket_keepalive(&stream, true)?;
        rustix::net::sockopt::set_tcp_keepidle(&stream, Duration::from_secs(30))?;
        rustix::net::sockopt::set_tcp_keepintvl(&stream, Duration::from_secs(10))?;
        Ok(Socket { carrier: Carrier::Tcp(stream), deadline: None })
    }

    pub(super) fn unix(stream: UnixStream) -> Socket {
        Socket { carrier: Carrier::Unix(stream), deadline: None }
    }

    pub(super) fn set_patience(&mut self, patience: Option<Duration>) -> io::Result<()> {
        self.deadline = None;
        self.set_timeout(patience)
    }

    /// Whoever gives a byte now and then can not stretch this.
    pub(super) fn set_deadline(&mut self, patience: Duration) -> io::Result<()> {
        self.deadline = Some(Instant::now() + patience);
        self.set_timeout(Some(patience))
    }

    fn set_timeout(&self, patience: Option<Duration>) -> io::Result<()> {
        match &self.carrier {
            Carrier::Tcp(stream) => {
                stream.set_read_timeout(patience)?;
                stream.set_write_timeout(patience)
            }
            Carrier::Unix(stream) => {
                stream.set_read_timeout(patience)?;
                stream.set_write_timeout(patience)
            }
        }
    }

    fn look_at_deadline(&self) -> io::Result<()> {
        let Some(deadline) = self.deadline else { return Ok(()) };
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "it took too long to say hello"));
        }
        self.set_timeout(Some(left))
    }

    /// The user at the other end, where the kernel knows.
    pub(super) fn user(&self) -> Option<u32> {
        match &self.carrier {
            Carrier::Unix(stream) => {
                let peer = rustix::net::sockopt::socket_peercred(stream).ok()?;
                Some(peer.uid.as_raw())
            }
            Carrier::Tcp(_) => None,
        }
    }

    pub(super) fn is_tcp(&self) -> bool {
        matches!(self.carrier, Carrier::Tcp(_))
    }

    /// Who is at the other end, for people.
    pub(super) fn peer(&self) -> String {
        match &self.carrier {
            Carrier::Tcp(stream) => stream
                .peer_addr()
                .map_or_else(|_| "a peer that is gone".to_owned(), |peer| peer.to_string()),
            Carrier::Unix(_) => match self.user() {
                Some(user) => format!("user {user}"),
                None => "a local peer".to_owned(),
            },
        }
    }
}

impl Read for Socket {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            self.look_at_deadline()?;
            let read = match &mut self.carrier {
                Carrier::Tcp(stream) => stream.read(bytes),
                Carrier::Unix(stream) => stream.read(bytes),
            };
            // A process that was stopped and goes on is told so, where its reads have a time limit.
            match read {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => return read,
            }
        }
    }
}

impl Write for Socket {
    #[expect(clippy::disallowed_methods, reason = "this is the `write` that `write_all` calls")]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.look_at_deadline()?;
        match &mut self.carrier {
            Carrier::Tcp(stream) => stream.write(bytes),
            Carrier::Unix(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.carrier {
            Carrier::Tcp(stream) => stream.as_fd(),
            Carrier::Unix(stream) => stream.as_fd(),
        }
    }
}
