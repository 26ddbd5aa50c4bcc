//! Long rows of numbers for the page, packed: within a column all lowest bytes come first, then
//! all second bytes, and so on, because equal bytes side by side compress several times better.
//! Zeros at the end of a column are left out: many a column, such as what nobody read, has nothing else. So are
//! bytes that are zero in all its values. The lowest bytes of times are noise, which nothing makes smaller: they are not compressed.
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
/// Bytes of a plane that tell whether it is noise.
const SAMPLE: usize = 512;
/// So many different ones among them say that it is; of bytes without any order there are about 221.
const DIFFERENT: usize = 200;

/// Columns, while they are collected. They are compressed as they come: a page's are a multiple of what they
/// take then.
#[derive(Debug)]
pub(super) struct Columns {
    packed: GzEncoder<Vec<u8>>,
    /// Bytes that were compressed so far.
    at: usize,
    /// Bytes that are not compressed.
    noise: Vec<u8>,
    chunk: Vec<u8>,
    places: Vec<Place>,
}

impl Default for Columns {
    fn default() -> Columns {
        let packed = GzEncoder::new(Vec::new(), Compression::new(LEVEL));
        let chunk = Vec::with_capacity(CHUNK);
        Columns { packed, at: 0, noise: Vec::new(), chunk, places: Vec::new() }
    }
}

#[derive(Debug)]
struct Place {
    name: String,
    kind: &'static str,
    count: usize,
    /// Values that are stored; those behind them are 0.
    kept: usize,
    /// Runs of equal values that stand for them.
    runs: Option<usize>,
    delta: bool,
    tick: Option<f64>,
    /// Those of the values, then those of the lengths of runs.
    planes: Vec<Plane>,
}

/// The bytes of one weight of all values.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Plane {
    /// All are zero.
    Zeros,
    /// They lie behind so many that are compressed.
    Packed(usize),
    /// They lie behind so many that are not.
    Noise(usize),
}

impl Columns {
    pub(super) fn u8s(&mut self, name: &str, values: &[u8]) {
        let planes = self.planes(kept(values), 1, |value, _| value);
        self.plain(name, "u8", values, planes);
    }

    pub(super) fn f32s(&mut self, name: &str, values: &[f32]) {
        let byte = |value, shift| (rounded(value) >> shift) as u8;
        let planes = self.planes(kept(values), 4, byte);
        self.plain(name, "f32", values, planes);
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
        let (runs, kept) = (values.runs(), values.len());
        let few = kept * bytes as usize > runs.len() * (bytes + LENGTH) as usize;
        let planes = if few {
            let mut planes = self.planes(runs, bytes, |(value, _), shift| byte(value, shift));
            planes.extend(self.planes(runs, LENGTH, |(_, length), shift| (length >> shift) as u8));
            planes
        } else {
            self.planes(&values.values(), bytes, byte)
        };
        let (name, runs) = (name.to_owned(), few.then_some(runs.len()));
        self.places.push(Place { name, kind, count, kept, runs, delta: false, tick: None, planes });
    }

    /// Differences from value to value, which are small in ordered columns; they wrap around.
    pub(super) fn u32s(&mut self, name: &str, values: impl Iterator<Item = u32>) {
        let values: Vec<u32> = differences(values).collect();
        let planes = self.planes(kept(&values), 4, |value, shift| (value >> shift) as u8);
        self.plain(name, "u32", &values, planes).delta = true;
    }

    pub(super) fn u64s(&mut self, name: &str, values: impl Iterator<Item = u64>) {
        let values: Vec<u64> = values.collect();
        let planes = self.planes(kept(&values), 8, |value, shift| (value >> shift) as u8);
        self.plain(name, "u64", &values, planes);
    }

    /// Seconds in steps of a 2^32th of the longest, which is finer than any clock in a log.
    pub(super) fn seconds(&mut self, name: &str, longest: f64, values: impl Iterator<Item = f64>) {
        let tick = if longest > 0.0 { longest / f64::from(u32::MAX) } else { 1.0 };
        // The cast saturates: a time outside the axis stands at its border.
        let ticks = differences(values.map(|value| (value / tick).round() as u32));
        let ticks: Vec<u32> = ticks.collect();
        let stored = kept(&ticks);
        let planes = (0..4).map(|plane| {
            let bytes = stored.iter().map(|value| (value >> (8 * plane)) as u8);
            if is_noise(bytes.clone()) { self.noise(bytes) } else { self.plane(bytes) }
        });
        let planes = planes.collect();
        let place = self.plain(name, "ticks", &ticks, planes);
        (place.delta, place.tick) = (true, Some(tick));
    }

    /// Notes a column that is stored value by value.
    fn plain<T: Default + PartialEq>(
        &mut self,
        name: &str,
        kind: &'static str,
        values: &[T],
        planes: Vec<Plane>,
    ) -> &mut Place {
        let (count, kept) = (values.len(), kept(values).len());
        self.places.push_mut(Place {
            name: name.to_owned(),
            kind,
            count,
            kept,
            runs: None,
            delta: false,
            tick: None,
            planes,
        })
    }

    /// The lowest bytes of all values, then all second ones, and so on; `byte` gives the one that begins at a bit.
    fn planes<T: Copy>(
        &mut self,
        values: &[T],
        bytes: u32,
        byte: impl Fn(T, u32) -> u8,
    ) -> Vec<Plane> {
        let shifts = (0..bytes).map(|plane| 8 * plane);
        shifts.map(|shift| self.plane(values.iter().map(|value| byte(*value, shift)))).collect()
    }

    fn plane(&mut self, mut bytes: impl ExactSizeIterator<Item = u8> + Clone) -> Plane {
        if bytes.clone().fold(0, |all, byte| all | byte) == 0 {
            return Plane::Zeros;
        }
        let at = self.at;
        self.at += bytes.len();
        while bytes.len() > 0 {
            self.chunk.clear();
            self.chunk.extend(bytes.by_ref().take(CHUNK));
            // Into memory, which takes everything.
            let _written: Result<()> = self.packed.write_all(&self.chunk);
        }
        Plane::Packed(at)
    }

    fn noise(&mut self, bytes: impl Iterator<Item = u8>) -> Plane {
        let at = self.noise.len();
        self.noise.extend(bytes);
        Plane::Noise(at)
    }

    /// Where everything lies: a reader has the noise before what it decompresses.
    pub(super) fn describe<W: Write>(&self, json: &mut Json<'_, W>) -> Result<()> {
        json.open('{')?;
        for place in &self.places {
            json.key(&place.name)?;
            json.open('{')?;
            json.key("type")?;
            json.text(place.kind)?;
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
            json.key("planes")?;
            json.open('[')?;
            for plane in &place.planes {
                match plane {
                    Plane::Zeros => json.null()?,
                    Plane::Noise(at) => json.unsigned(*at as u64)?,
                    Plane::Packed(at) => json.unsigned((self.noise.len() + at) as u64)?,
                }
            }
            json.close(']')?;
            json.close('}')?;
        }
        json.close('}')
    }

    /// All columns as text: the noise, a point, and gzip of the others; both in base64.
    pub(super) fn pack(self) -> Result<String> {
        let noise = base64::encode(&self.noise);
        Ok(noise + "." + &base64::encode(&self.packed.finish()?))
    }
}

/// The values of a column that are stored.
fn kept<T: Default + PartialEq>(values: &[T]) -> &[T] {
    let last = values.iter().rposition(|value| *value != T::default());
    &values[..last.map_or(0, |last| last + 1)]
}

/// Whether bytes have so little order that compressing them is in vain, as far as a few of them tell.
fn is_noise(bytes: impl ExactSizeIterator<Item = u8>) -> bool {
    let mut seen = [false; 256];
    let step = bytes.len() / SAMPLE;
    if step > 0 {
        bytes.step_by(step).take(SAMPLE).for_each(|byte| seen[usize::from(byte)] = true);
    }
    seen.iter().filter(|seen| **seen).count() >= DIFFERENT
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
    use super::Plane::{Noise, Packed, Zeros};
    use super::{Columns, SAMPLE, rounded};
    use crate::Json;
    use flate2::read::GzDecoder;
    use netra_analyse::detail::Runs;
    use std::io::Read as _;

    fn packed(columns: Columns) -> Vec<u8> {
        let mut bytes = Vec::new();
        GzDecoder::new(&columns.packed.finish().unwrap()[..]).read_to_end(&mut bytes).unwrap();
        bytes
    }

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
        assert_eq!(packed(columns), [2, 4, 1, 3, 5, 2, 0xff, 0, 0, 0xff, 0, 0, 0xff, 0, 0, 0xff]);
    }

    #[test]
    fn bytes_that_are_zero_in_all_values_take_none() {
        let mut columns = Columns::default();
        columns.u64s("a", [0x0100, 0x0300_0200].into_iter());
        columns.u8s("b", &[0, 0]);
        columns.u8s("c", &[4]);
        let planes: Vec<_> = columns.places.iter().map(|one| one.planes.clone()).collect();
        let mut first = [Zeros; 8];
        (first[1], first[3]) = (Packed(0), Packed(2));
        assert_eq!(planes, [first.to_vec(), vec![Zeros], vec![Packed(4)]]);
        assert_eq!(packed(columns), [1, 2, 0, 3, 4]);
    }

    #[test]
    fn noise_is_stored_as_it_is() {
        // Differences whose two lowest bytes have no order, and whose others do.
        let mut state = 1_u64;
        let mut now = 0.0;
        let times = std::iter::repeat_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            now += f64::from((state >> 48) as u16) + 65536.0;
            now
        });
        let times: Vec<f64> = times.take(4000).collect();
        let mut columns = Columns::default();
        columns.u8s("a", &[1]);
        columns.seconds("b", f64::from(u32::MAX), times.iter().copied());
        columns.seconds("c", f64::from(u32::MAX), times.iter().copied().take(SAMPLE - 1));
        let planes: Vec<_> = columns.places.iter().map(|one| one.planes.clone()).collect();
        assert_eq!(planes[1], [Noise(0), Noise(4000), Packed(1), Zeros]);
        assert!(matches!(planes[2][..], [Packed(_), Packed(_), Packed(_), Zeros]), "{planes:?}");
        let low = (times[1] - times[0]) as u32 as u8;
        assert_eq!((columns.noise.len(), columns.noise[1]), (8000, low));
        let mut out = Vec::new();
        columns.describe(&mut Json::new(&mut out)).unwrap();
        let told = String::from_utf8(out).unwrap();
        assert!(told.contains("\"planes\":[0,4000,8001,null]"), "{told}");
        let text = columns.pack().unwrap();
        assert_eq!(text.find('.'), Some(8000_usize.div_ceil(3) * 4));
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
        let kept: Vec<_> = columns.places.iter().map(|one| (one.count, one.kept)).collect();
        assert_eq!(kept, [(4, 2), (1000, 0), (3, 1), (5, 1)]);
        assert_eq!(packed(columns), [0, 0xe0, 0, 0x40, 4, 9]);
    }

    #[test]
    fn values_that_repeat_for_long_are_stored_once() {
        let mut columns = Columns::default();
        let long = [vec![7u16; 70_000], vec![0; 3], vec![0x0102; 300]].concat();
        columns.u16_runs("a", 80_000, &runs(&long));
        columns.u8_runs("b", 4, &runs(&[1, 1, 1, 2]));
        columns.f32_runs("c", 8, &runs(&[1.0; 8]));
        let kept: Vec<_> = columns.places.iter().map(|one| (one.kept, one.runs)).collect();
        assert_eq!(kept, [(70_303, Some(4)), (4, None), (8, Some(1))]);
        let bytes = packed(columns);
        let runs = [[7, 7, 0, 2], [0, 0, 0, 1], [0xff, 0x71, 3, 0x2c], [0xff, 0x11, 0, 1]].concat();
        assert_eq!(bytes[..16], runs);
        assert_eq!(bytes[16..], [1, 1, 1, 2, 0x80, 0x3f, 8]);
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
            "{\"a\":{\"type\":\"u8\",\"count\":3,\"kept\":3,\"delta\":false,\"planes\":[0]},\
             \"b\":{\"type\":\"ticks\",\"count\":2,\"kept\":2,\"delta\":true,\"tick\":1.0,\"planes\":[3,null,null,null]},\
             \"c\":{\"type\":\"u8\",\"count\":9,\"kept\":9,\"runs\":1,\"delta\":false,\"planes\":[5,6,null]}}"
        );
    }
}
