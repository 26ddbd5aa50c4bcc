//! Batches as a node makes them of a process, from a segment that a test has put together.

use std::sync::Arc;

use netra_event::frame::{Kind, Producer};
use netra_event::segment::{Header, Region, View};
use netra_event::{Event, Loss, SLOT_BYTES, WIDE};
use netra_show::live::Live;
use netra_stream::batch::{
    Account, Batch, HEADER, Image, Images, LaneAccount, Part, Phase, Process, count_events,
};
use netra_stream::frame::Subject;

use crate::maker::Segment;

/// A process that is fed to [`Live`] piece by piece.
pub(crate) struct Feed {
    pub(crate) producer: Producer,
    images: Images,
    about: Process,
    sent: u64,
}

impl Feed {
    /// A process that begins.
    pub(crate) fn begin(live: &Live, made: &Segment, now: u64) -> Feed {
        let bytes = made.bytes();
        let view = View::new(&bytes).expect("a segment");
        let header = &bytes[..size_of::<Header>()];
        let mut parts = vec![Part { region: HEADER, stride: 0, offset: 0, bytes: header }];
        for region in (1..).map_while(Region::from_code).filter(|&one| one != Region::Chunks) {
            let (stride, bytes) = view.region(region);
            parts.push(Part { region: region as u32, stride, offset: 0, bytes });
        }
        let mut image = Image::default();
        assert!(image.take(parts.into_iter()));
        let host = netra_event::jenkins64(view.host(), 0);
        let producer = Producer { host, start: view.start().1, pid: view.pid() };
        let about = Process { end: None, ..Process::of(&view, Phase::Began) };
        let images = Images::from([(producer, Arc::new(image))]);
        let feed = Feed { producer, images, about, sent: 0 };
        feed.item(live, Kind::Life, feed.about.pack(), now);
        feed
    }

    fn item(&self, live: &Live, kind: Kind, body: Vec<u8>, now: u64) {
        let subject = Subject::single(kind, self.producer, 0, 0, now);
        live.take(&Batch::plain(&subject, body), &self.images, now);
    }

    /// It made these calls.
    pub(crate) fn calls(&mut self, live: &Live, events: &[Event], now: u64) {
        let slots: Vec<[u8; SLOT_BYTES]> = events.iter().flat_map(slots).collect();
        let subject = Subject {
            kind: Kind::Events,
            producer: self.producer,
            lane: 0,
            from: self.sent,
            count: slots.len() as u32,
            events: count_events(&slots, |_| {}),
            time: now,
        };
        self.sent += slots.len() as u64;
        live.take(&Batch::plain(&subject, slots.concat()), &self.images, now);
    }

    /// Its account: so many events, so many dropped.
    pub(crate) fn account(&self, live: &Live, produced: u64, lost: u64, is_final: bool, now: u64) {
        let dropped = if lost > 0 { vec![(Loss::Budget as u8, lost)] } else { Vec::new() };
        let lane = LaneAccount { produced, dropped, ..LaneAccount::default() };
        let account = Account { is_final, calls: Vec::new(), lanes: vec![lane] };
        self.item(live, Kind::Ledger, account.pack(), now);
    }

    /// It ended.
    pub(crate) fn end(&mut self, live: &Live, end: u64) {
        self.about.phase = Phase::Ended;
        self.about.end = Some(end);
        self.item(live, Kind::Life, self.about.pack(), end);
    }
}

fn slots(event: &Event) -> Vec<[u8; SLOT_BYTES]> {
    let failed = if event.failed { netra_event::FAILED } else { 0 };
    let words = match event.fits_one_slot() {
        true => vec![event.first(failed)],
        false => vec![event.first(WIDE | failed), event.second()],
    };
    let bytes = |words: [u64; 4]| {
        let mut slot = [0; SLOT_BYTES];
        for (at, word) in words.iter().enumerate() {
            slot[at * 8..][..8].copy_from_slice(&word.to_le_bytes());
        }
        slot
    };
    words.into_iter().map(bytes).collect()
}
