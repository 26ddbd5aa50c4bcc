//! The names of records, and the file systems they lie on.

use super::job::Mount;
use super::order::Order;
use super::region::Region;
use crate::damage::{Damage, Part, Reason};
use netra_event::RecordId;

/// Longer than any path; a name that does not end before it is not a name.
const LONGEST: usize = 64 << 10;

/// Names by record id, packed: a log can have millions.
#[derive(Debug, Default, Clone)]
pub struct Names {
    bytes: Vec<u8>,
    /// In the order of the log, each id once.
    list: Vec<Entry>,
    /// Places in the list, by id.
    by_id: Vec<u32>,
    /// The longest mount point first, which is how a record finds its own.
    mounts: Vec<Mount>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    id: RecordId,
    start: usize,
    length: u32,
}

/// Where a file lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place<'a> {
    /// The record's name, if the log knows it.
    pub name: Option<&'a [u8]>,
    /// The mount point, or `UNKNOWN`.
    pub mount: &'a [u8],
    /// The file system, or `UNKNOWN`.
    pub kind: &'a [u8],
}

impl Names {
    /// Names from pairs. The first name of a record stays, unless it is empty.
    pub fn collect<'a>(pairs: impl IntoIterator<Item = (RecordId, &'a [u8])>) -> Names {
        let mut names = Names::default();
        for (id, name) in pairs {
            names.push(id, name);
        }
        names.settle();
        names
    }

    /// The name of a record.
    #[must_use]
    pub fn get(&self, id: RecordId) -> Option<&[u8]> {
        let at = self.by_id.binary_search_by_key(&id, |&at| self.list[at as usize].id).ok()?;
        Some(self.bytes_of(&self.list[self.by_id[at] as usize]))
    }

    /// Every name once, in the order of the log.
    pub fn iter(&self) -> impl Iterator<Item = (RecordId, &[u8])> {
        self.list.iter().map(|entry| (entry.id, self.bytes_of(entry)))
    }

    fn bytes_of(&self, entry: &Entry) -> &[u8] {
        &self.bytes[entry.start..entry.start + entry.length as usize]
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Where the file of a record lies: the longest mount point that its name begins with.
    #[must_use]
    pub fn place(&self, id: RecordId) -> Place<'_> {
        let name = self.get(id);
        let mount = name.and_then(|name| self.mounts.iter().find(|m| name.starts_with(&m.point)));
        Place {
            name,
            mount: mount.map_or(b"UNKNOWN", |mount| &mount.point),
            kind: mount.map_or(b"UNKNOWN", |mount| &mount.kind),
        }
    }

    /// Mounts, the longest mount point first.
    #[must_use]
    pub fn mounts(&self) -> &[Mount] {
        &self.mounts
    }

    fn push(&mut self, id: RecordId, name: &[u8]) {
        let Ok(length) = u32::try_from(name.len()) else { return };
        self.list.push(Entry { id, start: self.bytes.len(), length });
        self.bytes.extend_from_slice(name);
    }

    /// Drops all but one name of each record, and makes the index. Processes of a job repeat the
    /// names they share, and a name can come empty before it comes in full.
    fn settle(&mut self) {
        let count = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        self.list.truncate(count as usize);
        let mut order: Vec<u32> = (0..count).collect();
        // Within an id the first name that is not empty comes first.
        order.sort_by_key(|&at| {
            let entry = self.list[at as usize];
            (entry.id, entry.length == 0, at)
        });
        order.dedup_by_key(|&mut at| self.list[at as usize].id);
        order.sort_unstable();
        self.list = order.into_iter().map(|at| self.list[at as usize]).collect();
        let count = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        self.by_id = (0..count).collect();
        self.by_id.sort_by_key(|&at| self.list[at as usize].id);
    }

    /// Sets the mounts that [`place`](Names::place) knows.
    pub fn set_mounts(&mut self, mounts: &[Mount]) {
        self.mounts = mounts.to_vec();
        self.mounts.sort_by_key(|mount| std::cmp::Reverse(mount.point.len()));
    }

    pub(super) fn read(
        mut region: Region,
        order: Order,
        prefixed: bool,
    ) -> (Names, Option<Damage>) {
        let mut names = Names::default();
        let fault = loop {
            let step = if prefixed {
                names.read_prefixed(&mut region, order)
            } else {
                names.read_terminated(&mut region, order)
            };
            match step {
                Ok(true) => {}
                Ok(false) => break region.fault(),
                Err(reason) => break region.fault().or(Some((region.place(), reason))),
            }
        };
        names.settle();
        (names, fault.map(|(at, reason)| Damage { part: Part::Names, at, reason }))
    }

    /// Id, name, NUL. False at the end.
    fn read_terminated(&mut self, region: &mut Region, order: Order) -> Result<bool, Reason> {
        if region.available().is_empty() {
            return Ok(false);
        }
        let mut want = 256;
        loop {
            let whole = region.want(want).is_some();
            let bytes = region.available();
            let id = RecordId(order.u64(bytes, 0));
            let name = bytes.get(8..).unwrap_or_default();
            if let Some(end) = name.iter().take(LONGEST).position(|&byte| byte == 0) {
                self.push(id, &name[..end]);
                region.consume(8 + end + 1);
                return Ok(true);
            }
            if !whole || want > LONGEST {
                let have = bytes.len() as u64;
                return Err(Reason::RecordCut { have, need: have + 1 });
            }
            want *= 2;
        }
    }

    /// Id, length, name, as log version 3.00 has them. False at the end.
    fn read_prefixed(&mut self, region: &mut Region, order: Order) -> Result<bool, Reason> {
        if region.available().is_empty() {
            return Ok(false);
        }
        let Some(head) = region.want(12) else {
            return Err(Reason::RecordCut { have: region.rest() as u64, need: 12 });
        };
        let (id, length) = (RecordId(order.u64(head, 0)), order.u32(head, 8));
        let count = usize::try_from(length).unwrap_or(usize::MAX);
        if count > LONGEST {
            return Err(Reason::RecordLength { claimed: i64::from(length) });
        }
        let Some(bytes) = region.want(12 + count) else {
            let have = region.rest() as u64;
            return Err(Reason::RecordCut { have, need: 12 + count as u64 });
        };
        let name = &bytes[12..];
        self.push(id, name);
        region.consume(12 + count);
        Ok(true)
    }
}
