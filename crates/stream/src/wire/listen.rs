//! Where other daemons connect: greeted, let in or not, and then their frames go into the spool.
//!
//! A connection costs a thread and the room of one frame. Those that have not said who they are get
//! little time and are few at once; garbage ends the connection it came over, and nothing else.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use netra_event::frame::Kind;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::greeting::{Hello, Purpose, Welcome};
use super::{Channel, Frames, Listener, comparison, read_control, send_control};
use crate::auth::Peer;
use crate::frame;
use crate::intake::{Error as Refused, Intake};
use crate::pack::Packer;
use crate::spool;
use crate::stop::Stop;
use crate::told;

/// How long the greeting may take.
const GREETING: Duration = Duration::from_secs(10);
/// How long a connection may be silent; whoever sends says something every ten seconds.
const SILENCE: Duration = Duration::from_secs(60);
/// Bytes that may be on their way without an acknowledgement.
const WINDOW: u64 = 8 << 20;
/// How long a frame waits for room before it is offered again.
const ROOM: Duration = Duration::from_millis(20);

/// Who is let in.
pub trait Door: Send + Sync {
    /// What a connection is wrapped in before anything is said over it.
    ///
    /// # Errors
    /// The caller does not know how, or is not who it must be.
    fn secure(&self, channel: Channel) -> io::Result<Channel> {
        Ok(channel)
    }

    /// Judges a caller, perhaps after asking for a proof; `hello` is what it greeted with. The channel
    /// is given back as it is to be used from now on, with who is at its other end.
    ///
    /// # Errors
    /// The caller is not let in; it is told why.
    fn admit(
        &self,
        channel: Channel,
        frames: &mut Frames,
        hello: &[u8],
    ) -> io::Result<(Channel, Peer)>;

    /// Serves a caller that does not come to deliver; false if nobody here does.
    ///
    /// # Errors
    /// The connection broke.
    fn serve(
        &self,
        _channel: &mut Channel,
        _frames: &mut Frames,
        _hello: &Hello,
        _peer: Peer,
        _stop: &Stop,
    ) -> io::Result<bool> {
        Ok(false)
    }
}

/// Lets everybody in.
#[derive(Debug, Default, Clone, Copy)]
pub struct Open;

impl Door for Open {
    fn admit(&self, channel: Channel, _: &mut Frames, _: &[u8]) -> io::Result<(Channel, Peer)> {
        let uid = channel.user();
        Ok((channel, Peer { uid, proven: uid.is_some() }))
    }
}

/// A place where daemons connect.
pub struct Server {
    /// The place.
    pub listener: Listener,
    /// Where frames go.
    pub intake: Arc<Intake>,
    /// Who is let in.
    pub door: Box<dyn Door>,
    /// Connections at a time.
    pub most: usize,
    /// Connections now, and those among them that were not let in yet.
    pub(crate) now: (AtomicUsize, AtomicUsize),
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Server {{ listener: {:?} }}", self.listener)
    }
}

impl Server {
    /// Not yet at work.
    #[must_use]
    pub fn new(listener: Listener, intake: Arc<Intake>, door: Box<dyn Door>) -> Server {
        Server { listener, intake, door, most: 4096, now: Default::default() }
    }

    /// Connections now.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.now.0.load(Ordering::Relaxed)
    }

    /// Takes connections until the daemon ends; for a thread of its own.
    pub fn run(self: &Arc<Server>, stop: &Arc<Stop>) {
        while !stop.is_set() {
            let mut fds =
                [PollFd::new(&self.listener, PollFlags::IN), PollFd::new(stop.fd(), PollFlags::IN)];
            if poll(&mut fds, None).is_err() {
                continue;
            }
            match self.listener.accept() {
                Ok(Some(channel)) => self.take(channel, stop),
                Ok(None) => {}
                Err(error) => {
                    self.intake.told.say(format_args!("a connection can not be taken: {error}"));
                    std::thread::sleep(ROOM);
                }
            }
        }
    }

    fn take(self: &Arc<Server>, channel: Channel, stop: &Arc<Stop>) {
        let (all, strangers) = &self.now;
        // A quarter of the places may be held by callers that have not said who they are.
        let full = all.load(Ordering::Relaxed) >= self.most
            || strangers.load(Ordering::Relaxed) >= (self.most / 4).max(8);
        if full {
            told::add(&self.intake.told.counters.connections_refused, 1);
            self.intake.told.say("too many connections: new ones are refused");
            return;
        }
        all.fetch_add(1, Ordering::Relaxed);
        told::set(&self.intake.told.counters.connections, all.load(Ordering::Relaxed) as u64);
        let (server, stop) = (Arc::clone(self), Arc::clone(stop));
        let thread = std::thread::Builder::new().stack_size(512 << 10);
        let spawned = thread.spawn(move || {
            let peer = channel.peer();
            if let Err(error) = server.serve(channel, &stop) {
                told::add(&server.intake.told.counters.connections_refused, 1);
                server.intake.told.say(format_args!("connection of {peer} ended: {error}"));
            }
            let left = server.now.0.fetch_sub(1, Ordering::Relaxed) - 1;
            told::set(&server.intake.told.counters.connections, left as u64);
        });
        if spawned.is_err() {
            all.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn serve(&self, channel: Channel, stop: &Stop) -> io::Result<()> {
        self.now.1.fetch_add(1, Ordering::Relaxed);
        let greeted = self.greet(channel).and_then(|(channel, mut frames, hello, said)| {
            let (channel, peer) = self.door.admit(channel, &mut frames, &said)?;
            frames.trust();
            Ok((channel, frames, hello, peer))
        });
        self.now.1.fetch_sub(1, Ordering::Relaxed);
        let (mut channel, mut frames, hello, peer) = greeted?;
        let (version, time) = (hello.agree().unwrap_or(1), self.intake.clock.now());
        let welcome = Welcome { version, window: WINDOW, time };
        send_control(&mut channel, Kind::Welcome, &welcome.pack())?;
        channel.set_patience(Some(SILENCE))?;
        if hello.purpose != Purpose::Deliver {
            return match self.door.serve(&mut channel, &mut frames, &hello, peer, stop)? {
                true => Ok(()),
                false => refuse(&mut channel, "nobody here does that".to_owned()),
            };
        }
        let (unacknowledged, heard) = (VecDeque::new(), Instant::now());
        let (received, said) = (0, 0);
        Delivery { server: self, channel, frames, unacknowledged, received, said, heard }.run(stop)
    }

    fn greet(&self, mut channel: Channel) -> io::Result<(Channel, Frames, Hello, Vec<u8>)> {
        channel.set_deadline(GREETING)?;
        let mut channel = self.door.secure(channel)?;
        let mut frames = Frames::of_stranger();
        let (kind, body) = read_control(&mut frames, &mut channel)?;
        if kind != Kind::Hello {
            return Err(io::Error::other(format!("a {} before a hello", kind.slug())));
        }
        let hello = Hello::unpack(&body).map_err(io::Error::other)?;
        if let Err(reason) = hello.agree() {
            refuse(&mut channel, reason)?;
        }
        Ok((channel, frames, hello, body))
    }
}

/// Says why not, and ends.
fn refuse(channel: &mut Channel, reason: String) -> io::Result<()> {
    send_control(channel, Kind::Refusal, reason.as_bytes())?;
    Err(io::Error::other(reason))
}

/// Frames that come in over one connection.
struct Delivery<'a> {
    server: &'a Server,
    channel: Channel,
    frames: Frames,
    /// How many frames are durable with everything before a position.
    unacknowledged: VecDeque<(u64, u64)>,
    received: u64,
    said: u64,
    heard: Instant,
}

impl Delivery<'_> {
    fn run(&mut self, stop: &Stop) -> io::Result<()> {
        let intake = &self.server.intake;
        while !stop.is_set() {
            self.acknowledge(intake.committed())?;
            if !self.frames.has_frame() && !self.wait(stop)? {
                continue;
            }
            let Some(bytes) = self.frames.next(&mut self.channel)? else {
                return Ok(());
            };
            if let Ok(Some(head)) = frame::peek(bytes)
                && head.kind == Kind::Ping
            {
                let (_, question) = frame::open(bytes).map_err(io::Error::other)?;
                let answer = comparison::answer(&question, intake.clock.now());
                send_control(&mut self.channel, Kind::Ping, &answer)?;
                continue;
            }
            let taken = loop {
                match intake.offer(bytes) {
                    Err(Refused::Spool(spool::Refused::Full)) if !stop.is_set() => {
                        std::thread::sleep(ROOM);
                    }
                    done => break done.map_err(io::Error::other)?,
                }
            };
            self.received += 1;
            self.unacknowledged.push_back((taken.position(), self.received));
        }
        // What is durable is said once more, so that it is not sent again.
        if let Some(&(position, _)) = self.unacknowledged.back() {
            let _late = intake.wait_durable(position, Duration::from_secs(5));
            self.acknowledge(intake.committed())?;
        }
        Ok(())
    }

    /// Waits for bytes; while frames are not acknowledged only as long as that takes.
    fn wait(&mut self, stop: &Stop) -> io::Result<bool> {
        if let Some(&(position, _)) = self.unacknowledged.back() {
            if self.is_readable(stop, Some(Duration::ZERO))? {
                return Ok(true);
            }
            let _durable = self.server.intake.wait_durable(position, Duration::from_millis(5));
            return Ok(false);
        }
        if self.is_readable(stop, Some(SILENCE))? {
            self.heard = Instant::now();
            return Ok(true);
        }
        // A part of an encrypted record is heard, too, and says nothing yet.
        if stop.is_set() || self.heard.elapsed() < SILENCE {
            return Ok(false);
        }
        Err(io::Error::new(io::ErrorKind::TimedOut, "nothing was heard for a minute"))
    }

    fn is_readable(&mut self, stop: &Stop, patience: Option<Duration>) -> io::Result<bool> {
        if self.channel.has_bytes() {
            return Ok(true);
        }
        let mut fds =
            [PollFd::new(&self.channel, PollFlags::IN), PollFd::new(stop.fd(), PollFlags::IN)];
        let timeout = patience.map(|patience| Timespec {
            tv_sec: patience.as_secs().cast_signed(),
            tv_nsec: i64::from(patience.subsec_nanos()),
        });
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let readable = !fds[0].revents().is_empty();
        Ok(readable && self.channel.has_arrived()?)
    }

    fn acknowledge(&mut self, committed: u64) -> io::Result<()> {
        let mut count = self.said;
        while let Some(&(position, frames)) = self.unacknowledged.front()
            && position <= committed
        {
            self.unacknowledged.pop_front();
            count = frames;
        }
        if count > self.said {
            self.said = count;
            let mut packer = Packer::default();
            packer.long(count);
            send_control(&mut self.channel, Kind::Ack, &packer.bytes)?;
        }
        Ok(())
    }
}
