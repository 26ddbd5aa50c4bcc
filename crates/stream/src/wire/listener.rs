//! A place where connections come in.

use std::fs;
use std::io;
use std::net::TcpListener;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};

use super::socket::Socket;
use super::{Address, Channel};

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
                Socket::tcp(stream)
            }),
            Listener::Unix(listener) => listener.accept().and_then(|(stream, _)| {
                stream.set_nonblocking(false)?;
                Ok(Socket::unix(stream))
            }),
        };
        match accepted {
            Ok(socket) => Ok(Some(Channel::plain(socket))),
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
