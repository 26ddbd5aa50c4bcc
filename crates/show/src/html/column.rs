//! Long rows of numbers for the page, packed: within a column all lowest bytes come first, then
//! all second bytes, and so on, because equal bytes side by side compress several times better.
//! `web/src/column.ts` reads them.

use std::io::{Result, Write};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::{Json, base64};

/// How hard is tried to make them small; more takes twice the time for a few percent.
const LEVEL: u32 = 3;
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
    delta: bool,
    tick: Option<f64>,
}

impl Columns {
    pub(super) fn u8s(&mut self, name: &str, values: &[u8]) {
        self.place(name, "u8", values.len(), false, None);
        self.write(values);
    }

    pub(super) fn u16s(&mut self, name: &str, values: &[u16]) {
        self.place(name, "u16", values.len(), false, None);
        self.planes(values, u16::to_le_bytes);
    }

    pub(super) fn f32s(&mut self, name: &str, values: &[f32]) {
        self.place(name, "f32", values.len(), false, None);
        self.planes(values, f32::to_le_bytes);
    }

    /// Differences from value to value, which are small in ordered columns; they wrap around.
    pub(super) fn u32s(&mut self, name: &str, values: impl Iterator<Item = u32>) {
        let values: Vec<u32> = differences(values).collect();
        self.place(name, "u32", values.len(), true, None);
        self.planes(&values, u32::to_le_bytes);
    }

    pub(super) fn u64s(&mut self, name: &str, values: impl Iterator<Item = u64>) {
        let values: Vec<u64> = values.collect();
        self.place(name, "u64", values.len(), false, None);
        self.planes(&values, u64::to_le_bytes);
    }

    /// Seconds in steps of a 2^32th of the longest, which is finer than any clock in a log.
    pub(super) fn seconds(&mut self, name: &str, longest: f64, values: impl Iterator<Item = f64>) {
        let tick = if longest > 0.0 { longest / f64::from(u32::MAX) } else { 1.0 };
        // The cast saturates: a time outside the axis stands at its border.
        let ticks = differences(values.map(|value| (value / tick).round() as u32));
        let ticks: Vec<u32> = ticks.collect();
        self.place(name, "ticks", ticks.len(), true, Some(tick));
        self.planes(&ticks, u32::to_le_bytes);
    }

    fn place(
        &mut self,
        name: &str,
        kind: &'static str,
        count: usize,
        delta: bool,
        tick: Option<f64>,
    ) {
        self.places.push(Place { name: name.to_owned(), kind, at: self.at, count, delta, tick });
    }

    /// The first bytes of all values, then all second ones, and so on.
    fn planes<T: Copy, const N: usize>(&mut self, values: &[T], bytes: impl Fn(T) -> [u8; N]) {
        let mut chunk = std::mem::take(&mut self.chunk);
        for plane in 0..N {
            for part in values.chunks(CHUNK) {
                chunk.clear();
                chunk.extend(part.iter().map(|value| bytes(*value)[plane]));
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

fn differences(values: impl Iterator<Item = u32>) -> impl Iterator<Item = u32> {
    values.scan(0u32, |before, value| {
        let difference = value.wrapping_sub(*before);
        *before = value;
        Some(difference)
    })
}

#[cfg(test)]
mod tests {
    use super::Columns;
    use crate::Json;
    use flate2::read::GzDecoder;
    use std::io::Read as _;

    #[test]
    fn bytes_of_equal_weight_lie_side_by_side() {
        let mut columns = Columns::default();
        columns.u16s("a", &[0x0102, 0x0304]);
        columns.u32s("b", [5, 7, 6].into_iter());
        let mut bytes = Vec::new();
        GzDecoder::new(&columns.packed.finish().unwrap()[..]).read_to_end(&mut bytes).unwrap();
        assert_eq!(bytes, [2, 4, 1, 3, 5, 2, 0xff, 0, 0, 0xff, 0, 0, 0xff, 0, 0, 0xff]);
    }

    #[test]
    fn places_say_where_and_how() {
        let mut columns = Columns::default();
        columns.u8s("a", &[1, 2, 3]);
        columns.seconds("b", 4_294_967_295.0, [0.0, 2.0].into_iter());
        let mut out = Vec::new();
        columns.describe(&mut Json::new(&mut out)).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "{\"a\":{\"type\":\"u8\",\"at\":0,\"count\":3,\"delta\":false},\
             \"b\":{\"type\":\"ticks\",\"at\":3,\"count\":2,\"delta\":true,\"tick\":1.0}}"
        );
    }
}
