//! Fuzz targets for what reads bytes from outside: a function a target, each of which must come to an
//! end on any input, without a panic, and keeps a promise that it checks.
//!
//! `docs/testing.md` tells how to run them with an engine; the inputs under `corpus/` are replayed by
//! an ordinary test. There is nothing here about how inputs are made up.
#![forbid(unsafe_code)]

mod around;

use around::{Choppy, Frame};
use netra_darshan::convert::{self, convert};
use netra_darshan::diff::diff;
use netra_darshan::record::header::Compression;
use netra_darshan::{Log, Reason, Record, Records, text};
use netra_event::Module;
use netra_event::frame::{Head, Kind, Producer};
use netra_stream::auth::Peer;
use netra_stream::batch::{Batch, Form, Image, Message, Payload};
use netra_stream::frame::{self, Subject};
use netra_stream::ledger::Checkpoint;
use netra_stream::render;
use netra_stream::sample::{TAG, published};
use netra_stream::topic::accept;
use netra_stream::wire::{Frames, Hello};
use std::io::{Cursor, sink};

/// Any file: the header, the job, the names and the list of modules.
pub fn header(bytes: &[u8]) {
    let Ok(log) = Log::from_bytes(bytes) else { return };
    for (id, name) in log.names().iter() {
        assert_eq!(log.names().get(id), Some(name));
    }
    for region in log.header().regions() {
        assert_eq!(region.module.map(Module::code).unwrap_or(region.code), region.code);
    }
    assert!(log.names().len() <= (16 << 20) + 100 * bytes.len());
}

/// A compressed region: whatever comes out is the same however the bytes come in.
pub fn regions(bytes: &[u8]) {
    let Some((&[kind, step], rest)) = bytes.split_first_chunk() else { return };
    let compression = Compression::from_code(kind % 3).unwrap_or_default();
    let log = Frame {
        module: Module::Stdio,
        version: 2,
        big: kind & 4 != 0,
        compression,
        partial: false,
    };
    let bytes = log.around(rest);
    let whole = read(Log::from_bytes(bytes.clone()));
    let pieces = read(Log::new(Choppy::new(bytes, step)));
    assert_eq!(whole, pieces);
}

/// The records of any module, in any version and byte order, and not compressed.
pub fn records(bytes: &[u8]) {
    let Some((log, length)) = module(bytes) else { return };
    let Ok(log) = log else { return };
    for module in log.modules() {
        let mut records = log.records(module);
        let count = drain(&mut records).0;
        // No record is shorter than its id, its rank and something else.
        assert!(count * 24 <= length, "{count} records of {length} bytes");
        assert!(records.next_record().is_none());
    }
}

/// Bytes behind a log.
pub fn section(bytes: &[u8]) {
    let mut file = Frame::default().around(&[]);
    file.extend_from_slice(bytes);
    let Ok(log) = Log::from_bytes(file) else { return };
    let section = log.section();
    let mut total = 0;
    for block in section.blocks() {
        total += block.head.stored_len;
        if let Ok(raw) = block.bytes() {
            assert_eq!(raw.len() as u64, block.head.raw_len);
        }
    }
    assert!(total <= log.file_length());
}

/// Everything that is printed about the records of any module.
pub fn text(bytes: &[u8]) {
    let Some((Ok(log), _)) = module(bytes) else { return };
    let zone = |second: i64| second % 86_400;
    let all = text::Options { base: true, total: true, file: true, perf: true, zone: &zone };
    text::parse(&log, &all, &mut sink()).expect("nothing is written");
    text::traces(&log, &zone, &mut sink()).expect("nothing is written");
}

/// Any file that can be read can be written again, and then says the same, but for what was
/// missing.
pub fn rewrite(bytes: &[u8]) {
    let Ok(log) = Log::from_bytes(bytes) else { return };
    let options = convert::Options::default();
    let out = Cursor::new(Vec::new());
    let (out, done) = convert(&log, &options, out).expect("memory can be written");
    let again = Log::from_bytes(out.into_inner()).expect("what we write is a log");
    assert!(again.damage().iter().all(|damage| damage.reason == Reason::Incomplete));
    let mut differences = Vec::new();
    let damage = diff(&log, &again, &mut |difference| differences.push(difference));
    if done.damage.is_empty() {
        assert_eq!(differences, []);
        assert_eq!(damage, [Vec::new(), Vec::new()]);
    }
}

/// Bytes from a connection, a spool or a checkpoint: what is taken for a frame is whole and can be
/// sealed again to the same; a body of any kind is read to its end or refused.
pub fn frame(bytes: &[u8]) {
    let (mut frames, mut stream) = (Frames::default(), bytes);
    while let Ok(Some(found)) = frames.next(&mut stream) {
        let Ok(batch) = Batch::open(found) else { continue };
        let subject = subject(&batch.head);
        let mut again = Vec::new();
        frame::seal(&subject, batch.body(), &mut again).expect("it was a frame");
        assert_eq!(Batch::open(&again).expect("what we seal is a frame").body(), batch.body());
    }
    let Some((&code, body)) = bytes.split_first() else { return };
    if let Some(kind) = Kind::from_code(code % 8) {
        let slots = (body.len() / 32) as u32;
        let (producer, from, time) = (Producer::default(), 0, 0);
        let subject = Subject { kind, producer, lane: 0, from, count: slots, events: 0, time };
        let batch = Batch::plain(&subject, body.to_vec());
        match batch.payload() {
            Ok(Some(Payload::Events(events))) => assert!(events.count() <= slots as usize),
            Ok(Some(Payload::Tables(tables) | Payload::Snapshot(tables))) => {
                let mut image = Image::default();
                image.take(tables.parts());
                assert!(image.bytes().len() <= 2 * body.len() + 4096);
            }
            Ok(Some(Payload::Life(process))) => assert_eq!(process.pack(), body),
            _ => {}
        }
    }
    drop(Hello::unpack(body));
    drop(Checkpoint::unpack(bytes));
}

/// What a publisher sends: a message under a tag, text or JSON or anything. What is taken is what was sent.
pub fn publish(bytes: &[u8]) {
    let Some((&[form, metrics], rest)) = bytes.split_first_chunk() else { return };
    let form = [Form::Bytes, Form::Text, Form::Json][usize::from(form % 3)];
    let tag: &[u8] = if metrics & 1 == 0 { b"site.any" } else { TAG };
    let peer = Peer { uid: Some(7), proven: true };
    let sent = Message { tag, form, time: 0, uid: 0, bytes: rest };
    let mut framed = Vec::new();
    let subject = Subject::single(Kind::Message, Producer::default(), 0, 0, 0);
    if frame::seal(&subject, &sent.pack(), &mut framed).is_err() {
        return;
    }
    if let Ok(body) = accept(&framed, peer, 5) {
        let kept = Message::unpack(&body).expect("what is kept is a message");
        assert_eq!((kept.bytes, kept.tag, kept.uid, kept.time), (rest, tag, 7, 5));
        assert!(tag != TAG || published(rest).is_ok());
        render::message(&mut sink(), &kept).expect("nothing is written");
    }
    // And with a body that nobody packed.
    let mut raw = Vec::new();
    if frame::seal(&subject, bytes, &mut raw).is_ok() {
        drop(accept(&raw, peer, 5));
    }
}

fn subject(head: &Head) -> Subject {
    Subject {
        kind: head.kind,
        producer: head.producer,
        lane: head.lane,
        from: head.from,
        count: head.count,
        events: head.events,
        time: head.time,
    }
}

/// A log of one module: its code, its version and the byte order, then its records.
fn module(bytes: &[u8]) -> Option<(netra_darshan::Result<Log>, usize)> {
    let (&[code, version], rest) = bytes.split_first_chunk()?;
    let module = Module::from_code(code % 18)?;
    let frame = Frame {
        module,
        version: u32::from(version % 8),
        big: version & 8 != 0,
        compression: Compression::None,
        partial: version & 16 != 0,
    };
    Some((Log::from_bytes(frame.around(rest)), rest.len()))
}

/// How many records a log has, a checksum of them, and what is wrong.
fn read(log: netra_darshan::Result<Log>) -> Vec<(usize, u64, Vec<Reason>)> {
    let Ok(log) = log else { return Vec::new() };
    let one = |module| {
        let mut records = log.records(module);
        let (count, sum) = drain(&mut records);
        let reasons = records.damage().iter().map(|damage| damage.reason.clone()).collect();
        (count, sum, reasons)
    };
    log.modules().map(one).collect()
}

fn drain(records: &mut Records) -> (usize, u64) {
    let (mut count, mut sum) = (0, 0u64);
    while let Some(record) = records.next_record() {
        count += 1;
        sum = sum.rotate_left(7) ^ record.id().0 ^ record.rank().0.cast_unsigned();
        match record {
            Record::Counters(counters) => {
                sum = counters
                    .ints
                    .iter()
                    .fold(sum, |sum, &int| sum.wrapping_add(int.cast_unsigned()));
            }
            Record::Dxt(mut dxt) => {
                while let Some((_, piece)) = dxt.segments.next_piece() {
                    sum = sum.wrapping_add(piece.len() as u64);
                }
            }
            _ => {}
        }
    }
    (count, sum)
}
