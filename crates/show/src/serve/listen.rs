//! Connections, a bounded number of them, each with a bounded patience: one that neither reads nor
//! writes for a minute is closed. A page that follows a job gets something every few seconds, so
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

/// Connections at a time; more wait in the system's queue.
const MOST: usize = 512;
/// How long a connection may be silent.
const PATIENCE: Duration = Duration::from_secs(60);

/// Takes connections while there is room.
#[derive(Debug)]
pub(super) struct Bounded {
    listener: TcpListener,
    room: Arc<Semaphore>,
}

impl Bounded {
    pub(super) fn new(listener: TcpListener) -> Bounded {
        Bounded { listener, room: Arc::new(Semaphore::new(MOST)) }
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
                    return (Patient { stream, silence, _place: place }, from);
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

/// A connection that ends when nothing goes over it.
#[derive(Debug)]
pub(super) struct Patient {
    stream: TcpStream,
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
        let polled = Pin::new(&mut self.stream).poll_read(cx, into);
        self.watch(cx, polled)
    }
}

impl AsyncWrite for Patient {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.watch(cx, polled)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
