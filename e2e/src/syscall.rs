//! The system calls of a program as strace saw them, counted per file as the POSIX module counts.
//!
//! The rule that says which calls are the program's own: only calls on files below the working
//! directory count. What the loader and libc read (`/etc`, `/usr`, locales) lies elsewhere. Calls
//! that libc's stdio makes on such a file are told apart by the caller, who knows which files have
//! a STDIO record.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::log::Counters;
use crate::outcome::{DEADLINE, Outcome};
use crate::program::Program;
use crate::scene::Scene;

/// The calls asked of strace: all that POSIX counters stand for.
const CALLS: &str = "trace=open,openat,openat2,creat,close,dup,dup2,dup3,fcntl,read,pread64,readv,\
    preadv,preadv2,write,pwrite64,writev,pwritev,pwritev2,lseek,stat,lstat,fstat,newfstatat,statx,\
    fsync,fdatasync,copy_file_range,sendfile,splice";

/// A traced run: what the user saw, and the counters of each file.
#[derive(Debug)]
pub struct Traced {
    /// Output and end of the program.
    pub outcome: Outcome,
    /// Counters by path.
    pub files: BTreeMap<String, Counters>,
}

/// Runs a program under strace in a scene.
pub fn trace(program: &Program, scene: &Scene) -> Result<Traced> {
    let output = scene.expect().join("strace.txt");
    let mut command = Command::new("strace");
    command.args(["-f", "-y", "-s", "0", "-e", CALLS, "-e", "signal=none", "-o"]).arg(&output);
    command.args(program.words()?).current_dir(scene.work()).stdin(Stdio::null());
    command.env("LC_ALL", OsString::from("C")).env("E2E_EXPECT_DIR", scene.expect());
    let outcome = Outcome::of(&mut command, scene, DEADLINE).context("run strace")?;
    let text = fs::read_to_string(&output).context("strace wrote nothing")?;
    let files = count(&text, &scene.work())?;
    Ok(Traced { outcome, files })
}

/// Counts the calls in strace's text per file below `work`.
fn count(text: &str, work: &Path) -> Result<BTreeMap<String, Counters>> {
    let mut files: BTreeMap<String, Counters> = BTreeMap::new();
    let mut unfinished: BTreeMap<&str, &str> = BTreeMap::new();
    for line in text.lines() {
        let Some((pid, rest)) = line.split_once(' ') else { continue };
        let rest = rest.trim_start();
        if let Some(begun) = rest.strip_suffix("<unfinished ...>") {
            unfinished.insert(pid, begun.trim_end());
            continue;
        }
        let joined = match rest.strip_prefix("<... ") {
            None => rest.to_owned(),
            Some(resumed) => {
                let begun = unfinished.remove(pid).unwrap_or_default();
                let end = resumed.split_once("resumed>").map_or("", |(_, end)| end);
                format!("{begun}{end}")
            }
        };
        if let Some(call) = Call::parse(&joined) {
            call.count(work, &mut files);
        }
    }
    if text.is_empty() {
        bail!("strace wrote an empty file");
    }
    Ok(files)
}

/// One finished call.
struct Call<'a> {
    name: &'a str,
    arguments: &'a str,
    result: &'a str,
}

impl<'a> Call<'a> {
    fn parse(line: &'a str) -> Option<Call<'a>> {
        let (name, rest) = line.split_once('(')?;
        let (arguments, result) = rest.rsplit_once(" = ")?;
        (!name.contains(' ')).then_some(Call { name, arguments, result })
    }

    /// The number in front of the result: `3</path>` gives 3.
    fn value(&self) -> i64 {
        let digits = self.result.split(['<', ' ']).next().unwrap_or_default();
        digits.parse().unwrap_or(-1)
    }

    /// The path in `3</path>`, of the first argument or of the result.
    fn path(text: &str) -> Option<&str> {
        let (_, rest) = text.split_once('<')?;
        rest.split_once('>').map(|(path, _)| path.trim_end_matches(" (deleted)"))
    }

    fn count(&self, work: &Path, files: &mut BTreeMap<String, Counters>) {
        let value = self.value();
        if value < 0 {
            return;
        }
        if ["copy_file_range", "sendfile", "splice"].contains(&self.name) {
            self.count_copy(value, work, files);
            return;
        }
        let opens = ["open", "openat", "openat2", "creat"].contains(&self.name);
        let path = if opens { Call::path(self.result) } else { Call::path(self.arguments) };
        let named = ["stat", "lstat", "newfstatat", "statx"]
            .contains(&self.name)
            .then(|| self.named_path(work))
            .flatten();
        let Some(path) = named.as_deref().or(path).filter(|path| Path::new(path).starts_with(work))
        else {
            return;
        };
        let duplicates = self.name == "fcntl" && self.arguments.contains("F_DUPFD");
        let counters = files.entry(path.to_owned()).or_default();
        match self.name {
            _ if opens => counters.add("POSIX_OPENS", 1),
            "dup" | "dup2" | "dup3" => duplicate(counters),
            "fcntl" if duplicates => duplicate(counters),
            "read" | "pread64" | "readv" | "preadv" | "preadv2" => {
                counters.add("POSIX_READS", 1);
                counters.add("POSIX_BYTES_READ", value);
            }
            "write" | "pwrite64" | "writev" | "pwritev" | "pwritev2" => {
                counters.add("POSIX_WRITES", 1);
                counters.add("POSIX_BYTES_WRITTEN", value);
            }
            "lseek" => counters.add("POSIX_SEEKS", 1),
            "fsync" => counters.add("POSIX_FSYNCS", 1),
            "fdatasync" => counters.add("POSIX_FDSYNCS", 1),
            "fstat" | "stat" | "lstat" | "newfstatat" | "statx"
                if self.arguments.contains("S_IFREG") =>
            {
                counters.add("POSIX_STATS", 1);
            }
            _ => {}
        }
    }

    /// Bytes moved inside the kernel are a read of the one file and a write of the other.
    fn count_copy(&self, value: i64, work: &Path, files: &mut BTreeMap<String, Counters>) {
        let mut paths = self.arguments.split('<').skip(1).filter_map(|rest| rest.split('>').next());
        let (first, second) = (paths.next().unwrap_or(""), paths.next().unwrap_or(""));
        let (from, to) = if self.name == "sendfile" { (second, first) } else { (first, second) };
        for (path, calls, bytes) in
            [(from, "POSIX_READS", "POSIX_BYTES_READ"), (to, "POSIX_WRITES", "POSIX_BYTES_WRITTEN")]
        {
            if Path::new(path).starts_with(work) {
                let counters = files.entry(path.to_owned()).or_default();
                counters.add(calls, 1);
                counters.add(bytes, value);
            }
        }
    }

    /// The directory and name of a stat by name; an empty name means the descriptor itself. Without a directory a
    /// name is relative to where the program began.
    fn named_path(&self, work: &Path) -> Option<String> {
        let quoted = self.arguments.split('"').nth(1)?;
        if quoted.is_empty() {
            return None;
        }
        let own = self.arguments.starts_with('"');
        let folder = if own { work } else { Path::new(Call::path(self.arguments)?) };
        Some(folder.join(quoted).display().to_string())
    }
}

/// dup counts as an open too, as Darshan defines it.
fn duplicate(counters: &mut Counters) {
    counters.add("POSIX_OPENS", 1);
    counters.add("POSIX_DUPS", 1);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_calls_on_files_of_the_working_directory() {
        let text = "\
10 openat(AT_FDCWD</w>, \"a\", O_RDWR|O_CREAT, 0644) = 3</w/a>
10 write(3</w/a>, \"\"..., 100) = 100
10 openat(AT_FDCWD</w>, \"/etc/passwd\", O_RDONLY) = 4</etc/passwd>
10 read(4</etc/passwd>, \"\"..., 10) = 10
10 read(3</w/a>,  <unfinished ...>
11 dup2(3</w/a>, 9) = 9</w/a>
10 <... read resumed>\"\"..., 7) = 7
10 pread64(3</w/a>, 0x1, 8, -1) = -1 EINVAL (Invalid argument)
10 newfstatat(AT_FDCWD</w>, \"a\", {st_mode=S_IFREG|0644, st_size=1, ...}, 0) = 0
10 newfstatat(3</w/a>, \"\", {st_mode=S_IFREG|0644, st_size=1, ...}, AT_EMPTY_PATH) = 0
10 copy_file_range(3</w/a>, NULL, 5</w/b>, NULL, 100, 0) = 60
10 +++ exited with 0 +++
";
        let files = count(text, Path::new("/w")).unwrap();
        assert_eq!(files.len(), 2);
        assert_eq!(files["/w/b"].get("POSIX_BYTES_WRITTEN"), 60);
        let a = &files["/w/a"];
        for (counter, want) in [
            ("POSIX_OPENS", 2),
            ("POSIX_DUPS", 1),
            ("POSIX_WRITES", 1),
            ("POSIX_BYTES_WRITTEN", 100),
            ("POSIX_READS", 2),
            ("POSIX_BYTES_READ", 67),
            ("POSIX_STATS", 2),
        ] {
            assert_eq!(a.get(counter), want, "{counter}");
        }
    }
}
