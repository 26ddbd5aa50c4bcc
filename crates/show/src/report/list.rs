//! Many jobs, a line each, the one that loses most first, and what they come to together.

use std::io::{Result, Write};

use netra_analyse::Report;
use netra_event::Seconds;

use super::headline::percent;
use crate::plain::plain;

/// Jobs of which a line each is kept, however many there are.
#[derive(Debug, Default)]
pub struct List(Vec<Line>);

#[derive(Debug)]
struct Line {
    name: String,
    run: f64,
    io: f64,
    /// The costliest finding and what it costs.
    finding: Option<(String, f64)>,
    whole: bool,
}

impl Line {
    fn lost(&self) -> f64 {
        self.finding.as_ref().map_or(0.0, |finding| finding.1)
    }
}

impl List {
    /// From so many jobs on, a screen for each is too much.
    pub const FROM: usize = 4;

    /// Takes a job in; `whole` if nothing is missing from it.
    pub fn add(&mut self, name: &str, report: &Report, whole: bool) {
        let worst = report.findings.iter().max_by(|a, b| a.lost.total_cmp(&b.lost));
        self.0.push(Line {
            name: name.to_owned(),
            run: report.facts.run_time,
            io: report.facts.critical.seconds,
            finding: worst.map(|finding| (finding.slug.to_string(), finding.lost)),
            whole,
        });
    }

    /// Writes the lines and the sum.
    ///
    /// # Errors
    /// If the output can not be written.
    pub fn text(mut self, out: &mut impl Write) -> Result<()> {
        self.0.sort_by(|a, b| {
            let key = |line: &Line| (line.lost(), line.io);
            let (a_key, b_key) = (key(a), key(b));
            b_key.0.total_cmp(&a_key.0).then(b_key.1.total_cmp(&a_key.1)).then(a.name.cmp(&b.name))
        });
        let head = ["run", "I/O", "share", "lost", "costliest finding"];
        let [run, io, share, lost, finding] = head;
        writeln!(out, "{run:>10}{io:>11}{share:>11}{lost:>11}  {finding:<24}  log")?;
        for line in &self.0 {
            let (slug, lost) = match &line.finding {
                Some((slug, lost)) => (slug.as_str(), Seconds(*lost).to_string()),
                None => ("-", "-".to_owned()),
            };
            let share =
                if line.run > 0.0 { percent((line.io / line.run).min(1.0)) } else { "-".into() };
            let note = if line.whole { "" } else { "  (something is missing)" };
            writeln!(
                out,
                "{:>10}{:>11}{share:>11}{lost:>11}  {slug:<24}  {}{note}",
                Seconds(line.run).to_string(),
                Seconds(line.io).to_string(),
                plain(line.name.as_bytes()),
            )?;
        }
        let sum = |of: fn(&Line) -> f64| Seconds(self.0.iter().map(of).sum()).to_string();
        let found = self.0.iter().filter(|line| line.finding.is_some()).count();
        let cut = self.0.iter().filter(|line| !line.whole).count();
        let cut =
            if cut > 0 { format!("; something is missing from {cut}") } else { String::new() };
        writeln!(
            out,
            "\n{} logs: ran for {}, {} of it in I/O; {found} have findings{cut}\n\
             netra report LOG shows one, --all each of them in full",
            self.0.len(),
            sum(|line| line.run),
            sum(|line| line.io),
        )
    }
}
