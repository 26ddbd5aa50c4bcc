//! A finding's queries in words that can be typed: a command over the log, and SQL over the tables of a store.

use std::borrow::Cow;

use jiff::Timestamp;
use netra_analyse::Facts;
use netra_analyse::insight::{Files, Query, Source};
use netra_event::Module;

/// The job that is asked about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    source: &'a str,
    job: &'a str,
    start: Option<f64>,
}

impl<'a> Asked<'a> {
    /// A job by where it was read from.
    pub(crate) fn of(source: &'a str, facts: &'a Facts) -> Asked<'a> {
        let job = facts.key.as_ref().unwrap_or(&facts.id);
        Asked { source, job, start: facts.start.map(|start| start.0) }
    }

    /// The command that shows the rows; none where the job was not read from one log.
    pub(crate) fn command(&self, query: &Query) -> Option<String> {
        let calls = !matches!(query.source, Source::Counters(..));
        // Single calls can be chosen by their files, but not by what they are not about.
        if !self.source.ends_with(".darshan") || calls && matches!(query.files, Files::Except(_)) {
            return None;
        }
        let mut line = match query.source {
            Source::Counters(module, names) => {
                let mut line = format!("netra parse {} --module {module}", word(self.source));
                // A layout is shown whole: its counters have the numbers of components in their names.
                if module != Module::Lustre {
                    add(&mut line, " --counter ", &names.join(","));
                }
                line
            }
            Source::Calls(layer, kinds) => {
                let kinds: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
                let (log, layer) = (word(self.source), layer.name());
                format!("netra export {log} --as csv --layer {layer} --kind {}", kinds.join(","))
            }
            Source::Failures => format!("netra export {} --as csv --failed", word(self.source)),
        };
        match &query.files {
            Files::All => {}
            Files::Except(paths) => {
                paths
                    .iter()
                    .for_each(|path| add(&mut line, " --path ", &word(&format!("!{path}"))));
            }
            Files::These(paths) => {
                paths.iter().for_each(|path| add(&mut line, " --path ", &word(path)));
            }
            Files::Beginning(with) => add(&mut line, " --path ", &word(&format!("{with}*"))),
        }
        let counters = matches!(query.source, Source::Counters(..));
        if let Some((from, to)) = query.window.filter(|_| !counters) {
            add(&mut line, " --from ", &from.to_string());
            add(&mut line, " --to ", &to.to_string());
        }
        Some(line)
    }

    /// The same over a store that has the job.
    pub(crate) fn sql(&self, query: &Query) -> String {
        let (columns, table) = match query.source {
            Source::Counters(Module::Lustre, names) => {
                (format!("file, component, {}, osts", lower(names)), "lustre".to_owned())
            }
            Source::Counters(module, names) => {
                (format!("file, rank, {}", lower(names)), table(module))
            }
            Source::Calls(..) => (
                "t, t_ns, rank, function, file, \"offset\", length, bytes, duration, site".into(),
                "events".into(),
            ),
            Source::Failures => {
                ("t, t_ns, rank, function, file, error, duration, site".into(), "events".into())
            }
        };
        let mut sql =
            format!("SELECT {columns} FROM {table} WHERE job = job({})", quoted(self.job));
        match query.source {
            Source::Calls(layer, kinds) => {
                let kinds: Vec<String> = kinds.iter().map(|kind| quoted(kind.name())).collect();
                add(&mut sql, " AND layer = ", &quoted(layer.name()));
                add(&mut sql, " AND op IN (", &format!("{})", kinds.join(", ")));
            }
            Source::Failures => sql.push_str(" AND error IS NOT NULL"),
            Source::Counters(..) => {}
        }
        match &query.files {
            Files::All => {}
            Files::Except(paths) => {
                let paths: Vec<String> = paths.iter().map(|path| quoted(path)).collect();
                add(&mut sql, " AND file NOT IN (", &format!("{})", paths.join(", ")));
            }
            Files::These(paths) => {
                let paths: Vec<String> = paths.iter().map(|path| quoted(path)).collect();
                add(&mut sql, " AND file IN (", &format!("{})", paths.join(", ")));
            }
            Files::Beginning(with) => {
                add(&mut sql, " AND starts_with(file, ", &format!("{})", quoted(with)))
            }
        }
        let layout = matches!(query.source, Source::Counters(Module::Lustre, _));
        if matches!(query.source, Source::Counters(..)) {
            sql.push_str(if layout { " ORDER BY file, component" } else { " ORDER BY file, rank" });
            return sql;
        }
        if let Some((from, to)) = query.window {
            self.between(&mut sql, from, to);
        }
        sql + " ORDER BY t, t_ns"
    }

    fn between(&self, sql: &mut String, from: f64, to: f64) {
        let moment = |since: f64| {
            let micros = (self.start? + since) * 1e6;
            Timestamp::from_microsecond(micros.round() as i64).ok()
        };
        if let (Some(from), Some(to)) = (moment(from), moment(to)) {
            add(sql, " AND t BETWEEN TIMESTAMP ", &format!("'{from}' AND TIMESTAMP '{to}'"));
        }
    }
}

fn add(line: &mut String, option: &str, value: &str) {
    line.push_str(option);
    line.push_str(value);
}

/// The table of a module's records.
fn table(module: Module) -> String {
    module.name().replace('-', "").to_lowercase()
}

fn lower(names: &[&str]) -> String {
    names.join(", ").to_lowercase()
}

/// A text as SQL has it.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// A word as a shell takes it.
fn word(text: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,:=@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("'{}'", text.replace('\'', "'\\''")))
}

#[cfg(test)]
mod tests {
    use super::Asked;
    use netra_analyse::insight::{Files, Query, Source};
    use netra_event::{Kind, Layer, Module};

    const ASKED: Asked<'_> =
        Asked { source: "a b.darshan", job: "17", start: Some(1_700_000_000.5) };

    fn query(source: Source) -> Query {
        Query { source, files: Files::All, window: None }
    }

    #[test]
    fn counters_are_asked_of_parse_and_of_their_table() {
        let mut query =
            query(Source::Counters(Module::Mpiio, &["MPIIO_COLL_READS", "MPIIO_VIEWS"]));
        query.files = Files::These(vec!["/lus/it's".into()]);
        assert_eq!(
            ASKED.command(&query).unwrap(),
            r"netra parse 'a b.darshan' --module MPI-IO --counter MPIIO_COLL_READS,MPIIO_VIEWS --path '/lus/it'\''s'"
        );
        assert_eq!(
            ASKED.sql(&query),
            "SELECT file, rank, mpiio_coll_reads, mpiio_views FROM mpiio WHERE job = job('17') AND file IN ('/lus/it''s') ORDER BY file, rank"
        );
    }

    #[test]
    fn calls_are_asked_of_export_and_of_events() {
        let mut query = query(Source::Calls(Layer::Posix, &[Kind::Read, Kind::Write]));
        query.files = Files::Beginning("/lus/out.".into());
        query.window = Some((0.25, 2.0));
        assert_eq!(
            ASKED.command(&query).unwrap(),
            "netra export 'a b.darshan' --as csv --layer POSIX --kind read,write --path '/lus/out.*' --from 0.25 --to 2"
        );
        assert_eq!(
            ASKED.sql(&query),
            "SELECT t, t_ns, rank, function, file, \"offset\", length, bytes, duration, site FROM events WHERE job = job('17') AND layer = 'POSIX' AND op IN ('read', 'write') AND starts_with(file, '/lus/out.') AND t BETWEEN TIMESTAMP '2023-11-14T22:13:20.75Z' AND TIMESTAMP '2023-11-14T22:13:22.5Z' ORDER BY t, t_ns"
        );
    }

    #[test]
    fn what_is_no_log_has_no_command() {
        let asked = Asked { source: "job 17 (2 processes)", ..ASKED };
        assert_eq!(asked.command(&query(Source::Failures)), None);
        assert!(asked.sql(&query(Source::Failures)).contains("error IS NOT NULL"));
    }
}
