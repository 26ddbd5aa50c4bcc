//! A line for each counter of each record.

use super::number::{self, signed, unsigned};
use super::page::Page;
use crate::counter::{self, Table, apmpi, lustre, posix};
use crate::read::{
    Apmpi, ApmpiHead, Counters, Extra, Heatmap, Lustre, Mdhim, Names, Place, Record,
};
use netra_event::{Module, Rank, RecordId};
use std::io;

/// Whether `darshan-parser` prints a module: not traces, which have a tool of their own, and not what
/// it knows nothing about.
pub(super) fn is_printed(module: Module) -> bool {
    !matches!(module, Module::Null | Module::DxtPosix | Module::DxtMpiio | Module::Apxc)
}

/// Prints the records of one module.
pub(super) struct Lines {
    module: Module,
    table: Option<&'static Table>,
    /// What all lines of a record begin and end with.
    begin: Vec<u8>,
    end: Vec<u8>,
    /// Whether waiting times were taken, as the head of the MPI records says.
    sync: bool,
    name: Vec<u8>,
}

impl Lines {
    pub(super) fn new(module: Module) -> Lines {
        let table = counter::current(module);
        let (begin, end, name) = (Vec::new(), Vec::new(), Vec::new());
        Lines { module, table, begin, end, sync: false, name }
    }

    pub(super) fn push(
        &mut self,
        record: &Record<'_>,
        names: &Names,
        page: &mut Page<'_>,
    ) -> io::Result<()> {
        self.set_begin(record.id(), record.rank());
        self.set_end(names.place(record.id()), record);
        match record {
            Record::Counters(record) => self.counters(record, &mut page.text),
            Record::Lustre(record) => self.lustre(record, &mut page.text),
            Record::Heatmap(record) => self.heatmap(record, &mut page.text),
            Record::Mdhim(record) => self.mdhim(record, &mut page.text),
            Record::ApmpiHead(record) => self.apmpi_head(record, &mut page.text),
            Record::Apmpi(record) => self.apmpi(record, &mut page.text),
            Record::Dxt(_) | Record::ApxcHead(_) | Record::Apxc(_) => {}
        }
        page.turn()
    }

    fn set_begin(&mut self, id: RecordId, rank: Rank) {
        self.begin.clear();
        self.begin.extend_from_slice(self.module.name().as_bytes());
        self.begin.push(b'\t');
        self.begin.extend_from_slice(signed(rank.0).as_bytes());
        self.begin.push(b'\t');
        self.begin.extend_from_slice(unsigned(id.0).as_bytes());
        self.begin.push(b'\t');
    }

    fn set_end(&mut self, place: Place<'_>, record: &Record<'_>) {
        let mut object = Vec::new();
        let mut pool = Vec::new();
        let mut place = place;
        match record {
            Record::Counters(Counters { extra: Extra::Dfs { pool: p, container }, .. }) => {
                if *p != [0; 16] && *container != [0; 16] {
                    push_place(&mut pool, p, container);
                } else {
                    pool.extend_from_slice(b"UNKNOWN");
                }
                (place.mount, place.kind) = (&pool, b"N/A");
            }
            Record::Counters(Counters {
                extra: Extra::Daos { pool: p, container, object: o },
                ..
            }) => {
                push_place(&mut pool, p, container);
                object.extend_from_slice(unsigned(o.0).as_bytes());
                object.push(b'.');
                object.extend_from_slice(unsigned(o.1).as_bytes());
                place = Place { name: Some(&object), mount: &pool, kind: b"N/A" };
            }
            Record::ApmpiHead(_) | Record::Apmpi(_) => {
                place = Place { name: Some(b""), mount: b"", kind: b"" };
            }
            _ => {}
        }
        let unnamed: &[u8] =
            if self.module == Module::Bgq { b"darshan-bgq-record" } else { b"(null)" };
        self.end.clear();
        for column in [place.name.unwrap_or(unnamed), place.mount, place.kind] {
            self.end.push(b'\t');
            self.end.extend_from_slice(column);
        }
        self.end.push(b'\n');
    }

    #[inline]
    fn line(&self, text: &mut Vec<u8>, name: &[u8], value: &[u8]) {
        text.reserve(self.begin.len() + name.len() + value.len() + self.end.len() + 1);
        text.extend_from_slice(&self.begin);
        text.extend_from_slice(name);
        text.push(b'\t');
        text.extend_from_slice(value);
        text.extend_from_slice(&self.end);
    }

    fn int(&self, text: &mut Vec<u8>, name: &str, value: i64) {
        self.line(text, name.as_bytes(), signed(value).as_bytes());
    }

    fn uint(&self, text: &mut Vec<u8>, name: &str, value: u64) {
        self.line(text, name.as_bytes(), unsigned(value).as_bytes());
    }

    #[inline]
    fn float(&self, text: &mut Vec<u8>, name: &str, value: f64) {
        text.extend_from_slice(&self.begin);
        text.extend_from_slice(name.as_bytes());
        text.push(b'\t');
        number::push_fixed(text, value, 6);
        text.extend_from_slice(&self.end);
    }

    /// `<stem><number>`.
    fn numbered(&mut self, text: &mut Vec<u8>, stem: &str, number: usize, value: &[u8]) {
        let mut name = std::mem::take(&mut self.name);
        name.clear();
        name.extend_from_slice(stem.as_bytes());
        name.extend_from_slice(unsigned(number as u64).as_bytes());
        self.line(text, &name, value);
        self.name = name;
    }

    fn counters(&self, record: &Counters<'_>, text: &mut Vec<u8>) {
        let Some(table) = self.table else { return };
        for (index, (name, &value)) in table.int.iter().zip(record.ints).enumerate() {
            // The id of another record, kept in a signed place.
            if self.module == Module::Posix && index == posix::RENAMED_FROM {
                self.uint(text, name, value.cast_unsigned());
            } else {
                self.int(text, name, value);
            }
        }
        for (name, &value) in table.float.iter().zip(record.floats) {
            self.float(text, name, value);
        }
        if let Extra::File(file) = record.extra {
            let name = match self.module {
                Module::H5d => "H5D_FILE_REC_ID",
                _ => "PNETCDF_VAR_FILE_REC_ID",
            };
            self.uint(text, name, file.0);
        }
    }

    fn lustre(&mut self, record: &Lustre<'_>, text: &mut Vec<u8>) {
        let stripes = record
            .components
            .iter()
            .fold(0i64, |sum, component| sum.wrapping_add(component.numbers[lustre::STRIPE_COUNT]));
        self.uint(text, "LUSTRE_NUM_COMPONENTS", record.components.len() as u64);
        self.int(text, "LUSTRE_NUM_STRIPES", stripes);
        for (number, (component, targets)) in (1..).zip(record.parts()) {
            let stem = format!("LUSTRE_COMP{number}");
            for (index, (suffix, &value)) in
                lustre::SUFFIX.iter().zip(&component.numbers).enumerate()
            {
                let name = format!("{stem}{suffix}");
                match index {
                    lustre::STRIPE_PATTERN => self.line(text, name.as_bytes(), pattern(value)),
                    lustre::FLAGS => self.line(text, name.as_bytes(), flags(value).as_bytes()),
                    _ => self.int(text, &name, value),
                }
            }
            let pool = component.pool.split(|&byte| byte == 0).next().unwrap_or_default();
            let pool = if pool.is_empty() { b"N/A" } else { pool };
            self.line(text, format!("{stem}_POOL_NAME").as_bytes(), pool);
            let stem = format!("{stem}_OST_ID_");
            for (index, &target) in targets.iter().enumerate() {
                self.numbered(text, &stem, index, signed(target).as_bytes());
            }
        }
    }

    fn heatmap(&mut self, record: &Heatmap<'_>, text: &mut Vec<u8>) {
        self.float(text, "HEATMAP_F_BIN_WIDTH_SECONDS", record.width.0);
        for (index, &bytes) in record.reads.iter().enumerate() {
            self.numbered(text, "HEATMAP_READ_BIN_", index, signed(bytes).as_bytes());
        }
        for (index, &bytes) in record.writes.iter().enumerate() {
            self.numbered(text, "HEATMAP_WRITE_BIN_", index, signed(bytes).as_bytes());
        }
    }

    fn mdhim(&mut self, record: &Mdhim<'_>, text: &mut Vec<u8>) {
        let Some(table) = self.table else { return };
        for (name, &value) in table.int.iter().zip(record.ints) {
            self.int(text, name, value);
        }
        for (name, &value) in table.float.iter().zip(record.floats) {
            self.float(text, name, value);
        }
        for (index, &operations) in record.servers.iter().enumerate() {
            self.numbered(text, "MDHIM_SERVER_", index, signed(operations).as_bytes());
        }
    }

    fn apmpi_head(&mut self, record: &ApmpiHead, text: &mut Vec<u8>) {
        self.sync = record.sync;
        self.float(text, "MPI_TOTAL_COMM_TIME_VARIANCE", record.variance_total);
        if self.sync {
            self.float(text, "MPI_TOTAL_COMM_SYNC_TIME_VARIANCE", record.variance_sync);
        }
    }

    fn apmpi(&self, record: &Apmpi<'_>, text: &mut Vec<u8>) {
        let node = record.node.split(|&byte| byte == 0).next().unwrap_or_default();
        self.line(text, b"MPI_PROCESSOR_NAME", node);
        for (name, &value) in apmpi::INT.iter().zip(record.ints) {
            self.uint(text, name, value.cast_unsigned());
        }
        for (name, &value) in apmpi::FLOAT.iter().zip(record.floats) {
            self.float(text, name, value);
        }
        if self.sync {
            for (name, &value) in apmpi::SYNC.iter().zip(record.sync) {
                self.float(text, name, value);
            }
        }
        for (name, &value) in
            apmpi::GLOBAL.iter().zip(record.global).take(1 + usize::from(self.sync))
        {
            self.float(text, name, value);
        }
    }
}

fn pattern(value: i64) -> &'static [u8] {
    match value {
        0 => b"raid0",
        2 => b"mdt",
        4 => b"raid0,overstriped",
        8 => b"foreign",
        _ => b"N/A",
    }
}

fn flags(value: i64) -> String {
    if value == -1 {
        return "N/A".into();
    }
    let set: Vec<&str> = (0..)
        .zip(lustre::FLAG)
        .filter(|(bit, _)| value >> bit & 1 == 1)
        .map(|flag| flag.1)
        .collect();
    if set.is_empty() { "0".into() } else { set.join(",") }
}

/// `<pool>:<container>`, both as UUIDs.
fn push_place(text: &mut Vec<u8>, pool: &[u8; 16], container: &[u8; 16]) {
    push_uuid(text, pool);
    text.push(b':');
    push_uuid(text, container);
}

fn push_uuid(text: &mut Vec<u8>, uuid: &[u8; 16]) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    for (index, &byte) in uuid.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            text.push(b'-');
        }
        text.push(HEX[usize::from(byte >> 4)]);
        text.push(HEX[usize::from(byte & 15)]);
    }
}
