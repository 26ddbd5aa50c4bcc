//! Totals, categories of files and performance, as `--total`, `--file` and `--perf` print them.

use super::number;
use super::page::Page;
use crate::counter;
use crate::reduce::{Files, Performance, Total};
use netra_event::Module;
use std::io;

pub(super) fn total(module: Module, total: &Total, page: &mut Page<'_>) -> io::Result<()> {
    let Some(table) = counter::current(module) else { return Ok(()) };
    page.text("\n")?;
    for (name, value) in table.int.iter().zip(total.ints()) {
        page.line(format_args!("total_{name}: {value}"))?;
    }
    for (name, &value) in table.float.iter().zip(total.floats()) {
        float(page, &format!("total_{name}: "), value, "")?;
    }
    Ok(())
}

pub(super) fn files(files: &Files, page: &mut Page<'_>) -> io::Result<()> {
    page.text(
        "\n# files by what was done to them\n\
         # <category>: <files> <bytes read and written> <highest offset>\n",
    )?;
    let categories = [
        ("total", files.total),
        ("read_only", files.read_only),
        ("write_only", files.write_only),
        ("read_write", files.read_write),
        ("unique", files.unique),
        ("shared", files.shared),
    ];
    for (name, category) in categories {
        let (files, bytes, offset) = (category.files, category.bytes, category.max_offset);
        page.line(format_args!("# {name}: {files} {bytes} {offset}"))?;
    }
    Ok(())
}

pub(super) fn performance(perf: &Performance, page: &mut Page<'_>) -> io::Result<()> {
    page.text("\n# performance, as far as the slowest rank decides it\n")?;
    page.line(format_args!("# total_bytes: {}", perf.bytes))?;
    page.text("#\n# I/O of the slowest rank to files of its own (seconds):\n")?;
    float(page, "# unique files: slowest_rank_io_time: ", perf.io_time, "")?;
    float(page, "# unique files: slowest_rank_meta_only_time: ", perf.meta_time, "")?;
    float(page, "# unique files: slowest_rank_rw_only_time: ", perf.rw_time, "")?;
    page.line(format_args!("# unique files: slowest_rank: {}", perf.slowest_rank))?;
    page.text("#\n# I/O of the slowest ranks to shared files (seconds):\n")?;
    float(page, "# shared files: time_by_slowest: ", perf.shared_time, "")?;
    page.text("#\n# both together, and the rate that follows:\n")?;
    float(page, "# agg_time_by_slowest: ", perf.agg_time(), " # seconds")?;
    float(page, "# agg_perf_by_slowest: ", perf.agg_perf(), " # MiB/s")
}

fn float(page: &mut Page<'_>, name: &str, value: f64, unit: &str) -> io::Result<()> {
    page.text.extend_from_slice(name.as_bytes());
    number::push_fixed(&mut page.text, value, 6);
    page.text.extend_from_slice(unit.as_bytes());
    page.text("\n")
}
