//! A process as its rows name it: who it is, its clock, its files, its call sites.

use std::sync::Arc;

use netra_event::frame::Producer;
use netra_event::segment::View;
use netra_event::segment::extension::Extension;
use netra_event::{NO_FILE, NO_SITE, jenkins64};
use netra_stream::batch::{Image, Process};

use super::text::Texts;
use super::user::Users;
use crate::quick::Quick;
use crate::stack;

/// No text.
pub(super) const NONE: u32 = u32::MAX;

/// A process's name for ever, as a number.
pub(crate) fn name_for_ever(producer: &Producer) -> i64 {
    let mut bytes = [0; 20];
    bytes[..8].copy_from_slice(&producer.host.to_le_bytes());
    bytes[8..16].copy_from_slice(&producer.start.to_le_bytes());
    bytes[16..].copy_from_slice(&producer.pid.to_le_bytes());
    jenkins64(&bytes, 0).cast_signed()
}

/// A file of a process, its texts by number.
#[derive(Debug, Clone, Copy)]
pub(super) struct FileRow {
    pub(super) name: u32,
    pub(super) id: i64,
    pub(super) object: u32,
    pub(super) file_system: u32,
    pub(super) mount: u32,
}

impl FileRow {
    const NOTHING: FileRow =
        FileRow { name: NONE, id: 0, object: NONE, file_system: NONE, mount: NONE };
}

/// What a call selected in a data set.
#[derive(Debug, Clone, Copy)]
pub(super) struct Selected {
    pub(super) data_set: u32,
    pub(super) shape: u32,
    pub(super) dimensions: i64,
    pub(super) points: i64,
}

/// A process.
#[derive(Debug)]
pub(super) struct Who {
    pub(super) process: i64,
    pub(super) job: u32,
    pub(super) rank: i64,
    pub(super) uid: i64,
    pub(super) user: u32,
    pub(super) exe: u32,
    pub(super) node: u32,
    pub(super) pid: i64,
    image: Option<Arc<Image>>,
    /// Ticks and nanoseconds of one moment, and nanoseconds of a tick.
    clock: Option<(u64, u64, f64)>,
    files: Vec<Option<FileRow>>,
    sites: Quick<u16, u32>,
    threads: Quick<u32, u32>,
}

impl Who {
    pub(super) fn new(producer: &Producer, texts: &mut Texts) -> Who {
        let (nothing, unknown) = (texts.number(""), texts.number("unknown"));
        Who {
            process: name_for_ever(producer),
            job: unknown,
            rank: -1,
            uid: -1,
            user: unknown,
            exe: nothing,
            node: nothing,
            pid: i64::from(producer.pid),
            image: None,
            clock: None,
            files: Vec::new(),
            sites: Quick::default(),
            threads: Quick::default(),
        }
    }

    /// What the process says of itself at its begin and end.
    pub(super) fn life(&mut self, life: &Process, texts: &mut Texts, users: &mut Users) {
        self.job = texts.bytes(&life.job);
        self.rank = rank(life.rank, life.nprocs);
        self.uid = i64::from(life.uid);
        self.user = texts.number(&users.name(life.uid));
        self.exe = texts.bytes(&life.exe);
        self.node = texts.bytes(&life.host);
        self.pid = i64::from(life.pid);
    }

    /// What is known of its segment by now.
    pub(super) fn image(
        &mut self,
        image: Option<&Arc<Image>>,
        texts: &mut Texts,
        users: &mut Users,
    ) {
        let Some(image) = image else { return };
        if self.image.as_ref().is_some_and(|known| Arc::ptr_eq(known, image)) {
            return;
        }
        let Some(view) = image.view() else { return };
        if self.clock.is_none() || self.rank < 0 {
            let life = Process::of(&view, netra_stream::batch::Phase::Began);
            self.life(&life, texts, users);
        }
        let (ticks, time) = view.start();
        self.clock = Some((ticks, time, view.tick()));
        self.sites.retain(|_, site| *site != NONE);
        // What was not known may be by now.
        for file in &mut self.files {
            if file.is_some_and(|file| file.name == NONE) {
                *file = None;
            }
        }
        self.image = Some(Arc::clone(image));
    }

    /// The moment of a tick, as the segment's own reader has it.
    #[inline]
    pub(super) fn time(&self, ticks: u64) -> Option<i64> {
        let (start, time, tick) = self.clock?;
        let since = ticks.wrapping_sub(start).cast_signed() as f64 * tick;
        Some(time.saturating_add_signed(since as i64).cast_signed())
    }

    pub(super) fn file(&mut self, index: u32, texts: &mut Texts) -> FileRow {
        if index == NO_FILE {
            return FileRow::NOTHING;
        }
        let at = index as usize;
        if let Some(Some(known)) = self.files.get(at) {
            return *known;
        }
        let found = self.image.as_ref().and_then(|image| {
            let view = image.view()?;
            find(&view, index, texts)
        });
        // A number that no segment of at most 64 MiB can have is nobody's.
        if at < 1 << 22 {
            if self.files.len() <= at {
                self.files.resize(at + 1, None);
            }
            self.files[at] = Some(found.unwrap_or(FileRow::NOTHING));
        }
        found.unwrap_or(FileRow::NOTHING)
    }

    pub(super) fn site(&mut self, site: u16, texts: &mut Texts) -> u32 {
        if site == NO_SITE {
            return NONE;
        }
        if let Some(&known) = self.sites.get(&site) {
            return known;
        }
        let name = self.image.as_ref().and_then(|image| stack::name(&image.view()?, site));
        let number = name.map_or(NONE, |name| texts.number(&name));
        self.sites.insert(site, number);
        number
    }

    pub(super) fn thread(&mut self, lane: u32) -> u32 {
        if let Some(&known) = self.threads.get(&lane) {
            return known;
        }
        let view = self.image.as_ref().and_then(|image| image.view());
        let row = view.and_then(|view| view.lanes().find(|row| row.number == lane));
        let thread = row.map_or(0, |row| row.tid());
        if thread != 0 {
            self.threads.insert(lane, thread);
        }
        thread
    }

    /// Another thread has taken over a lane.
    pub(super) fn set_thread(&mut self, lane: u32, thread: u32) {
        self.threads.insert(lane, thread);
    }

    /// What a call selected, if it is such a call; of several data sets the first, with the elements of all.
    pub(super) fn selected(&mut self, extension: u32, texts: &mut Texts) -> Option<Selected> {
        let image = self.image.clone()?;
        let view = image.view()?;
        let (kind, bytes) = view.extension(extension)?;
        let Extension::Selections(mut all) = Extension::read(kind, bytes)? else { return None };
        let first = all.next()?;
        let points = all.fold(first.points, |sum, more| sum.saturating_add(more.points));
        let set = self.file(first.data_set, texts);
        Some(Selected {
            data_set: set.object,
            shape: texts.number(first.shape.slug()),
            dimensions: i64::from(first.dimensions),
            points: i64::try_from(points).unwrap_or(i64::MAX),
        })
    }
}

/// A process without MPI is rank 0 of its own job, as Darshan has it.
pub(super) fn rank(rank: Option<u32>, nprocs: Option<u32>) -> i64 {
    match (rank, nprocs) {
        (Some(rank), _) => i64::from(rank),
        (None, None) => 0,
        (None, Some(_)) => -1,
    }
}

fn find(view: &View<'_>, index: u32, texts: &mut Texts) -> Option<FileRow> {
    let row = view.file(index)?;
    let within = (row.parent != NO_FILE).then(|| view.file(row.parent)).flatten();
    let mount = within.map_or(row.mount, |file| file.mount.or(row.mount));
    let mount = mount.and_then(|index| view.mounts().find(|mount| mount.index == index));
    let (name, object) = match within {
        Some(file) => (texts.bytes(file.name), texts.bytes(inside(file.name, row.name))),
        None => (texts.bytes(row.name), NONE),
    };
    Some(FileRow {
        name,
        id: row.id.cast_signed(),
        object,
        file_system: mount.map_or(NONE, |mount| texts.bytes(mount.kind)),
        mount: mount.map_or(NONE, |mount| texts.bytes(mount.point)),
    })
}

/// The part of an object's name behind that of its file.
pub(super) fn inside<'a>(file: &[u8], name: &'a [u8]) -> &'a [u8] {
    name.strip_prefix(file).map_or(name, |rest| rest.strip_prefix(b":").unwrap_or(rest))
}
