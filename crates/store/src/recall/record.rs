//! The records of a stored job: counters in the order of Darshan's format, layouts and heat maps.

use datafusion::arrow::array::{Array as _, BooleanArray, Float64Array, ListArray};
use netra_darshan::counter::lustre;
use netra_darshan::read::{ApmpiHead, ApxcHead, Extra};
use netra_event::{Module, Rank, RecordId};

use super::Recall;
use super::column::{Columns, list};
use crate::import::record::{counters, heat_id};
use crate::{Result, schema};

/// A record of counters.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    /// The file, data set or object.
    pub id: RecordId,
    /// The process, or all of them.
    pub rank: Rank,
    /// Whole numbers, in the order of the format.
    pub ints: Vec<i64>,
    /// Fractions, in the order of the format.
    pub floats: Vec<f64>,
    /// What some modules have besides.
    pub extra: Extra,
    /// The operations of each server of an MDHIM store.
    pub servers: Vec<i64>,
    /// The host of an MPI record.
    pub node: String,
    /// What preceded the records of its log.
    pub before: Before,
}

/// What precedes the records of some modules.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Before {
    /// Nothing.
    Nothing,
    /// The head of MPI records.
    Apmpi(ApmpiHead),
    /// The head of router records.
    Apxc(ApxcHead),
}

/// A component of a file's layout on Lustre.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Component {
    /// The file.
    pub id: RecordId,
    /// The process, or all of them.
    pub rank: Rank,
    /// Its place in the layout, from 0.
    pub place: i64,
    /// Its numbers, in the order of the format.
    pub numbers: [i64; 7],
    /// The pool of targets.
    pub pool: String,
    /// Its storage targets.
    pub targets: Vec<i64>,
}

/// Bytes over time of one rank through one layer.
#[derive(Debug, Clone, PartialEq)]
pub struct Heat {
    /// The record id, which stands for the layer.
    pub id: RecordId,
    /// The layer's module, where it is known.
    pub module: Option<Module>,
    /// Whose.
    pub rank: Rank,
    /// Nanoseconds in a bin.
    pub width: i64,
    /// Bytes read, bin by bin.
    pub read: Vec<i64>,
    /// Bytes written, bin by bin.
    pub written: Vec<i64>,
}

/// Bins that a heat map has at most: more is no heat map of anybody's.
const BINS: i64 = 1 << 20;

impl Recall {
    /// The records of a module, by id and then by rank; none for modules without counters.
    ///
    /// # Errors
    /// The store can not be read.
    pub async fn records(&self, module: Module, each: &mut dyn FnMut(Kept)) -> Result<()> {
        let Some(table) = schema::counter_table(module) else { return Ok(()) };
        let (ints, floats) = counters(module);
        self.rows(table, "*", "ORDER BY file_id, rank", &mut |columns, rows| {
            let id = columns.longs("file_id")?;
            let (rank, node) = (columns.longs("rank")?, columns.texts("node")?);
            let whole = ints.iter().map(|name| columns.longs(name)).collect::<Result<Vec<_>>>()?;
            let parts =
                floats.iter().map(|name| columns.doubles(name)).collect::<Result<Vec<_>>>()?;
            let more = More::of(module, columns)?;
            for row in 0..rows {
                let id = RecordId(id.get(row).unwrap_or(0).cast_unsigned());
                let rank = Rank(rank.get(row).unwrap_or(-1));
                // What a module's version did not count is 0, as in a log that was brought up to date.
                let fraction = |column: &&Float64Array| {
                    if column.is_valid(row) { column.value(row) } else { 0.0 }
                };
                each(Kept {
                    id,
                    rank,
                    ints: whole.iter().map(|column| column.get(row).unwrap_or(0)).collect(),
                    floats: parts.iter().map(fraction).collect(),
                    extra: more.extra(row),
                    servers: more.servers(row),
                    node: node.get(row).unwrap_or_default().to_owned(),
                    before: more.before(row),
                });
            }
            Ok(())
        })
        .await
    }

    /// Layouts on Lustre: the components of each file one after another.
    ///
    /// # Errors
    /// The store can not be read.
    pub async fn layouts(&self) -> Result<Vec<Component>> {
        let mut found = Vec::new();
        let order = "ORDER BY file_id, rank, component";
        self.rows("lustre", "*", order, &mut |columns, rows| {
            let (id, rank) = (columns.longs("file_id")?, columns.longs("rank")?);
            let (place, pool) = (columns.longs("component")?, columns.texts("pool")?);
            let osts = columns.lists("osts")?;
            let names = lustre::TABLE.int.iter().map(|name| name.to_ascii_lowercase());
            let numbers = names.map(|name| columns.longs(&name)).collect::<Result<Vec<_>>>()?;
            for row in 0..rows {
                let number = |at: usize| numbers.get(at).and_then(|column| column.get(row));
                found.push(Component {
                    id: RecordId(id.get(row).unwrap_or(0).cast_unsigned()),
                    rank: Rank(rank.get(row).unwrap_or(-1)),
                    place: place.get(row).unwrap_or(0),
                    numbers: std::array::from_fn(|at| number(at).unwrap_or(-1)),
                    pool: pool.get(row).unwrap_or_default().to_owned(),
                    targets: list(osts, row),
                });
            }
            Ok(())
        })
        .await?;
        Ok(found)
    }

    /// Heat maps, by layer and then by rank.
    ///
    /// # Errors
    /// The store can not be read.
    pub async fn heats(&self) -> Result<Vec<Heat>> {
        let mut found: Vec<Heat> = Vec::new();
        let order = "ORDER BY module, rank, process, bin";
        self.rows("heatmap", "*", order, &mut |columns, rows| {
            let (module, rank) = (columns.texts("module")?, columns.longs("rank")?);
            let (bin, bins, width) =
                (columns.longs("bin")?, columns.longs("bins")?, columns.longs("width")?);
            let (read, written) = (columns.longs("bytes_read")?, columns.longs("bytes_written")?);
            for row in 0..rows {
                let name = module.get(row).unwrap_or_default();
                let (id, module) = (heat_id(name), Module::from_name(name));
                let rank = Rank(rank.get(row).unwrap_or(-1));
                let bins = bins.get(row).unwrap_or(0).clamp(0, BINS);
                let width = width.get(row).unwrap_or(0);
                let same = |heat: &Heat| (heat.id, heat.rank) == (id, rank);
                if !found.last().is_some_and(same) {
                    let empty = vec![0; usize::try_from(bins).unwrap_or(0)];
                    let (read, written) = (empty.clone(), empty);
                    found.push(Heat { id, module, rank, width, read, written });
                }
                let at = usize::try_from(bin.get(row).unwrap_or(-1)).unwrap_or(usize::MAX);
                let Some(heat) = found.last_mut() else { continue };
                for (bins, bytes) in
                    [(&mut heat.read, read.get(row)), (&mut heat.written, written.get(row))]
                {
                    if let Some(bin) = bins.get_mut(at) {
                        *bin += bytes.unwrap_or(0);
                    }
                }
            }
            Ok(())
        })
        .await?;
        // The order of the format, not that of the alphabet.
        found.sort_by_key(|heat| (heat.module, heat.id, heat.rank));
        Ok(found)
    }
}

/// Columns that only some modules have.
enum More<'a> {
    Nothing,
    File(super::column::Longs<'a>),
    Uuids(Box<[super::column::Texts; 2]>, Option<[super::column::Longs<'a>; 2]>),
    Servers(&'a ListArray),
    Apmpi(&'a BooleanArray, [&'a Float64Array; 2], &'a ListArray),
    Apxc(&'a ListArray, &'a ListArray),
}

impl<'a> More<'a> {
    fn of(module: Module, columns: &Columns<'a>) -> Result<More<'a>> {
        Ok(match module {
            Module::H5d | Module::PnetcdfVar => More::File(columns.longs("in_file_id")?),
            Module::Dfs | Module::Daos => {
                let object = match module {
                    Module::Daos => {
                        Some([columns.longs("object_high")?, columns.longs("object_low")?])
                    }
                    _ => None,
                };
                let names = [columns.texts("pool")?, columns.texts("container")?];
                More::Uuids(Box::new(names), object)
            }
            Module::Mdhim => More::Servers(columns.lists("servers")?),
            Module::Apmpi => More::Apmpi(
                columns.flags("sync")?,
                [columns.doubles("variance_total")?, columns.doubles("variance_sync")?],
                columns.lists("head")?,
            ),
            Module::Apxc => More::Apxc(columns.lists("machine")?, columns.lists("head")?),
            _ => More::Nothing,
        })
    }

    fn extra(&self, row: usize) -> Extra {
        match self {
            More::File(file) => match file.get(row) {
                Some(file) => Extra::File(RecordId(file.cast_unsigned())),
                None => Extra::None,
            },
            More::Uuids(names, object) => {
                let [pool, container] = names.each_ref().map(|texts| uuid(texts.get(row)));
                match object {
                    Some([high, low]) => {
                        let half = |column: &super::column::Longs<'_>| {
                            column.get(row).unwrap_or(0).cast_unsigned()
                        };
                        Extra::Daos { pool, container, object: (half(high), half(low)) }
                    }
                    None => Extra::Dfs { pool, container },
                }
            }
            _ => Extra::None,
        }
    }

    fn servers(&self, row: usize) -> Vec<i64> {
        match self {
            More::Servers(lists) => list(lists, row),
            _ => Vec::new(),
        }
    }

    fn before(&self, row: usize) -> Before {
        let whose = |lists: &ListArray| match list(lists, row)[..] {
            [id, rank] => (RecordId(id.cast_unsigned()), Rank(rank)),
            _ => (RecordId(0), Rank(0)),
        };
        match self {
            More::Apmpi(sync, [total, waiting], head) if sync.is_valid(row) => {
                let (id, rank) = whose(head);
                Before::Apmpi(ApmpiHead {
                    id,
                    rank,
                    sync: sync.value(row),
                    variance_total: total.value(row),
                    variance_sync: waiting.value(row),
                })
            }
            More::Apxc(machine, head) => match <[i64; 6]>::try_from(list(machine, row)) {
                Ok(numbers) => {
                    let (id, rank) = whose(head);
                    Before::Apxc(ApxcHead { id, rank, numbers })
                }
                Err(_) => Before::Nothing,
            },
            _ => Before::Nothing,
        }
    }
}

/// The bytes of a UUID; zeros where it is none.
fn uuid(text: Option<&str>) -> [u8; 16] {
    let digits: String = text.unwrap_or_default().chars().filter(|c| *c != '-').collect();
    let byte = |at: usize| {
        let pair = digits.get(2 * at..2 * at + 2);
        pair.and_then(|pair| u8::from_str_radix(pair, 16).ok()).unwrap_or(0)
    };
    std::array::from_fn(byte)
}
