//! A hub's spool of generated frames, as a daemon gives them to its sink.
#![allow(dead_code, clippy::allow_attributes, reason = "each test uses a part of it")]

use std::sync::Arc;

use netra_stream::batch::{Batch, Images, Payload};
use netra_stream::frame;

use crate::generate::Maker;

/// A hub's spool.
pub(crate) struct Spool {
    /// Frames, with the position behind each.
    pub(crate) frames: Vec<(u64, Vec<u8>)>,
    /// What they refer to.
    pub(crate) images: Images,
    /// Events before each frame.
    pub(crate) events: Vec<u64>,
}

impl Spool {
    /// Of so many jobs and ranks, with so many events each, in frames of `each`.
    pub(crate) fn new(jobs: u64, ranks: u32, events: u64, each: u64) -> Spool {
        let mut spool = Spool { frames: Vec::new(), images: Images::new(), events: vec![0] };
        for job in 0..jobs {
            for rank in 0..ranks {
                let maker = Maker { job, rank, nprocs: ranks, every: 50_000_000 };
                let mut bytes = Vec::new();
                maker.began(&mut bytes);
                maker.tables(&mut bytes);
                let mut slot = 0;
                for from in (0..events).step_by(each as usize) {
                    slot = maker.events(slot, from..(from + each).min(events), &mut bytes);
                }
                maker.ended(events, &mut bytes);
                spool.append(&bytes);
            }
        }
        spool
    }

    /// Puts frames behind the others.
    pub(crate) fn append(&mut self, mut bytes: &[u8]) {
        let mut position = self.frames.last().map_or(0, |frame| frame.0);
        while !bytes.is_empty() {
            let batch = Batch::open(bytes).unwrap();
            let length = frame::length(&batch.head);
            if let Ok(Some(Payload::Tables(parts))) = batch.payload() {
                let image = self.images.entry(batch.head.producer).or_default();
                Arc::make_mut(image).take(parts.parts());
            }
            position += length as u64;
            let is_events = matches!(batch.payload(), Ok(Some(Payload::Events(_))));
            let more = if is_events { u64::from(batch.head.events) } else { 0 };
            self.events.push(self.events.last().unwrap() + more);
            self.frames.push((position, bytes[..length].to_vec()));
            bytes = &bytes[length..];
        }
    }
}
