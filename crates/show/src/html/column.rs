//! Long rows of numbers for the page, packed: within a column all lowest bytes come first, then
//! all second bytes, and so on, because equal bytes side by side compress several times better.
//! Zeros at the end of a column are left out: many a column, such as what nobody read, has nothing else.
//! A column in which few values repeat for long is stored as these runs: the grids of a timeline are megabytes,
//! and a tenth of that says the same.
//! `web/src/column.ts` reads them.

use std::io::{Result, Write};

use flate2::Compression;
use flate2::write::GzEncoder;

use netra_analyse::detail::Runs;

use crate::{Json, base64};

/// How hard is tried to make them small; more takes twice the time for a few percent.
const LEVEL: u32 = 2;
/// Bits of a number in single precision that no picture shows: five digits remain. They are noise, which takes most
/// of the room and time.
const NOISE: u32 = 8;
/// Bytes of a run's length.
const LENGTH: u32 = 2;
/// Bytes that are compressed together.
const CHUNK: usize = 1 << 15;

/// Columns, while they are collected. They are compressed as they come: a page's are a multiple of what they
/// take then.
#[derive(Debug)]
pub(super) struct Columns {
    packed: GzEncoder<Vec<u8>>,
    chunk: Vec<u8>,
    /// Bytes so far.
    at: usize,
    places: Vec<Place>,
}

impl Default for Columns {
    fn default() -> Columns {
        let packed = GzEncoder::new(Vec::new(), Compression::new(LEVEL));
        Columns { packed, chunk: Vec::with_capacity(CHUNK), at: 0, places: Vec::new() }
    }
}

#[derive(Debug)]
struct Place {
    name: String,
    kind: &'static str,
    at: usize,
    count: usize,
    /// Values that are stored; those behind them are 0.
    kept: usize,
    /// Runs of equal values that stand for them; their lengths follow them.
    runs: Option<usize>,
    delta: bool,
    tick: Option<f64>,
}

/// How the values of a column are to be read.
#[derive(Debug, Clone, Copy)]
enum Read {
    /// As they are.
    Plain,
    /// As differences from value to value.
    Added,
    /// As such differences, in so many seconds each.
    Ticks(f64),
}

impl Columns {
    pub(super) fn u8s(&mut self, name: &str, values: &[u8]) {
        let kept = self.place(name, "u8", values, Read::Plain);
        self.write(kept);
    }

    pub(super) fn f32s(&mut self, name: &str, values: &[f32]) {
        let kept = self.place(name, "f32", values, Read::Plain);
        self.planes(kept, 4, |value, shift| (rounded(value) >> shift) as u8);
    }

    /// So many values; those that were not given are 0.
    pub(super) fn u8_runs(&mut self, name: &str, count: usize, runs: &Runs<u8>) {
        self.runs(name, "u8", count, runs, 1, |value, _| value);
    }

    pub(super) fn u16_runs(&mut self, name: &str, count: usize, runs: &Runs<u16>) {
        self.runs(name, "u16", count, runs, 2, |value, shift| (value >> shift) as u8);
    }

    pub(super) fn f32_runs(&mut self, name: &str, count: usize, runs: &Runs<f32>) {
        self.runs(name, "f32", count, runs, 4, |value, shift| (rounded(value) >> shift) as u8);
    }

    /// As runs, if they take less room than all values.
    fn runs<T: Copy + Default + PartialEq>(
        &mut self,
        name: &str,
        kind: &'static str,
        count: usize,
        values: &Runs<T>,
        bytes: u32,
        byte: impl Fn(T, u32) -> u8,
    ) {
        let runs = values.runs();
        let (name, at, kept) = (name.to_owned(), self.at, values.len());
        let few = kept * bytes as usize > runs.len() * (bytes + LENGTH) as usize;
        let number = few.then_some(runs.len());
        let (delta, tick) = (false, None);
        self.places.push(Place { name, kind, at, count, kept, runs: number, delta, tick });
        if few {
            self.planes(runs, bytes, |(value, _), shift| byte(value, shift));
            self.planes(runs, LENGTH, |(_, length), shift| (length >> shift) as u8);
        } else {
            self.planes(&values.values(), bytes, byte);
        }
    }

    /// Differences from value to value, which are small in ordered columns; they wrap around.
    pub(super) fn u32s(&mut self, name: &str, values: impl Iterator<Item = u32>) {
        let values: Vec<u32> = differences(values).collect();
        let kept = self.place(name, "u32", &values, Read::Added);
        self.planes(kept, 4, |value, shift| (value >> shift) as u8);
    }

    pub(super) fn u64s(&mut self, name: &str, values: impl Iterator<Item = u64>) {
        let values: Vec<u64> = values.collect();
        let kept = self.place(name, "u64", &values, Read::Plain);
        self.planes(kept, 8, |value, shift| (value >> shift) as u8);
    }

    /// Seconds in steps of a 2^32th of the longest, which is finer than any clock in a log.
    pub(super) fn seconds(&mut self, name: &str, longest: f64, values: impl Iterator<Item = f64>) {
        let tick = if longest > 0.0 { longest / f64::from(u32::MAX) } else { 1.0 };
        // The cast saturates: a time outside the axis stands at its border.
        let ticks = differences(values.map(|value| (value / tick).round() as u32));
        let ticks: Vec<u32> = ticks.collect();
        let kept = self.place(name, "ticks", &ticks, Read::Ticks(tick));
        self.planes(kept, 4, |value, shift| (value >> shift) as u8);
    }

    /// Notes where a column lies; gives those of its values that are stored.
    fn place<'a, T: Copy + Default + PartialEq>(
        &mut self,
        name: &str,
        kind: &'static str,
        values: &'a [T],
        read: Read,
    ) -> &'a [T] {
        let last = values.iter().rposition(|value| *value != T::default());
        let kept = &values[..last.map_or(0, |last| last + 1)];
        let (name, at, count) = (name.to_owned(), self.at, values.len());
        let (delta, tick) = match read {
            Read::Plain => (false, None),
            Read::Added => (true, None),
            Read::Ticks(tick) => (true, Some(tick)),
        };
        self.places.push(Place {
            name,
            kind,
            at,
            count,
            kept: kept.len(),
            runs: None,
            delta,
            tick,
        });
        kept
    }

    /// The lowest bytes of all values, then all second ones, and so on; `byte` gives the one that begins at a bit.
    fn planes<T: Copy>(&mut self, values: &[T], bytes: u32, byte: impl Fn(T, u32) -> u8) {
        let mut chunk = std::mem::take(&mut self.chunk);
        for plane in 0..bytes {
            for part in values.chunks(CHUNK) {
                chunk.clear();
                chunk.extend(part.iter().map(|value| byte(*value, 8 * plane)));
                self.write(&chunk);
            }
        }
        self.chunk = chunk;
    }

    fn write(&mut self, bytes: &[u8]) {
        self.at += bytes.len();
        // Into memory, which takes everything.
        let _written: Result<()> = self.packed.write_all(bytes);
    }

    /// Where everything lies.
    pub(super) fn describe<W: Write>(&self, json: &mut Json<'_, W>) -> Result<()> {
        json.open('{')?;
        for place in &self.places {
            json.key(&place.name)?;
            json.open('{')?;
            json.key("type")?;
            json.text(place.kind)?;
            json.key("at")?;
            json.unsigned(place.at as u64)?;
            json.key("count")?;
            json.unsigned(place.count as u64)?;
            json.key("kept")?;
            json.unsigned(place.kept as u64)?;
            if let Some(runs) = place.runs {
                json.key("runs")?;
                json.unsigned(runs as u64)?;
            }
            json.key("delta")?;
            json.truth(place.delta)?;
            if let Some(tick) = place.tick {
                json.key("tick")?;
                json.float(tick)?;
            }
            json.close('}')?;
        }
        json.close('}')
    }

    /// All columns as text: gzip in base64.
    pub(super) fn pack(self) -> Result<String> {
        Ok(base64::encode(&self.packed.finish()?))
    }
}

/// The bits of a number without the noise.
fn rounded(value: f32) -> u32 {
    let half = 1 << (NOISE - 1);
    value.to_bits().wrapping_add(half) >> NOISE << NOISE
}

fn differences(values: impl Iterator<Item = u32>) -> impl Iterator<Item = u32> {
    values.scan(0u32, |before, value| {
        let difference = value.wrapping_sub(*before);
        *before = value;
        Some(difference)
    })
}

#[cfg(test)]
mod tests {
    use super::{Columns, rounded};
    use crate::Json;
    use flate2::read::GzDecoder;
    use netra_analyse::detail::Runs;
    use std::io::Read as _;

    fn runs<T: Copy + Default + PartialEq>(values: &[T]) -> Runs<T> {
        let mut runs = Runs::default();
        runs.extend(values);
        runs
    }

    #[test]
    fn bytes_of_equal_weight_lie_side_by_side() {
        let mut columns = Columns::default();
        columns.u16_runs("a", 2, &runs(&[0x0102, 0x0304]));
        columns.u32s("b", [5, 7, 6].into_iter());
        let mut bytes = Vec::new();
        GzDecoder::new(&columns.packed.finish().unwrap()[..]).read_to_end(&mut bytes).unwrap();
        assert_eq!(bytes, [2, 4, 1, 3, 5, 2, 0xff, 0, 0, 0xff, 0, 0, 0xff, 0, 0, 0xff]);
    }

    #[test]
    fn numbers_in_single_precision_keep_five_digits() {
        for (exact, want) in [(0.0, 0.0), (1.0, 1.0), (-2.5, -2.5), (123_456.0, 123_456.0)] {
            assert_eq!(f32::from_bits(rounded(exact)), want);
        }
        let third = f32::from_bits(rounded(1.0 / 3.0));
        assert!((third * 3.0 - 1.0).abs() < 1e-5, "{third}");
        assert_eq!(f32::from_bits(rounded(f32::INFINITY)), f32::INFINITY);
    }

    #[test]
    fn zeros_at_the_end_take_no_bytes() {
        let mut columns = Columns::default();
        columns.f32s("a", &[0.0, 7.0, 0.0, 0.0]);
        columns.f32s("b", &[0.0; 1000]);
        columns.u32s("c", [4, 4, 4].into_iter());
        columns.u8_runs("d", 5, &runs(&[9]));
        let kept: Vec<_> = columns.places.iter().map(|one| (one.at, one.count, one.kept)).collect();
        assert_eq!(kept, [(0, 4, 2), (8, 1000, 0), (8, 3, 1), (12, 5, 1)]);
        assert_eq!(columns.at, 13);
    }

    #[test]
    fn values_that_repeat_for_long_are_stored_once() {
        let mut columns = Columns::default();
        let long = [vec![7u16; 70_000], vec![0; 3], vec![0x0102; 300]].concat();
        columns.u16_runs("a", 80_000, &runs(&long));
        columns.u8_runs("b", 4, &runs(&[1, 1, 1, 2]));
        columns.f32_runs("c", 8, &runs(&[1.0; 8]));
        let kept: Vec<_> = columns.places.iter().map(|one| (one.at, one.kept, one.runs)).collect();
        assert_eq!(kept, [(0, 70_303, Some(4)), (16, 4, None), (20, 8, Some(1))]);
        let mut bytes = Vec::new();
        GzDecoder::new(&columns.packed.finish().unwrap()[..]).read_to_end(&mut bytes).unwrap();
        let runs = [[7, 7, 0, 2], [0, 0, 0, 1], [0xff, 0x71, 3, 0x2c], [0xff, 0x11, 0, 1]].concat();
        assert_eq!(bytes[..16], runs);
        assert_eq!(bytes[16..], [1, 1, 1, 2, 0, 0, 0x80, 0x3f, 8, 0]);
    }

    #[test]
    fn places_say_where_and_how() {
        let mut columns = Columns::default();
        columns.u8s("a", &[1, 2, 3]);
        columns.seconds("b", 4_294_967_295.0, [0.0, 2.0].into_iter());
        columns.u8_runs("c", 9, &runs(&[5; 9]));
        let mut out = Vec::new();
        columns.describe(&mut Json::new(&mut out)).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "{\"a\":{\"type\":\"u8\",\"at\":0,\"count\":3,\"kept\":3,\"delta\":false},\
             \"b\":{\"type\":\"ticks\",\"at\":3,\"count\":2,\"kept\":2,\"delta\":true,\"tick\":1.0},\
             \"c\":{\"type\":\"u8\",\"at\":11,\"count\":9,\"kept\":9,\"runs\":1,\"delta\":false}}"
        );
    }
}
