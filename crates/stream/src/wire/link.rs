//! A link to an upstream hub: sends the spool's frames in order, keeps them until they are
//! acknowledged, and begins again where it stood when the connection breaks.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use netra_event::frame::Kind;

use super::comparison::Comparison;
use super::greeting::{Hello, Purpose, Refusal, VERSIONS, Welcome};
use super::session::Session;
use super::{Address, Channel, Frames, read_control, send_control};
use crate::intake::{Intake, Waker};
use crate::told;

/// How long a peer may take to answer before it is given up.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);
/// The first and the longest pause between two attempts.
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(5));

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

impl Link {
    /// Sends until the daemon ends; for a thread of its own.
    pub fn run(&self) {
        let Ok(waker) = self.intake.waker() else {
            self.intake.told.say(format_args!("{}: no descriptors left", self.name));
            return;
        };
        let mut pause = PAUSES.0;
        let mut clocks = Comparison::new(&self.name);
        while !self.intake.is_stopping() {
            let begun = Instant::now();
            let error = match self.session(&waker, &mut clocks) {
                Ok(()) if self.intake.is_stopping() => return,
                // It was too far behind and was moved on.
                Ok(()) => continue,
                Err(error) => error,
            };
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
    fn session(&self, waker: &Waker, clocks: &mut Comparison) -> io::Result<()> {
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
        clocks.begin();
        let base = outlet.position;
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
            base,
            moved: false,
            clocks,
        };
        let result = session.run(&mut reader, waker);
        session.tell();
        result
    }
}
