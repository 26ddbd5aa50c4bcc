//! Connections, a bounded number of them, each with a bounded patience: one that neither reads nor
//! writes for longer than an answer may take is closed. A page that follows a job gets something every few seconds, so
//! that only who is gone is silent for so long.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep};
use tokio_rustls::server::TlsStream;
use tokio_rustls::{Accept, TlsAcceptor};

use crate::tls::Tls;

/// Connections at a time; more wait in the system's queue.
const MOST: usize = 512;
/// How long a connection may be silent.
const PATIENCE: Duration = Duration::from_secs(150);

/// Takes connections while there is room.
#[derive(Debug)]
pub(super) struct Bounded {
    listener: TcpListener,
    room: Arc<Semaphore>,
    tls: Option<Acceptor>,
}

/// What begins encrypted connections.
struct Acceptor(TlsAcceptor);

impl std::fmt::Debug for Acceptor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Acceptor")
    }
}

impl Bounded {
    pub(super) fn new(listener: TcpListener, tls: Option<&Tls>) -> Bounded {
        let tls = tls.map(|tls| Acceptor(tls.acceptor("http/1.1")));
        Bounded { listener, room: Arc::new(Semaphore::new(MOST)), tls }
    }
}

impl axum::serve::Listener for Bounded {
    type Io = Patient;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Patient, SocketAddr) {
        loop {
            // It is never closed, so there is always a place some time.
            let Ok(place) = Arc::clone(&self.room).acquire_owned().await else { continue };
            match self.listener.accept().await {
                Ok((stream, from)) => {
                    // Small pieces as they come: a page waits for each.
                    stream.set_nodelay(true).ok();
                    let silence = Box::pin(tokio::time::sleep(PATIENCE));
                    let wire = match &self.tls {
                        Some(tls) => Wire::Begins(Box::new(tls.0.accept(stream))),
                        None => Wire::Plain(stream),
                    };
                    return (Patient { wire, silence, _place: place }, from);
                }
                // Out of descriptors, or who called is gone again.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// The bytes of a connection. Who begins TLS does so with their own first read or write, so that one who
/// never ends it keeps nobody else waiting.
enum Wire {
    Plain(TcpStream),
    Begins(Box<Accept<TcpStream>>),
    Secret(Box<TlsStream<TcpStream>>),
}

impl std::fmt::Debug for Wire {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Wire")
    }
}

/// What bytes go through.
trait Bytes: AsyncRead + AsyncWrite + Unpin {}
impl<T: AsyncRead + AsyncWrite + Unpin> Bytes for T {}

impl Wire {
    /// The connection, once TLS stands where it is asked for.
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Pin<&mut dyn Bytes>>> {
        if let Wire::Begins(begins) = self {
            match std::task::ready!(Pin::new(&mut **begins).poll(cx)) {
                Ok(stream) => *self = Wire::Secret(Box::new(stream)),
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        match self {
            Wire::Plain(stream) => Poll::Ready(Ok(Pin::new(stream))),
            Wire::Secret(stream) => Poll::Ready(Ok(Pin::new(&mut **stream))),
            // It was just replaced.
            Wire::Begins(_) => Poll::Ready(Err(io::ErrorKind::NotConnected.into())),
        }
    }
}

/// A connection that ends when nothing goes over it.
#[derive(Debug)]
pub(super) struct Patient {
    wire: Wire,
    silence: Pin<Box<Sleep>>,
    _place: OwnedSemaphorePermit,
}

impl Patient {
    /// Passes what came on; if nothing did, looks whether that was too long.
    fn watch<T>(
        &mut self,
        cx: &mut Context<'_>,
        polled: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.silence.as_mut().reset(Instant::now() + PATIENCE);
            return polled;
        }
        match self.silence.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for Patient {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let polled = match self.wire.poll_ready(cx) {
            Poll::Ready(Ok(stream)) => stream.poll_read(cx, into),
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => Poll::Pending,
        };
        self.watch(cx, polled)
    }
}

impl AsyncWrite for Patient {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = match self.wire.poll_ready(cx) {
            Poll::Ready(Ok(stream)) => stream.poll_write(cx, bytes),
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => Poll::Pending,
        };
        self.watch(cx, polled)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        std::task::ready!(self.wire.poll_ready(cx))?.poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        std::task::ready!(self.wire.poll_ready(cx))?.poll_shutdown(cx)
    }
}
