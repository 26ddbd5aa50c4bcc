//! Decodes the records that are not plain counters.

use super::order::Order;
use super::record::{Apmpi, Apxc, Extra, Heatmap, Lustre, Mdhim, Record};
use crate::counter::lustre::{STRIPE_COUNT, STRIPE_SIZE};
use crate::record::dxt::Segment;
use crate::record::lustre::{COMPONENT, Component, HEAD, NUMBERS, OLD_HEAD, POOL};
use crate::record::{BASE, apmpi, heatmap};
use netra_event::{Module, Rank, RecordId, Seconds};

/// The most that a record of variable length may take. A file striped over every target of the
/// largest file systems needs a tenth of it.
const LONGEST: u64 = 1 << 20;

const MDHIM_INTS: usize = crate::counter::mdhim::INT.len();
const MDHIM_FLOATS: usize = crate::counter::mdhim::FLOAT.len();
const MDHIM_HEAD: usize = BASE + 8 * MDHIM_INTS + 8 * MDHIM_FLOATS;

/// Memory that every record of a module uses again.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) ints: Vec<i64>,
    pub(super) floats: Vec<f64>,
    pub(super) segments: Vec<Segment>,
    components: Vec<Component>,
    /// A second row of numbers: read bins, storage targets, servers.
    others: Vec<i64>,
    text: Vec<u8>,
}

/// What was put into the scratch memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Decoded {
    id: RecordId,
    rank: Rank,
    what: What,
}

#[derive(Debug, Clone, Copy)]
enum What {
    Lustre,
    Heatmap { width: f64 },
    Mdhim,
    Apmpi,
    Apxc { place: [i64; 4] },
}

/// What a module has besides counters: before them (`BASE`) or behind them (`tail`).
pub(super) fn extra(
    module: Module,
    version: u32,
    order: Order,
    bytes: &[u8],
    tail: usize,
) -> Extra {
    let uuid = |at: usize| {
        bytes.get(at..).and_then(|rest| rest.first_chunk()).copied().unwrap_or_default()
    };
    match module {
        Module::H5d if version == 1 => Extra::File(RecordId(0)),
        Module::H5d | Module::PnetcdfVar => Extra::File(RecordId(order.u64(bytes, BASE))),
        Module::Dfs => Extra::Dfs { pool: uuid(tail), container: uuid(tail + 16) },
        Module::Daos => Extra::Daos {
            pool: uuid(tail),
            container: uuid(tail + 16),
            object: (order.u64(bytes, tail + 32), order.u64(bytes, tail + 40)),
        },
        _ => Extra::None,
    }
}

/// Bytes from which the length of a record can be told.
pub(super) fn variable_head(module: Module, version: u32) -> usize {
    match (module, version) {
        (Module::Lustre, 1) => OLD_HEAD,
        (Module::Lustre, _) => HEAD,
        (Module::Mdhim, _) => MDHIM_HEAD,
        _ => heatmap::HEAD,
    }
}

/// The length of a record, or the number in its head that makes no sense.
pub(super) fn variable_size(
    module: Module,
    version: u32,
    order: Order,
    head: &[u8],
) -> Result<usize, i64> {
    let claims = |at: usize, each: u64| {
        let claimed = order.i64(head, at);
        let bytes = u64::try_from(claimed).ok().and_then(|count| count.checked_mul(each));
        bytes.filter(|&bytes| bytes <= LONGEST).ok_or(claimed)
    };
    let rest = match (module, version) {
        (Module::Lustre, 1) => claims(48, 8)?,
        (Module::Lustre, _) => claims(16, COMPONENT as u64)? + claims(24, 8)?,
        // There is always room for one server.
        (Module::Mdhim, _) => claims(BASE + 8 * crate::counter::mdhim::SERVERS, 8)?.max(8),
        _ => claims(heatmap::BINS_AT, 16)?,
    };
    Ok(head.len() + usize::try_from(rest).unwrap_or(usize::MAX - head.len()))
}

impl Scratch {
    pub(super) fn lustre(&mut self, version: u32, order: Order, bytes: &[u8]) -> Decoded {
        self.components.clear();
        let targets = if version == 1 {
            let (size, count) = (order.i64(bytes, 40), order.i64(bytes, 48));
            let numbers = [size, count, -1, -1, 0, -1, -1];
            self.components.push(Component { numbers, pool: [0; POOL] });
            OLD_HEAD
        } else {
            let stripes = usize::try_from(order.i64(bytes, 24)).unwrap_or(0);
            let targets = bytes.len().saturating_sub(8 * stripes);
            let stored = bytes[HEAD..targets].chunks_exact(COMPONENT);
            // The first unused component ends the list.
            let used = stored
                .map(|bytes| component(order, bytes))
                .take_while(|component| component.numbers[STRIPE_SIZE] != -1);
            self.components.extend(used);
            targets
        };
        order.ints(&bytes[targets..], &mut self.others);
        let kept = self.components.iter().fold(0usize, |sum, component| {
            sum.saturating_add(usize::try_from(component.numbers[STRIPE_COUNT]).unwrap_or(0))
        });
        self.others.truncate(kept);
        self.decoded(order, bytes, What::Lustre)
    }

    pub(super) fn mdhim(&mut self, order: Order, bytes: &[u8]) -> Decoded {
        let floats = BASE + 8 * MDHIM_INTS;
        order.ints(&bytes[BASE..floats], &mut self.ints);
        order.floats(&bytes[floats..MDHIM_HEAD], &mut self.floats);
        order.ints(&bytes[MDHIM_HEAD..], &mut self.others);
        let servers = self.ints[crate::counter::mdhim::SERVERS];
        self.others.truncate(usize::try_from(servers).unwrap_or(0));
        self.decoded(order, bytes, What::Mdhim)
    }

    /// Releases 3.4.0 to 3.4.3 could disagree between processes by one bin; the first record is
    /// taken as right.
    pub(super) fn heatmap(
        &mut self,
        order: Order,
        bytes: &[u8],
        first: &mut Option<(f64, usize)>,
    ) -> Decoded {
        let width = order.f64(bytes, heatmap::WIDTH_AT);
        let bins = &bytes[heatmap::HEAD..];
        let (writes, reads) = bins.split_at(bins.len() / 2);
        order.ints(writes, &mut self.ints);
        order.ints(reads, &mut self.others);
        let (first_width, first_bins) = *first.get_or_insert((width, self.ints.len()));
        if width == first_width && self.ints.len().abs_diff(first_bins) == 1 {
            self.ints.resize(first_bins, 0);
            self.others.resize(first_bins, 0);
        }
        self.decoded(order, bytes, What::Heatmap { width })
    }

    pub(super) fn apmpi(&mut self, order: Order, bytes: &[u8]) -> Decoded {
        let floats = BASE + 8 * crate::counter::apmpi::INT.len();
        let node = apmpi::RECORD - apmpi::NODE;
        order.ints(&bytes[BASE..floats], &mut self.ints);
        order.floats(&bytes[floats..node], &mut self.floats);
        self.text.clear();
        self.text.extend_from_slice(&bytes[node..]);
        self.decoded(order, bytes, What::Apmpi)
    }

    pub(super) fn apxc(&mut self, order: Order, bytes: &[u8]) -> Decoded {
        let place = std::array::from_fn(|at| order.i64(bytes, BASE + 8 * at));
        order.ints(&bytes[BASE + 32..], &mut self.ints);
        self.decoded(order, bytes, What::Apxc { place })
    }

    fn decoded(&self, order: Order, bytes: &[u8], what: What) -> Decoded {
        Decoded { id: RecordId(order.u64(bytes, 0)), rank: Rank(order.i64(bytes, 8)), what }
    }

    /// The record that was decoded last.
    pub(super) fn record(&self, decoded: Decoded) -> Record<'_> {
        let Decoded { id, rank, what } = decoded;
        let Scratch { ints, floats, components, others, text, .. } = self;
        match what {
            What::Lustre => Record::Lustre(Lustre { id, rank, components, targets: others }),
            What::Heatmap { width } => Record::Heatmap(Heatmap {
                id,
                rank,
                width: Seconds(width),
                writes: ints,
                reads: others,
            }),
            What::Mdhim => Record::Mdhim(Mdhim { id, rank, ints, floats, servers: others }),
            What::Apmpi => {
                let (floats, rest) = floats.split_at(crate::counter::apmpi::FLOAT.len());
                let (sync, global) = rest.split_at(crate::counter::apmpi::SYNC.len());
                Record::Apmpi(Apmpi { id, rank, ints, floats, sync, global, node: text })
            }
            What::Apxc { place } => Record::Apxc(Apxc { id, rank, place, ints }),
        }
    }
}

fn component(order: Order, bytes: &[u8]) -> Component {
    let (numbers, pool) = bytes.split_at(8 * NUMBERS);
    Component {
        numbers: std::array::from_fn(|at| order.i64(numbers, 8 * at)),
        pool: pool.first_chunk().copied().unwrap_or_default(),
    }
}
