//! Questions one after the other: lines are edited and remembered, a question ends with a semicolon.

use std::io::{self, IsTerminal as _, Read as _};
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;
use clap::ValueEnum as _;
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{Config, Editor};

use super::complete::Words;
use super::{Asker, Asking, Format, print};
use crate::surroundings;

const HELP: &str = "\
A question ends with a semicolon, and may have several lines.
  \\d           the tables        \\d TABLE     the columns of a table
  \\format F    text, csv, json, json-lines, parquet or arrow
  \\timing      say how long a question took, or stop saying it
  \\?           this             \\q            the end (also Ctrl-D)";

/// Talks until there is nothing more to read.
pub(crate) fn talk(asker: &Asker, asking: Asking) -> Result<()> {
    if !io::stdin().is_terminal() {
        let mut text = String::new();
        io::stdin().read_to_string(&mut text)?;
        return script(asker, asking, &text);
    }
    let mut editor: Editor<Words, FileHistory> =
        Editor::with_config(Config::builder().auto_add_history(false).build())?;
    editor.set_helper(Some(Words::of(asker)));
    let history = history();
    if let Some(path) = &history {
        // The first time there is none.
        drop(editor.load_history(path));
    }
    eprintln!("netra {}: \\? for help", env!("CARGO_PKG_VERSION"));
    let mut shell = Shell { asker, asking, timing: true };
    shell.lines(&mut editor)?;
    if let Some(path) = &history {
        let saved = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        if saved.is_ok() {
            drop(editor.save_history(path));
        }
    }
    Ok(())
}

/// Answers what a file or a pipe asks. The end of it ends the last question, too; lines with a backslash are what they
/// are on a terminal.
fn script(asker: &Asker, asking: Asking, text: &str) -> Result<()> {
    let mut shell = Shell { asker, asking, timing: false };
    let mut begun = String::new();
    for line in text.lines() {
        if begun.trim().is_empty() && line.trim().starts_with('\\') {
            if !shell.command(line.trim()) {
                return Ok(());
            }
            continue;
        }
        begun.push_str(line);
        begun.push('\n');
        let (all, rest) = questions(&begun);
        for question in all {
            print(asker, &shell.asking, &question)?;
        }
        begun = rest;
    }
    let is_said = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with("--");
    if begun.lines().any(is_said) {
        print(asker, &shell.asking, begun.trim())?;
    }
    Ok(())
}

/// Beside the user's other state.
fn history() -> Option<PathBuf> {
    Some(surroundings::state()?.join("sql_history"))
}

struct Shell<'a> {
    asker: &'a Asker,
    asking: Asking,
    timing: bool,
}

impl Shell<'_> {
    fn lines(&mut self, editor: &mut Editor<Words, FileHistory>) -> Result<()> {
        let mut begun = String::new();
        loop {
            let prompt = if begun.is_empty() { "netra> " } else { "   ... " };
            match editor.readline(prompt) {
                Ok(line) if begun.is_empty() && line.trim().starts_with('\\') => {
                    drop(editor.add_history_entry(line.trim()));
                    if !self.command(line.trim()) {
                        return Ok(());
                    }
                }
                Ok(line) => {
                    begun.push_str(&line);
                    begun.push('\n');
                    let (all, rest) = questions(&begun);
                    for question in all {
                        drop(editor.add_history_entry(format!("{question};")));
                        self.ask(&question);
                    }
                    begun = rest;
                }
                // What was begun is dropped, as in every shell.
                Err(ReadlineError::Interrupted) => begun.clear(),
                Err(ReadlineError::Eof) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// An error ends the question, not the talk.
    fn ask(&self, question: &str) {
        let began = Instant::now();
        match print(self.asker, &self.asking, question) {
            Ok(_) if self.timing => eprintln!("{:.3} s", began.elapsed().as_secs_f64()),
            Ok(_) => {}
            Err(error) => eprintln!("netra: {error:#}"),
        }
    }

    /// Whether the talk goes on.
    fn command(&mut self, line: &str) -> bool {
        let mut words = line.split_whitespace();
        match (words.next().unwrap_or_default(), words.next()) {
            ("\\q", _) => return false,
            ("\\?" | "\\h", _) => eprintln!("{HELP}"),
            ("\\timing", _) => {
                self.timing = !self.timing;
                eprintln!("timing is {}", if self.timing { "on" } else { "off" });
            }
            ("\\format", Some(name)) => match Format::from_str(name, true) {
                Ok(format) => self.asking.format = format,
                Err(error) => eprintln!("netra: {error}"),
            },
            ("\\d" | "\\dt", None) => eprintln!("{}", self.asker.session.tables().join("\n")),
            ("\\d", Some(table)) => self.describe(table),
            (other, _) => eprintln!("netra: {other} is not known; \\? for help"),
        }
        true
    }

    fn describe(&self, table: &str) {
        let table = table.trim_end_matches(';');
        match self.asker.runtime.block_on(self.asker.session.columns(table)) {
            Ok(columns) => {
                for field in columns.fields() {
                    let says = netra_store::schema::table(table)
                        .and_then(|table| table.column(field.name()))
                        .map(netra_store::schema::Column::comment);
                    eprintln!(
                        "{:24} {:12} {}",
                        field.name(),
                        kind(field.data_type()),
                        says.unwrap_or_default()
                    );
                }
            }
            Err(error) => eprintln!("netra: {error}"),
        }
    }
}

/// A type in a word.
fn kind(kind: &netra_show::door::DataType) -> String {
    use netra_show::door::DataType;
    match kind {
        DataType::Utf8 | DataType::Utf8View => "text".to_owned(),
        DataType::Int64 => "bigint".to_owned(),
        DataType::Int16 => "smallint".to_owned(),
        DataType::Float64 => "double".to_owned(),
        DataType::Timestamp(..) => "timestamptz".to_owned(),
        other => other.to_string().to_lowercase(),
    }
}

/// The questions that a text holds, and what is begun behind the last semicolon. Semicolons in quotes and comments end
/// nothing.
fn questions(text: &str) -> (Vec<String>, String) {
    let mut all = Vec::new();
    let mut begun = String::new();
    let mut quote = None;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (None, ';') => {
                let question = std::mem::take(&mut begun);
                if !question.trim().is_empty() {
                    all.push(question.trim().to_owned());
                }
                continue;
            }
            (None, '\'' | '"') => quote = Some(letter),
            (None, '-') if letters.peek() == Some(&'-') => quote = Some('\n'),
            (Some(end), _) if letter == end => quote = None,
            _ => {}
        }
        begun.push(letter);
    }
    let rest = if begun.trim().is_empty() { String::new() } else { begun };
    (all, rest)
}

#[cfg(test)]
mod tests {
    use super::questions;

    #[track_caller]
    fn check(text: &str, want: &[&str], rest: &str) {
        let (all, begun) = questions(text);
        assert_eq!(all, want);
        assert_eq!(begun, rest);
    }

    #[test]
    fn a_question_ends_with_a_semicolon() {
        check("SELECT 1; SELECT\n2 ;\n", &["SELECT 1", "SELECT\n2"], "");
        check("SELECT 1;;\n", &["SELECT 1"], "");
        check("SELECT", &[], "SELECT");
    }

    #[test]
    fn a_semicolon_in_quotes_or_a_comment_ends_nothing() {
        check("SELECT 'a;b', \"c;d\" -- e;f\n;", &["SELECT 'a;b', \"c;d\" -- e;f"], "");
        check("SELECT 'it''s;'; x", &["SELECT 'it''s;'"], " x");
    }
}
