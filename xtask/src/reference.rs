//! `cargo xtask reference`: the pages below `docs/reference` that follow from the code. The page of settings is made
//! of the table that the library and the program read; the page of rules of each rule's own file: its comment,
//! its limits, its advice. `netra explain` prints the latter; `tidy` complains where either is out of date.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;

use anyhow::{Context as _, Result};
use netra_event::{Reader, Setting};

use crate::place::root;

/// The page of rules, and the lines between which it is made.
pub(crate) const RULES: &str = "docs/reference/insights.md";
/// The page of settings, likewise.
pub(crate) const SETTINGS: &str = "docs/reference/settings.md";
const BEGIN: &str = "<!-- from the code, by `cargo xtask reference` -->\n";
const END: &str = "<!-- up to here -->\n";

/// Where rules are.
const FOLDER: &str = "crates/analyse/src/insight";
/// Where limits are.
const LIMITS: &str = "crates/analyse/src/threshold.rs";

/// Writes both pages anew.
pub(crate) fn run(_: &[String]) -> Result<()> {
    for (page, made) in [(RULES, rules(&sources()?)), (SETTINGS, settings())] {
        let path = root().join(page);
        let text = fs::read_to_string(&path).with_context(|| format!("reading {page}"))?;
        fs::write(&path, put(&text, &made)).with_context(|| format!("writing {page}"))?;
        println!("{page}");
    }
    Ok(())
}

/// The sources that the page of rules is made of, by their path from the root.
fn sources() -> Result<BTreeMap<String, String>> {
    let mut sources = BTreeMap::new();
    let mut paths = vec![LIMITS.to_owned()];
    for entry in fs::read_dir(root().join(FOLDER)).context("reading the rules")? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        paths.extend(name.ends_with(".rs").then(|| format!("{FOLDER}/{name}")));
    }
    for path in paths {
        let text = fs::read_to_string(root().join(&path));
        sources.insert(path.clone(), text.with_context(|| format!("reading {path}"))?);
    }
    Ok(sources)
}

/// A page with the made part in its place.
pub(crate) fn put(page: &str, made: &str) -> String {
    let (head, rest) = page.split_once(BEGIN).unwrap_or((page, ""));
    let tail = rest.split_once(END).map_or("", |(_, tail)| tail);
    format!("{head}{BEGIN}{made}{END}{tail}")
}

/// The table of settings.
pub(crate) fn settings() -> String {
    let mut text = String::new();
    for (reader, title) in [
        (Reader::Library, "Read by the library, in the application"),
        (Reader::Program, "Read by the program"),
        (Reader::Python, "Read by the Python package"),
        (Reader::Site, "Read by the scripts in `contrib/`"),
    ] {
        let _ok = writeln!(
            text,
            "\n## {title}\n\n| variable | what it is for | default | more |\n|---|---|---|---|"
        );
        for setting in Setting::ALL.iter().filter(|setting| setting.reader() == reader) {
            let default = match setting.default() {
                "" => "–".to_owned(),
                default => format!("`{default}`"),
            };
            let (name, says, page) = (setting.variable(), setting.says(), setting.page());
            let _ok = writeln!(text, "| `{name}` | {says} | {default} | `docs/{page}` |");
        }
    }
    text + "\n"
}

/// A section for each rule.
pub(crate) fn rules(sources: &BTreeMap<String, String>) -> String {
    let limits = sources.get(LIMITS).map_or("", String::as_str);
    let mut text = String::new();
    for (path, source) in sources {
        let Some(name) = path.strip_prefix(FOLDER).and_then(|name| name.strip_suffix(".rs")) else {
            continue;
        };
        if !source.contains("\npub const RULE: Rule") {
            continue;
        }
        let slug = name.trim_start_matches('/').replace('_', "-");
        let title = between(source, "title: \"", "\"").unwrap_or_default();
        let _ok = writeln!(text, "\n## `{slug}`: {title}\n\n{}", comment(source));
        let whole: Vec<&str> = std::iter::once(source.as_str())
            .chain(helpers(source).filter_map(|helper| {
                sources.get(&format!("{FOLDER}/{helper}.rs")).map(String::as_str)
            }))
            .map(untested)
            .collect();
        let named: BTreeSet<&str> = whole.iter().flat_map(|source| limits_of(source)).collect();
        let rows: Vec<&str> = limits
            .lines()
            .map(str::trim)
            .filter(|row| row.split_once(':').is_some_and(|(name, _)| named.contains(name)))
            .collect();
        if !rows.is_empty() {
            let _ok = writeln!(text, "\nIts limits, which `[thresholds]` changes:\n");
        }
        for row in rows {
            let _ok = writeln!(text, "- {}", limit(row));
        }
        let advice: Vec<String> = advice(whole[0])
            .chain(whole.iter().skip(1).flat_map(|source| advice(source)))
            .collect();
        if !advice.is_empty() {
            let _ok = writeln!(text, "\nWhat to change, in the words of the report:\n");
        }
        for advice in advice {
            let _ok = writeln!(text, "- {advice}");
        }
    }
    text + "\n"
}

/// The comment at the top, its lines joined, without the slug that it begins with.
fn comment(source: &str) -> String {
    let lines = source.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim);
    let mut text = String::new();
    for line in lines {
        match line {
            "" => text.push_str("\n\n"),
            line => {
                if !text.is_empty() && !text.ends_with('\n') {
                    text.push(' ');
                }
                text.push_str(line);
            }
        }
    }
    let said = text.split_once("`: ").map_or(text.as_str(), |(_, said)| said);
    let mut letters = said.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// The code without its tests.
fn untested(source: &str) -> &str {
    source.split("#[cfg(test)]").next().unwrap_or_default()
}

/// Files that several rules have in common and that this one uses: `small::check`.
fn helpers(source: &str) -> impl Iterator<Item = &str> {
    const SHARED: [&str; 5] = ["small", "jump", "again", "together", "overlap"];
    let code = untested(source);
    SHARED.into_iter().filter(move |name| code.contains(&format!("{name}::")))
}

/// The limits that a source names.
fn limits_of(source: &str) -> impl Iterator<Item = &str> {
    source.split("limit.").skip(1).map(|rest| {
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        rest.split_at(end.unwrap_or(rest.len())).0
    })
}

/// A row of the table of limits as a line: name, default, meaning.
fn limit(row: &str) -> String {
    let (name, rest) = row.split_once(':').unwrap_or((row, ""));
    let default = between(rest, "= ", ", \"").unwrap_or_default();
    let says = between(rest, ", \"", "\";").unwrap_or_default();
    let number = default.split_once('(').map_or(default, |(_, rest)| rest.trim_end_matches(')'));
    let number = number.replace('_', "");
    let value = match default {
        _ if default.starts_with("Bytes") => match number.as_str() {
            "MIB" => "1 MiB".to_owned(),
            number => match number.strip_suffix(" * MIB") {
                Some("1024") => "1 GiB".to_owned(),
                Some(number) => format!("{number} MiB"),
                None => format!("{number} B"),
            },
        },
        _ if default.starts_with("Seconds") => format!("{number} s"),
        _ => number,
    };
    format!("`{name}` ({value}): {says}")
}

/// What a rule advises, as far as it is a fixed text; what is filled in is an ellipsis.
fn advice(source: &str) -> impl Iterator<Item = String> {
    let begins = source
        .split("Advice::")
        .skip(1)
        .filter(|rest| ["new(", "with("].iter().any(|begin| rest.starts_with(begin)));
    begins.filter_map(|rest| {
        let rest = rest.split_once('(')?.1.trim_start();
        let rest = rest.strip_prefix("format!(").unwrap_or(rest).trim_start();
        let text = literal(rest.strip_prefix('"')?);
        let mut plain = String::new();
        let mut depth = 0;
        for letter in text.chars() {
            match letter {
                '{' => {
                    depth += 1;
                    plain.push('…');
                }
                '}' => depth -= 1,
                letter if depth == 0 => plain.push(letter),
                _ => {}
            }
        }
        Some(plain)
    })
}

/// A text of the source up to its closing quote; a line end with a backslash before it is none.
fn literal(rest: &str) -> String {
    let mut text = String::new();
    let mut letters = rest.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => break,
            '\\' if letters.peek() == Some(&'\n') => {
                while letters.peek().is_some_and(|letter| letter.is_whitespace()) {
                    letters.next();
                }
            }
            '\\' => text.extend(letters.next()),
            letter => text.push(letter),
        }
    }
    text
}

fn between<'a>(text: &'a str, begin: &str, end: &str) -> Option<&'a str> {
    text.split_once(begin)?.1.split_once(end).map(|(found, _)| found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rules_file_becomes_its_page() {
        let rule = "//! `open-storm`: files are opened\n//! again and again.\n//!\n//! An open costs.\n\n\
            pub const RULE: Rule = Rule {\n    title: \"many opens\",\n};\n\
            fn check() { small::look(limit.open_count); Advice::new(format!(\"open {} \\\n   once\")) }\n\
            #[cfg(test)]\nmod tests { limit.untold }\n";
        let sources = [
            (format!("{FOLDER}/open_storm.rs"), rule),
            (format!("{FOLDER}/small.rs"), "fn look() { limit.small_request }"),
            (
                LIMITS.to_owned(),
                "    open_count: u64 = 1_000, \"Opens it takes.\";\n    \
                small_request: Bytes = Bytes(4 * MIB), \"Below this it is small.\";\n    untold: u64 = 1, \"No.\";\n",
            ),
        ];
        let sources = sources.into_iter().map(|(path, text)| (path, text.to_owned())).collect();
        assert_eq!(
            rules(&sources),
            "\n## `open-storm`: many opens\n\nFiles are opened again and again.\n\nAn open costs.\n\n\
             Its limits, which `[thresholds]` changes:\n\n- `open_count` (1000): Opens it takes.\n\
             - `small_request` (4 MiB): Below this it is small.\n\n\
             What to change, in the words of the report:\n\n- open … once\n\n"
        );
    }

    #[test]
    fn a_page_keeps_what_stands_around() {
        let page = format!("# Page\n{BEGIN}old\n{END}behind\n");
        assert_eq!(put(&page, "new\n"), format!("# Page\n{BEGIN}new\n{END}behind\n"));
        assert_eq!(put("# Page\n", "new\n"), format!("# Page\n{BEGIN}new\n{END}"));
    }
}
