//! Subscribing: a daemon gives frames as they come to whoever wished for them.
//!
//! Whoever subscribes to events first gets what is known of processes, so that it can read what comes and does not
//! take those for running that have ended. A user other than root sees the events of their own processes only.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write as _};
use std::sync::Arc;
use std::time::Duration;

use netra_event::frame::{Head, Kind, Producer};
use netra_event::segment::{Header, Region};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::board::Subscription;
use super::queue::{Item, Limits, Loss};
use super::tag::Wish;
use crate::auth::Peer;
use crate::batch::{Account, Batch, HEADER, Image, Images, Part, Payload, Process, pack_parts};
use crate::frame::{self, Subject};
use crate::intake::Intake;
use crate::pack::{Packer, Unpacker};
use crate::stop::Stop;
use crate::wire::{
    Address, Caller, Channel, Frames, Hello, Purpose, Refusal, VERSIONS, read_control, send_control,
};

/// How often a subscription with nothing to give looks whether its subscriber is still there.
const LOOK: Duration = Duration::from_millis(200);
/// Bytes of a region that go into one frame.
const AT_ONCE: usize = 1 << 20;

/// Gives frames until the subscriber goes.
pub(crate) fn give_frames(
    intake: &Intake,
    limits: Limits,
    channel: &mut Channel,
    frames: &mut Frames,
    peer: Peer,
    stop: &Stop,
) -> io::Result<()> {
    let (kind, body) = read_control(frames, channel)?;
    let wish = match wish(kind, &body) {
        Ok(wish) => wish,
        Err(reason) => return refuse(channel, &reason),
    };
    let io = wish == Wish::Io;
    let subscription = match intake.board.subscribe(wish, limits) {
        Ok(subscription) => subscription,
        Err(reason) => return refuse(channel, &reason),
    };
    let mut sight = Sight { uid: peer.uid.filter(|&uid| !is_operator(uid)), of: HashMap::new() };
    if io && let Some((_, images)) = intake.images(0) {
        prepare(&subscription, &images, &intake.ended(), &mut sight)?;
    }
    while !stop.is_set() {
        match subscription.next(LOOK) {
            Some(Item::Frame(frame)) if sight.allows(&frame) => channel.write_all(&frame)?,
            Some(Item::Frame(_)) => {}
            Some(Item::Missed(loss)) => {
                let mut packer = Packer::default();
                packer.long(loss.frames).long(loss.events);
                send_control(channel, Kind::Missed, &packer.bytes)?;
            }
            None if subscription.is_given_up() => {
                return refuse(channel, "too slow: what events refer to could not be kept");
            }
            None if has_gone(channel, frames)? => return Ok(()),
            None => {}
        }
    }
    send_control(channel, Kind::Refusal, b"the daemon ends")
}

fn refuse(channel: &mut Channel, reason: &str) -> io::Result<()> {
    send_control(channel, Kind::Refusal, reason.as_bytes())?;
    Err(io::Error::other(reason.to_owned()))
}

fn wish(kind: Kind, body: &[u8]) -> Result<Wish, String> {
    if kind != Kind::Subscribe {
        return Err(format!("a {} where a wish belongs", kind.slug()));
    }
    let text = Unpacker::new(body).text().map_err(|error| error.to_string())?;
    Wish::parse(&String::from_utf8_lossy(text))
}

/// Root and the daemon's own user see everything.
fn is_operator(uid: u32) -> bool {
    uid == 0 || uid == rustix::process::geteuid().as_raw()
}

/// What a subscriber may see.
struct Sight {
    /// A user that sees only its own processes.
    uid: Option<u32>,
    /// Whose a process is.
    of: HashMap<Producer, u32>,
}

impl Sight {
    fn allows(&mut self, frame: &[u8]) -> bool {
        let (Some(uid), Ok(Some(head))) = (self.uid, frame::peek(frame)) else { return true };
        if head.kind == Kind::Life {
            self.learn(&head, frame);
        }
        matches!(head.kind, Kind::Message | Kind::Metrics)
            || self.of.get(&head.producer) == Some(&uid)
    }

    fn learn(&mut self, head: &Head, frame: &[u8]) {
        if let Ok(batch) = Batch::open(frame)
            && let Ok(Some(Payload::Life(process))) = batch.payload()
        {
            self.of.insert(head.producer, process.uid);
        }
    }
}

/// Puts what is known of processes before everything else. Of one that has ended that is said too: nobody will say it again, and whoever
/// was away meanwhile would take it for running.
fn prepare(
    subscription: &Subscription,
    images: &Images,
    ended: &BTreeMap<Producer, (Process, Account)>,
    sight: &mut Sight,
) -> io::Result<()> {
    let put = |kind: Kind, producer: Producer, body: &[u8]| {
        let mut out = Vec::new();
        let subject = Subject::single(kind, producer, 0, 0, 0);
        frame::seal(&subject, body, &mut out).map_err(io::Error::other)?;
        subscription.prepare(&out);
        Ok::<(), io::Error>(())
    };
    for (&producer, image) in images {
        let Some(view) = image.view() else { continue };
        sight.of.insert(producer, view.uid());
        for body in bodies(image) {
            put(Kind::Tables, producer, &body)?;
        }
        if let Some((process, account)) = ended.get(&producer) {
            put(Kind::Life, producer, &process.pack())?;
            put(Kind::Ledger, producer, &account.pack())?;
        }
    }
    Ok(())
}

/// An image as bodies of frames.
fn bodies(image: &Image) -> Vec<Vec<u8>> {
    let Some(view) = image.view() else { return Vec::new() };
    let header = image.bytes().get(..size_of::<Header>()).unwrap_or_default();
    let head = Part { region: HEADER, stride: 0, offset: 0, bytes: header };
    let mut bodies = vec![pack_parts(&[head])];
    for region in (1..).map_while(Region::from_code) {
        let (stride, bytes) = view.region(region);
        for (number, bytes) in bytes.chunks(AT_ONCE).enumerate() {
            let offset = (number * AT_ONCE) as u64;
            bodies.push(pack_parts(&[Part { region: region as u32, stride, offset, bytes }]));
        }
    }
    bodies
}

/// Whether the subscriber has closed the connection. It has nothing more to say.
fn has_gone(channel: &mut Channel, frames: &mut Frames) -> io::Result<bool> {
    if !channel.has_bytes() && !is_readable(channel)? {
        return Ok(false);
    }
    match frames.next(channel) {
        Ok(Some(_)) => Ok(false),
        Ok(None) => Ok(true),
        Err(error) => Err(error),
    }
}

fn is_readable(channel: &mut Channel) -> io::Result<bool> {
    let mut fds = [PollFd::new(&*channel, PollFlags::IN)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    match poll(&mut fds, Some(&now)) {
        Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(false),
        Ok(_) => {}
        Err(error) => return Err(error.into()),
    }
    channel.has_arrived()
}

/// The subscriber's end.
#[derive(Debug)]
pub struct Subscriber {
    channel: Channel,
    frames: Frames,
    images: Images,
}

/// What a subscriber gets.
#[derive(Debug)]
pub enum Received {
    /// A batch.
    Batch(Batch),
    /// So much is missing here, because we were too slow.
    Missed(Loss),
    /// Nothing came for a while.
    Nothing,
    /// The daemon gives no more, and why.
    End(String),
}

impl Subscriber {
    /// Calls a daemon and says what is wanted.
    ///
    /// # Errors
    /// Nobody answers, or nobody lets us in.
    pub fn connect(
        address: &Address,
        caller: &dyn Caller,
        name: &str,
        tag: &str,
    ) -> io::Result<Subscriber> {
        let hello = Hello {
            versions: VERSIONS,
            name: name.to_owned(),
            spool: 0,
            time: 0,
            purpose: Purpose::Subscribe,
        };
        let (mut channel, frames, _) = caller.call(address, &hello)?;
        let mut packer = Packer::default();
        packer.text(tag.as_bytes());
        send_control(&mut channel, Kind::Subscribe, &packer.bytes)?;
        channel.set_patience(Some(LOOK))?;
        Ok(Subscriber { channel, frames, images: Images::new() })
    }

    /// The next thing that comes.
    ///
    /// # Errors
    /// The connection broke, or what came is no frame.
    pub fn receive(&mut self) -> io::Result<Received> {
        let bytes = match self.frames.next(&mut self.channel) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => {
                return Ok(Received::End(
                    "the daemon has closed the connection: it has ended, or this end took nothing for a minute"
                        .to_owned(),
                ));
            }
            Err(error) => {
                return match error.kind() {
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Ok(Received::Nothing),
                    _ => Err(error),
                };
            }
        };
        let batch = Batch::open(bytes).map_err(io::Error::other)?;
        match batch.head.kind {
            Kind::Missed => {
                let mut unpacker = Unpacker::new(batch.body());
                let mut long = || unpacker.long().map_err(io::Error::other);
                Ok(Received::Missed(Loss { frames: long()?, events: long()? }))
            }
            Kind::Refusal => Ok(Received::End(Refusal::unpack(batch.body()).reason)),
            _ => {
                self.learn(&batch);
                Ok(Received::Batch(batch))
            }
        }
    }

    fn learn(&mut self, batch: &Batch) {
        if let Ok(Some(Payload::Tables(tables) | Payload::Snapshot(tables))) = batch.payload() {
            let image = self.images.entry(batch.head.producer).or_default();
            Arc::make_mut(image).take(tables.parts());
        }
    }

    /// Whether something is at hand without waiting.
    #[must_use]
    pub fn has_more(&self) -> bool {
        self.frames.has_frame()
    }

    /// What is known of a batch's process.
    #[must_use]
    pub fn image(&self, producer: &Producer) -> Option<&Image> {
        self.images.get(producer).map(|image| &**image)
    }

    /// What is known of all processes whose batches came.
    #[must_use]
    pub fn images(&self) -> &Images {
        &self.images
    }

    /// Nothing more comes of a process.
    pub fn forget(&mut self, producer: &Producer) {
        self.images.remove(producer);
    }
}
