//! Rows of all tables that one import fills.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use datafusion::arrow::record_batch::RecordBatch;
use netra_event::{Function, Loss, Module};

use super::identity::Identity;
use super::rollup::RollUps;
use super::row::{AccountRow, EventRow, JobRow, MountRow, Name, ProcessRow};
use super::source::Large;
use crate::Result;
use crate::ingest::user::Users;
use crate::sheet::{Cell, Sheet};
use crate::stack::Frame;

/// Events that are kept before they go ahead of the rest.
const PIECE: usize = 1 << 19;

/// Rows of all tables.
pub(super) struct Tables {
    sheets: BTreeMap<&'static str, Sheet>,
    /// What every row of a job repeats.
    job: Repeated,
    rollups: RollUps,
    users: Users,
    /// Whose rows they are.
    identity: Identity,
    /// Where pieces of a large trace go.
    large: Option<Large>,
    pieces: i64,
    ahead: u64,
}

#[derive(Debug, Default)]
struct Repeated {
    key: String,
    uid: i64,
    user: String,
    exe: String,
    job_id: i64,
    start: i64,
}

/// A moment, from nanoseconds since 1970.
pub(super) fn moment(nanos: i64) -> Cell<'static> {
    Cell::Time(nanos.div_euclid(1000))
}

/// What a moment in microseconds leaves out.
pub(super) fn rest(nanos: i64) -> i64 {
    nanos.rem_euclid(1000)
}

impl Sheet {
    /// Says which file a row is about.
    pub(super) fn place(&mut self, name: &Name<'_>) -> &mut Sheet {
        self.put("file_id", name.id.0.cast_signed()).put("file", name.file);
        self.put("file_system", name.kind).put("mount", name.mount)
    }
}

impl Tables {
    /// Without rows.
    pub(super) fn new(identity: Identity, large: Option<Large>) -> Tables {
        Tables {
            sheets: BTreeMap::new(),
            job: Repeated::default(),
            rollups: RollUps::default(),
            users: Users::of_system(),
            identity,
            large,
            pieces: 0,
            ahead: 0,
        }
    }

    /// Everything that follows is about this job. Roll-ups of the one before are written down.
    ///
    /// # Errors
    /// They do not fit.
    pub(super) fn begin(&mut self, job: &JobRow) -> Result<()> {
        self.roll_up()?;
        self.job = Repeated {
            key: job.key.clone(),
            uid: job.uid,
            user: u32::try_from(job.uid)
                .map_or_else(|_| job.uid.to_string(), |uid| self.users.name(uid).to_string()),
            exe: job.exe.clone(),
            job_id: job.job_id,
            start: job.start,
        };
        Ok(())
    }

    fn roll_up(&mut self) -> Result<()> {
        let mut rollups = std::mem::take(&mut self.rollups);
        rollups.take(self)
    }

    /// When the job began: nanoseconds since 1970.
    pub(super) fn start(&self) -> i64 {
        self.job.start
    }

    /// Begins a row of a table with what every row of the job repeats.
    pub(super) fn row(&mut self, table: &'static str) -> Result<&mut Sheet> {
        let sheet = match self.sheets.entry(table) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(Sheet::new(table)?),
        };
        sheet.put("job", self.job.key.as_str()).put("uid", self.job.uid);
        sheet.put("user", self.job.user.as_str());
        Ok(sheet)
    }

    /// The same for tables that tell processes apart.
    pub(super) fn row_of(
        &mut self,
        table: &'static str,
        rank: Option<i64>,
        node: &str,
        exe: &str,
    ) -> Result<&mut Sheet> {
        let exe = if exe.is_empty() { self.job.exe.clone() } else { exe.to_owned() };
        let sheet = self.row(table)?;
        Ok(sheet.put("rank", rank.unwrap_or(-1)).put("node", node).put("exe", exe.as_str()))
    }

    /// The job itself.
    pub(super) fn job(&mut self, job: &JobRow) -> Result<()> {
        let names = |modules: &[Module]| {
            modules.iter().map(|module| module.name()).collect::<Vec<_>>().join(",")
        };
        let some = |text: String| Some(text).filter(|text| !text.is_empty());
        let partial = some(names(&job.partial));
        let remarks = some(job.remarks.join("\n"));
        let modules = names(&job.modules);
        let sheet = self.row("jobs")?;
        sheet.put("t", moment(job.start)).put("end", moment(job.end)).put("exe", &*job.exe);
        sheet.put("start_ns", job.start).put("end_ns", job.end).put("job_id", job.job_id);
        sheet.put("command", &*job.command).put("nprocs", job.nprocs);
        sheet.put("processes", job.processes).put("running", 0).put("killed", job.killed);
        sheet.put("source", job.source).put("log", &*job.path);
        sheet.put("log_version", job.log_version.as_deref()).put("metadata", &*job.metadata);
        sheet.put("partial", partial.as_deref()).put("remarks", remarks.as_deref());
        sheet.put("modules", &*modules).end_row()
    }

    /// A mounted file system.
    pub(super) fn mount(&mut self, mount: &MountRow) -> Result<()> {
        let start = self.start();
        let sheet = self.row("mounts")?;
        sheet.put("mount", &*mount.point).put("file_system", &*mount.kind);
        sheet.put("t", moment(start)).put("position", mount.position).end_row()
    }

    /// A process.
    pub(super) fn process(&mut self, process: &ProcessRow) -> Result<()> {
        let job_id = self.job.job_id;
        let notes = process.notes.join("\n");
        let sheet = self.row_of("processes", process.rank, &process.node, &process.exe)?;
        sheet.put("t", moment(process.start)).put("state", process.state);
        sheet.put("end", process.end.map_or(Cell::Null, moment));
        sheet.put("pid", process.pid).put("process", process.process).put("job_id", job_id);
        sheet.put("command", &*process.command).put("mpi", process.mpi.as_deref());
        sheet.put("platform", process.platform.as_deref());
        sheet.put("notes", Some(&*notes).filter(|notes| !notes.is_empty()));
        sheet.put("source", "log").end_row()
    }

    /// A file, or an object inside one.
    pub(super) fn file(&mut self, name: &Name<'_>, what: &str) -> Result<()> {
        let (start, exe) = (self.start(), self.job.exe.clone());
        let sheet = self.row("files")?;
        sheet.put("exe", &*exe).place(name).put("object", name.object).put("kind", what);
        sheet.put("t", moment(start)).put("processes", 0).end_row()
    }

    /// A call.
    pub(super) fn event(&mut self, event: &EventRow<'_>) -> Result<()> {
        self.rollups.add(event);
        let sheet = self.row_of("events", event.rank, event.node, event.exe)?;
        if let Some(file) = &event.file {
            sheet.place(file).put("data_set", file.object);
        }
        sheet.put("t", moment(event.start)).put("t_ns", rest(event.start));
        sheet.put("duration", event.took).put("layer", event.layer).put("op", event.op);
        sheet.put("function", event.function).put("offset", event.offset);
        sheet.put("length", event.length).put("bytes", event.bytes).put("result", event.result);
        sheet.put("argument", event.argument);
        sheet.put("error", event.error).put("pid", event.pid).put("process", event.process);
        sheet.put("lane", event.lane).put("sequence", event.index).put("thread", event.thread);
        sheet.put("parent", event.parent).put("number", event.number).put("site", event.site);
        if let Some((shape, dimensions, points)) = event.selection {
            sheet.put("selection", shape).put("dimensions", dimensions).put("points", points);
        }
        sheet.put("source", event.source).end_row()?;
        if sheet.rows() >= PIECE { self.go_ahead() } else { Ok(()) }
    }

    /// Events of a trace that is larger than memory should hold go into their table at once. Pieces of one
    /// source are the same every time, so that its table takes each once.
    fn go_ahead(&mut self) -> Result<()> {
        let (Some(large), Some(sheet)) = (&self.large, self.sheets.get_mut("events")) else {
            return Ok(());
        };
        let rows = sheet.finish()?;
        self.pieces += 1;
        self.ahead += rows.num_rows() as u64;
        large.put(&self.identity, self.pieces, "events", &rows)
    }

    /// Rows that went ahead.
    pub(super) fn ahead(&self) -> u64 {
        self.ahead
    }

    /// A thread's account.
    pub(super) fn account(&mut self, account: &AccountRow) -> Result<()> {
        let lost = |loss: Loss| {
            let found = account.dropped.iter().find(|known| known.0 == loss);
            found.map_or(0, |known| known.1)
        };
        let by_function = account.by_function.iter().filter_map(|&(code, count)| {
            Function::from_code(code).map(|function| format!("{}={count}", function.name()))
        });
        let by_function = by_function.collect::<Vec<_>>().join(",");
        let sheet = self.row_of("ledger", account.rank, &account.node, &account.exe)?;
        sheet.put("t", moment(account.time)).put("process", account.process);
        sheet.put("lane", account.lane).put("final", Cell::Flag(true));
        sheet.put("calls", account.calls).put("produced", account.produced);
        sheet.put("sent", account.delivered).put("calls_of", &*by_function);
        let all = account.dropped.iter().map(|loss| loss.1).fold(0, i64::saturating_add);
        sheet.put("dropped", all);
        for &loss in Loss::ALL {
            sheet.put(&format!("dropped_{}", loss.slug()), lost(loss));
        }
        sheet.end_row()
    }

    /// A frame of a call site of a process.
    pub(super) fn site(
        &mut self,
        rank: Option<i64>,
        process: i64,
        frame: &Frame<'_>,
    ) -> Result<()> {
        let start = self.start();
        let sheet = self.row("sites")?;
        sheet.put("rank", rank.unwrap_or(-1)).put("t", moment(start)).put("process", process);
        frame.put(sheet);
        sheet.end_row()
    }

    /// Everything so far, table by table.
    pub(super) fn take(&mut self) -> Result<Vec<(&'static str, RecordBatch)>> {
        if self.pieces > 0 {
            self.go_ahead()?;
        }
        self.roll_up()?;
        let filled = self.sheets.iter_mut().filter(|(_, sheet)| sheet.rows() > 0);
        filled.map(|(name, sheet)| Ok((*name, sheet.finish()?))).collect()
    }
}
