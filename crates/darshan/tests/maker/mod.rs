//! Makes segments byte by byte for tests, as a process would have left them: the same input gives
//! the same bytes.

use core::mem::{offset_of, size_of};
use netra_event::lane::Lane as LaneRow;
use netra_event::segment::shard::COMMON_VALUES;
use netra_event::segment::{
    BINS, CALL_CODES, CHUNK_BYTES, CHUNK_SLOTS, Entry, Header, LaneChunk, MAGIC, OTHER_NAME,
    PACKED, Region, State, VERSION, table,
};
use netra_event::{Event, FAILED, Function, Loss, RecordId, SLOT_BYTES, WIDE};

/// Ticks when the process began, and nanoseconds of a tick (a half).
pub(crate) const START_TICKS: u64 = 1_000_000;
/// CLOCK_REALTIME at that moment.
pub(crate) const START: u64 = 1_700_000_000_250_000_000;
/// CLOCK_REALTIME at the end: ten seconds later.
pub(crate) const END: u64 = START + 10_000_000_000;

/// The tick that lies `nanos` after the start.
pub(crate) const fn tick(nanos: u64) -> u64 {
    START_TICKS + 2 * nanos
}

/// A thread's lane.
#[derive(Clone, Default)]
pub(crate) struct Lane {
    pub(crate) tid: u32,
    pub(crate) events: Vec<Event>,
    pub(crate) dropped: Vec<(Loss, u64)>,
}

/// A bin of a heat map: which, bytes written, bytes read.
pub(crate) type Bin = (usize, u64, u64);

/// A segment in the making.
#[derive(Clone)]
pub(crate) struct Segment {
    pub(crate) pid: u32,
    pub(crate) process_start: u64,
    pub(crate) uid: u32,
    pub(crate) state: State,
    pub(crate) flags: u32,
    pub(crate) rank: Option<u32>,
    pub(crate) nprocs: u32,
    pub(crate) job_id: i64,
    pub(crate) job: &'static str,
    pub(crate) host: String,
    pub(crate) end: u64,
    pub(crate) partial: u64,
    pub(crate) command: String,
    pub(crate) mounts: Vec<(&'static str, &'static str)>,
    pub(crate) notes: String,
    /// Name and alignment; the first has index 2.
    pub(crate) files: Vec<(String, u32)>,
    /// Objects inside files: their index, and the file's.
    pub(crate) parents: Vec<(u32, u32)>,
    /// Module, thread, file, words by their place.
    pub(crate) records: Vec<(u32, u32, u32, Vec<u64>)>,
    /// Module, width, bins.
    pub(crate) heatmaps: Vec<(u32, u64, Vec<Bin>)>,
    pub(crate) lanes: Vec<Lane>,
}

impl Default for Segment {
    fn default() -> Segment {
        Segment {
            pid: 4242,
            process_start: 99,
            uid: 1000,
            state: State::Clean,
            flags: 0,
            rank: None,
            nprocs: 0,
            job_id: 77,
            job: "host.1.2",
            host: "node17".to_owned(),
            end: END,
            partial: 0,
            command: "./app --in data".to_owned(),
            mounts: vec![("/", "ext4"), ("/scratch", "lustre")],
            notes: String::new(),
            files: Vec::new(),
            parents: Vec::new(),
            records: Vec::new(),
            heatmaps: Vec::new(),
            lanes: Vec::new(),
        }
    }
}

/// A successful call that moved all it was asked for.
pub(crate) fn event(function: Function, file: u32, start: u64, offset: i64, length: u64) -> Event {
    Event {
        start,
        duration: 2000,
        offset,
        length,
        result: length.cast_signed(),
        file,
        code: function.code(),
        failed: false,
        site: 0,
        parent: 0,
        number: 0,
        extension: 0,
    }
}

/// Words of a record, from places and values.
pub(crate) fn words(count: usize, values: &[(usize, u64)]) -> Vec<u64> {
    let mut words = vec![0; count];
    for &(place, value) in values {
        words[place] = value;
    }
    words
}

impl Segment {
    /// Adds a file and returns its index.
    pub(crate) fn file(&mut self, name: &str) -> u32 {
        self.files.push((name.to_owned(), 4096));
        u32::try_from(self.files.len()).expect("few files") + 1
    }

    /// Adds a record and returns the reference to it.
    pub(crate) fn record(&mut self, module: u32, thread: u32, file: u32, words: Vec<u64>) -> u64 {
        let before: usize = self.records.iter().map(|record| 16 + 8 * record.3.len()).sum();
        self.records.push((module, thread, file, words));
        before as u64 + 1
    }

    /// Adds pairs that continue a table of common values.
    pub(crate) fn spill(&mut self, thread: u32, file: u32, pairs: &[(u64, u64)]) -> u64 {
        let mut words: Vec<u64> = pairs.iter().flat_map(|&(value, count)| [value, count]).collect();
        words.resize(56, 0);
        self.record(COMMON_VALUES, thread, file, words)
    }

    /// The bytes, live or packed as the flags say.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut names = Vec::new();
        let mut text = |text: &[u8]| {
            let at = names.len() as u64;
            names.extend_from_slice(text);
            at | (text.len() as u64) << 32
        };
        let mut header = vec![0; size_of::<Header>()];
        let texts = [
            (offset_of!(Header, job), self.job.as_bytes()),
            (offset_of!(Header, host), self.host.as_bytes()),
            (offset_of!(Header, exe), b"/bin/app"),
            (offset_of!(Header, command), self.command.as_bytes()),
        ];
        for (at, bytes) in texts {
            put(&mut header, at, text(bytes), 8);
        }
        self.numbers(&mut header);
        let mut files = vec![0; size_of::<table::File>()];
        let other = (String::from_utf8(OTHER_NAME.to_vec()).expect("plain text"), 0);
        for (name, alignment) in std::iter::once(&other).chain(&self.files) {
            let mut row = vec![0; size_of::<table::File>()];
            put(&mut row, offset_of!(table::File, id), RecordId::of(name.as_bytes()).0, 8);
            put(&mut row, offset_of!(table::File, name), text(name.as_bytes()), 8);
            put(&mut row, offset_of!(table::File, alignment), u64::from(*alignment), 4);
            put(&mut row, offset_of!(table::File, ready), 1, 4);
            files.extend(row);
        }
        for &(object, file) in &self.parents {
            let row = object as usize * size_of::<table::File>();
            put(&mut files, row + offset_of!(table::File, parent), u64::from(file), 4);
        }
        let mut mounts = Vec::new();
        for (point, kind) in &self.mounts {
            let mut row = vec![0; size_of::<table::Mount>()];
            put(&mut row, offset_of!(table::Mount, point), text(point.as_bytes()), 8);
            put(&mut row, offset_of!(table::Mount, kind), text(kind.as_bytes()), 8);
            put(&mut row, offset_of!(table::Mount, ready), 1, 4);
            mounts.extend(row);
        }
        let (lanes, calls) = self.lane_rows();
        let regions = [
            (Region::Notes, 1, self.notes.clone().into_bytes()),
            (Region::Names, 1, names),
            (Region::Files, 64, files),
            (Region::Mounts, 32, mounts),
            (Region::Records, 0, self.record_rows()),
            (Region::Heatmaps, 3232, self.heatmap_rows()),
            (Region::Lanes, 384, lanes),
            (Region::Calls, 4096, calls),
            (Region::Chunks, 32768, self.chunks()),
        ];
        assemble(header, &regions)
    }

    fn numbers(&self, header: &mut [u8]) {
        put(header, offset_of!(Header, magic), u64::from_le_bytes(MAGIC), 8);
        put(header, offset_of!(Header, version), u64::from(VERSION), 4);
        put(header, offset_of!(Header, header_bytes), size_of::<Header>() as u64, 4);
        put(header, offset_of!(Header, state), self.state as u64, 4);
        put(header, offset_of!(Header, flags), u64::from(self.flags), 4);
        put(header, offset_of!(Header, pid), u64::from(self.pid), 4);
        put(header, offset_of!(Header, process_start), self.process_start, 8);
        put(header, offset_of!(Header, uid), u64::from(self.uid), 4);
        let rank = self.rank.map_or(0, |rank| u64::from(rank) + 1);
        put(header, offset_of!(Header, rank_plus_one), rank, 4);
        put(header, offset_of!(Header, nprocs), u64::from(self.nprocs), 4);
        put(header, offset_of!(Header, clock), 1, 4);
        put(header, offset_of!(Header, job_id), self.job_id.cast_unsigned(), 8);
        put(header, offset_of!(Header, partial), self.partial, 8);
        put(header, offset_of!(Header, end), self.end, 8);
        put(header, offset_of!(Header, calibrations), 2, 8);
        // Half a nanosecond a tick.
        let calibrations = [(START_TICKS, START), (tick(1_000_000), START + 1_000_000)];
        for (place, (ticks, time)) in calibrations.into_iter().enumerate() {
            let at = offset_of!(Header, calibration) + place * 16;
            put(header, at, ticks, 8);
            put(header, at + 8, time, 8);
        }
    }

    fn record_rows(&self) -> Vec<u8> {
        let mut rows = Vec::new();
        for (module, thread, file, words) in &self.records {
            let bytes = u32::try_from(16 + 8 * words.len()).expect("few words");
            for number in [bytes, *module, *thread, *file] {
                rows.extend(number.to_le_bytes());
            }
            rows.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        }
        rows
    }

    fn heatmap_rows(&self) -> Vec<u8> {
        let mut rows = Vec::new();
        for (thread, (module, width, bins)) in self.heatmaps.iter().enumerate() {
            let mut row = vec![0; size_of::<table::Heatmap>()];
            put(&mut row, offset_of!(table::Heatmap, width), *width, 8);
            put(&mut row, offset_of!(table::Heatmap, module), u64::from(*module), 4);
            put(&mut row, offset_of!(table::Heatmap, thread), thread as u64, 4);
            put(&mut row, offset_of!(table::Heatmap, ready), 1, 4);
            for &(bin, written, read) in bins {
                assert!(bin < BINS);
                put(&mut row, offset_of!(table::Heatmap, written) + bin * 8, written, 8);
                put(&mut row, offset_of!(table::Heatmap, read) + bin * 8, read, 8);
            }
            rows.extend(row);
        }
        rows
    }

    /// The heads of lanes, and a page of call counts for each.
    fn lane_rows(&self) -> (Vec<u8>, Vec<u8>) {
        let (mut rows, mut pages) = (Vec::new(), Vec::new());
        for (number, lane) in self.lanes.iter().enumerate() {
            let slots = slots(&lane.events);
            let mut row = vec![0; size_of::<LaneRow>()];
            let extra = slots.len() - lane.events.len();
            put(&mut row, offset_of!(LaneRow, head), slots.len() as u64, 8);
            put(&mut row, offset_of!(LaneRow, extra), extra as u64, 8);
            put(&mut row, offset_of!(LaneRow, ready), 1, 4);
            put(&mut row, offset_of!(LaneRow, tid), u64::from(lane.tid), 4);
            put(&mut row, offset_of!(LaneRow, calls), number as u64 + 1, 4);
            for &(loss, count) in &lane.dropped {
                let at = offset_of!(LaneRow, dropped) + usize::from(loss as u8) * 24;
                put(&mut row, at, count, 8);
            }
            rows.extend(row);
            let mut page = vec![0_u64; CALL_CODES];
            for event in &lane.events {
                if let Some(calls) = page.get_mut(usize::from(event.code)) {
                    *calls += 1;
                }
            }
            pages.extend(page.iter().flat_map(|calls| calls.to_le_bytes()));
        }
        (rows, pages)
    }

    fn chunks(&self) -> Vec<u8> {
        let packed = self.flags & PACKED != 0;
        let mut bytes = Vec::new();
        for (number, lane) in self.lanes.iter().enumerate() {
            for (ordinal, slots) in slots(&lane.events).chunks(CHUNK_SLOTS).enumerate() {
                let mut head = vec![0; SLOT_BYTES];
                let held = if packed { slots.len() } else { CHUNK_SLOTS };
                put(&mut head, offset_of!(LaneChunk, base), (ordinal * CHUNK_SLOTS) as u64, 8);
                put(&mut head, offset_of!(LaneChunk, lane), number as u64, 4);
                put(&mut head, offset_of!(LaneChunk, slots_held), held as u64, 4);
                bytes.extend(head);
                bytes.extend(slots.iter().flatten().flat_map(|word| word.to_le_bytes()));
                if !packed {
                    bytes.resize(bytes.len().next_multiple_of(CHUNK_BYTES), 0);
                }
            }
        }
        bytes
    }
}

/// The slots of events; wide ones stay within a chunk.
fn slots(events: &[Event]) -> Vec<[u64; 4]> {
    let mut slots = Vec::new();
    for event in events {
        if event.fits_one_slot() {
            slots.push(event.first(0));
        } else {
            if slots.len() % CHUNK_SLOTS == CHUNK_SLOTS - 1 {
                slots.push([0; 4]);
            }
            slots.push(event.first(WIDE | if event.failed { FAILED } else { 0 }));
            slots.push(event.second());
        }
    }
    slots
}

fn assemble(mut header: Vec<u8>, regions: &[(Region, u64, Vec<u8>)]) -> Vec<u8> {
    let mut body = Vec::new();
    for (row, (kind, stride, bytes)) in regions.iter().enumerate() {
        let at = offset_of!(Header, directory) + row * size_of::<Entry>();
        put(&mut header, at + offset_of!(Entry, kind), *kind as u64, 4);
        put(&mut header, at + offset_of!(Entry, stride), *stride, 4);
        let offset = (size_of::<Header>() + body.len()) as u64;
        put(&mut header, at + offset_of!(Entry, offset), offset, 8);
        put(&mut header, at + offset_of!(Entry, capacity), bytes.len() as u64 + 512, 8);
        put(&mut header, at + offset_of!(Entry, used), bytes.len() as u64, 8);
        body.extend_from_slice(bytes);
        // Room that is not used yet.
        body.resize(body.len().next_multiple_of(64) + 512, 0);
    }
    let total = (header.len() + body.len()) as u64;
    put(&mut header, offset_of!(Header, total_bytes), total, 8);
    header.extend(body);
    header
}

fn put(row: &mut [u8], at: usize, value: u64, bytes: usize) {
    row[at..at + bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
}
