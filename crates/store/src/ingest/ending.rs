//! The rows that a process leaves when its record is complete: itself, its part of the job, its files, its counters. For a
//! process that runs the same rows are made for whoever asks, from what is known of it so far.

use std::collections::BTreeSet;

use netra_darshan::encode::{self, Options};
use netra_darshan::{Log, read};
use netra_event::segment::View;
use netra_event::{Module, NO_FILE, Rank, RecordId};
use netra_stream::batch::{Phase, Process};
use netra_stream::source::is_launcher;

use super::sheets::Sheets;
use super::user::Users;
use super::who::{inside, rank};
use crate::Result;
use crate::schema;
use crate::sheet::{Cell, Sheet};
use crate::stack;

/// Tables that get rows when a process ends.
pub(super) const TABLES: &[&str] =
    &["processes", "jobs", "files", "mounts", "lustre", "heatmap", "sites"];

/// A process whose record is complete, or as complete as it is.
pub(super) struct Ending<'a> {
    pub(super) process: i64,
    pub(super) life: &'a Process,
    pub(super) view: Option<View<'a>>,
    pub(super) users: &'a mut Users,
    /// Which tables get rows: after a crash some have theirs already.
    pub(super) wants: &'a dyn Fn(&str) -> bool,
}

fn text(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

fn micros(nanos: u64) -> i64 {
    (nanos / 1000).cast_signed()
}

impl Ending<'_> {
    /// Writes its rows.
    pub(super) fn write(mut self, sheets: &mut Sheets) -> Result<()> {
        let records = Module::ALL.iter().filter_map(|&module| schema::counter_table(module));
        let is_counted =
            records.chain(["jobs", "lustre", "heatmap"]).any(|name| (self.wants)(name));
        let log = self.view.filter(|_| is_counted).and_then(|view| log(view, self.rank()));
        if (self.wants)("processes") {
            self.process(sheets.of("processes")?)?;
        }
        if (self.wants)("jobs") {
            self.job(log.as_ref(), sheets.of("jobs")?)?;
        }
        let Some(view) = self.view else { return Ok(()) };
        if (self.wants)("files") {
            self.files(&view, sheets.of("files")?)?;
        }
        if (self.wants)("mounts") {
            self.mounts(&view, sheets.of("mounts")?)?;
        }
        if (self.wants)("sites") {
            self.sites(&view, sheets.of("sites")?)?;
        }
        match log {
            Some(log) => self.records(&view, &log, sheets),
            None => Ok(()),
        }
    }

    fn rank(&self) -> i64 {
        rank(self.life.rank, self.life.nprocs)
    }

    fn state(&self) -> &'static str {
        match self.life.phase {
            Phase::Began => "running",
            Phase::Ended => "ended",
            Phase::Replaced => "replaced",
            Phase::Killed => "killed",
        }
    }

    /// Whose row it is, for any table that has such columns.
    fn who(&mut self, sheet: &mut Sheet) {
        sheet.put("job", &*text(&self.life.job)).put("rank", self.rank());
        self.user(sheet);
        sheet.put("exe", &*text(&self.life.exe)).put("node", &*text(&self.life.host));
    }

    fn user(&mut self, sheet: &mut Sheet) {
        let user = self.users.name(self.life.uid);
        sheet.put("uid", i64::from(self.life.uid)).put("user", &*user);
    }

    fn end(&self) -> Cell<'static> {
        self.life.end.map_or(Cell::Null, |end| Cell::Time(micros(end)))
    }

    fn process(&mut self, sheet: &mut Sheet) -> Result<()> {
        self.who(sheet);
        let life = self.life;
        sheet.put("t", Cell::Time(micros(life.start))).put("end", self.end());
        sheet
            .put("state", self.state())
            .put("pid", i64::from(life.pid))
            .put("process", self.process);
        sheet.put("job_id", life.job_id).put("nprocs", life.nprocs.map(i64::from));
        sheet.put("command", &*text(&life.command)).put("source", "stream");
        if let Some(view) = self.view {
            let mpi = view.mpi();
            if !mpi.is_empty() {
                sheet.put("mpi", &*text(mpi));
            }
            let lines =
                view.platform().map(|(key, value)| format!("{}={}", text(key), text(value)));
            let platform = lines.collect::<Vec<_>>().join("\n");
            let notes =
                view.notes().map(|note| text(note).into_owned()).collect::<Vec<_>>().join("\n");
            for (name, lines) in [("platform", platform), ("notes", notes)] {
                if !lines.is_empty() {
                    sheet.put(name, &*lines);
                }
            }
        }
        sheet.end_row()
    }

    fn job(&mut self, log: Option<&Log>, sheet: &mut Sheet) -> Result<()> {
        let life = self.life;
        self.user(sheet);
        // A launcher does not say what the job is: the processes that it starts do.
        let from_mpi = self.view.is_some_and(|view| view.rank_is_from_mpi());
        let (exe, command) = match is_launcher(&life.command, from_mpi) {
            true => Default::default(),
            false => (text(&life.exe), text(&life.command)),
        };
        sheet.put("job", &*text(&life.job)).put("exe", &*exe).put("command", &*command);
        sheet.put("t", Cell::Time(micros(life.start))).put("end", self.end());
        sheet.put("job_id", life.job_id);
        sheet.put("nprocs", i64::from(life.nprocs.unwrap_or(1))).put("processes", 1);
        sheet.put("running", i64::from(life.phase == Phase::Began));
        sheet.put("killed", i64::from(life.phase == Phase::Killed)).put("source", "stream");
        sheet.put("start_ns", life.start.cast_signed());
        sheet.put("end_ns", life.end.map(u64::cast_signed));
        let modules = log.map(|log| log.modules().map(Module::name).collect::<Vec<_>>().join(","));
        sheet.put("modules", modules.as_deref());
        let partial = self.view.map_or(0, |view| view.partial());
        let partial: Vec<&str> = Module::ALL
            .iter()
            .filter(|module| partial >> module.code() & 1 != 0)
            .map(|module| module.name())
            .collect();
        if !partial.is_empty() {
            sheet.put("partial", &*partial.join(","));
        }
        sheet.end_row()
    }

    fn files(&mut self, view: &View<'_>, sheet: &mut Sheet) -> Result<()> {
        let mut seen = BTreeSet::new();
        for file in view.files().filter(|file| file.index != NO_FILE) {
            // A name may have several rows; its id is one.
            if !seen.insert(file.id) {
                continue;
            }
            let within = (file.parent != NO_FILE).then(|| view.file(file.parent)).flatten();
            let mount = within.map_or(file.mount, |within| within.mount.or(file.mount));
            let mount = mount.and_then(|index| view.mounts().find(|mount| mount.index == index));
            self.user(sheet);
            sheet.put("job", &*text(&self.life.job)).put("exe", &*text(&self.life.exe));
            sheet.put("file_id", file.id.cast_signed());
            match within {
                Some(within) => {
                    sheet.put("file", &*text(within.name));
                    sheet.put("object", &*text(inside(within.name, file.name)));
                }
                None => {
                    sheet.put("file", &*text(file.name));
                }
            }
            sheet.put(
                "kind",
                match file.kind {
                    2 => "stream",
                    3 => "other",
                    4 => "object",
                    _ => "path",
                },
            );
            if let Some(mount) = mount {
                sheet.put("file_system", &*text(mount.kind)).put("mount", &*text(mount.point));
            }
            if file.alignment > 0 {
                sheet.put("alignment", i64::from(file.alignment));
            }
            sheet.put("t", Cell::Time(micros(self.life.start))).put("processes", 1);
            sheet.end_row()?;
        }
        Ok(())
    }

    fn sites(&mut self, view: &View<'_>, sheet: &mut Sheet) -> Result<()> {
        stack::frames(view, |frame| {
            self.user(sheet);
            sheet.put("job", &*text(&self.life.job)).put("rank", self.rank());
            sheet.put("t", Cell::Time(micros(self.life.start))).put("process", self.process);
            frame.put(sheet);
            sheet.end_row()
        })
    }

    fn mounts(&mut self, view: &View<'_>, sheet: &mut Sheet) -> Result<()> {
        for mount in view.mounts() {
            self.user(sheet);
            sheet.put("job", &*text(&self.life.job));
            sheet.put("mount", &*text(mount.point)).put("file_system", &*text(mount.kind));
            let known = |number: u32| (number > 0).then_some(i64::from(number));
            sheet.put("block_bytes", known(mount.block_bytes));
            sheet.put("targets", known(mount.targets.0));
            sheet.put("metadata_targets", known(mount.targets.1));
            sheet.put("position", i64::from(mount.index));
            sheet.put("t", Cell::Time(micros(self.life.start)));
            sheet.end_row()?;
        }
        Ok(())
    }

    /// The records of all modules, as the process's own log would have them.
    fn records(&mut self, view: &View<'_>, log: &Log, sheets: &mut Sheets) -> Result<()> {
        for module in log.modules().collect::<Vec<_>>() {
            let table = match module {
                Module::Lustre => "lustre",
                Module::Heatmap => "heatmap",
                module => match schema::counter_table(module) {
                    Some(table) => table,
                    None => continue,
                },
            };
            if !(self.wants)(table) {
                continue;
            }
            let sheet = sheets.of(table)?;
            let mut records = log.records(module);
            while let Some(record) = records.next_record() {
                match record {
                    read::Record::Counters(record) => {
                        self.counters(view, module, &record, sheet)?
                    }
                    read::Record::Lustre(record) => self.lustre(view, &record, sheet)?,
                    read::Record::Heatmap(record) => self.heatmap(&record, sheet)?,
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Whose record it is, and of which file.
    fn record(&mut self, view: &View<'_>, id: RecordId, sheet: &mut Sheet) {
        self.who(sheet);
        sheet.put("t", Cell::Time(micros(self.life.start))).put("process", self.process);
        sheet.put("file_id", id.0.cast_signed());
        let Some(file) = view.files().find(|file| file.id == id.0) else { return };
        let within = (file.parent != NO_FILE).then(|| view.file(file.parent)).flatten();
        sheet.put("file", &*text(within.map_or(file.name, |within| within.name)));
        let mount = within.map_or(file.mount, |within| within.mount.or(file.mount));
        if let Some(mount) =
            mount.and_then(|index| view.mounts().find(|mount| mount.index == index))
        {
            sheet.put("file_system", &*text(mount.kind)).put("mount", &*text(mount.point));
        }
    }

    fn counters(
        &mut self,
        view: &View<'_>,
        module: Module,
        record: &read::Counters<'_>,
        sheet: &mut Sheet,
    ) -> Result<()> {
        self.record(view, record.id, sheet);
        let Some(table) = netra_darshan::counter::current(module) else { return Ok(()) };
        for (name, &value) in table.int.iter().zip(record.ints) {
            sheet.put(&name.to_ascii_lowercase(), value);
        }
        for (name, &value) in table.float.iter().zip(record.floats) {
            sheet.put(&name.to_ascii_lowercase(), Cell::Double(value));
        }
        if let read::Extra::File(file) = record.extra {
            sheet.put("in_file_id", file.0.cast_signed());
            let own = view.files().find(|row| row.id == record.id.0);
            let within = view.files().find(|row| row.id == file.0);
            if let (Some(own), Some(within)) = (own, within) {
                sheet.put("object", &*text(inside(within.name, own.name)));
            }
        }
        sheet.end_row()
    }

    fn lustre(
        &mut self,
        view: &View<'_>,
        record: &read::Lustre<'_>,
        sheet: &mut Sheet,
    ) -> Result<()> {
        let names = netra_darshan::counter::lustre::TABLE.int;
        for (number, (component, targets)) in (0..).zip(record.parts()) {
            self.record(view, record.id, sheet);
            sheet.put("component", Cell::Long(number));
            sheet.put("components", Cell::Long(record.components.len() as i64));
            for (name, &value) in names.iter().zip(&component.numbers) {
                sheet.put(&name.to_ascii_lowercase(), value);
            }
            let pool = text(&component.pool).trim_end_matches('\0').to_owned();
            if !pool.is_empty() {
                sheet.put("pool", &*pool);
            }
            sheet.put("osts", Cell::Longs(targets));
            sheet.end_row()?;
        }
        Ok(())
    }

    fn heatmap(&mut self, record: &read::Heatmap<'_>, sheet: &mut Sheet) -> Result<()> {
        let layers = [("POSIX", "POSIX"), ("STDIO", "STDIO"), ("MPIIO", "MPI-IO")];
        let of = |name: &str| RecordId::of(format!("heatmap:{name}").as_bytes());
        let Some((_, module)) = layers.iter().find(|(name, _)| of(name) == record.id) else {
            return Ok(());
        };
        // Saturates: a width that is no number is none.
        let width = (record.width.0 * 1e9).round() as i64;
        let bins = record.reads.len().max(record.writes.len());
        for bin in 0..bins {
            let value = |of: &[i64]| of.get(bin).copied().unwrap_or(0);
            let (read, written) = (value(record.reads), value(record.writes));
            if read == 0 && written == 0 {
                continue;
            }
            let bin = bin as i64;
            let t = self.life.start.cast_signed().saturating_add(width.saturating_mul(bin));
            self.who(sheet);
            sheet.put("module", *module).put("process", self.process);
            sheet.put("t", Cell::Time(t.div_euclid(1000))).put("t_ns", t.rem_euclid(1000));
            sheet.put("bin", bin).put("bins", bins as i64).put("width", width);
            sheet.put("bytes_read", read).put("bytes_written", written);
            sheet.end_row()?;
        }
        Ok(())
    }
}

/// Bytes of a log in memory.
struct Memory(Vec<u8>);

impl encode::Sink for Memory {
    fn write(&mut self, bytes: &[u8]) -> bool {
        self.0.extend_from_slice(bytes);
        true
    }

    fn overwrite(&mut self, at: u64, bytes: &[u8]) -> bool {
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        let place = self.0.get_mut(at..).and_then(|rest| rest.get_mut(..bytes.len()));
        place.map(|place| place.copy_from_slice(bytes)).is_some()
    }
}

/// The process's own log; none if its segment does not give one.
fn log(view: View<'_>, rank: i64) -> Option<Log> {
    let mut memory = Memory(Vec::new());
    let options = Options { rank: Some(Rank(rank)), ..Options::default() };
    let mut words = vec![0; encode::needed(&view)];
    encode::log(view, options, &mut memory, &mut words, &mut vec![0; 64 << 10]).ok()?;
    Log::from_bytes(memory.0).ok()
}
