//! A log on one screen: who ran what, how much of it was I/O, which layers and files, and whether
//! the log is complete.

use std::io::{Result, Write};

use netra_analyse::{Also, Who};
use netra_darshan::read::{Log, Record};
use netra_darshan::{Damage, Missing};
use netra_event::{Bytes, Seconds};

use crate::plain::{plain, shortened};
use crate::platform::Platform;
use crate::summary::{FileSum, Sum};
use crate::{Json, Summary, csv, head, load, member, own, sentence, time};

/// Files in each list.
const TOP: usize = 5;
/// Characters of a file's name.
const NAME: usize = 44;

/// What the screen is made of.
#[derive(Debug)]
pub struct Info<'a> {
    path: &'a str,
    log: &'a Log,
    summary: Summary,
    /// Records of each module, in the order of the regions.
    records: Vec<u64>,
    platform: Platform,
    who: Who,
    /// What is missing from the log.
    pub missing: Vec<Damage>,
}

impl<'a> Info<'a> {
    /// Reads every record once.
    #[must_use]
    pub fn gather(path: &'a str, log: &'a Log) -> Info<'a> {
        let mut summary = Summary::new(log.modules(), head::run_time(log));
        let mut missing = Missing::of(log);
        let mut counts = Vec::new();
        for region in log.header().regions() {
            let mut count = 0;
            if let Some(module) = region.module {
                let mut records = log.records(module);
                while let Some(record) = records.next_record() {
                    count += 1;
                    if let Record::Counters(record) = record {
                        summary.add(module, &record);
                    }
                }
                missing.read(&records);
            }
            counts.push(count);
        }
        let (platform, who) = (Platform::gather(log), load::who(log));
        let missing = missing.all();
        Info { path, log, summary, records: counts, platform, who, missing }
    }

    /// For people.
    ///
    /// # Errors
    /// If the output can not be written.
    pub fn text(&self, out: &mut impl Write) -> Result<()> {
        self.job_text(out)?;
        self.layers_text(out)?;
        let by_time = self.by_time();
        let by_bytes = self.by_bytes();
        if by_time == by_bytes {
            self.files_text(out, "files by time and by bytes", &by_time)?;
        } else {
            self.files_text(out, "files by time", &by_time)?;
            self.files_text(out, "files by bytes", &by_bytes)?;
        }
        self.platform.text(out)?;
        self.modules_text(out)
    }

    fn job_text(&self, out: &mut impl Write) -> Result<()> {
        let (header, job) = (self.log.header(), self.log.job());
        let numbers = &job.numbers;
        let run = head::run_time(self.log);
        writeln!(
            out,
            "{}: Darshan log {}, {}, {}\n",
            plain(self.path.as_bytes()),
            header.version.name(),
            header.compression.name().to_lowercase(),
            Bytes(self.log.file_length()),
        )?;
        writeln!(out, "  command    {}", plain(&job.exe))?;
        writeln!(
            out,
            "  job        {}, user {}, {}",
            numbers.jobid,
            numbers.uid,
            self.who.how_many(u64::try_from(numbers.nprocs).unwrap_or(0)),
        )?;
        writeln!(out, "  ran        {}, for {run}", time::local(numbers.start_sec))?;
        self.time_text(out, run)?;
        self.complete_text(out)
    }

    fn time_text(&self, out: &mut impl Write, run: Seconds) -> Result<()> {
        if run.0 <= 0.0 || self.summary.files() == 0 {
            return writeln!(out, "  in I/O     unknown: the log has no layer that was timed");
        }
        let processes = self.log.job().numbers.nprocs;
        let io = self.summary.critical(processes);
        let share = |time: f64| percent(time.min(run.0) / run.0);
        let cut = if io.seconds > run.0 { ", over all its threads and requests" } else { "" };
        if processes == 1 {
            return writeln!(
                out,
                "  in I/O     {} ({} of the run){cut}",
                Seconds(io.seconds),
                share(io.seconds)
            );
        }
        let at_least = if io.at_most.min(run.0) > io.seconds * 1.01 { "at least " } else { "" };
        write!(
            out,
            "  in I/O     {at_least}{} on {}, the slowest ({} of the run){cut}",
            Seconds(io.seconds),
            self.who.called(io.rank),
            share(io.seconds),
        )?;
        // Processes that are no ranks have nothing in common that a mean would be one of.
        match self.who.noun(u64::try_from(processes).unwrap_or(0)) {
            "ranks" => writeln!(out, "; {} on average ({})", Seconds(io.mean), share(io.mean)),
            _ => writeln!(out),
        }
    }

    fn complete_text(&self, out: &mut impl Write) -> Result<()> {
        match self.missing.as_slice() {
            [] => writeln!(out, "  complete   yes"),
            [first, rest @ ..] => {
                writeln!(out, "  complete   NO: {}", sentence(first))?;
                rest.iter().try_for_each(|one| writeln!(out, "             {}", sentence(one)))
            }
        }
    }

    fn layers_text(&self, out: &mut impl Write) -> Result<()> {
        if self.summary.layers().next().is_none() {
            return Ok(());
        }
        writeln!(
            out,
            "\n{:<14}{:>9}{:>11}{:>11}{:>11}{:>11}{:>11}",
            "layer", "records", "read", "written", "reading", "writing", "other"
        )?;
        // Times are of all processes together, which the column titles have no room to say.
        for layer in self.summary.layers() {
            let Sum { read, written, read_time, write_time, meta_time } = layer.sum;
            writeln!(
                out,
                "{:<14}{:>9}{:>11}{:>11}{:>11}{:>11}{:>11}",
                layer.module.name(),
                layer.records,
                read.to_string(),
                written.to_string(),
                read_time.to_string(),
                write_time.to_string(),
                meta_time.to_string(),
            )?;
        }
        Ok(())
    }

    fn files_text(&self, out: &mut impl Write, title: &str, files: &[FileSum]) -> Result<()> {
        if files.is_empty() {
            return Ok(());
        }
        let all = self.summary.files();
        let title = if all > files.len() {
            format!("{title} ({} of {all})", files.len())
        } else {
            title.to_owned()
        };
        let (time, read, written) = ("time", "read", "written");
        writeln!(out, "\n{title:<NAME$}{time:>11}{read:>11}{written:>11}  processes")?;
        for file in files {
            let name = self.name(file);
            writeln!(
                out,
                "{:<NAME$}{:>11}{:>11}{:>11}  {}",
                shortened(&name, NAME),
                file.sum.time().to_string(),
                file.sum.read.to_string(),
                file.sum.written.to_string(),
                file.processes.map_or_else(|| "all".to_owned(), |count| count.to_string()),
            )?;
        }
        Ok(())
    }

    fn modules_text(&self, out: &mut impl Write) -> Result<()> {
        if self.records.is_empty() {
            return writeln!(out, "\nthe log has no records at all");
        }
        writeln!(out, "\n{:<14}{:>9}{:>11}  version", "module", "records", "stored")?;
        for (region, records) in self.log.header().regions().zip(&self.records) {
            let name = region
                .module
                .map_or_else(|| format!("unknown {}", region.code), |module| module.to_string());
            let stored = Bytes(region.extent.length).to_string();
            let note = if region.partial { ", incomplete" } else { "" };
            writeln!(out, "{name:<14}{records:>9}{stored:>11}  {}{note}", region.version)?;
        }
        for also in own::sums(self.log) {
            let Also { module, records, .. } = &also;
            let counted = own::line(&also);
            writeln!(out, "{module:<14}{records:>9}{:>11}  netra's own: {counted}", "")?;
        }
        Ok(())
    }

    fn by_time(&self) -> Vec<FileSum> {
        self.summary.top(TOP, self.log.names(), |sum| sum.time().0)
    }

    fn by_bytes(&self) -> Vec<FileSum> {
        self.summary.top(TOP, self.log.names(), Sum::bytes)
    }

    fn name(&self, file: &FileSum) -> String {
        match self.log.names().get(file.id) {
            // Objects of DAOS have no names, but entries for them.
            Some(name) if !name.is_empty() => plain(name).into_owned(),
            _ => format!("record {}", file.id),
        }
    }

    /// For machines: the job, the modules with their number of records, sums by layer and the top
    /// files.
    ///
    /// # Errors
    /// If the output can not be written.
    pub fn json<W: Write>(&self, out: &mut W) -> Result<()> {
        let mut json = Json::new(out);
        json.open('{')?;
        head::log(&mut json, self.path, self.log)?;
        json.line()?;
        let io = self.summary.critical(self.log.job().numbers.nprocs);
        json.key("io_seconds_average")?;
        json.float(io.mean)?;
        json.key("io_seconds_max")?;
        json.float(io.seconds)?;
        json.line()?;
        json.key("modules")?;
        json.open('[')?;
        for (region, records) in self.log.header().regions().zip(&self.records) {
            json.open('{')?;
            head::module(&mut json, &region)?;
            json.key("records")?;
            json.unsigned(*records)?;
            json.close('}')?;
        }
        for also in own::sums(self.log) {
            json.open('{')?;
            member::text(&mut json, "name", &also.module)?;
            member::truth(&mut json, "own", true)?;
            member::number(&mut json, "records", also.records)?;
            json.close('}')?;
        }
        json.close(']')?;
        json.line()?;
        json.key("layers")?;
        json.open('[')?;
        for layer in self.summary.layers() {
            json.open('{')?;
            json.key("name")?;
            json.text(layer.module.name())?;
            sum_json(&mut json, &layer.sum)?;
            json.close('}')?;
        }
        json.close(']')?;
        self.files_json(&mut json, "files_by_time", &self.by_time())?;
        self.files_json(&mut json, "files_by_bytes", &self.by_bytes())?;
        self.platform.json(&mut json)?;
        json.line()?;
        head::missing(&mut json, &self.missing)?;
        json.close('}')?;
        json.finish()
    }

    fn files_json<W: Write>(
        &self,
        json: &mut Json<'_, W>,
        key: &str,
        files: &[FileSum],
    ) -> Result<()> {
        json.line()?;
        json.key(key)?;
        json.open('[')?;
        for file in files {
            json.open('{')?;
            json.key("id")?;
            json.text(&file.id.to_string())?;
            json.key("file")?;
            match self.log.names().get(file.id) {
                Some(name) => json.bytes(name)?,
                None => json.null()?,
            }
            sum_json(json, &file.sum)?;
            json.key("processes")?;
            match file.processes {
                Some(count) => json.unsigned(count)?,
                None => json.int(self.log.job().numbers.nprocs)?,
            }
            json.close('}')?;
        }
        json.close(']')
    }

    /// A row for each log: what fits into columns.
    ///
    /// # Errors
    /// If the output can not be written.
    pub fn csv(&self, out: &mut impl Write) -> Result<()> {
        let numbers = &self.log.job().numbers;
        let io = self.summary.critical(numbers.nprocs);
        let total = self.summary.total();
        let columns = [
            self.path.to_owned(),
            self.log.header().version.name().to_owned(),
            numbers.jobid.to_string(),
            numbers.uid.to_string(),
            numbers.nprocs.to_string(),
            time::nanos(numbers.start_sec, numbers.start_nsec).to_string(),
            time::nanos(numbers.end_sec, numbers.end_nsec).to_string(),
            head::run_time(self.log).0.to_string(),
            io.mean.to_string(),
            io.seconds.to_string(),
            total.read.0.to_string(),
            total.written.0.to_string(),
            self.summary.files().to_string(),
            self.missing.len().to_string(),
            String::from_utf8_lossy(&self.log.job().exe).into_owned(),
        ];
        csv::row(out, columns.iter().map(String::as_str))
    }
}

/// Many logs, a line each, and what they come to together.
#[derive(Debug, Default)]
pub struct List(Vec<Line>);

#[derive(Debug)]
struct Line {
    path: String,
    processes: i64,
    run: f64,
    io: f64,
    sum: Sum,
    missing: usize,
}

impl List {
    /// From so many logs on, a screen for each is too much.
    pub const FROM: usize = 4;

    /// Takes a log in.
    pub fn add(&mut self, info: &Info<'_>) {
        let processes = info.log.job().numbers.nprocs;
        self.0.push(Line {
            path: info.path.to_owned(),
            processes,
            run: head::run_time(info.log).0,
            io: info.summary.critical(processes).seconds,
            sum: info.summary.total(),
            missing: info.missing.len(),
        });
    }

    /// Writes the lines, the one that was longest in I/O first, and the sum.
    ///
    /// # Errors
    /// If the output can not be written.
    pub fn text(mut self, out: &mut impl Write) -> Result<()> {
        self.0.sort_by(|a, b| b.io.total_cmp(&a.io).then(a.path.cmp(&b.path)));
        let [processes, run, io, read, written] = ["processes", "run", "I/O", "read", "written"];
        writeln!(out, "{processes:>9}{run:>11}{io:>11}{read:>11}{written:>11}  log")?;
        for line in &self.0 {
            let note = if line.missing == 0 { "" } else { "  (something is missing)" };
            writeln!(
                out,
                "{:>9}{:>11}{:>11}{:>11}{:>11}  {}{note}",
                line.processes,
                Seconds(line.run).to_string(),
                Seconds(line.io).to_string(),
                line.sum.read.to_string(),
                line.sum.written.to_string(),
                plain(line.path.as_bytes()),
            )?;
        }
        let seconds = |of: fn(&Line) -> f64| Seconds(self.0.iter().map(of).sum());
        let bytes =
            |of: fn(&Line) -> u64| Bytes(self.0.iter().map(of).fold(0, u64::saturating_add));
        let cut = self.0.iter().filter(|line| line.missing > 0).count();
        let cut =
            if cut > 0 { format!("; something is missing from {cut}") } else { String::new() };
        writeln!(
            out,
            "\n{} logs: ran for {}, {} of it in I/O, read {}, wrote {}{cut}\n\
             netra info LOG shows one, --all each of them in full",
            self.0.len(),
            seconds(|line| line.run),
            seconds(|line| line.io),
            bytes(|line| line.sum.read.0),
            bytes(|line| line.sum.written.0),
        )
    }
}

/// The header line of [`Info::csv`].
///
/// # Errors
/// If the output can not be written.
pub fn csv_header(out: &mut impl Write) -> Result<()> {
    out.write_all(
        b"log,version,job,uid,processes,start_ns,end_ns,run_time_seconds,io_seconds_average,\
          io_seconds_max,read_bytes,written_bytes,files,missing,command\n",
    )
}

fn sum_json<W: Write>(json: &mut Json<'_, W>, sum: &Sum) -> Result<()> {
    json.key("read_bytes")?;
    json.unsigned(sum.read.0)?;
    json.key("written_bytes")?;
    json.unsigned(sum.written.0)?;
    json.key("read_seconds")?;
    json.float(sum.read_time.0)?;
    json.key("write_seconds")?;
    json.float(sum.write_time.0)?;
    json.key("meta_seconds")?;
    json.float(sum.meta_time.0)
}

pub(crate) fn percent(share: f64) -> String {
    let value = share * 100.0;
    if value > 0.0 && value < 0.095 {
        "below 0.1 %".to_owned()
    } else if value < 9.95 {
        format!("{value:.1} %")
    } else {
        format!("{value:.0} %")
    }
}

pub(crate) fn plural(count: i64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::{percent, plural};

    #[test]
    fn a_share_has_two_digits() {
        assert_eq!(percent(0.0), "0.0 %");
        assert_eq!(percent(0.0004), "below 0.1 %");
        assert_eq!(percent(0.0123), "1.2 %");
        assert_eq!(percent(0.577), "58 %");
    }

    #[test]
    fn one_process_is_not_many() {
        assert_eq!(plural(1, "process", "processes"), "1 process");
        assert_eq!(plural(4, "process", "processes"), "4 processes");
    }
}
