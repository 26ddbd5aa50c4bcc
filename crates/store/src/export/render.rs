//! The calls of a stored job, given to a rendering as those of a segment are.

use std::io::{self, Write};

use netra_event::{Event, Function, Nanos, Rank, RecordId};
use netra_stream::render::{About, File, Process, Reference, Render};
use netra_stream::source::Timed;

use crate::Result;
use crate::meaning::Meaning;
use crate::recall::{Called, Order, Recall};

/// What was rendered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shown {
    /// Calls there were.
    pub events: u64,
    /// Calls that the form had a place for.
    pub written: u64,
}

/// Renders the calls of a stored job, process by process, each in the order in which its calls ended.
///
/// # Errors
/// The store can not be read, or the output can not be written.
pub async fn calls(
    recall: &Recall,
    render: &mut dyn Render,
    out: &mut dyn Write,
) -> Result<io::Result<Shown>> {
    let head = recall.head().await?;
    let mut shown = Shown::default();
    let mut failed = None;
    let mut open: Option<(i64, Process)> = None;
    recall
        .calls(Order::End, None, &mut |call| {
            if failed.is_some() {
                return;
            }
            if open.as_ref().is_none_or(|(name, _)| *name != call.process) {
                open = Some((call.process, Process::new(about(call, &head))));
            }
            let Some((_, process)) = &mut open else { return };
            shown.events += 1;
            let path = call.path.unwrap_or_default();
            // Records of data sets are named `file:/group/set`.
            let name = call.data_set.map(|object| format!("{path}:{object}"));
            let file = call.file.map(|id| File {
                id: id.0,
                name: name.as_deref().unwrap_or(path).as_bytes(),
                within: name.is_some().then(|| (RecordId::of(path.as_bytes()).0, path.as_bytes())),
                elements: None,
            });
            let to = Reference { file, site: call.site, extension: None, after_loss: false };
            let call = process.call(&timed(call), to, &mut |_| None);
            match render.call(out, &call) {
                Ok(had_place) => shown.written += u64::from(had_place),
                Err(error) => failed = Some(error),
            }
        })
        .await?;
    Ok(failed.map_or(Ok(shown), Err))
}

fn about(call: &Called<'_>, head: &crate::recall::Head) -> About {
    About {
        job: head.key.clone(),
        job_id: head.job_id,
        host: call.node.to_owned(),
        pid: u32::try_from(call.pid).unwrap_or(0),
        uid: u32::try_from(head.uid).unwrap_or(u32::MAX),
        rank: (call.rank >= 0).then_some(Rank(call.rank)),
        exe: call.exe.to_owned(),
        start: Nanos(u64::try_from(head.start).unwrap_or(0)),
    }
}

/// The call as an event whose ticks are nanoseconds.
fn timed(call: &Called<'_>) -> Timed {
    let whole = |number: i64| u64::try_from(number).unwrap_or(0);
    let (start, took) = (whole(call.start), whole(call.took));
    let function = code(call);
    let meaning = Meaning {
        offset: call.offset,
        length: call.length,
        bytes: call.bytes,
        result: call.result,
        argument: call.argument,
    };
    let (offset, length, result) = meaning.fields(function.map(Function::kind), call.error);
    let event = Event {
        start,
        duration: took,
        offset,
        length,
        result,
        file: 0,
        code: function.map_or(0, Function::code),
        failed: call.error.is_some(),
        site: 0,
        parent: u32::try_from(call.parent).unwrap_or(0),
        number: u32::try_from(call.number).unwrap_or(0),
        extension: 0,
    };
    Timed {
        lane: u32::try_from(call.lane).unwrap_or(0),
        index: whole(call.sequence),
        thread: call.thread.and_then(|thread| u32::try_from(thread).ok()).unwrap_or(0),
        start: Nanos(start),
        duration: Nanos(took),
        event,
    }
}

/// The function; where a source knows the operation alone, the plainest one of its kind.
fn code(call: &Called<'_>) -> Option<Function> {
    let plain = match (call.layer, call.op) {
        ("MPI-IO", "read") => "MPI_File_read",
        ("MPI-IO", "write") => "MPI_File_write",
        ("MPI-IO", "open") => "MPI_File_open",
        ("MPI-IO", "close") => "MPI_File_close",
        ("STDIO", "read") => "fread",
        ("STDIO", "write") => "fwrite",
        ("STDIO", "open") => "fopen",
        ("STDIO", "close") => "fclose",
        _ => call.function,
    };
    let name = if matches!(call.source, "dxt" | "connector") { plain } else { call.function };
    Function::from_symbol(name)
}
