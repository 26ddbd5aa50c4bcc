//! Reads the records of one module, one after another, through buffers that are used again.

use super::decode::{self, Scratch};
use super::order::{Order, until_nul};
use super::record::{ApmpiHead, ApxcHead, Counters, Dxt, DxtHead, Extra, Record};
use super::region::Region;
use super::segments::{Left, Segments, Shape};
use crate::damage::{Damage, Part, Reason};
use crate::record::{self, Layout, apmpi, apxc, dxt};
use crate::upgrade;
use netra_event::{Module, Rank, RecordId};

/// The records of one module.
///
/// ```no_run
/// # use netra_darshan::{Log, Record};
/// # use netra_event::Module;
/// # fn main() -> netra_darshan::Result<()> {
/// let log = Log::open("job.darshan")?;
/// let mut records = log.records(Module::Posix);
/// while let Some(record) = records.next_record() {
///     let name = log.names().get(record.id());
///     // …
/// }
/// for damage in records.damage() {
///     eprintln!("{damage}");
/// }
/// # Ok(())
/// # }
/// ```
pub struct Records {
    module: Module,
    version: u32,
    region: Region,
    order: Order,
    scratch: Scratch,
    /// Whether a module that begins with a head has given it.
    headed: bool,
    /// The first heat map's width and bins, which later ones are fitted to.
    first_heatmap: Option<(f64, usize)>,
    head: DxtHead,
    left: Left,
    damage: Vec<Damage>,
    over: bool,
}

impl Records {
    pub(super) fn new(module: Module, version: u32, region: Region, order: Order) -> Records {
        Records {
            module,
            version,
            region,
            order,
            scratch: Scratch::default(),
            headed: false,
            first_heatmap: None,
            head: DxtHead { id: RecordId(0), rank: Rank(0), host: Vec::new(), writes: 0, reads: 0 },
            left: Left::default(),
            damage: Vec::new(),
            over: false,
        }
    }

    /// Records that can not be read, and why.
    pub(super) fn refused(mut self, at: u64, reason: Reason) -> Records {
        self.damage.push(Damage { part: Part::Module(self.module), at, reason });
        self.over = true;
        self
    }

    /// The next record; nothing at the end, or where the rest can not be read.
    pub fn next_record(&mut self) -> Option<Record<'_>> {
        if self.over || !self.skip_segments() {
            return None;
        }
        match self.module {
            Module::DxtPosix | Module::DxtMpiio => self.next_dxt(),
            Module::Lustre | Module::Heatmap | Module::Mdhim => self.next_variable(),
            Module::Apmpi => self.next_apmpi(),
            Module::Apxc => self.next_apxc(),
            _ => self.next_counters().map(Record::Counters),
        }
    }

    /// What could not be read, once [`next_record`](Records::next_record) has given nothing.
    #[must_use]
    pub fn damage(&self) -> &[Damage] {
        &self.damage
    }

    /// The place in the file up to which the module has been read.
    #[must_use]
    pub fn place(&self) -> u64 {
        self.region.place()
    }

    /// The module whose records these are.
    #[must_use]
    pub fn module(&self) -> Module {
        self.module
    }

    /// Whether `need` bytes in a row are there. If not, reading is over, and unless the region ends
    /// right here, something is missing.
    fn have(&mut self, need: usize) -> bool {
        if self.region.want(need).is_some() {
            return true;
        }
        let have = self.region.rest() as u64;
        let cut = Reason::RecordCut { have, need: need as u64 };
        let cut = (have > 0).then(|| (self.region.place(), cut));
        if let Some((at, reason)) = self.region.fault().or(cut) {
            self.stop(at, reason);
        }
        self.over = true;
        false
    }

    fn stop(&mut self, at: u64, reason: Reason) {
        self.damage.push(Damage { part: Part::Module(self.module), at, reason });
        self.over = true;
    }

    fn next_counters(&mut self) -> Option<Counters<'_>> {
        let layout = record::layout(self.module, self.version)?;
        loop {
            if !self.have(layout.size()) {
                return None;
            }
            let base = self.read_counters(layout);
            self.region.consume(layout.size());
            let Scratch { ints, floats, .. } = &mut self.scratch;
            if upgrade::counters(self.module, self.version, ints, floats) {
                let Scratch { ints, floats, .. } = &self.scratch;
                let (id, rank, extra) = base;
                return Some(Counters { id, rank, ints, floats, extra });
            }
        }
    }

    fn read_counters(&mut self, layout: Layout) -> (RecordId, Rank, Extra) {
        let order = self.order;
        let bytes = self.region.available();
        let ints = record::BASE + layout.head;
        let floats = ints + 8 * layout.ints;
        let tail = floats + 8 * layout.floats;
        order.ints(&bytes[ints..floats], &mut self.scratch.ints);
        order.floats(&bytes[floats..tail], &mut self.scratch.floats);
        let extra = decode::extra(self.module, self.version, order, bytes, tail);
        (RecordId(order.u64(bytes, 0)), Rank(order.i64(bytes, 8)), extra)
    }

    fn next_variable(&mut self) -> Option<Record<'_>> {
        let need = decode::variable_head(self.module, self.version);
        if !self.have(need) {
            return None;
        }
        let order = self.order;
        let head = self.region.want(need)?;
        let size = match decode::variable_size(self.module, self.version, order, head) {
            Ok(size) => size,
            Err(claimed) => {
                let at = self.region.place();
                self.stop(at, Reason::RecordLength { claimed });
                return None;
            }
        };
        if !self.have(size) {
            return None;
        }
        self.region.want(size)?;
        let bytes = self.region.available().get(..size)?;
        let decoded = match self.module {
            Module::Lustre => self.scratch.lustre(self.version, order, bytes),
            Module::Mdhim => self.scratch.mdhim(order, bytes),
            _ => self.scratch.heatmap(order, bytes, &mut self.first_heatmap),
        };
        self.region.consume(size);
        Some(self.scratch.record(decoded))
    }

    fn next_dxt(&mut self) -> Option<Record<'_>> {
        if !self.have(dxt::HEAD) {
            return None;
        }
        let order = self.order;
        let bytes = self.region.want(dxt::HEAD)?;
        let (writes, reads) = (order.i64(bytes, dxt::WRITES_AT), order.i64(bytes, dxt::READS_AT));
        self.head.id = RecordId(order.u64(bytes, 0));
        self.head.rank = Rank(order.i64(bytes, 8));
        self.head.host.clear();
        let host = &bytes[dxt::HOST_AT..dxt::HOST_AT + dxt::HOST];
        self.head.host.extend_from_slice(until_nul(host));
        let (Ok(writes), Ok(reads)) = (u64::try_from(writes), u64::try_from(reads)) else {
            let at = self.region.place();
            self.stop(at, Reason::RecordLength { claimed: writes.min(reads) });
            return None;
        };
        (self.head.writes, self.head.reads) = (writes, reads);
        self.left = Left { writes, reads };
        self.region.consume(dxt::HEAD);
        let shape = Shape::new(self.module, self.version, order);
        let Records { region, left, head, scratch, .. } = self;
        let segments = Segments { region, shape, left, piece: &mut scratch.segments };
        Some(Record::Dxt(Dxt { head, segments }))
    }

    /// Passes over segments that nobody looked at. False if they are not all there.
    fn skip_segments(&mut self) -> bool {
        let mut left = self.left.writes.saturating_add(self.left.reads);
        let size = Shape::new(self.module, self.version, self.order).size;
        while left > 0 {
            if !self.have(size) {
                if self.damage.is_empty() {
                    // The region ends between two segments, so nothing else complains.
                    let need = left.saturating_mul(size as u64);
                    let at = self.region.place();
                    self.stop(at, Reason::RecordCut { have: 0, need });
                }
                return false;
            }
            let ready = (self.region.available().len() / size) as u64;
            let count = ready.min(left);
            self.region.consume(usize::try_from(count).unwrap_or(usize::MAX) * size);
            left -= count;
        }
        self.left = Left::default();
        true
    }

    fn next_apmpi(&mut self) -> Option<Record<'_>> {
        let order = self.order;
        if !self.headed {
            let head = self.take_head(apmpi::HEAD, apmpi::MAGIC)?;
            return Some(Record::ApmpiHead(ApmpiHead {
                id: RecordId(order.u64(&head, 0)),
                rank: Rank(order.i64(&head, 8)),
                sync: order.u32(&head, 24) != 0,
                variance_total: order.f64(&head, 32),
                variance_sync: order.f64(&head, 40),
            }));
        }
        if !self.have(apmpi::RECORD) {
            return None;
        }
        let bytes = self.region.want(apmpi::RECORD)?;
        let decoded = self.scratch.apmpi(order, bytes);
        self.region.consume(apmpi::RECORD);
        Some(self.scratch.record(decoded))
    }

    fn next_apxc(&mut self) -> Option<Record<'_>> {
        let order = self.order;
        if !self.headed {
            let head = self.take_head(apxc::HEAD, apxc::MAGIC)?;
            return Some(Record::ApxcHead(ApxcHead {
                id: RecordId(order.u64(&head, 0)),
                rank: Rank(order.i64(&head, 8)),
                numbers: std::array::from_fn(|at| order.i64(&head, 24 + 8 * at)),
            }));
        }
        if !self.have(apxc::RECORD) {
            return None;
        }
        let bytes = self.region.want(apxc::RECORD)?;
        let decoded = self.scratch.apxc(order, bytes);
        self.region.consume(apxc::RECORD);
        Some(self.scratch.record(decoded))
    }

    /// The record that precedes all others, if it carries its mark.
    fn take_head(&mut self, size: usize, magic: i64) -> Option<Vec<u8>> {
        if !self.have(size) {
            return None;
        }
        let head = self.region.want(size)?.to_vec();
        if self.order.i64(&head, record::BASE) != magic {
            let at = self.region.place();
            self.stop(at, Reason::RecordMagic);
            return None;
        }
        self.region.consume(size);
        self.headed = true;
        Some(head)
    }
}
