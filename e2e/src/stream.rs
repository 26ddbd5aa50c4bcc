//! The calls of a program on C's streams, as ltrace saw them, counted per file as the STDIO module counts.
//!
//! ltrace sees calls of the executable itself, which is where applications have theirs. A stream is known
//! by the address that `fopen` gave; the three that every process has are left out.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::log::Counters;
use crate::outcome::{DEADLINE, Outcome};
use crate::program::Program;
use crate::scene::Scene;

/// The calls asked of ltrace.
const CALLS: &str = "fopen+fopen64+fclose+fread+fwrite+fgets+fputs+fputc+fgetc+putc+getc+fprintf+\
    __fprintf_chk+vfprintf+__vfprintf_chk+fflush+fseek+fseeko+fseeko64+rewind";

/// Runs a program under ltrace in a scene; counters by path.
pub fn streams(program: &Program, scene: &Scene) -> Result<BTreeMap<String, Counters>> {
    let output = scene.expect().join("ltrace.txt");
    let mut command = Command::new("ltrace");
    command.args(["-f", "-e", CALLS, "-o"]).arg(&output);
    command.args(program.words()?).current_dir(scene.work()).stdin(Stdio::null());
    command.env("LC_ALL", "C");
    Outcome::of(&mut command, scene, DEADLINE).context("run ltrace")?;
    let text = fs::read_to_string(&output).context("ltrace wrote nothing")?;
    if text.is_empty() {
        bail!("ltrace wrote an empty file");
    }
    Ok(count(&text, &scene.work()))
}

/// Counts the calls in ltrace's text per file.
fn count(text: &str, work: &Path) -> BTreeMap<String, Counters> {
    let mut open: BTreeMap<String, String> = BTreeMap::new();
    let mut files: BTreeMap<String, Counters> = BTreeMap::new();
    for line in text.lines() {
        let Some(call) = Call::parse(line) else { continue };
        if call.name.starts_with("fopen") {
            let path = call.arguments.split('"').nth(1).unwrap_or_default();
            if call.result != "0" {
                let path = work.join(path).display().to_string();
                files.entry(path.clone()).or_default().add("STDIO_OPENS", 1);
                open.insert(call.result.to_owned(), path);
            }
            continue;
        }
        let stream = call.stream();
        let Some(path) = open.get(stream).cloned() else { continue };
        if call.name == "fclose" {
            open.remove(stream);
        } else {
            call.add(files.entry(path).or_default());
        }
    }
    files
}

/// One call.
struct Call<'a> {
    name: &'a str,
    arguments: &'a str,
    result: &'a str,
}

impl<'a> Call<'a> {
    /// `4711 program->name(arguments) = result`.
    fn parse(line: &'a str) -> Option<Call<'a>> {
        let (_, call) = line.split_once("->")?;
        let (name, rest) = call.split_once('(')?;
        let (arguments, result) = rest.rsplit_once(" = ")?;
        Some(Call {
            name,
            arguments: arguments.trim_end().strip_suffix(')')?,
            result: result.trim(),
        })
    }

    /// The argument that is the stream: the last one of calls that take a buffer, else the first.
    fn stream(&self) -> &'a str {
        let last = ["fread", "fwrite", "fgets", "fputs", "fputc", "putc"].contains(&self.name);
        let found = if last {
            self.arguments.rsplit_once(", ").map(|(_, last)| last)
        } else {
            self.arguments.split_once(", ").map(|(first, _)| first)
        };
        found.unwrap_or(self.arguments)
    }

    fn add(&self, counters: &mut Counters) {
        let value: i64 = self.result.parse().unwrap_or(0);
        // What found the end of the file, or failed, is no call that moved anything.
        match self.name {
            "fread" if value > 0 => counters.add("STDIO_READS", 1),
            "fgets" if self.result != "0" => counters.add("STDIO_READS", 1),
            "fgetc" | "getc" if !self.result.starts_with("-1") && self.result != "0xffffffff" => {
                counters.add("STDIO_READS", 1);
            }
            "fwrite" if value > 0 => counters.add("STDIO_WRITES", 1),
            "fputs" | "fputc" | "putc" | "fprintf" | "__fprintf_chk" | "vfprintf"
            | "__vfprintf_chk" => counters.add("STDIO_WRITES", 1),
            "fflush" => counters.add("STDIO_FLUSHES", 1),
            "fseek" | "fseeko" | "fseeko64" | "rewind" => counters.add("STDIO_SEEKS", 1),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_calls_of_streams_that_were_opened() {
        let text = "\
16 app->fopen(\"in.txt\", \"r\")       = 0x55e0
16 app->fopen(\"gone\", \"r\")         = 0
16 app->fgets( <unfinished ...>
16 app->fgets(\"a, (b\\n\", 4096, 0x55e0) = 0x7ffc
16 app->fgets(0x7ffc, 4096, 0x55e0)      = 0
16 app->fread(0x7ffc, 1, 10, 0x55e0)     = 10
16 app->__fprintf_chk(0x77aa, 1, 0x55, 7) = 4
16 app->fclose(0x55e0)                   = 0
16 app->fgets(0x7ffc, 4096, 0x55e0)      = 0x7ffc
16 +++ exited (status 0) +++
";
        let files = count(text, Path::new("/w"));
        assert_eq!(files.len(), 1);
        let counters: Vec<_> = files["/w/in.txt"].iter().collect();
        assert_eq!(counters, [("STDIO_OPENS", 1), ("STDIO_READS", 2)]);
    }
}
