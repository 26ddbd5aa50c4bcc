//! Calls as a trace for Perfetto and Chrome's tracing page: ranks are processes, threads are threads, and
//! calls inside calls lie below each other because their times do.

use std::collections::BTreeSet;
use std::io::{self, Write};

use netra_event::{Kind, NO_OFFSET, Nanos};

use super::json::Line;
use super::{About, Call, Render};

/// One JSON document, an event a line.
#[derive(Debug, Default)]
pub(super) struct Perfetto {
    line: Line,
    /// The moment that is zero: when the first process began.
    zero: Option<Nanos>,
    named: BTreeSet<(i64, u32)>,
    any: bool,
}

impl Render for Perfetto {
    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n")
    }

    fn call(&mut self, out: &mut dyn Write, call: &Call<'_>) -> io::Result<bool> {
        let Some(function) = call.function().filter(|function| function.kind() != Kind::Process)
        else {
            return Ok(false);
        };
        let zero = *self.zero.get_or_insert(call.about.start);
        let process = number(call.about);
        if self.named.insert((process, 0)) {
            self.name(out, "process_name", process, 0, &process_name(call.about))?;
        }
        if self.named.insert((process, call.thread)) {
            let name = format!("thread {}", call.thread);
            self.name(out, "thread_name", process, call.thread, &name)?;
        }
        self.line.begin();
        self.line.text("ph", b"X");
        self.line.text("name", function.name().as_bytes());
        self.line.text("cat", function.layer().name().as_bytes());
        self.line.micros("ts", Nanos(call.start.0.saturating_sub(zero.0)));
        self.line.micros("dur", call.duration);
        self.line.number("pid", process);
        self.line.number("tid", call.thread);
        self.line.object("args");
        arguments(&mut self.line, call);
        self.line.end_object();
        self.put(out)?;
        Ok(true)
    }

    fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"\n]}\n")
    }
}

impl Perfetto {
    /// Says what a process or a thread is called.
    fn name(
        &mut self,
        out: &mut dyn Write,
        what: &str,
        process: i64,
        thread: u32,
        name: &str,
    ) -> io::Result<()> {
        self.line.begin();
        self.line.text("ph", b"M");
        self.line.text("name", what.as_bytes());
        self.line.number("pid", process);
        self.line.number("tid", thread);
        self.line.object("args");
        self.line.text("name", name.as_bytes());
        self.line.end_object();
        self.put(out)
    }

    fn put(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if std::mem::replace(&mut self.any, true) {
            out.write_all(b",\n")?;
        }
        let line = self.line.end();
        // The comma comes with the next event, if there is one.
        out.write_all(line.strip_suffix(b"\n").unwrap_or(line))
    }
}

/// Ranks are numbered by themselves, helpers behind them by their process number.
fn number(about: &About) -> i64 {
    about.rank.map_or(i64::from(about.pid) + (1 << 32), |rank| rank.0)
}

fn process_name(about: &About) -> String {
    let program = about.exe.rsplit('/').next().unwrap_or_default();
    match about.rank {
        Some(rank) => format!("rank {rank} {program} on {}", about.host),
        None => format!("process {} {program} on {}", about.pid, about.host),
    }
}

fn arguments(line: &mut Line, call: &Call<'_>) {
    if let Some(file) = call.file {
        line.text("file", file.name);
    }
    let data = call.function().is_some_and(|one| matches!(one.kind(), Kind::Read | Kind::Write));
    if data && call.event.offset != NO_OFFSET {
        line.number("offset_bytes", call.event.offset);
    }
    if data && !call.event.failed {
        line.number("moved_bytes", call.moved());
    }
    if call.event.failed {
        line.number("errno", call.event.result.saturating_neg());
    }
    if let Some(site) = call.site {
        line.text("site", site.as_bytes());
    }
}
