//! Tables: a header with the names of columns in any order, `seg:` before those of a segment.

use super::Error;
use super::sent::{Sent, Texts, began};

/// Where the columns stand.
#[derive(Debug)]
pub(super) struct Columns {
    module: usize,
    uid: usize,
    node: usize,
    rank: usize,
    record_id: usize,
    job_id: usize,
    op: usize,
    timestamp: usize,
    took: usize,
    file: Option<usize>,
    exe: Option<usize>,
    data_set: Option<usize>,
    /// `max_byte`, `switches`, `flushes`, `cnt`, offset, length.
    counts: [Option<usize>; 6],
    selection: [Option<usize>; 5],
}

/// Whether a line names columns as the connector's table does.
pub(super) fn is_header(line: &[u8]) -> bool {
    let names = names(line);
    ["module", "record_id", "job_id"].iter().all(|name| names.iter().any(|known| known == name))
}

/// Column names without what stores put around them.
fn names(line: &[u8]) -> Vec<String> {
    let fields = fields(line).unwrap_or_default();
    let plain = |name: String| {
        let name = name.trim().trim_start_matches('#').trim();
        name.strip_prefix("seg:").unwrap_or(name).to_owned()
    };
    fields.into_iter().map(plain).collect()
}

impl Columns {
    /// Reads the header.
    pub(super) fn of(line: &[u8]) -> Result<Columns, Error> {
        let names = names(line);
        let find = |name: &str| names.iter().position(|known| known == name);
        let need = |column: &'static str| find(column).ok_or(Error::Header { column });
        Ok(Columns {
            module: need("module")?,
            uid: need("uid")?,
            node: need("ProducerName")?,
            rank: need("rank")?,
            record_id: need("record_id")?,
            job_id: need("job_id")?,
            op: need("op")?,
            timestamp: need("timestamp")?,
            took: need("dur")?,
            file: find("file"),
            exe: find("exe"),
            data_set: find("data_set"),
            counts: ["max_byte", "switches", "flushes", "cnt", "off", "len"].map(find),
            selection: ["pt_sel", "irreg_hslab", "reg_hslab", "ndims", "npoints"].map(find),
        })
    }

    /// Takes one row.
    pub(super) fn row(
        &self,
        line: &[u8],
        texts: &mut Texts,
        sent: &mut Vec<Sent>,
    ) -> Result<(), String> {
        let fields = fields(line)?;
        let text = |at: usize| fields.get(at).map(String::as_str).ok_or("too few columns");
        let number = |at: usize| -> Result<i64, String> {
            let text = text(at)?.trim();
            text.parse().map_err(|_| format!("{text:?} in column {} is no number", at + 1))
        };
        let id = |at: usize| -> Result<u64, String> {
            let text = text(at)?.trim();
            let signed = || text.parse::<i64>().ok().map(i64::cast_unsigned);
            let id = text.parse().ok().or_else(signed);
            id.ok_or_else(|| format!("{text:?} in column {} is no record id", at + 1))
        };
        let seconds = |at: usize| -> Result<i64, String> {
            let text = text(at)?.trim();
            let nanos = nanos(text);
            nanos.ok_or_else(|| format!("{text:?} in column {} is no time", at + 1))
        };
        let optional = |at: Option<usize>| at.and_then(|at| number(at).ok()).unwrap_or(-1);
        let word = |at: Option<usize>| at.and_then(|at| text(at).ok()).unwrap_or("N/A");
        let took = seconds(self.took)?;
        let [max_byte, switches, flushes, cnt, offset, length] = self.counts.map(optional);
        sent.push(Sent {
            uid: number(self.uid)?,
            exe: texts.get(word(self.exe)),
            job_id: number(self.job_id)?,
            rank: number(self.rank)?,
            node: texts.always(text(self.node)?),
            file: texts.get(word(self.file)),
            record_id: id(self.record_id)?,
            module: texts.always(text(self.module)?),
            op: texts.always(text(self.op)?),
            max_byte,
            switches,
            flushes,
            cnt,
            data_set: texts.get(word(self.data_set)),
            selection: self.selection.map(optional),
            offset,
            length,
            start: began(seconds(self.timestamp)?, took),
            took,
        });
        Ok(())
    }
}

/// The fields of a line; quotes hold commas, and double quotes hold quotes.
fn fields(line: &[u8]) -> Result<Vec<String>, String> {
    let line = std::str::from_utf8(line).map_err(|_| "not UTF-8")?;
    let (mut fields, mut field, mut quoted) = (Vec::new(), String::new(), false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                field.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(std::mem::take(&mut field)),
            letter => field.push(letter),
        }
    }
    if quoted {
        return Err("a quote that is not closed".to_owned());
    }
    fields.push(field);
    Ok(fields)
}

/// Seconds, written as a decimal fraction, in nanoseconds: a double does not hold them.
fn nanos(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if fraction.bytes().any(|byte| !byte.is_ascii_digit()) {
        return text.parse::<f64>().ok().map(|seconds| (seconds * 1e9).round() as i64);
    }
    let digits: String = fraction.chars().chain("000000000".chars()).take(9).collect();
    let (seconds, nanos): (i64, i64) = (whole.parse().ok()?, digits.parse().ok()?);
    let sign = if whole.starts_with('-') { -1 } else { 1 };
    seconds.checked_mul(1_000_000_000)?.checked_add(sign * nanos)
}

#[cfg(test)]
mod tests {
    use super::{fields, nanos};

    #[test]
    fn times_keep_their_nanoseconds() {
        assert_eq!(nanos("1794772215.136500123"), Some(1_794_772_215_136_500_123));
        assert_eq!(nanos("0.5"), Some(500_000_000));
        assert_eq!(nanos("12"), Some(12_000_000_000));
        assert_eq!(nanos("-1.25"), Some(-1_250_000_000));
        assert_eq!(nanos("1e-3"), None);
        assert_eq!(nanos("1.0e-3"), Some(1_000_000));
        assert_eq!(nanos("x"), None);
    }

    #[test]
    fn quotes_hold_commas_and_quotes() {
        assert_eq!(fields(br#"a,"b,c","d""e",,"#).unwrap(), ["a", "b,c", "d\"e", "", ""]);
        assert!(fields(b"\"open").is_err());
    }
}
