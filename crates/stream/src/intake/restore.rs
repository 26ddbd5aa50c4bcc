//! What a daemon was before it ended: the last checkpoint and its images, brought up to the end of the
//! spool.

use std::io;
use std::sync::Arc;

use netra_event::frame::{Kind, Producer};

use super::offer::put_in_image;
use super::{CHECKPOINT, Intake};
use crate::batch::{Batch, Image, Images};
use crate::frame;
use crate::ledger::{Book, Checkpoint, Tally, Verdict};
use crate::spool::{Spool, Storage};

/// The last checkpoint and the images that were kept with it.
pub(super) fn load(storage: &dyn Storage, spool: &Spool) -> io::Result<(Checkpoint, Images)> {
    let mut images = Images::new();
    let mut checkpoint =
        Checkpoint { spool: spool.id(), position: spool.begin(), ..Checkpoint::default() };
    for name in storage.list()? {
        if name == CHECKPOINT {
            let found = Checkpoint::unpack(&read_all(storage, &name)?).map_err(|error| {
                io::Error::other(format!("{CHECKPOINT}: {error}; move it away to begin anew"))
            })?;
            if found.spool == spool.id() || spool.end() == 0 {
                checkpoint = found;
            }
        } else if let Some(producer) = producer_of(&name)
            && let Ok(image) = Image::unpack(&read_all(storage, &name)?)
        {
            images.insert(producer, Arc::new(image));
        }
    }
    Ok((checkpoint, images))
}

fn read_all(storage: &dyn Storage, name: &str) -> io::Result<Vec<u8>> {
    let file = storage.open(name)?;
    let mut bytes = vec![0; usize::try_from(file.length()?).unwrap_or(0)];
    let read = file.read_at(0, &mut bytes)?;
    bytes.truncate(read);
    Ok(bytes)
}

/// Brings the book up to the end of the spool.
pub(super) fn replay(spool: &Spool, checkpoint: &mut Checkpoint) -> io::Result<()> {
    checkpoint.position = checkpoint.position.min(spool.end());
    for outlet in &mut checkpoint.outlets {
        outlet.position = outlet.position.min(spool.end());
    }
    let mut reader = spool.reader(checkpoint.position);
    while let Some(piece) = reader.plan(spool) {
        reader.fill(&piece)?;
        while let Some(bytes) = reader.next() {
            if let Ok(batch) = Batch::open(bytes)
                && checkpoint.book.judge(&batch.head) == Verdict::New
            {
                checkpoint.book.receive(&batch);
            }
        }
    }
    checkpoint.position = spool.end();
    Ok(())
}

/// What a sink that is new here will never see: events that came and have left the spool.
pub(super) fn missed(spool: &Spool, book: &Book) -> io::Result<Tally> {
    let mut there = Tally::default();
    let mut reader = spool.reader(0);
    while let Some(piece) = reader.plan(spool) {
        reader.fill(&piece)?;
        while let Some(bytes) = reader.next() {
            if let Ok(Some(head)) = frame::peek(bytes) {
                there.pass_on(&head);
            }
        }
    }
    let mut missed = Tally::default();
    for (producer, producing) in &book.producers {
        let left = there.producers.get(producer).map_or(0, |got| got.events());
        let gone = producing.received().saturating_sub(left);
        if gone > 0 {
            missed.producers.entry(*producer).or_default().skipped = gone;
        }
    }
    Ok(missed)
}

impl Intake {
    /// Images as they were kept may be older than the frames that are still here.
    pub(super) fn rebuild_images(&self) -> io::Result<()> {
        let mut inner = self.lock();
        let Some(mut images) = inner.images.take() else { return Ok(()) };
        let mut reader = inner.spool.reader(0);
        while let Some(piece) = reader.plan(&inner.spool) {
            reader.fill(&piece)?;
            while let Some(bytes) = reader.next() {
                if let Ok(Some(head)) = frame::peek(bytes)
                    && matches!(head.kind, Kind::Tables | Kind::Snapshot | Kind::Life)
                    && let Ok(batch) = Batch::open(bytes)
                {
                    put_in_image(&mut images, &batch);
                }
            }
        }
        inner.images = Some(images);
        Ok(())
    }
}

/// The file of an image.
pub(super) fn image_name(producer: &Producer) -> String {
    format!("{:016x}-{}-{}.image", producer.host, producer.start, producer.pid)
}

fn producer_of(name: &str) -> Option<Producer> {
    let mut parts = name.strip_suffix(".image")?.split('-');
    let host = u64::from_str_radix(parts.next()?, 16).ok()?;
    let (start, pid) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    Some(Producer { host, start, pid })
}
