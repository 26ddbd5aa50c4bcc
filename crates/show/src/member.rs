//! Members of JSON objects: a name and a value in one call.

use std::io::{Result, Write};

use crate::Json;

type Out<'a, 'w, W> = &'a mut Json<'w, W>;

pub(crate) fn list<W: Write, T>(
    json: Out<'_, '_, W>,
    name: &str,
    items: impl IntoIterator<Item = T>,
    mut one: impl FnMut(&mut Json<'_, W>, T) -> Result<()>,
) -> Result<()> {
    json.key(name)?;
    json.open('[')?;
    for item in items {
        one(json, item)?;
    }
    json.close(']')
}

pub(crate) fn text<W: Write>(json: Out<'_, '_, W>, name: &str, value: &str) -> Result<()> {
    json.key(name)?;
    json.text(value)
}

pub(crate) fn optional<W: Write>(
    json: Out<'_, '_, W>,
    name: &str,
    value: Option<&str>,
) -> Result<()> {
    json.key(name)?;
    match value {
        Some(value) => json.text(value),
        None => json.null(),
    }
}

pub(crate) fn number<W: Write>(json: Out<'_, '_, W>, name: &str, value: u64) -> Result<()> {
    json.key(name)?;
    json.unsigned(value)
}

pub(crate) fn integer<W: Write>(json: Out<'_, '_, W>, name: &str, value: i64) -> Result<()> {
    json.key(name)?;
    json.int(value)
}

pub(crate) fn float<W: Write>(json: Out<'_, '_, W>, name: &str, value: f64) -> Result<()> {
    json.key(name)?;
    json.float(value)
}

pub(crate) fn truth<W: Write>(json: Out<'_, '_, W>, name: &str, value: bool) -> Result<()> {
    json.key(name)?;
    json.truth(value)
}
