//! A run of named steps: each is announced, timed, and counted in the closing summary.

use std::time::Instant;

use anyhow::{Result, bail};

/// The steps done so far.
#[derive(Default)]
pub(crate) struct Steps {
    done: Vec<Done>,
    /// What could not be checked, in one sentence each.
    skipped: Vec<String>,
}

struct Done {
    name: String,
    seconds: f64,
    failed: bool,
}

impl Steps {
    /// Announces and runs a step. A failure is shown at once and remembered; later steps still
    /// run, so that one call tells everything that is wrong.
    pub(crate) fn run(&mut self, name: &str, work: impl FnOnce() -> Result<()>) {
        println!("\n== {name}");
        let start = Instant::now();
        let result = work();
        let seconds = start.elapsed().as_secs_f64();
        match &result {
            Ok(()) => println!("== {name}: ok, {seconds:.1} s"),
            Err(error) => println!("== {name}: FAILED, {seconds:.1} s: {error:#}"),
        }
        self.done.push(Done { name: name.to_owned(), seconds, failed: result.is_err() });
    }

    /// Remembers something that this run could not check.
    pub(crate) fn skip(&mut self, what: String) {
        self.skipped.push(what);
    }

    /// Prints the summary; an error when any step failed.
    pub(crate) fn finish(self) -> Result<()> {
        println!();
        for what in &self.skipped {
            println!("not checked: {what}");
        }
        let total: f64 = self.done.iter().map(|step| step.seconds).sum();
        let failed: Vec<&str> =
            self.done.iter().filter(|step| step.failed).map(|step| step.name.as_str()).collect();
        let passed = self.done.len() - failed.len();
        println!("{passed} of {} steps passed in {total:.0} s", self.done.len());
        if !failed.is_empty() {
            bail!("failed: {}", failed.join(", "));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Steps;
    use anyhow::anyhow;

    #[test]
    fn a_failed_step_fails_the_run_and_later_steps_still_happen() {
        let mut steps = Steps::default();
        let mut later = false;
        steps.run("first", || Err(anyhow!("broken")));
        steps.run("second", || {
            later = true;
            Ok(())
        });
        assert!(later);
        assert_eq!(steps.finish().unwrap_err().to_string(), "failed: first");
    }

    #[test]
    fn a_skip_alone_does_not_fail() {
        let mut steps = Steps::default();
        steps.run("only", || Ok(()));
        steps.skip("something".into());
        assert!(steps.finish().is_ok());
    }
}
