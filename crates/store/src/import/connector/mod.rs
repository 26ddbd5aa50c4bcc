//! Files of the Darshan-LDMS connector: JSON messages, one a line, and tables with the published
//! header. `docs/format/connector.md` says what each field means.
//!
//! Only messages of opens name executable and file; the others are joined by record id, with what
//! the whole file names, since messages of several ranks come in any order.

mod csv;
mod json;
mod sent;

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _};
use std::path::Path;

pub use sent::{Sent, Text};

/// What a file of the connector is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A JSON object a line.
    Json,
    /// A header, then rows.
    Csv,
}

/// Why a file can not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system refused.
    #[error("reading it")]
    Io(#[from] std::io::Error),
    /// The first line names no column that is needed.
    #[error("line 1 has no column {column}; a table of the connector begins with its header")]
    Header {
        /// The column.
        column: &'static str,
    },
    /// Nothing in it is a message.
    #[error("none of its {lines} lines is a message of the connector (line {first}: {why})")]
    Nothing {
        /// Lines.
        lines: u64,
        /// The first that is none.
        first: u64,
        /// Why it is none.
        why: String,
    },
}

/// What was read.
#[derive(Debug, Default)]
pub struct Found {
    /// Messages.
    pub sent: Vec<Sent>,
    /// Lines that are no message: which, and why.
    pub odd: Vec<(u64, String)>,
    /// How many there were; not all are listed.
    pub odd_lines: u64,
}

/// Lines that are listed as being no message.
const LISTED: usize = 20;
/// The longest line that is read; a message has some hundred bytes.
const LINE: u64 = 1 << 20;

/// What kind of file this is, by its first byte that is not white space; nothing if it is neither.
///
/// # Errors
/// The system refused.
pub fn kind(path: &Path) -> std::io::Result<Option<Kind>> {
    let mut begin = Vec::new();
    File::open(path)?.take(4096).read_to_end(&mut begin)?;
    let begin = begin.trim_ascii_start();
    Ok(match begin.first() {
        Some(b'{') => Some(Kind::Json),
        Some(_)
            if csv::is_header(begin.split(|&byte| byte == b'\n').next().unwrap_or_default()) =>
        {
            Some(Kind::Csv)
        }
        _ => None,
    })
}

/// Reads a whole file.
///
/// # Errors
/// The system refused, or nothing in it is a message.
pub fn read(path: &Path, kind: Kind) -> Result<Found, Error> {
    let mut file = File::open(path)?;
    file.rewind()?;
    let mut input = BufReader::with_capacity(1 << 18, file);
    let mut found = Found::default();
    let (mut line, mut number) = (Vec::new(), 0);
    let mut columns = None;
    let mut known = sent::Texts::default();
    loop {
        line.clear();
        if input.by_ref().take(LINE).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        number += 1;
        let text = line.trim_ascii();
        if text.is_empty() {
            continue;
        }
        let read = match (kind, &columns) {
            (Kind::Json, _) => json::messages(text, &mut known, &mut found.sent),
            (Kind::Csv, None) => {
                columns = Some(csv::Columns::of(text)?);
                continue;
            }
            // Daemons that begin anew repeat the header.
            (Kind::Csv, Some(_)) if csv::is_header(text) => continue,
            (Kind::Csv, Some(columns)) => columns.row(text, &mut known, &mut found.sent),
        };
        if let Err(why) = read {
            found.odd_lines += 1;
            if found.odd.len() < LISTED {
                found.odd.push((number, why));
            }
        }
    }
    if found.sent.is_empty() {
        let (first, why) = found.odd.into_iter().next().unwrap_or((1, "it is empty".to_owned()));
        return Err(Error::Nothing { lines: number, first, why });
    }
    join(&mut found.sent);
    Ok(found)
}

/// Fills in executables and files where only opens name them.
fn join(sent: &mut [Sent]) {
    let mut programs: HashMap<i64, Text> = HashMap::new();
    let mut files: HashMap<u64, Text> = HashMap::new();
    for message in sent.iter() {
        if let Some(exe) = &message.exe {
            programs.entry(message.job_id).or_insert_with(|| exe.clone());
        }
        if let Some(file) = &message.file {
            files.entry(message.record_id).or_insert_with(|| file.clone());
        }
    }
    for message in sent {
        if message.exe.is_none() {
            message.exe = programs.get(&message.job_id).cloned();
        }
        if message.file.is_none() {
            message.file = files.get(&message.record_id).cloned();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Error, Kind, kind, read};
    use std::io::Write as _;

    fn file(text: &str) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file
    }

    const MET: &str = r#"{"schema":"darshan_data", "uid":99, "exe":"/bin/app","job_id":4242,"rank":3,"ProducerName":"vm","file":"/p/x.dat","record_id":9144283516643113807,"module":"POSIX","type":"MET","max_byte":-1,"switches":-1,"flushes":-1,"cnt":1,"op":"open","seg":[{"pt_sel":-1,"irreg_hslab":-1,"reg_hslab":-1,"ndims":-1,"npoints":-1,"off":-1,"len":-1,"start":0.005337,"dur":0.000028,"total":0.000028,"timestamp":1794772215.135736}]}"#;
    const MOD: &str = r#"{"schema":"N/A", "uid":99, "exe":"N/A","job_id":4242,"rank":3,"ProducerName":"vm","file":"N/A","record_id":9144283516643113807,"module":"POSIX","type":"MOD","max_byte":4095,"switches":0,"flushes":-1,"cnt":1,"op":"write","seg":[{"pt_sel":-1,"irreg_hslab":-1,"reg_hslab":-1,"ndims":-1,"npoints":-1,"off":0,"len":4096,"start":0.006,"dur":0.000500,"total":0.0005,"timestamp":1794772215.136500}]}"#;

    #[test]
    fn messages_are_joined_with_what_opens_name() {
        // The write comes first, as it may when ranks are mixed.
        let file = file(&format!("{MOD}\n\n{MET}\nnonsense\n"));
        assert_eq!(kind(file.path()).unwrap(), Some(Kind::Json));
        let found = read(file.path(), Kind::Json).unwrap();
        assert_eq!((found.sent.len(), found.odd_lines, found.odd[0].0), (2, 1, 4));
        let write = &found.sent[0];
        assert_eq!(write.file.as_deref(), Some("/p/x.dat"));
        assert_eq!(write.exe.as_deref(), Some("/bin/app"));
        assert_eq!((write.uid, write.job_id, write.rank, write.cnt), (99, 4242, 3, 1));
        assert_eq!((write.offset, write.length, write.max_byte), (0, 4096, 4095));
        assert_eq!((write.start, write.took), (1_794_772_215_136_000_000, 500_000));
        assert_eq!(found.sent[1].start, 1_794_772_215_135_708_000);
    }

    #[test]
    fn a_table_says_the_same() {
        let header = "#module,uid,ProducerName,switches,file,rank,flushes,record_id,exe,max_byte,type,job_id,op,cnt,seg:off,seg:pt_sel,seg:dur,seg:len,seg:ndims,seg:reg_hslab,seg:irreg_hslab,seg:data_set,seg:npoints,seg:timestamp";
        let open = "POSIX,99,vm,-1,\"/p/with, comma\",3,-1,9144283516643113807,/bin/app,-1,MET,4242,open,1,-1,-1,0.000028,-1,-1,-1,-1,N/A,-1,1794772215.135736";
        let write = "POSIX,99,vm,0,N/A,3,-1,9144283516643113807,N/A,4095,MOD,4242,write,1,0,-1,0.000500,4096,-1,-1,-1,N/A,-1,1794772215.136500123";
        let file = file(&format!("{header}\n{open}\n{write}\n{header}\nPOSIX,too,short\n"));
        assert_eq!(kind(file.path()).unwrap(), Some(Kind::Csv));
        let found = read(file.path(), Kind::Csv).unwrap();
        assert_eq!((found.sent.len(), found.odd_lines), (2, 1));
        assert_eq!(found.sent[1].file.as_deref(), Some("/p/with, comma"));
        assert_eq!(found.sent[1].start, 1_794_772_215_136_000_123);
        assert_eq!(found.sent[1].length, 4096);
    }

    #[test]
    fn what_is_no_message_says_why() {
        let file = file("{\"a\":1}\n");
        let refused = read(file.path(), Kind::Json).unwrap_err();
        assert!(matches!(&refused, Error::Nothing { lines: 1, first: 1, .. }), "{refused}");
        assert!(refused.to_string().contains("no record_id"), "{refused}");
        let file = self::file("a,b,c\n1,2,3\n");
        assert_eq!(kind(file.path()).unwrap(), None);
        assert!(matches!(read(file.path(), Kind::Csv), Err(Error::Header { column: "module" })));
    }
}
