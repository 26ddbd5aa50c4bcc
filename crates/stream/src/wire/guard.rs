//! A door that asks who is there, and a caller that says it and asks in turn. Whoever is let in may deliver,
//! publish and subscribe.
//!
//! Over a Unix socket nothing is asked: its file's rights say who may come, and the kernel says who did.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use netra_event::frame::Kind;

use super::greeting::{Hello, Purpose, Refusal, Welcome};
use super::link::Caller;
use super::listen::Door;
use super::tls::{Client, Server as Certified};
use super::{Address, Channel, Frames, read_control, send_control};
use crate::auth::{self, Method, Peer};
use crate::intake::Intake;
use crate::stop::Stop;
use crate::topic;

/// How long somebody who was called may take to answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// Lets in who proves itself.
#[derive(Debug)]
pub struct Guard {
    /// What is asked of callers over TCP.
    pub method: Method,
    /// How TCP is encrypted, if it is.
    pub tls: Option<Certified>,
    /// What a subscriber may leave untaken.
    pub queue: topic::Limits,
    /// What those who are let in reach.
    pub intake: Arc<Intake>,
}

impl Door for Guard {
    fn secure(&self, channel: Channel) -> io::Result<Channel> {
        match &self.tls {
            Some(tls) if channel.is_tcp() => channel.secure_called(tls),
            _ => Ok(channel),
        }
    }

    fn admit(
        &self,
        mut channel: Channel,
        frames: &mut Frames,
        hello: &[u8],
    ) -> io::Result<(Channel, Peer)> {
        let local = channel.user();
        if local.is_some() || self.method.is_open() {
            let proven = local.is_some() || channel.is_certified();
            return Ok((channel, Peer { uid: local, proven }));
        }
        let door = auth::Door::new(&self.method).map_err(io::Error::other)?;
        send_control(&mut channel, Kind::Challenge, &door.challenge())?;
        let (kind, proof) = read_control(frames, &mut channel)?;
        if kind != Kind::Proof {
            let said = format!("a {} where a proof belongs", kind.slug());
            return Err(io::Error::new(io::ErrorKind::InvalidData, said));
        }
        match door.admit(hello, &channel.binding(), &proof) {
            Ok((peer, proof)) => {
                send_control(&mut channel, Kind::Proof, &proof)?;
                Ok((channel, peer))
            }
            Err(refusal) => {
                // Strangers learn that they are not believed, and not why.
                send_control(&mut channel, Kind::Refusal, b"the proof is not accepted")?;
                Err(io::Error::new(io::ErrorKind::PermissionDenied, refusal.to_string()))
            }
        }
    }

    fn serve(
        &self,
        channel: &mut Channel,
        frames: &mut Frames,
        hello: &Hello,
        peer: Peer,
        stop: &Stop,
    ) -> io::Result<bool> {
        match hello.purpose {
            Purpose::Deliver => return Ok(false),
            Purpose::Publish => topic::take_messages(&self.intake, channel, frames, peer, stop)?,
            Purpose::Subscribe => {
                topic::give_frames(&self.intake, self.queue, channel, frames, peer, stop)?
            }
        }
        Ok(true)
    }
}

/// Calls, proves who it is, and wants the same of the other side.
#[derive(Debug, Clone)]
pub struct Proven {
    /// What is proven over TCP.
    pub method: Method,
    /// How TCP is encrypted, if it is.
    pub tls: Option<Client>,
}

impl Caller for Proven {
    fn call(&self, address: &Address, hello: &Hello) -> io::Result<(Channel, Frames, Welcome)> {
        let mut channel = Channel::connect(address)?;
        channel.set_patience(Some(PATIENCE))?;
        if let Some(tls) = self.tls.as_ref().filter(|_| channel.is_tcp()) {
            channel = channel.secure_caller(tls, address)?;
        }
        let mut frames = Frames::of_stranger();
        let hello = hello.pack();
        send_control(&mut channel, Kind::Hello, &hello)?;
        let mut proven = channel.user().is_some() || self.method.is_open();
        loop {
            match read_control(&mut frames, &mut channel).map_err(|error| self.hint(error))? {
                (Kind::Welcome, body) if proven => {
                    let welcome = Welcome::unpack(&body).map_err(io::Error::other)?;
                    frames.trust();
                    return Ok((channel, frames, welcome));
                }
                (Kind::Welcome, _) => {
                    let said =
                        format!("it does not prove itself, and {} is set", self.method.name());
                    return Err(io::Error::new(io::ErrorKind::PermissionDenied, said));
                }
                (Kind::Challenge, challenge) => {
                    self.prove(&mut channel, &mut frames, &hello, &challenge)?;
                    proven = true;
                }
                (Kind::Refusal, body) => {
                    return Err(io::Error::other(Refusal::unpack(&body).reason));
                }
                (kind, _) => {
                    let said = format!("a {} in answer to a hello", kind.slug());
                    return Err(io::Error::new(io::ErrorKind::InvalidData, said));
                }
            }
        }
    }
}

impl Proven {
    /// Whoever answers in another language may want to be spoken to in TLS.
    fn hint(&self, error: io::Error) -> io::Error {
        if error.kind() != io::ErrorKind::InvalidData || self.tls.is_some() {
            return error;
        }
        io::Error::new(error.kind(), format!("{error}; does it want TLS, which is not set here?"))
    }

    fn prove(
        &self,
        channel: &mut Channel,
        frames: &mut Frames,
        hello: &[u8],
        challenge: &[u8],
    ) -> io::Result<()> {
        let denied = |refusal: auth::Refusal| {
            io::Error::new(io::ErrorKind::PermissionDenied, refusal.to_string())
        };
        let answer = self.method.answer(hello, &channel.binding(), challenge).map_err(denied)?;
        send_control(channel, Kind::Proof, &answer.proof)?;
        match read_control(frames, channel)? {
            (Kind::Proof, proof) => answer.confirm(&proof).map(|_| ()).map_err(denied),
            (Kind::Refusal, body) => Err(io::Error::other(Refusal::unpack(&body).reason)),
            (kind, _) => {
                let said = format!("a {} where a proof belongs", kind.slug());
                Err(io::Error::new(io::ErrorKind::InvalidData, said))
            }
        }
    }
}
