//! Where things happen, as JSON for the page with its columns beside it: conflicts in files, opens and
//! closes, Lustre targets and nodes over time.

use std::io::{Result, Write};

use netra_analyse::detail::{
    Conflicts, Detail, Kind, Marks, Nodes, Openings, Servers, Target, Targets,
};

use super::column::Columns;
use super::known::{Known, origin};
use crate::Json;
use crate::member::{list, number, text, truth};

type Out<'a, 'w, W> = &'a mut Json<'w, W>;

/// The members `conflicts`, `opens`, `targets` and `nodes`.
pub(super) fn write<W: Write>(
    json: Out<'_, '_, W>,
    detail: &Detail,
    conflicts: &Conflicts,
    known: &Known,
    columns: &mut Columns,
) -> Result<()> {
    self::conflicts(json, conflicts, detail.timeline.end, known, columns)?;
    opens(json, &detail.opens, detail.timeline.end, known, columns)?;
    json.line()?;
    list(json, "targets", &detail.targets, |json, one| targets(json, one, columns))?;
    json.line()?;
    json.key("nodes")?;
    match &detail.nodes {
        Some(one) => nodes(json, one, columns),
        None => json.null(),
    }
}

fn conflicts<W: Write>(
    json: Out<'_, '_, W>,
    conflicts: &Conflicts,
    end: f64,
    known: &Known,
    columns: &mut Columns,
) -> Result<()> {
    let places = &conflicts.places;
    columns.u32s("conflicts.file", places.iter().map(|one| known.file(one.file)));
    columns.seconds("conflicts.time", end, places.iter().map(|one| one.time));
    columns.u32s("conflicts.rank", places.iter().map(|one| one.rank));
    columns.u32s("conflicts.other", places.iter().map(|one| one.other));
    columns.u64s("conflicts.offset", places.iter().map(|one| one.offset));
    columns.u64s("conflicts.extent", places.iter().map(|one| one.stop - one.offset));
    let kinds: Vec<u8> = places
        .iter()
        .map(|one| {
            let kind = match one.kind {
                Kind::ReadAfterWrite => 0,
                Kind::WriteAfterRead => 1,
                Kind::WriteAfterWrite => 2,
            };
            kind | u8::from(one.racing) << 2
        })
        .collect();
    columns.u8s("conflicts.kind", &kinds);
    json.line()?;
    json.key("conflicts")?;
    json.open('{')?;
    number(json, "count", places.len() as u64)?;
    truth(json, "cut", conflicts.cut)?;
    json.close('}')
}

fn opens<W: Write>(
    json: Out<'_, '_, W>,
    opens: &Openings,
    end: f64,
    known: &Known,
    columns: &mut Columns,
) -> Result<()> {
    let list = &opens.list;
    columns.u32s("opens.file", list.iter().map(|one| known.file(one.file)));
    columns.u32s("opens.place", list.iter().map(|one| known.line(origin(one.place))));
    columns.u32s("opens.rank", list.iter().map(|one| one.rank));
    columns.seconds("opens.start", end, list.iter().map(|one| one.start));
    columns.seconds("opens.length", end, list.iter().map(|one| one.end - one.start));
    let kinds: Vec<u8> = list
        .iter()
        .map(|one| {
            let layer = Marks::LAYERS.iter().position(|layer| *layer == one.layer).unwrap_or(0);
            u8::from(one.close) | (layer as u8) << 1
        })
        .collect();
    columns.u8s("opens.kind", &kinds);
    json.line()?;
    json.key("opens")?;
    json.open('{')?;
    number(json, "count", list.len() as u64)?;
    number(json, "all", opens.all)?;
    json.close('}')
}

fn targets<W: Write>(json: Out<'_, '_, W>, targets: &Targets, columns: &mut Columns) -> Result<()> {
    let name = |part: &str| format!("targets.{}.{part}", targets.layer.name());
    json.open('{')?;
    text(json, "layer", targets.layer.name())?;
    number(json, "per_row", targets.per_row as u64)?;
    number(json, "bins", targets.bins as u64)?;
    for (part, values) in ["read", "write"].into_iter().zip(&targets.bytes) {
        columns.f32s(&name(part), values);
        text(json, part, &name(part))?;
    }
    list(json, "list", &targets.list, target)?;
    json.key("servers")?;
    match &targets.servers {
        Some(servers) => self::servers(json, servers, &name("server"), columns)?,
        None => json.null()?,
    }
    json.close('}')
}

fn servers<W: Write>(
    json: Out<'_, '_, W>,
    servers: &Servers,
    name: &str,
    columns: &mut Columns,
) -> Result<()> {
    json.open('{')?;
    number(json, "per_row", servers.per_row as u64)?;
    list(json, "names", &servers.names, |json, name| json.text(name))?;
    for (part, values) in ["read", "write"].into_iter().zip(&servers.bytes) {
        let column = format!("{name}.{part}");
        columns.f32s(&column, values);
        text(json, part, &column)?;
    }
    json.close('}')
}

fn target<W: Write>(json: &mut Json<'_, W>, one: &Target) -> Result<()> {
    json.open('{')?;
    for (key, value) in [
        ("ost", one.ost),
        ("calls", one.calls),
        ("bytes_read", one.bytes[0]),
        ("bytes_written", one.bytes[1]),
        ("ranks", one.ranks),
    ] {
        number(json, key, value)?;
    }
    list(json, "seconds", &one.seconds, |json, seconds| json.float(*seconds))?;
    json.close('}')
}

fn nodes<W: Write>(json: Out<'_, '_, W>, nodes: &Nodes, columns: &mut Columns) -> Result<()> {
    json.open('{')?;
    text(json, "layer", nodes.layer.name())?;
    number(json, "per_row", nodes.per_row as u64)?;
    number(json, "bins", nodes.bins as u64)?;
    list(json, "hosts", &nodes.hosts, |json, host| json.text(host))?;
    let parts = [&nodes.bytes, &nodes.calls].into_iter().flatten();
    for (part, values) in ["read", "write", "reads", "writes"].into_iter().zip(parts) {
        let name = format!("nodes.{part}");
        columns.f32s(&name, values);
        text(json, part, &name)?;
    }
    json.close('}')
}
