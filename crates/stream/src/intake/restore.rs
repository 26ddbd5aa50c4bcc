//! What a daemon was before it ended: the last checkpoint and its images, brought up to the end of the
//! spool.

use std::io;
use std::sync::Arc;

use netra_event::frame::Producer;

use super::CHECKPOINT;
use crate::batch::{Batch, Image, Images};
use crate::ledger::{Checkpoint, Verdict};
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
