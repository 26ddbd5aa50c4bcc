//! One run of a workload: which MPI, how many ranks, where, and what stands in front.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::catalogue::{Stdout, Workload};
use crate::compile::compile;
use crate::mpi::{Mpi, need};

/// The rank as launchers tell it, before MPI has begun; for words in a shell.
const RANK: &str = "${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-0}}";

/// What to start. Words in front of the launcher see one process tree, words in front of a rank
/// are there once for each.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The program.
    pub workload: &'static Workload,
    /// The MPI it is built for.
    pub mpi: Mpi,
    /// How many ranks; without MPI there is one.
    pub ranks: u32,
    /// In front of the launcher: `netra run --`.
    pub with: Vec<String>,
    /// In front of each rank's program; a shell puts the rank where a word says `{rank}`.
    pub with_rank: Vec<String>,
    /// The knobs, as the program takes them.
    pub knobs: Vec<String>,
}

impl Launch {
    /// The run as a command that starts in `folder`. Compiles what is not compiled yet.
    pub fn command(&self, folder: &Path) -> Result<Command> {
        let program = compile(self.workload, self.mpi)?;
        let launcher = self.mpi.launcher(self.ranks);
        if let Some(first) = launcher.first() {
            need(first, self.mpi.packages())?;
        }
        let mut words: Vec<OsString> = self.with.iter().map(OsString::from).collect();
        words.extend(launcher.into_iter().map(OsString::from));
        words.extend(self.shell());
        words.extend(program);
        words.extend(self.knobs.iter().map(OsString::from));
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).current_dir(folder);
        Ok(command)
    }

    /// The program's own answer to `--expect`, without launcher and without MPI.
    pub fn expectation(&self) -> Result<Command> {
        let words = compile(self.workload, self.mpi)?;
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).args(["--expect", "--ranks", &self.ranks.to_string()]);
        command.args(&self.knobs);
        Ok(command)
    }

    /// A shell in each rank, where something depends on the rank.
    fn shell(&self) -> Vec<OsString> {
        let redirect = match self.workload.stdout {
            Stdout::Launcher => String::new(),
            Stdout::FilePerRank => format!(" > \"stdout.{RANK}\""),
        };
        if self.with_rank.is_empty() && redirect.is_empty() {
            return Vec::new();
        }
        let words: Vec<String> = self.with_rank.iter().map(|word| quoted(word)).collect();
        let script = format!("exec {} \"$@\"{redirect}", words.join(" "));
        vec!["sh".into(), "-c".into(), script.into(), "sh".into()]
    }
}

/// A word for the shell, with `{rank}` left to it.
fn quoted(word: &str) -> String {
    let safe = format!("'{}'", word.replace('\'', "'\\''"));
    safe.replace("{rank}", &format!("'\"{RANK}\"'"))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_word_reaches_the_shell_whole_and_with_its_rank() {
        assert_eq!(quoted("it's"), "'it'\\''s'");
        let rank = "${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-0}}";
        assert_eq!(quoted("out.{rank}"), format!("'out.'\"{rank}\"''"));
    }
}
