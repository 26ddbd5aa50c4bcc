//! A link to an upstream hub: sends the spool's frames in order, keeps them until they are
//! acknowledged, and begins again where it stood when the connection breaks.

use std::collections::VecDeque;
use std::io::{self, Write as _};
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use netra_event::frame::{Head, Kind};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::greeting::{Hello, Purpose, Refusal, VERSIONS, Welcome};
use super::{Address, Channel, Frames, read_control, send_control};
use crate::frame;
use crate::intake::{Intake, Waker};
use crate::ledger::Outlet;
use crate::pack::Unpacker;
use crate::spool::Reader;
use crate::told;

/// How long a peer may take to answer before it is given up.
const PATIENCE: Duration = Duration::from_secs(30);
/// The first and the longest pause between two attempts.
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(5));
/// How often the sink's progress is told while much is sent.
const TELL_EVERY: Duration = Duration::from_millis(20);
/// How long a silent connection is left alone.
const QUIET: Duration = Duration::from_secs(10);

/// How a connection is begun: greeting, and whatever proves who calls.
pub trait Caller: Send + Sync {
    /// Calls, and is let in.
    ///
    /// # Errors
    /// Nobody answers, or nobody lets it in.
    fn call(&self, address: &Address, hello: &Hello) -> io::Result<(Channel, Frames, Welcome)>;
}

/// Greets, and proves nothing.
#[derive(Debug, Default, Clone, Copy)]
pub struct Plain;

impl Caller for Plain {
    fn call(&self, address: &Address, hello: &Hello) -> io::Result<(Channel, Frames, Welcome)> {
        let mut channel = Channel::connect(address)?;
        channel.set_patience(Some(PATIENCE))?;
        let mut frames = Frames::default();
        send_control(&mut channel, Kind::Hello, &hello.pack())?;
        match read_control(&mut frames, &mut channel)? {
            (Kind::Welcome, body) => {
                let welcome = Welcome::unpack(&body).map_err(io::Error::other)?;
                Ok((channel, frames, welcome))
            }
            (Kind::Refusal, body) => Err(io::Error::other(Refusal::unpack(&body).reason)),
            (kind, _) => Err(io::Error::other(format!("a {} in answer to a hello", kind.slug()))),
        }
    }
}

/// A link.
pub struct Link {
    /// Its name: that of the sink in checkpoints.
    pub name: String,
    /// Where the hub is.
    pub address: Address,
    /// This daemon's name, for people.
    pub own: String,
    /// What is sent.
    pub intake: Arc<Intake>,
    /// How a connection is begun.
    pub caller: Box<dyn Caller>,
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Link {{ name: {:?}, address: {:?} }}", self.name, self.address)
    }
}

/// A frame that was sent and is not acknowledged.
struct Sent {
    head: Head,
    /// The position behind it.
    position: u64,
    bytes: usize,
}

impl Link {
    /// Sends until the daemon ends; for a thread of its own.
    pub fn run(&self) {
        let Ok(waker) = self.intake.waker() else {
            self.intake.told.say(format_args!("{}: no descriptors left", self.name));
            return;
        };
        let mut pause = PAUSES.0;
        while !self.intake.is_stopping() {
            let begun = Instant::now();
            let Err(error) = self.session(&waker) else { return };
            told::add(&self.intake.told.counters.upstream_lost, 1);
            self.intake.told.say(format_args!("{} ({}): {error}", self.name, self.address));
            pause = if begun.elapsed() > PATIENCE { PAUSES.0 } else { (pause * 2).min(PAUSES.1) };
            // Not all nodes at the same moment, after a hub was away.
            let jitter = u64::from(std::process::id()) % 16;
            self.sleep(&waker, pause + pause * u32::try_from(jitter).unwrap_or(0) / 32);
        }
    }

    fn sleep(&self, waker: &Waker, pause: Duration) {
        let until = Instant::now() + pause;
        while Instant::now() < until && !self.intake.is_stopping() {
            waker.rest();
            let step = until.saturating_duration_since(Instant::now());
            std::thread::sleep(step.min(Duration::from_millis(50)));
        }
    }

    /// One connection.
    fn session(&self, waker: &Waker) -> io::Result<()> {
        let (number, mut reader, outlet) =
            self.intake.outlet(&self.name).ok_or_else(|| io::Error::other("no such sink"))?;
        let hello = Hello {
            versions: VERSIONS,
            name: self.own.clone(),
            spool: 0,
            time: self.intake.clock.now(),
            purpose: Purpose::Deliver,
        };
        let (channel, frames, welcome) = self.caller.call(&self.address, &hello)?;
        let mut session = Session {
            link: self,
            number,
            outlet,
            channel,
            frames,
            window: usize::try_from(welcome.window).unwrap_or(usize::MAX).max(1),
            sent: VecDeque::new(),
            bytes: 0,
            acknowledged: 0,
            heard: Instant::now(),
            told: Instant::now(),
            changed: false,
        };
        let result = session.run(&mut reader, waker);
        session.tell();
        result
    }
}

struct Session<'a> {
    link: &'a Link,
    number: usize,
    outlet: Outlet,
    channel: Channel,
    frames: Frames,
    window: usize,
    sent: VecDeque<Sent>,
    /// Bytes of frames that were sent and are not acknowledged.
    bytes: usize,
    /// Frames of this connection that are acknowledged.
    acknowledged: u64,
    heard: Instant,
    told: Instant,
    changed: bool,
}

impl Session<'_> {
    fn run(&mut self, reader: &mut Reader, waker: &Waker) -> io::Result<()> {
        loop {
            waker.want();
            self.send(reader)?;
            if self.sent.is_empty() || self.told.elapsed() >= TELL_EVERY {
                self.tell();
            }
            if self.link.intake.is_stopping() {
                return Ok(());
            }
            if self.wait(waker)? {
                self.hear()?;
            } else if !self.sent.is_empty() && self.heard.elapsed() > PATIENCE {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "no acknowledgement"));
            } else if self.sent.is_empty() && self.heard.elapsed() > QUIET {
                send_control(&mut self.channel, Kind::Ping, b"")?;
                self.heard = Instant::now();
            }
        }
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
        Ok(readable)
    }

    fn is_readable(&self, patience: Duration) -> io::Result<bool> {
        let mut fds = [PollFd::new(&self.channel, PollFlags::IN)];
        wait_for(&mut fds, patience)?;
        Ok(!fds[0].revents().is_empty())
    }

    /// Reads one acknowledgement, and those that came with it.
    fn hear(&mut self) -> io::Result<()> {
        loop {
            let (kind, body) = read_control(&mut self.frames, &mut self.channel)?;
            self.heard = Instant::now();
            match kind {
                Kind::Ack => self.acknowledge(&body)?,
                Kind::Ping => {}
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
    fn tell(&mut self) {
        self.told = Instant::now();
        if std::mem::take(&mut self.changed) {
            self.link.intake.delivered(self.number, self.outlet.clone());
        }
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
