//! What is drawn over time, as JSON for the page with its columns beside it.

use std::io::{Result, Write};

use netra_analyse::Direction;
use netra_analyse::detail::{Detail, Grid, Marks, Origin};

use super::column::Columns;
use super::known::Known;
use crate::Json;
use crate::member::{list, truth};

type Out<'a, 'w, W> = &'a mut Json<'w, W>;

/// The members `timeline`, `grids` and `marks`.
pub(super) fn write<W: Write>(
    json: Out<'_, '_, W>,
    detail: &Detail,
    known: &Known,
    columns: &mut Columns,
) -> Result<()> {
    timeline(json, detail, columns)?;
    json.line()?;
    json.key("grids")?;
    json.open('[')?;
    for one in &detail.grids {
        grid(json, one, columns)?;
    }
    json.close(']')?;
    json.line()?;
    marks(json, &detail.marks, detail.timeline.end, known, columns)
}

fn timeline<W: Write>(json: Out<'_, '_, W>, detail: &Detail, columns: &mut Columns) -> Result<()> {
    let lanes = &detail.timeline.lanes;
    json.line()?;
    json.key("timeline")?;
    json.open('{')?;
    json.key("end")?;
    json.float(detail.timeline.end)?;
    json.key("bins")?;
    json.unsigned(lanes.first().map_or(0, |lane| lane.busy.len()) as u64)?;
    json.key("lanes")?;
    json.open('[')?;
    for lane in lanes {
        let name = format!("timeline.{}.{}", lane.layer.name(), lane.direction.verb());
        let (busy, bytes) = (format!("{name}.busy"), format!("{name}.bytes"));
        columns.f32s(&busy, &lane.busy);
        columns.f32s(&bytes, &lane.bytes);
        json.open('{')?;
        for (key, value) in [
            ("layer", lane.layer.name()),
            ("way", lane.direction.verb()),
            ("basis", lane.basis.name()),
            ("busy", &busy),
            ("bytes", &bytes),
        ] {
            json.key(key)?;
            json.text(value)?;
        }
        json.close('}')?;
    }
    json.close(']')?;
    json.close('}')
}

fn grid<W: Write>(json: Out<'_, '_, W>, grid: &Grid, columns: &mut Columns) -> Result<()> {
    let name = |part: &str| format!("grid.{}.{part}", grid.layer.name());
    let cells = grid.rows * grid.bins;
    for (direction, busy) in Direction::BOTH.into_iter().zip(&grid.busy) {
        columns.u8_runs(&name(direction.verb()), cells, busy);
    }
    columns.u16_runs(&name("busiest"), cells, &grid.busiest);
    columns.f32_runs(&name("bytes"), cells, &grid.bytes);
    json.open('{')?;
    for (key, value) in [("layer", grid.layer.name()), ("basis", grid.basis.name())] {
        json.key(key)?;
        json.text(value)?;
    }
    for key in ["read", "write", "busiest", "bytes"] {
        json.key(key)?;
        json.text(&name(key))?;
    }
    for (key, value) in [
        ("ranks_per_row", u64::from(grid.ranks_per_row)),
        ("rows", grid.rows as u64),
        ("bins", grid.bins as u64),
        ("summed", grid.summed),
    ] {
        json.key(key)?;
        json.unsigned(value)?;
    }
    json.close('}')
}

fn marks<W: Write>(
    json: Out<'_, '_, W>,
    marks: &Marks,
    end: f64,
    known: &Known,
    columns: &mut Columns,
) -> Result<()> {
    json.key("marks")?;
    json.open('{')?;
    for (key, value) in [
        ("calls", marks.calls),
        ("count", marks.len() as u64),
        ("ranks_per_mark", u64::from(marks.ranks_per_mark)),
    ] {
        json.key(key)?;
        json.unsigned(value)?;
    }
    json.key("slice")?;
    json.float(marks.slice)?;
    // In the order of the numbers that stand for them in a mark's kind.
    list(json, "layers", &Marks::LAYERS, |json, layer| json.text(layer.name()))?;
    let placed = marks.place.iter().any(|place| *place != Origin::Unknown);
    truth(json, "placed", placed)?;
    json.close('}')?;
    if placed {
        columns.u32s("marks.place", marks.place.iter().map(|&one| known.line(one)));
    }
    let lengths = marks.start.iter().zip(&marks.end).map(|(start, end)| end - start);
    let extents = marks.offset.iter().zip(&marks.stop).map(|(first, stop)| stop - first);
    columns.u32s("marks.file", marks.file.iter().map(|&one| known.file(one)));
    columns.u32s("marks.rank", marks.rank.iter().copied());
    columns.u8s("marks.kind", &marks.kind);
    columns.seconds("marks.start", end, marks.start.iter().copied());
    columns.seconds("marks.length", end, lengths);
    columns.u64s("marks.offset", marks.offset.iter().copied());
    columns.u64s("marks.extent", extents);
    columns.u64s("marks.bytes", marks.bytes.iter().copied());
    if marks.slice > 0.0 {
        let busiest = marks.busy.iter().copied().fold(0.0, f64::max);
        columns.u32s("marks.each", marks.count.iter().copied());
        columns.seconds("marks.busy", busiest, marks.busy.iter().copied());
        columns.seconds("marks.longest", end, marks.longest.iter().copied());
    }
    Ok(())
}
