//! Makes logs of any version, byte order and compression, without the crate's own writer.
//!
//! A counter's value follows from its name and its record, so that the same counter has the same value
//! in every version of a module.

use netra_darshan::counter::{self, Table};
use netra_darshan::record::{self, apmpi, apxc};
use netra_event::Module;
use std::io::Write;

/// Which byte of a number comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Little,
    Big,
}

pub(crate) const ORDERS: [Order; 2] = [Order::Little, Order::Big];

/// Bytes in one order.
pub(crate) struct Bytes {
    order: Order,
    pub(crate) bytes: Vec<u8>,
}

impl Bytes {
    pub(crate) fn new(order: Order) -> Bytes {
        Bytes { order, bytes: Vec::new() }
    }

    pub(crate) fn u64(&mut self, value: u64) -> &mut Bytes {
        self.bytes.extend(match self.order {
            Order::Little => value.to_le_bytes(),
            Order::Big => value.to_be_bytes(),
        });
        self
    }

    pub(crate) fn i64(&mut self, value: i64) -> &mut Bytes {
        self.u64(value.cast_unsigned())
    }

    pub(crate) fn f64(&mut self, value: f64) -> &mut Bytes {
        self.u64(value.to_bits())
    }

    pub(crate) fn u32(&mut self, value: u32) -> &mut Bytes {
        self.bytes.extend(match self.order {
            Order::Little => value.to_le_bytes(),
            Order::Big => value.to_be_bytes(),
        });
        self
    }

    pub(crate) fn text(&mut self, text: &[u8], room: usize) -> &mut Bytes {
        self.bytes.extend_from_slice(text);
        self.bytes.resize(self.bytes.len() + room - text.len(), 0);
        self
    }
}

/// A log to be made.
#[derive(Clone)]
pub(crate) struct Spec {
    pub(crate) version: &'static str,
    pub(crate) order: Order,
    /// 0 zlib, 1 bzip2, 2 none.
    pub(crate) compression: u8,
    /// Slot in that log version, module version, bytes of the records.
    pub(crate) modules: Vec<(usize, u32, Vec<u8>)>,
    pub(crate) partial: u64,
}

pub(crate) const NAMES: [(u64, &str); 3] =
    [(IDS[0], "/scratch/a"), (IDS[1], "/home/b"), (IDS[2], "/scratch/deep/c")];
/// The last one has no name.
pub(crate) const IDS: [u64; 4] = [0x1122_3344_5566_7788, 42, u64::MAX - 1, 7];
pub(crate) const RANKS: [i64; 4] = [-1, 0, 1, 3];

impl Spec {
    pub(crate) fn new(order: Order, compression: u8) -> Spec {
        Spec { version: "3.41", order, compression, modules: Vec::new(), partial: 0 }
    }

    pub(crate) fn with(mut self, module: Module, version: u32) -> Spec {
        let bytes = records(module, version, self.order);
        self.modules.push((usize::from(module.code()), version, bytes));
        self
    }

    fn is_old(&self) -> bool {
        self.version != "3.41"
    }

    fn job(&self) -> Vec<u8> {
        let mut job = Bytes::new(self.order);
        let numbers: &[i64] = if self.is_old() {
            &[1000, 1_700_000_000, 1_700_000_100, 4, 4242]
        } else {
            &[1000, 1_700_000_000, 123_456_789, 1_700_000_100, 987_654_321, 4, 4242]
        };
        for &number in numbers {
            job.i64(number);
        }
        job.text(b"lib_ver=9.9.9\nh=a=b;c=d\n", 1024);
        job.text(b"/bin/app arg1 arg2\next4\t/\nlustre\t/scratch\0", 43);
        job.bytes
    }

    fn names(&self) -> Vec<u8> {
        let mut names = Bytes::new(self.order);
        for (id, name) in NAMES {
            names.u64(id);
            if self.version == "3.00" {
                names
                    .u32(u32::try_from(name.len()).expect("short"))
                    .text(name.as_bytes(), name.len());
            } else {
                names.text(name.as_bytes(), name.len() + 1);
            }
        }
        names.bytes
    }

    pub(crate) fn build(&self) -> Vec<u8> {
        let (size, slots) = if self.is_old() { (360, 16) } else { (1328, 64) };
        let mut body = pack(&self.job(), self.compression);
        let place = |body: &mut Vec<u8>, bytes: &[u8]| {
            let packed = pack(bytes, self.compression);
            let offset = size + body.len();
            body.extend_from_slice(&packed);
            (offset as u64, packed.len() as u64)
        };
        let names = place(&mut body, &self.names());
        let mut modules = vec![(0, 0, 0); slots];
        for (slot, version, bytes) in &self.modules {
            let (offset, length) = place(&mut body, bytes);
            modules[*slot] = (offset, length, *version);
        }
        let mut head = Bytes::new(self.order);
        head.text(self.version.as_bytes(), 8).i64(6_567_223);
        head.bytes.push(self.compression);
        if self.is_old() {
            head.text(b"", 3).u32(u32::try_from(self.partial).expect("few modules"));
        } else {
            head.text(b"", 7).u64(self.partial);
        }
        head.u64(names.0).u64(names.1);
        for (offset, length, _) in &modules {
            head.u64(*offset).u64(*length);
        }
        for (_, _, version) in &modules {
            head.u32(*version);
        }
        assert_eq!(head.bytes.len(), size);
        head.bytes.extend_from_slice(&body);
        head.bytes
    }
}

/// Two streams, as if two processes had written, cut in the middle of a record.
fn pack(bytes: &[u8], compression: u8) -> Vec<u8> {
    let (first, second) = bytes.split_at(bytes.len() / 2 + 1);
    let one = |bytes: &[u8]| match compression {
        0 => {
            let mut encoder =
                flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
            encoder.write_all(bytes).expect("memory");
            encoder.finish().expect("memory")
        }
        1 => {
            let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
            encoder.write_all(bytes).expect("memory");
            encoder.finish().expect("memory")
        }
        _ => bytes.to_vec(),
    };
    [one(first), one(second)].concat()
}

/// What makes a counter the same in two versions: its name without the module, and without the
/// difference between the one time that opening once had and the two that it has now.
pub(crate) fn bare(name: &str) -> String {
    let name = name.trim_start_matches("PNETCDF_").trim_start_matches("FILE_");
    let name =
        name.trim_start_matches("VAR_").trim_start_matches("HDF5_").trim_start_matches("H5F_");
    name.replace("OPEN_START_TIMESTAMP", "OPEN_TIMESTAMP")
        .replace("CLOSE_END_TIMESTAMP", "CLOSE_TIMESTAMP")
}

/// A value that only its name and record decide.
pub(crate) fn int(name: &str, record: usize) -> i64 {
    let name = bare(name);
    match name.as_str() {
        "POSIX_FOPENS" => 0,
        "MDHIM_SERVERS" => record as i64,
        _ => (mix(&name, record) >> 24).cast_signed(),
    }
}

pub(crate) fn float(name: &str, record: usize) -> f64 {
    (mix(&bare(name), record) >> 40) as f64 / 1024.0
}

pub(crate) fn mix(name: &str, record: usize) -> u64 {
    netra_event::jenkins64(name.as_bytes(), record as u64)
}

/// Four records of any version of any module.
pub(crate) fn records(module: Module, version: u32, order: Order) -> Vec<u8> {
    let mut bytes = Bytes::new(order);
    match module {
        Module::Apmpi => {
            bytes.u64(1).i64(0).i64(apmpi::MAGIC).u32(1).u32(0).f64(0.25).f64(0.5);
        }
        Module::Apxc => {
            bytes.u64(2).i64(0).i64(apxc::MAGIC);
            for number in 1..=6 {
                bytes.i64(number);
            }
        }
        _ => {}
    }
    for record in 0..4 {
        bytes.u64(IDS[record]).i64(RANKS[record]);
        one(module, version, record, &mut bytes);
    }
    bytes.bytes
}

fn one(module: Module, version: u32, record: usize, bytes: &mut Bytes) {
    match module {
        Module::DxtPosix | Module::DxtMpiio => dxt(module, version, record, bytes),
        Module::Lustre => lustre(version, record, bytes),
        Module::Heatmap => {
            bytes.f64(0.5).i64(3).u64(0xdead).u64(0xbeef);
            for bin in 0..6 {
                bytes.i64(int("BIN", record + bin));
            }
        }
        Module::Mdhim => {
            counters(counter::table(module, version).expect("known"), record, bytes);
            for server in 0..record.max(1) {
                bytes.i64(server as i64);
            }
        }
        Module::Apmpi => {
            counters(counter::table(module, version).expect("known"), record, bytes);
            let more = counter::apmpi::SYNC.iter().chain(&counter::apmpi::GLOBAL);
            for name in more {
                bytes.f64(float(name, record));
            }
            bytes.text(format!("node{record}").as_bytes(), 128);
        }
        Module::Apxc => {
            for place in 0..4 {
                bytes.i64(place);
            }
            let names = (0..counter::apxc::COUNT).map(|at| counter::apxc::Name(at).to_string());
            for name in names {
                bytes.i64(int(&name, record));
            }
        }
        _ => {
            let layout = record::layout(module, version).expect("known");
            if layout.head > 0 {
                bytes.u64(mix("FILE", record));
            }
            counters(counter::table(module, version).expect("known"), record, bytes);
            if layout.tail > 0 {
                bytes.text(&uuid(record), 16).text(&uuid(record + 1), 16);
            }
            if layout.tail > 32 {
                bytes.u64(mix("HIGH", record)).u64(mix("LOW", record));
            }
        }
    }
}

fn counters(table: &Table, record: usize, bytes: &mut Bytes) {
    for name in table.int {
        bytes.i64(int(name, record));
    }
    for name in table.float {
        bytes.f64(float(name, record));
    }
}

pub(crate) fn uuid(record: usize) -> [u8; 16] {
    std::array::from_fn(|at| (record * 16 + at) as u8)
}

/// Two writes and one read more with each record.
fn dxt(module: Module, version: u32, record: usize, bytes: &mut Bytes) {
    bytes.i64(0).text(format!("host{record}").as_bytes(), 64);
    bytes.i64(2).i64(record as i64);
    for segment in 0..2 + record {
        bytes.i64(100 * segment as i64).i64(10 + record as i64);
        bytes.f64(segment as f64).f64(segment as f64 + 0.5);
        if version == counter::version(module) {
            bytes.u64(9000 + segment as u64);
        }
    }
}

/// One component more with each record, the last one unused.
fn lustre(version: u32, record: usize, bytes: &mut Bytes) {
    let stripes = record as i64 + 1;
    if version == 1 {
        bytes.i64(48).i64(1).i64(3).i64(1 << 20).i64(stripes);
        for target in 0..stripes {
            bytes.i64(target);
        }
        return;
    }
    bytes.i64(stripes).i64(2 * stripes);
    for component in 0..stripes {
        let unused = component > 0 && component + 1 == stripes;
        bytes.i64(if unused { -1 } else { 1 << 20 }).i64(2).i64(0).i64(16);
        bytes.i64(component << 30).i64(-1).i64(0).text(b"pool", 16);
    }
    for target in 0..2 * stripes {
        bytes.i64(target);
    }
}
