//! Rows of what nodes, people and processes say: metrics, messages, accounts.

use std::collections::HashMap;

use netra_event::frame::{Head, Producer};
use netra_event::{Function, Loss, jenkins64};
use netra_stream::batch::{Account, Form, Message};
use netra_stream::sample::{Sample, Value, published};

use super::who::{Who, name_for_ever};
use super::{rollup, text::Texts};
use crate::Result;
use crate::sheet::{Cell, Sheet};

/// Names of hosts by their hash, as far as somebody has said them.
#[derive(Debug)]
pub(super) struct Hosts {
    names: HashMap<u64, String>,
}

impl Hosts {
    pub(super) fn new() -> Hosts {
        let own = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let mut hosts = Hosts { names: HashMap::new() };
        hosts.learn(own.trim_end().as_bytes());
        hosts
    }

    pub(super) fn learn(&mut self, name: &[u8]) {
        let text = || String::from_utf8_lossy(name).into_owned();
        self.names.entry(jenkins64(name, 0)).or_insert_with(text);
    }

    /// The name, or the hash of a host of which no process ever came.
    fn name(&self, producer: &Producer) -> String {
        let hash = || format!("host {:016x}", producer.host);
        self.names.get(&producer.host).cloned().unwrap_or_else(hash)
    }
}

fn moment(sheet: &mut Sheet, nanos: u64) {
    sheet.put("t", Cell::Time((nanos / 1000).cast_signed()));
    sheet.put("t_ns", i64::from((nanos % 1000) as u16));
}

/// What a node has measured.
pub(super) fn metrics(
    head: &Head,
    sample: &Sample,
    hosts: &Hosts,
    sheet: &mut Sheet,
) -> Result<()> {
    let node = hosts.name(&head.producer);
    for metric in sample.metrics() {
        moment(sheet, head.time);
        sheet.put("node", &*node).put("name", &*metric.name).put("target", &*metric.target);
        sheet.put("value", Cell::Double(metric.value.number())).put("source", "sample");
        match metric.value {
            Value::Count(count) => {
                sheet.put("rises", Cell::Flag(true)).put("count", count.cast_signed());
            }
            Value::Gauge(_) => {
                sheet.put("rises", Cell::Flag(false));
            }
        }
        sheet.end_row()?;
    }
    Ok(())
}

/// What others have published as metrics; a message that is none is only a message.
pub(super) fn told_metrics(message: &Message<'_>, sheet: &mut Sheet) -> Result<()> {
    for row in published(message.bytes).unwrap_or_default() {
        moment(sheet, row.time.unwrap_or(message.time));
        sheet.put("node", &*row.host).put("name", &*row.name).put("target", &*row.target);
        sheet.put("value", Cell::Double(row.value)).put("rises", Cell::Flag(false));
        sheet.put("source", "message");
        sheet.end_row()?;
    }
    Ok(())
}

/// A message.
pub(super) fn message(head: &Head, message: &Message<'_>, sheet: &mut Sheet) -> Result<()> {
    moment(sheet, message.time);
    sheet.put("tag", &*String::from_utf8_lossy(message.tag));
    sheet.put(
        "form",
        match message.form {
            Form::Bytes => "bytes",
            Form::Text => "text",
            Form::Json => "json",
        },
    );
    match std::str::from_utf8(message.bytes) {
        Ok(text) if message.form != Form::Bytes => sheet.put("text", text),
        _ => sheet.put("bytes", Cell::Raw(message.bytes)),
    };
    sheet.put("uid", i64::from(message.uid));
    sheet.put("publisher", name_for_ever(&head.producer)).put("sequence", head.from.cast_signed());
    sheet.end_row()
}

/// The account of a process, a row a lane.
pub(super) fn account(
    head: &Head,
    account: &Account,
    who: &Who,
    texts: &Texts,
    sheet: &mut Sheet,
) -> Result<()> {
    let count = |number: u64| Cell::Long(i64::try_from(number).unwrap_or(i64::MAX));
    let named = account.calls.iter().filter_map(|&(code, calls)| {
        Function::from_code(code).map(|function| format!("{}={calls}", function.name()))
    });
    // Those of the whole process, which a frame tells once.
    let mut by_function = Some(named.collect::<Vec<_>>().join(",")).filter(|text| !text.is_empty());
    for lane in &account.lanes {
        sheet.put("calls_of", by_function.take().as_deref());
        rollup::about(sheet, who, texts);
        sheet.put("t", Cell::Time((head.time / 1000).cast_signed()));
        sheet.put("process", who.process).put("lane", i64::from(lane.lane));
        sheet.put("final", Cell::Flag(account.is_final));
        sheet.put("calls", count(lane.calls)).put("produced", count(lane.produced));
        sheet.put("sent", count(lane.read)).put("dropped", count(lane.lost()));
        for &loss in Loss::ALL {
            let known =
                |&(code, _): &(u8, u64)| Loss::from_code(code).unwrap_or(Loss::Unknown) == loss;
            let of_it = lane.dropped.iter().copied().filter(|row| known(row));
            let lost = of_it.fold(0_u64, |sum, (_, lost)| sum.saturating_add(lost));
            sheet.put(&format!("dropped_{}", loss.slug()), count(lost));
        }
        sheet.end_row()?;
    }
    Ok(())
}
