//! A connection, whatever carries it, encrypted or not.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use rustls::{ClientConnection, Connection, ServerConnection};

use super::socket::Socket;
use super::{Address, tls};

/// What the bytes that name an encrypted connection are derived under (RFC 9266).
const BINDING: &[u8] = b"EXPORTER-Channel-Binding";

/// A connection.
#[derive(Debug)]
pub struct Channel {
    socket: Socket,
    tls: Option<Box<Connection>>,
}

impl Channel {
    pub(super) fn plain(socket: Socket) -> Channel {
        Channel { socket, tls: None }
    }

    /// Calls an address.
    ///
    /// # Errors
    /// Nobody answers.
    pub fn connect(address: &Address) -> io::Result<Channel> {
        Socket::connect(address).map(Channel::plain)
    }

    /// Encrypts from now on, as the one that was called.
    ///
    /// # Errors
    /// The other side does not, or is not who it must be.
    pub fn secure_called(self, server: &tls::Server) -> io::Result<Channel> {
        let connection = ServerConnection::new(server.config()).map_err(tls::failed)?;
        self.secure(connection.into())
    }

    /// Encrypts from now on, as the caller of this address.
    ///
    /// # Errors
    /// The other side does not, or is not who it must be.
    pub fn secure_caller(self, client: &tls::Client, address: &Address) -> io::Result<Channel> {
        let name = tls::name(address)?;
        let connection = ClientConnection::new(client.config(), name).map_err(tls::failed)?;
        self.secure(connection.into())
    }

    fn secure(mut self, mut connection: Connection) -> io::Result<Channel> {
        while connection.is_handshaking() {
            connection.complete_io(&mut self.socket).map_err(tls::explain)?;
        }
        Ok(Channel { socket: self.socket, tls: Some(Box::new(connection)) })
    }

    /// How long each read and each write may take.
    ///
    /// # Errors
    /// The socket is gone.
    pub fn set_patience(&mut self, patience: Option<Duration>) -> io::Result<()> {
        self.socket.set_patience(patience)
    }

    /// How long everything may take until patience is set anew.
    ///
    /// # Errors
    /// The socket is gone.
    pub fn set_deadline(&mut self, patience: Duration) -> io::Result<()> {
        self.socket.set_deadline(patience)
    }

    /// The user at the other end, where the kernel knows.
    #[must_use]
    pub fn user(&self) -> Option<u32> {
        self.socket.user()
    }

    /// Whether it goes over TCP.
    #[must_use]
    pub fn is_tcp(&self) -> bool {
        self.socket.is_tcp()
    }

    /// Whether the other side has proven itself with a certificate.
    #[must_use]
    pub fn is_certified(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.peer_certificates().is_some())
    }

    /// What names this connection and no other, for proofs that shall be good here only; empty where nothing
    /// below protects it.
    #[must_use]
    pub fn binding(&self) -> Vec<u8> {
        let Some(tls) = &self.tls else { return Vec::new() };
        // It can only fail before the handshake is over.
        tls.export_keying_material([0; 32], BINDING, None).map_or_else(|_| Vec::new(), Vec::from)
    }

    /// Who is at the other end, for people.
    #[must_use]
    pub fn peer(&self) -> String {
        self.socket.peer()
    }

    /// Whether bytes are at hand that the socket has given already.
    pub fn has_bytes(&mut self) -> bool {
        let Some(tls) = &mut self.tls else { return false };
        // What is wrong is said by the next read.
        tls.process_new_packets()
            .map_or(true, |state| state.plaintext_bytes_to_read() > 0 || state.peer_has_closed())
    }

    /// The socket is readable: whether a read gives something without waiting. Encryption has words of its
    /// own, which nobody else must wait behind.
    ///
    /// # Errors
    /// The connection broke.
    pub fn has_arrived(&mut self) -> io::Result<bool> {
        let Some(tls) = &mut self.tls else { return Ok(true) };
        let ended = tls.read_tls(&mut self.socket)? == 0;
        tls.process_new_packets().map_err(tls::failed)?;
        Ok(ended || self.has_bytes())
    }
}

impl Read for Channel {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else { return self.socket.read(bytes) };
        loop {
            match tls.reader().read(bytes) {
                Ok(count) => return Ok(count),
                // Cut off without a farewell: frames know themselves whether they are whole.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(0),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
            tls.read_tls(&mut self.socket)?;
            tls.process_new_packets().map_err(tls::failed)?;
            while tls.wants_write() {
                tls.write_tls(&mut self.socket)?;
            }
        }
    }
}

impl Write for Channel {
    #[expect(clippy::disallowed_methods, reason = "this is the `write` that `write_all` calls")]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else { return self.socket.write(bytes) };
        let count = tls.writer().write(bytes)?;
        while tls.wants_write() {
            tls.write_tls(&mut self.socket)?;
        }
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
