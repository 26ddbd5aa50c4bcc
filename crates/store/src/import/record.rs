//! Records of counters become rows of their module's table, a column a counter.

use netra_darshan::counter;
use netra_darshan::read::{ApmpiHead, ApxcHead, Counters, Extra, Heatmap, Lustre, Record};
use netra_event::{Module, Rank, RecordId};

use super::row::Name;
use super::tables::{Tables, moment, rest};
use crate::sheet::{Cell, Sheet};
use crate::{Result, schema};

/// What precedes the records of modules that have a head, and is repeated in every row.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Head {
    apmpi: Option<ApmpiHead>,
    apxc: Option<ApxcHead>,
}

/// Layers of heat maps, with what their names are hashed from.
const HEATED: [(Module, &str); 5] = [
    (Module::Posix, "heatmap:POSIX"),
    (Module::Stdio, "heatmap:STDIO"),
    (Module::Mpiio, "heatmap:MPIIO"),
    (Module::Dfs, "heatmap:DFS"),
    (Module::Daos, "heatmap:DAOS"),
];

/// How a heat map is named in its table; one of a layer that nobody knows by its number.
pub(crate) fn heated(id: RecordId) -> String {
    let found = HEATED.iter().find(|(_, name)| RecordId::of(name.as_bytes()) == id);
    found.map_or_else(|| format!("id {}", id.0), |(module, _)| module.name().to_owned())
}

/// The record id of such a name.
pub(crate) fn heat_id(name: &str) -> RecordId {
    let found = HEATED.iter().find(|(module, _)| module.name() == name);
    let number = || name.strip_prefix("id ").and_then(|digits| digits.parse().ok());
    match found {
        Some((_, hashed)) => RecordId::of(hashed.as_bytes()),
        None => RecordId(number().unwrap_or(0)),
    }
}

impl Tables {
    /// A record of any module; what belongs to no table is left out.
    pub(super) fn record(
        &mut self,
        module: Module,
        record: &Record<'_>,
        name: &Name<'_>,
        head: &mut Head,
    ) -> Result<()> {
        match record {
            Record::Counters(counters) => self.counters(module, counters, name),
            Record::Lustre(lustre) => self.lustre(lustre, name),
            Record::Heatmap(heat) => self.heatmap(heat),
            Record::Mdhim(mdhim) => {
                let Some(sheet) = self.wide(module, mdhim.rank, name, "")? else { return Ok(()) };
                fill(sheet, module, mdhim.ints, mdhim.floats);
                sheet.put("servers", Cell::Longs(mdhim.servers)).end_row()
            }
            Record::ApmpiHead(found) => {
                head.apmpi = Some(*found);
                Ok(())
            }
            Record::ApxcHead(found) => {
                head.apxc = Some(*found);
                Ok(())
            }
            Record::Apmpi(apmpi) => {
                let node = String::from_utf8_lossy(apmpi.node);
                let node = node.trim_end_matches('\0');
                let Some(sheet) = self.wide(module, apmpi.rank, name, node)? else {
                    return Ok(());
                };
                let floats = [apmpi.floats, apmpi.sync, apmpi.global].concat();
                fill(sheet, module, apmpi.ints, &floats);
                if let Some(head) = head.apmpi {
                    sheet.put("sync", Cell::Flag(head.sync));
                    sheet.put("variance_total", Cell::Double(head.variance_total));
                    sheet.put("variance_sync", Cell::Double(head.variance_sync));
                    sheet.put("head", Cell::Longs(&[head.id.0.cast_signed(), head.rank.0]));
                }
                sheet.end_row()
            }
            Record::Apxc(apxc) => {
                let Some(sheet) = self.wide(module, apxc.rank, name, "")? else { return Ok(()) };
                fill(sheet, module, &[&apxc.place[..], apxc.ints].concat(), &[]);
                if let Some(head) = head.apxc {
                    sheet.put("machine", Cell::Longs(&head.numbers));
                    sheet.put("head", Cell::Longs(&[head.id.0.cast_signed(), head.rank.0]));
                }
                sheet.end_row()
            }
            _ => Ok(()),
        }
    }

    /// Begins a row of a module's own table, if it has one.
    fn wide(
        &mut self,
        module: Module,
        rank: Rank,
        name: &Name<'_>,
        node: &str,
    ) -> Result<Option<&mut Sheet>> {
        let start = self.start();
        let Some(table) = schema::counter_table(module) else { return Ok(None) };
        let sheet = self.row_of(table, Some(rank.0), node, "")?;
        Ok(Some(sheet.place(name).put("t", moment(start))))
    }

    fn counters(&mut self, module: Module, record: &Counters<'_>, name: &Name<'_>) -> Result<()> {
        let Some(sheet) = self.wide(module, record.rank, name, "")? else { return Ok(()) };
        fill(sheet, module, record.ints, record.floats);
        match record.extra {
            Extra::None => {}
            Extra::File(RecordId(file)) => {
                sheet.put("in_file_id", file.cast_signed()).put("object", name.object);
            }
            Extra::Dfs { pool, container } => uuids(sheet, pool, container),
            Extra::Daos { pool, container, object } => {
                uuids(sheet, pool, container);
                sheet.put("object_high", object.0.cast_signed());
                sheet.put("object_low", object.1.cast_signed());
            }
        }
        sheet.end_row()
    }

    fn lustre(&mut self, record: &Lustre<'_>, name: &Name<'_>) -> Result<()> {
        let start = self.start();
        let components = i64::try_from(record.components.len()).unwrap_or(i64::MAX);
        for (number, (component, targets)) in (0..).zip(record.parts()) {
            let sheet = self.row_of("lustre", Some(record.rank.0), "", "")?;
            sheet.place(name).put("t", moment(start)).put("component", number);
            sheet.put("components", components).put("osts", Cell::Longs(targets));
            let pool = component.pool.split(|&byte| byte == 0).next().unwrap_or_default();
            sheet.put("pool", &*String::from_utf8_lossy(pool));
            fill(sheet, Module::Lustre, &component.numbers, &[]);
            sheet.end_row()?;
        }
        Ok(())
    }

    /// A row for each bin that is not empty, and one for a record without any.
    fn heatmap(&mut self, heat: &Heatmap<'_>) -> Result<()> {
        let module = heated(heat.id);
        let start = self.start();
        // The cast saturates; a width that is no number is none.
        let width = (heat.width.0 * 1e9).round() as i64;
        let bins = i64::try_from(heat.reads.len().min(heat.writes.len())).unwrap_or(i64::MAX);
        let empty = heat.reads.iter().chain(heat.writes).all(|bytes| *bytes == 0);
        for (bin, (&read, &written)) in (0..).zip(heat.reads.iter().zip(heat.writes)) {
            if read == 0 && written == 0 && !(empty && bin == 0) {
                continue;
            }
            let t = start.saturating_add(width.saturating_mul(bin));
            let sheet = self.row_of("heatmap", Some(heat.rank.0), "", "")?;
            sheet.put("module", &*module).put("t", moment(t)).put("t_ns", rest(t));
            sheet.put("bin", bin).put("bins", bins).put("width", width);
            sheet.put("bytes_read", read).put("bytes_written", written).end_row()?;
        }
        Ok(())
    }
}

/// Names of columns: of whole numbers, then of fractions.
type Names = (Vec<String>, Vec<String>);

/// The columns of a module's counters, in the order of the format.
pub(crate) fn counters(module: Module) -> &'static Names {
    use std::collections::HashMap;
    use std::sync::LazyLock;
    static ALL: LazyLock<HashMap<Module, Names>> =
        LazyLock::new(|| Module::ALL.iter().map(|&module| (module, columns(module))).collect());
    static NONE: Names = (Vec::new(), Vec::new());
    ALL.get(&module).unwrap_or(&NONE)
}

fn columns(module: Module) -> Names {
    let small = |name: &&str| name.to_ascii_lowercase();
    let table = counter::current(module);
    let mut ints: Vec<String> =
        table.iter().flat_map(|table| table.int.iter().map(small)).collect();
    let mut floats: Vec<String> =
        table.iter().flat_map(|table| table.float.iter().map(small)).collect();
    match module {
        Module::Apmpi => {
            let more = counter::apmpi::SYNC.iter().chain(&counter::apmpi::GLOBAL);
            floats.extend(more.map(small));
        }
        Module::Apxc => {
            let place = ["apxc_group", "apxc_chassis", "apxc_blade", "apxc_node"];
            ints.extend(place.map(str::to_owned));
            let names = (0..counter::apxc::COUNT).map(|at| counter::apxc::Name(at).to_string());
            ints.extend(names.map(|name| name.to_ascii_lowercase()));
        }
        _ => {}
    }
    (ints, floats)
}

fn fill(sheet: &mut Sheet, module: Module, ints: &[i64], floats: &[f64]) {
    let (whole, fractions) = counters(module);
    for (name, &value) in whole.iter().zip(ints) {
        sheet.put(name, value);
    }
    for (name, &value) in fractions.iter().zip(floats) {
        sheet.put(name, Cell::Double(value));
    }
}

fn uuids(sheet: &mut Sheet, pool: [u8; 16], container: [u8; 16]) {
    sheet.put("pool", &*uuid(pool)).put("container", &*uuid(container));
}

/// As UUIDs are written.
fn uuid(bytes: [u8; 16]) -> String {
    let digits = super::hex(&bytes);
    let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default();
    [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-")
}
