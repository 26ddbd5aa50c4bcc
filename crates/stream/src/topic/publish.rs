//! Publishing: messages come in over a connection, are kept like everything else, and acknowledged when
//! they are durable.

use std::io;
use std::time::Duration;

use netra_event::frame::{Kind, Producer};

use super::tag;
use crate::auth::Peer;
use crate::batch::{Batch, Form, Message, Payload};
use crate::frame::{self, Subject};
use crate::intake::{Error as Refused, Intake};
use crate::pack::{Packer, Unpacker};
use crate::sample;
use crate::spool;
use crate::stop::Stop;
use crate::wire::{
    Address, Caller, Channel, Frames, Hello, Purpose, Refusal, VERSIONS, read_control, send_control,
};

/// How long a message waits for room before it is tried again.
const ROOM: Duration = Duration::from_millis(20);
/// How long durability may take.
const DURABLE: Duration = Duration::from_secs(30);
/// Who published, if nobody knows: the number that `chown` takes for nobody.
const NOBODY: u32 = u32::MAX;

/// Takes messages until the publisher goes.
pub(crate) fn take_messages(
    intake: &Intake,
    channel: &mut Channel,
    frames: &mut Frames,
    peer: Peer,
    stop: &Stop,
) -> io::Result<()> {
    let mut taken = 0_u64;
    while !stop.is_set() {
        let Some(bytes) = frames.next(channel)? else { return Ok(()) };
        let body = match accept(bytes, peer, intake.clock.now()) {
            Ok(body) => body,
            Err(reason) => {
                send_control(channel, Kind::Refusal, reason.as_bytes())?;
                return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
            }
        };
        let position = keep(intake, &body, stop)?;
        taken += 1;
        if !frames.has_frame() {
            if !intake.wait_durable(position, DURABLE) {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "the spool can not be kept"));
            }
            let mut packer = Packer::default();
            packer.long(taken);
            send_control(channel, Kind::Ack, &packer.bytes)?;
        }
    }
    Ok(())
}

/// The body under which a publisher's message is kept: who and when is ours to say.
///
/// # Errors
/// It is no message, or not what it says it is; in words for whoever sent it.
pub fn accept(frame: &[u8], peer: Peer, time: u64) -> Result<Vec<u8>, String> {
    let batch = Batch::open(frame).map_err(|error| error.to_string())?;
    let Ok(Some(Payload::Message(message))) = batch.payload() else {
        return Err(format!("a {} frame where a message belongs", batch.head.kind.slug()));
    };
    tag::publishable(&String::from_utf8_lossy(message.tag))?;
    if message.tag == sample::TAG {
        let rows = sample::published(message.bytes);
        rows.map_err(|flaw| format!("the message holds no metrics: {flaw}"))?;
    }
    match message.form {
        Form::Bytes => {}
        Form::Text => {
            let text = std::str::from_utf8(message.bytes);
            text.map_err(|error| format!("the message is no text: {error}"))?;
        }
        Form::Json => {
            let json: Result<serde_json::Value, _> = serde_json::from_slice(message.bytes);
            json.map_err(|error| format!("the message is no JSON: {error}"))?;
        }
    }
    Ok(Message { uid: peer.uid.unwrap_or(NOBODY), time, ..message }.pack())
}

fn keep(intake: &Intake, body: &[u8], stop: &Stop) -> io::Result<u64> {
    loop {
        match intake.publish(Kind::Message, 0, body) {
            Ok(taken) => return Ok(taken.position()),
            Err(Refused::Spool(spool::Refused::Full)) if !stop.is_set() => std::thread::sleep(ROOM),
            Err(error) => return Err(io::Error::other(error)),
        }
    }
}

/// The publisher's end.
#[derive(Debug)]
pub struct Publisher {
    channel: Channel,
    frames: Frames,
    sent: u64,
    acknowledged: u64,
}

/// Messages that may be on their way without an acknowledgement.
const AHEAD: u64 = 256;

impl Publisher {
    /// Calls a daemon.
    ///
    /// # Errors
    /// Nobody answers, or nobody lets us in.
    pub fn connect(address: &Address, caller: &dyn Caller, name: &str) -> io::Result<Publisher> {
        let hello = Hello {
            versions: VERSIONS,
            name: name.to_owned(),
            spool: 0,
            time: 0,
            purpose: Purpose::Publish,
        };
        let (channel, frames, _) = caller.call(address, &hello)?;
        Ok(Publisher { channel, frames, sent: 0, acknowledged: 0 })
    }

    /// Publishes a message.
    ///
    /// # Errors
    /// It is too large, the daemon refuses it, or the connection broke.
    pub fn publish(&mut self, tag: &str, form: Form, bytes: &[u8]) -> io::Result<()> {
        use std::io::Write as _;
        let body = Message { tag: tag.as_bytes(), form, time: 0, uid: 0, bytes }.pack();
        let subject = Subject::single(Kind::Message, Producer::default(), 0, self.sent, 0);
        let mut out = Vec::new();
        frame::seal(&subject, &body, &mut out).map_err(io::Error::other)?;
        self.channel.write_all(&out)?;
        self.sent += 1;
        while self.sent - self.acknowledged >= AHEAD {
            self.hear()?;
        }
        Ok(())
    }

    /// Waits until everything is durable; says how many messages that is.
    ///
    /// # Errors
    /// As for [`Publisher::publish`].
    pub fn finish(mut self) -> io::Result<u64> {
        while self.acknowledged < self.sent {
            self.hear()?;
        }
        Ok(self.acknowledged)
    }

    fn hear(&mut self) -> io::Result<()> {
        match read_control(&mut self.frames, &mut self.channel)? {
            (Kind::Ack, body) => {
                let count = Unpacker::new(&body).long().map_err(io::Error::other)?;
                self.acknowledged = count.min(self.sent);
                Ok(())
            }
            (Kind::Refusal, body) => Err(io::Error::other(Refusal::unpack(&body).reason)),
            (kind, _) => Err(io::Error::other(format!("a {} in between", kind.slug()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(tag: &str, form: Form, bytes: &[u8]) -> Result<Vec<u8>, String> {
        let sent = Message { tag: tag.as_bytes(), form, time: 0, uid: 0, bytes };
        let subject = Subject::single(Kind::Message, Producer::default(), 0, 0, 0);
        let mut frame = Vec::new();
        frame::seal(&subject, &sent.pack(), &mut frame).unwrap();
        accept(&frame, Peer { uid: Some(7), proven: true }, 5)
    }

    #[test]
    fn metrics_of_others_are_taken_whole_or_not_at_all() {
        let right = br#"[{"host":"oss1","name":"disk.written_bytes","value":1}]"#;
        let kept = says("metrics", Form::Json, right).unwrap();
        let kept = Message::unpack(&kept).unwrap();
        assert_eq!((kept.bytes, kept.uid, kept.time), (&right[..], 7, 5));
        let wrong = br#"[{"host":"a","name":"x","value":1},{"host":"a","name":"x"}]"#;
        assert_eq!(
            says("metrics", Form::Json, wrong).unwrap_err(),
            "the message holds no metrics: entry 1: value is missing or not a number"
        );
        assert!(says("metrics", Form::Text, b"hello").is_err());
        assert!(says("site.metrics", Form::Json, b"{}").is_ok());
    }
}
