//! `netra settings`: every setting, its value, where that came from, and the page that says more.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Result;
use netra_event::{Reader, Setting};
use netra_show::Json;

use super::reading::Told;
use crate::setting::{self, File};
use crate::{folder, output};

const EXAMPLES: &str = "\
Settings are variables of the environment, or lines of these files, the later over the earlier:
  /etc/netra/netra.toml               the site's
  $XDG_CONFIG_HOME/netra/netra.toml   yours (~/.config where that is not set)
  .netra.toml                         the project's, in this folder or above it
  $NETRA_CONFIG                       any other
What is typed stands over the environment, and that over the files. Options of a command stand in its
table, such as [report] with format = \"json\". docs/reference/settings.md has all of it.

Examples:
  netra settings                 every setting
  netra settings --set           only those that are set
  netra settings --format json";

/// What to show.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Only settings that are set somewhere
    #[arg(long)]
    set: bool,
    /// How to say it
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    format: Told,
}

/// A setting as it is in force.
struct Row {
    setting: Setting,
    value: Option<(String, String)>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let rows = Setting::ALL.iter().map(|setting| {
        let found = setting::found(*setting);
        let value = found.map(|(value, from)| (value.to_string_lossy().into_owned(), from));
        Row { setting: *setting, value }
    });
    let rows: Vec<Row> = rows.filter(|row| !args.set || row.value.is_some()).collect();
    let mut out = output::standard()?;
    match args.format {
        Told::Text => text(&mut out, &rows)?,
        Told::Json => json(&mut out, &rows)?,
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn text(out: &mut impl Write, rows: &[Row]) -> io::Result<()> {
    for (reader, title) in [
        (Reader::Library, "the library, in the application"),
        (Reader::Program, "the program"),
        (Reader::Python, "Python"),
        (Reader::Site, "the scripts for sites"),
    ] {
        let mut rows = rows.iter().filter(|row| row.setting.reader() == reader).peekable();
        if rows.peek().is_none() {
            continue;
        }
        writeln!(out, "{title}")?;
        for Row { setting, value } in rows {
            let (value, from) = match value {
                Some((value, from)) => (value.as_str(), from.as_str()),
                None if setting.default().is_empty() => ("-", "not set"),
                None => (setting.default(), "default"),
            };
            writeln!(
                out,
                "  {:<20}  {value}  ({from}; docs/{})",
                setting.variable(),
                setting.page()
            )?;
        }
        writeln!(out)?;
    }
    writeln!(out, "options of commands, from files")?;
    let mut none = true;
    for file in setting::files() {
        for (command, option, value) in options(file) {
            none = false;
            writeln!(out, "  {command} --{option}  {value}  ({})", file.path.display())?;
        }
    }
    if none {
        writeln!(out, "  none")?;
    }
    writeln!(out, "\nfiles")?;
    for File { whose, path, says, .. } in setting::files() {
        let there = if says.is_some() { "read" } else { "not there" };
        writeln!(out, "  {whose:<12}  {} ({there})", path.display())?;
    }
    for folder in folder::usual() {
        for name in ["report.toml", "views", "analysis"] {
            let path = folder.join(name);
            if path.exists() {
                writeln!(out, "  {:<12}  {} (read)", "reports", path.display())?;
            }
        }
    }
    Ok(())
}

/// Options of commands that a file has: command, option, value.
fn options(file: &File) -> impl Iterator<Item = (&str, String, String)> {
    let tables = file.says.iter().flatten().filter_map(|(name, value)| {
        let of_reports = setting::OF_REPORTS.contains(&name.as_str());
        (!of_reports).then_some((name.as_str(), value.as_table()?))
    });
    tables.flat_map(|(name, options)| {
        let shown = |value: &toml::Value| match value {
            toml::Value::Array(all) => {
                all.iter().filter_map(setting::text).collect::<Vec<_>>().join(", ")
            }
            other => setting::text(other).unwrap_or_default(),
        };
        options.iter().map(move |(key, value)| (name, key.replace('_', "-"), shown(value)))
    })
}

fn json(out: &mut impl Write, rows: &[Row]) -> io::Result<()> {
    let mut json = Json::new(out);
    json.open('[')?;
    for Row { setting, value } in rows {
        json.line()?;
        json.open('{')?;
        for (key, text) in [
            ("name", setting.variable()),
            ("default", setting.default()),
            ("says", setting.says()),
            ("page", setting.page()),
        ] {
            json.key(key)?;
            json.text(text)?;
        }
        for (key, at) in [("value", 0), ("from", 1)] {
            json.key(key)?;
            match value {
                Some(value) => json.text(if at == 0 { &value.0 } else { &value.1 })?,
                None => json.null()?,
            }
        }
        json.close('}')?;
    }
    json.close(']')?;
    json.finish()
}
