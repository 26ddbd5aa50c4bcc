//! Which records and counters of a log are wanted, when not all are.

use std::io::{Result, Write};

use netra_darshan::counter;
use netra_darshan::read::{Log, Record};

use crate::field::{Take, Value};

/// What is wanted; a list that is empty leaves nothing out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Only {
    /// Names of modules, as lines have them.
    pub modules: Vec<String>,
    /// Ranks; −1 is the record of all ranks together.
    pub ranks: Vec<i64>,
    /// Names of files; one that ends in `*` stands for all that begin so, one that begins with `!` is left out.
    pub files: Vec<String>,
    /// Names of counters.
    pub counters: Vec<String>,
}

impl Only {
    /// Whether nothing is left out.
    #[must_use]
    pub fn is_all(&self) -> bool {
        *self == Only::default()
    }

    /// Why a log has nothing of what is wanted, in a sentence; nothing if it has some.
    #[must_use]
    pub fn misses(&self, log: &Log) -> Option<String> {
        if self.is_all() {
            return None;
        }
        let (mut lowest, mut highest) = (i64::MAX, i64::MIN);
        let mut others = Vec::new();
        for module in log.modules() {
            let Some(table) = counter::current(module) else { continue };
            others.push(module.name());
            let is_named = |name: &&str| self.has_counter(name);
            if !self.has_module(module.name()) || !table.int.iter().chain(table.float).any(is_named)
            {
                continue;
            }
            let mut records = log.records(module);
            while let Some(Record::Counters(record)) = records.next_record() {
                let rank = record.rank.0;
                (lowest, highest) = (lowest.min(rank), highest.max(rank));
                if self.has_record(rank, log.names().get(record.id).unwrap_or_default()) {
                    return None;
                }
            }
        }
        let own = log.section().own_records();
        if own.iter().any(|record| {
            self.has_module(&record.module) && self.has_record(record.rank.0, &record.name)
        }) {
            return None;
        }
        others.extend(own.iter().map(|record| record.module.as_str()));
        others.dedup();
        if !self.modules.is_empty() && !others.iter().any(|name| self.has_module(name)) {
            let (wanted, others) = (self.modules.join(", "), others.join(", "));
            return Some(format!("nothing of {wanted} is in this log; it has {others}"));
        }
        match self.ranks.iter().find(|rank| !(lowest..=highest).contains(rank)) {
            Some(rank) if lowest <= highest => Some(format!(
                "there is no record of rank {rank}; records are of ranks {lowest} to {highest}"
            )),
            _ => Some("no record matches what was asked for".to_owned()),
        }
    }

    pub(crate) fn has_module(&self, name: &str) -> bool {
        holds(&self.modules, |wanted| wanted.eq_ignore_ascii_case(name))
    }

    pub(crate) fn has_counter(&self, name: &str) -> bool {
        holds(&self.counters, |wanted| wanted.eq_ignore_ascii_case(name))
    }

    pub(crate) fn has_record(&self, rank: i64, file: &[u8]) -> bool {
        let is = |name: &str| match name.strip_suffix('*') {
            Some(beginning) => file.starts_with(beginning.as_bytes()),
            None => file == name.as_bytes(),
        };
        let unwanted = |name: &String| name.strip_prefix('!').is_some_and(is);
        let mut wanted = self.files.iter().filter(|name| !name.starts_with('!')).peekable();
        holds(&self.ranks, |wanted| *wanted == rank)
            && !self.files.iter().any(unwanted)
            && (wanted.peek().is_none() || wanted.any(|name| is(name)))
    }

    /// Whether a line of counters is wanted: module, rank, record, counter, value, file, with tabs between.
    fn has_line(&self, line: &[u8]) -> bool {
        if line.first().is_none_or(|first| *first == b'#') {
            return false;
        }
        let parts: Vec<&[u8]> = line.split(|byte| *byte == b'\t').collect();
        let [module, rank, _, counter, _, file, ..] = parts[..] else { return false };
        let text = |part| std::str::from_utf8(part).unwrap_or_default();
        self.has_module(text(module))
            && self.has_counter(text(counter))
            && text(rank).parse().is_ok_and(|rank| self.has_record(rank, file))
    }
}

/// Whether something is in a list, or the list is empty.
fn holds<T>(list: &[T], is: impl Fn(&T) -> bool) -> bool {
    list.is_empty() || list.iter().any(is)
}

/// Passes on the wanted ones of a record's values.
pub(crate) struct Chosen<'a, T> {
    pub(crate) only: &'a Only,
    pub(crate) to: &'a mut T,
}

impl<T: Take> Take for Chosen<'_, T> {
    fn take(&mut self, name: &str, value: Value<'_>) -> Result<()> {
        if self.only.has_counter(name) { self.to.take(name, value) } else { Ok(()) }
    }
}

/// Passes on the wanted ones of the lines that it is given.
#[derive(Debug)]
pub struct Lines<'a, W> {
    only: &'a Only,
    out: W,
    line: Vec<u8>,
}

impl<'a, W: Write> Lines<'a, W> {
    /// Writes to another writer.
    pub fn new(only: &'a Only, out: W) -> Lines<'a, W> {
        Lines { only, out, line: Vec::new() }
    }
}

impl<W: Write> Write for Lines<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            if let Some(line) = self.line.strip_suffix(b"\n") {
                if self.only.has_line(line) {
                    self.out.write_all(&self.line)?;
                }
                self.line.clear();
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::{Lines, Only};
    use std::io::Write as _;

    #[track_caller]
    fn kept(only: &Only, want: &[usize]) {
        let text = [
            "# POSIX module data\n",
            "POSIX\t-1\t7\tPOSIX_READS\t5\t/lus/a\t/lus\tlustre\n",
            "POSIX\t3\t8\tPOSIX_READS\t6\t/lus/b\t/lus\tlustre\n",
            "POSIX\t3\t8\tPOSIX_WRITES\t0\t/lus/b\t/lus\tlustre\n",
            "MPI-IO\t3\t8\tMPIIO_VIEWS\t1\t/lus/b\t/lus\tlustre\n",
        ];
        let (mut out, whole) = (Vec::new(), text.concat());
        let mut lines = Lines::new(only, &mut out);
        // Pieces end anywhere.
        for piece in whole.as_bytes().chunks(7) {
            lines.write_all(piece).unwrap();
        }
        let want: String = want.iter().map(|line| text[*line]).collect();
        assert_eq!(String::from_utf8(out).unwrap(), want);
    }

    #[test]
    fn every_list_narrows() {
        let word = |text: &str| vec![text.to_owned()];
        kept(&Only { modules: word("mpi-io"), ..Only::default() }, &[4]);
        kept(&Only { ranks: vec![-1], ..Only::default() }, &[1]);
        kept(&Only { files: word("/lus/b"), ..Only::default() }, &[2, 3, 4]);
        kept(&Only { files: word("!/lus/b"), ..Only::default() }, &[1]);
        kept(
            &Only { files: word("/lus/*"), counters: word("POSIX_READS"), ..Only::default() },
            &[1, 2],
        );
        kept(&Only { files: word("/lus/"), ..Only::default() }, &[]);
    }
}
