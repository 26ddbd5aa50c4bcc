//! `netra explain`: what a rule looks at, its limits, what it takes for the cost, and what to change. The text is that of
//! the reference page, which is made of the rule's own file.

use std::io::{self, IsTerminal as _, Write};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use netra_analyse::insight::RULES;

use crate::outcome::Usage;
use crate::{output, settings, word};

/// The reference page.
const PAGE: &str = include_str!("../../../../docs/reference/insights.md");

const EXAMPLES: &str = "\
Examples:
  netra explain                  every rule, a line each
  netra explain sync-storm       one of them; netra report names them";

/// Which rule.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The rule's name; without it, all are listed
    #[arg(value_name = "SLUG")]
    slug: Option<String>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let own = settings::read(None)?.rules;
    let mut out = output::standard()?;
    match &args.slug {
        None => {
            for rule in RULES {
                writeln!(out, "{:<22}  {}", rule.slug, rule.title)?;
            }
            for rule in &own {
                writeln!(out, "{:<22}  (added by your settings)", rule.slug)?;
            }
        }
        Some(slug) => {
            let rule = RULES.iter().find(|rule| rule.slug.eq_ignore_ascii_case(slug));
            match rule.and_then(|rule| section(rule.slug)) {
                Some(section) => page(&mut out, section)?,
                None if own.iter().any(|rule| rule.slug == *slug) => {
                    writeln!(
                        out,
                        "{slug} is a rule of your settings; netra settings names their files"
                    )?;
                }
                None => {
                    let known: Vec<&str> = RULES.iter().map(|rule| rule.slug).collect();
                    return Err(Usage(word::unknown("rule", slug, &known)).into());
                }
            }
        }
    }
    out.flush().context("writing the output")?;
    Ok(ExitCode::SUCCESS)
}

/// A rule's section, from its heading to the next.
fn section(slug: &str) -> Option<&'static str> {
    let heading = format!("\n## `{slug}`: ");
    let at = PAGE.find(&heading)? + 1;
    let rest = PAGE.get(at..)?;
    let end = ["\n## ", "\n<!-- "].iter().filter_map(|next| rest.find(next)).min();
    rest.get(..end.unwrap_or(rest.len())).map(str::trim_end)
}

/// Prints a section without its marks, its lines as wide as the terminal.
fn page(out: &mut impl Write, section: &str) -> io::Result<()> {
    let bold = io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let width = crate::terminal::width();
    for line in section.lines() {
        match line.strip_prefix("## ") {
            Some(title) if bold => writeln!(out, "\x1b[1m{}\x1b[0m", title.replace('`', ""))?,
            Some(title) => writeln!(out, "{}", title.replace('`', ""))?,
            None => {
                let hang = if line.starts_with("- ") { "  " } else { "" };
                for line in crate::terminal::wrapped(&line.replace('`', ""), width, hang) {
                    writeln!(out, "{line}")?;
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::section;
    use netra_analyse::insight::RULES;

    #[test]
    fn every_rule_is_explained() {
        for rule in RULES {
            let text = section(rule.slug).expect(rule.slug);
            assert!(text.lines().count() > 2, "{}: cargo xtask reference", rule.slug);
            assert!(text.contains(rule.title), "{}: cargo xtask reference", rule.slug);
        }
    }
}
