//! What must stand in the files: the judge's own computation of `include/content.h`.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use netra_workloads::expected::{Extent, File};

use crate::counter;

/// The word at index `index` of a stream: a double between 1 and 2.
fn word(stream: u64, index: u64) -> [u8; 8] {
    let mut x = (stream << 40) ^ index;
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^= x >> 31;
    (0x3ff0_0000_0000_0000 | (x >> 12)).to_le_bytes()
}

/// The byte at `offset` of an extent's stream.
fn byte(extent: &Extent, offset: u64) -> u8 {
    let Some(width) = extent.line_width else {
        return word(extent.stream, offset / 8)[usize::try_from(offset % 8).unwrap()];
    };
    let column = usize::try_from(offset % width).unwrap();
    let digits = u64::from_le_bytes(word(extent.stream, offset / width));
    match column {
        0..16 => format!("{digits:016x}").as_bytes()[column],
        _ if column as u64 == width - 1 => b'\n',
        _ => b'.',
    }
}

/// Compares a file with its promise; the answer lists what is wrong.
pub(crate) fn wrong(folder: &Path, file: &File) -> Vec<String> {
    let path = folder.join(&file.name);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) => return vec![format!("{}: {error}", file.name)],
    };
    let mut wrong = Vec::new();
    if let Some(size) = file.size.filter(|size| *size != bytes.len() as u64) {
        wrong.push(format!("{}: {} bytes, expected {size}", file.name, bytes.len()));
    }
    for extent in &file.content {
        let said = match &extent.dataset {
            None => differs(&bytes, extent),
            Some(name) => match dataset(&path, &file.layer, name) {
                Ok(data) if data.len() as u64 == extent.length => differs(&data, extent),
                Ok(data) => Some(format!("{} bytes, expected {}", data.len(), extent.length)),
                Err(error) => Some(format!("{error:#}")),
            },
        };
        let whole = extent.dataset.as_deref().unwrap_or("content");
        wrong.extend(said.map(|said| format!("{}: {whole}: {said}", file.name)));
    }
    wrong
}

fn differs(bytes: &[u8], extent: &Extent) -> Option<String> {
    for offset in extent.offset..extent.offset + extent.length {
        let found = bytes.get(usize::try_from(offset).unwrap());
        if found != Some(&byte(extent, offset)) {
            return Some(format!("byte {offset} is {found:?}, expected {}", byte(extent, offset)));
        }
    }
    None
}

/// The bytes of a data set or variable, read by a small program of the same library.
fn dataset(path: &Path, layer: &str, name: &str) -> Result<Vec<u8>> {
    let reader = counter::reader(layer)?;
    let done = Command::new(reader).arg(path).arg(name).output();
    let done = done.with_context(|| format!("reading {name}"))?;
    if !done.status.success() {
        bail!("{}", String::from_utf8_lossy(&done.stderr).trim());
    }
    Ok(done.stdout)
}

#[cfg(test)]
mod tests {
    use super::word;

    #[test]
    fn words_are_doubles_between_one_and_two() {
        for index in 0..1000 {
            let value = f64::from_le_bytes(word(7, index));
            assert!((1.0..2.0).contains(&value), "word {index} is {value}");
        }
        assert_ne!(word(0, 1), word(1, 1));
    }
}
