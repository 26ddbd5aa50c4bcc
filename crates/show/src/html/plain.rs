//! The page without its script: the answers as text. It is what a reader sees where the script
//! does not run or was not built, and the script puts its own in place of it.

use std::io::{Result, Write};

use netra_analyse::insight::Finding;
use netra_analyse::{Job, Report};
use netra_event::Seconds;

use super::asset;

/// Text as HTML shows it, and never runs it.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            letter => out.push(letter),
        }
    }
    out
}

/// What the page says without pictures.
pub(super) fn body<W: Write>(out: &mut W, job: &Job, report: &Report, verdict: &str) -> Result<()> {
    writeln!(out, "<h1>{}</h1>", escape(&job.command))?;
    if !asset::BUILT {
        missing(out)?;
    }
    writeln!(out, "<p>{}</p>", escape(verdict))?;
    let caveats = report.facts.trust.caveats();
    if !caveats.is_empty() {
        out.write_all(b"<h2>What is missing</h2>\n<ul>\n")?;
        for says in caveats {
            writeln!(out, "<li>{}</li>", escape(&says))?;
        }
        out.write_all(b"</ul>\n")?;
    }
    out.write_all(b"<h2>Findings</h2>\n<ol>\n")?;
    for finding in &report.findings {
        one(out, finding)?;
    }
    out.write_all(b"</ol>\n")
}

/// Says how a netra with pictures is built.
pub(super) fn missing<W: Write>(out: &mut W) -> Result<()> {
    out.write_all(
        b"<p class=\"missing\"><b>The pictures are missing</b>: this netra was built without the page. \
          <code>cargo xtask web</code> builds it (it needs Node.js), then build netra again.</p>\n",
    )
}

fn one<W: Write>(out: &mut W, finding: &Finding) -> Result<()> {
    write!(out, "<li><b>{}</b> {}", Seconds(finding.lost), escape(&finding.says))?;
    for advice in &finding.advice {
        write!(out, "<br>{}", escape(&advice.says))?;
        if let Some(code) = &advice.code {
            write!(out, "<pre>{}</pre>", escape(code))?;
        }
    }
    out.write_all(b"</li>\n")
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn nothing_stays_markup() {
        assert_eq!(escape("<a b=\"c\" d='e'>&"), "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;");
    }
}
