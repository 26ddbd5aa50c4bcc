//! One connection of a link: frames go, acknowledgements come, and clocks are compared.

use std::collections::VecDeque;
use std::io::{self, Write as _};
use std::os::fd::AsFd as _;
use std::time::{Duration, Instant};

use netra_event::frame::{Head, Kind};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::comparison::Comparison;
use super::greeting::Refusal;
use super::link::{Link, PATIENCE};
use super::{Channel, Frames, read_control, send_control};
use crate::frame;
use crate::intake::Waker;
use crate::ledger::Outlet;
use crate::pack::Unpacker;
use crate::spool::Reader;

/// How often the sink's progress is told while much is sent.
const TELL_EVERY: Duration = Duration::from_millis(20);
/// How long a silent connection is left alone.
const QUIET: Duration = Duration::from_secs(10);

/// A frame that was sent and is not acknowledged.
pub(super) struct Sent {
    head: Head,
    /// The position behind it.
    position: u64,
    bytes: usize,
}

/// One connection.
pub(super) struct Session<'a> {
    pub(super) link: &'a Link,
    pub(super) number: usize,
    pub(super) outlet: Outlet,
    pub(super) channel: Channel,
    pub(super) frames: Frames,
    pub(super) window: usize,
    pub(super) sent: VecDeque<Sent>,
    /// Bytes of frames that were sent and are not acknowledged.
    pub(super) bytes: usize,
    /// Frames of this connection that are acknowledged.
    pub(super) acknowledged: u64,
    pub(super) heard: Instant,
    pub(super) told: Instant,
    pub(super) changed: bool,
    /// Where the sink stood when that was last told.
    pub(super) base: u64,
    pub(super) moved: bool,
    pub(super) clocks: &'a mut Comparison,
}

impl Session<'_> {
    pub(super) fn run(&mut self, reader: &mut Reader, waker: &Waker) -> io::Result<()> {
        loop {
            waker.want();
            if self.clocks.is_due() {
                self.ask()?;
            }
            self.send(reader)?;
            if self.sent.is_empty() || self.told.elapsed() >= TELL_EVERY {
                self.tell();
            }
            if self.link.intake.is_stopping() || self.moved {
                return Ok(());
            }
            if self.wait(waker)? {
                self.hear()?;
            } else if !self.sent.is_empty() && self.heard.elapsed() > PATIENCE {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "no acknowledgement"));
            } else if self.sent.is_empty() && self.heard.elapsed() > QUIET {
                self.ask()?;
                self.heard = Instant::now();
            }
        }
    }

    /// Asks what time it is there; also so that a silent connection is known to be one.
    fn ask(&mut self) -> io::Result<()> {
        let body = self.clocks.ask(self.link.intake.clock.now());
        send_control(&mut self.channel, Kind::Ping, &body)
    }

    /// Sends what is there, as far as the window is open.
    fn send(&mut self, reader: &mut Reader) -> io::Result<()> {
        while self.bytes < self.window {
            if !reader.has_more() && !self.link.intake.fill(reader)? {
                break;
            }
            let Some(bytes) = reader.next() else { continue };
            let Ok(Some(head)) = frame::peek(bytes) else { continue };
            self.channel.write_all(bytes)?;
            if head.kind == Kind::Events {
                self.clocks.events();
            }
            let bytes = bytes.len();
            self.bytes += bytes;
            if self.sent.is_empty() {
                self.heard = Instant::now();
            }
            self.sent.push_back(Sent { head, position: reader.position(), bytes });
            if self.is_readable(Duration::ZERO)? {
                self.hear()?;
            }
        }
        Ok(())
    }

    /// Waits for an acknowledgement or for news in the spool; true for the first.
    fn wait(&mut self, waker: &Waker) -> io::Result<bool> {
        if self.channel.has_bytes() {
            waker.rest();
            return Ok(true);
        }
        let mut fds = [
            PollFd::new(&self.channel, PollFlags::IN),
            // With a full window news do not matter.
            PollFd::from_borrowed_fd(waker.fd.as_fd(), PollFlags::IN),
        ];
        let count = if self.bytes < self.window { 2 } else { 1 };
        let patience = if self.changed { TELL_EVERY } else { QUIET };
        wait_for(&mut fds[..count], patience)?;
        let readable = !fds[0].revents().is_empty();
        waker.rest();
        Ok(readable && self.channel.has_arrived()?)
    }

    fn is_readable(&mut self, patience: Duration) -> io::Result<bool> {
        if self.channel.has_bytes() {
            return Ok(true);
        }
        let mut fds = [PollFd::new(&self.channel, PollFlags::IN)];
        wait_for(&mut fds, patience)?;
        let readable = !fds[0].revents().is_empty();
        Ok(readable && self.channel.has_arrived()?)
    }

    /// Reads one acknowledgement, and those that came with it.
    fn hear(&mut self) -> io::Result<()> {
        loop {
            let (kind, body) = read_control(&mut self.frames, &mut self.channel)?;
            self.heard = Instant::now();
            match kind {
                Kind::Ack => self.acknowledge(&body)?,
                Kind::Ping => self.clocks.hear(&body, &self.link.intake),
                Kind::Refusal => return Err(io::Error::other(Refusal::unpack(&body).reason)),
                kind => {
                    let said = format!("a {} where an acknowledgement belongs", kind.slug());
                    return Err(io::Error::new(io::ErrorKind::InvalidData, said));
                }
            }
            if !self.frames.has_frame() {
                return Ok(());
            }
        }
    }

    fn acknowledge(&mut self, body: &[u8]) -> io::Result<()> {
        let count = Unpacker::new(body).long().map_err(io::Error::other)?;
        let most = self.acknowledged + self.sent.len() as u64;
        if count > most {
            let said = format!("{count} frames are acknowledged, {most} were sent");
            return Err(io::Error::new(io::ErrorKind::InvalidData, said));
        }
        while self.acknowledged < count
            && let Some(sent) = self.sent.pop_front()
        {
            self.acknowledged += 1;
            self.bytes -= sent.bytes;
            self.outlet.position = sent.position;
            self.outlet.tally.pass_on(&sent.head);
            self.changed = true;
        }
        Ok(())
    }

    /// Tells how far the upstream has come.
    pub(super) fn tell(&mut self) {
        self.told = Instant::now();
        let intake = &self.link.intake;
        if std::mem::take(&mut self.changed) {
            self.moved |= !intake.delivered(self.number, self.base, self.outlet.clone());
            self.base = self.outlet.position;
        }
        self.moved |= intake.was_moved(self.number, self.base);
    }
}

fn wait_for(fds: &mut [PollFd<'_>], patience: Duration) -> io::Result<()> {
    let timeout = Timespec {
        tv_sec: patience.as_secs().cast_signed(),
        tv_nsec: i64::from(patience.subsec_nanos()),
    };
    match poll(fds, Some(&timeout)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
