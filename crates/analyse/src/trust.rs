//! Can it be trusted: what the job's source could not know, and what was wrong in it.

use netra_event::{Loss, Module};

use crate::pattern::Traced;
use crate::unknown::unknown;
use crate::{Aside, Attendance, Job, Layer, Ledger, Mapped};

/// How complete a job's data is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trust {
    /// Modules that ran out of memory and saw only part of the job.
    pub partial: Vec<Module>,
    /// Events that are missing, by reason.
    pub dropped: Vec<(Loss, u64)>,
    /// Layers with times that cannot be true, and how many; they count as zero.
    pub impossible: Vec<(Layer, u64)>,
    /// Traced bytes as a share of counted bytes, where there is a trace.
    pub coverage: Option<f64>,
    /// Records that were summed over all ranks, so that single ranks are not known.
    pub summed: u64,
    /// Calls made against events kept, where the source keeps such an account.
    pub ledger: Option<Ledger>,
    /// Who there was, and who of them is not recorded, where that is known.
    pub attendance: Option<Attendance>,
    /// What the reader of the source complained about.
    pub remarks: Vec<String>,
    /// What the source could not know, and what therefore cannot be said, a sentence each.
    pub unknown: Vec<String>,
    /// Files that are mapped into memory, where what is read and written is not seen.
    pub mapped: Option<Mapped>,
    /// Files of MPI's own that nothing here is about.
    pub aside: Option<Aside>,
}

impl Trust {
    pub(crate) fn of(job: &Job, traced: Option<&Traced>) -> Trust {
        let mut impossible: Vec<(Layer, u64)> = Vec::new();
        for usage in job.usages.iter().filter(|usage| usage.impossible > 0) {
            let count = u64::from(usage.impossible);
            match impossible.iter_mut().find(|(layer, _)| *layer == usage.layer) {
                Some(known) => known.1 += count,
                None => impossible.push((usage.layer, count)),
            }
        }
        Trust {
            partial: job.partial.iter().map(|partial| partial.0).collect(),
            dropped: job.dropped.clone(),
            impossible,
            coverage: coverage(job, traced),
            summed: job.usages.iter().filter(|usage| usage.rank.is_shared()).count() as u64,
            ledger: job.ledger.clone(),
            attendance: job.attendance.clone(),
            remarks: job.remarks.clone(),
            unknown: unknown(job),
            mapped: Mapped::of_job(job),
            aside: job.aside,
        }
    }

    /// Whether nothing is known to be missing or wrong.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.partial.is_empty()
            && self.dropped.is_empty()
            && self.impossible.is_empty()
            && self.attendance.as_ref().is_none_or(|attendance| attendance.complete)
            && self.mapped.is_none()
            && self.remarks.is_empty()
            && self.ledger.as_ref().is_none_or(|ledger| ledger.balances() && ledger.missing() == 0)
            && self.coverage.is_none_or(|coverage| coverage > 0.99)
    }

    /// What is missing or wrong, a sentence each.
    #[must_use]
    pub fn caveats(&self) -> Vec<String> {
        let attendance = self.attendance.iter();
        let mut says: Vec<String> = attendance.flat_map(|all| all.caveats.clone()).collect();
        for module in &self.partial {
            says.push(format!("{module} ran out of memory and counts only part of the job"));
        }
        for (loss, count) in &self.dropped {
            says.push(format!("{count} events are missing: {loss}"));
        }
        if let Some(ledger) = &self.ledger {
            if ledger.missing() > 0 {
                says.push(format!(
                    "{} events were written and could not be read",
                    ledger.missing()
                ));
            }
            if !ledger.balances() {
                says.push(format!(
                    "the trace does not add up: {} calls, {} events and {} dropped",
                    ledger.calls,
                    ledger.produced,
                    ledger.dropped()
                ));
            }
        }
        for (layer, count) in &self.impossible {
            let plural = if *count == 1 {
                "time that cannot be true (it counts"
            } else {
                "times that cannot be true (they count"
            };
            says.push(format!("{} holds {count} {plural} as 0)", layer.name()));
        }
        if let Some(coverage) = self.coverage.filter(|coverage| *coverage <= 0.99) {
            says.push(format!(
                "the trace covers {:.0} % of the bytes that were counted",
                coverage * 100.0
            ));
        }
        says.extend(self.mapped.map(|mapped| mapped.says()));
        says.extend(self.remarks.iter().cloned());
        says
    }
}

/// Traced bytes as a share of counted bytes, through POSIX.
fn coverage(job: &Job, traced: Option<&Traced>) -> Option<f64> {
    let files = traced.into_iter().flat_map(|traced| &traced.files);
    let traced = files.flat_map(|file| file.bytes).fold(0, u64::saturating_add);
    let posix = job.usages.iter().filter(|usage| usage.layer == Layer::Posix);
    let counted: u64 = posix.map(|usage| usage.bytes()).sum();
    (!job.trace.is_empty() && counted > 0).then(|| traced as f64 / counted as f64)
}

#[cfg(test)]
mod tests {
    use crate::sample::Sample;
    use crate::{Attendance, PartialModule};
    use netra_event::Module;

    #[test]
    fn says_what_is_missing_and_what_is_wrong() {
        let mut job = Sample::new(2, 10.0);
        job.stdio("/f", 0).impossible = 1;
        job.job.partial.push(PartialModule(Module::Posix));
        let trust = job.facts().trust;
        assert!(!trust.is_complete());
        assert_eq!(
            trust.caveats(),
            [
                "POSIX ran out of memory and counts only part of the job",
                "STDIO holds 1 time that cannot be true (it counts as 0)",
            ]
        );
    }

    #[test]
    fn who_is_not_recorded_is_missing() {
        let mut job = Sample::new(2, 10.0);
        job.posix("/f", 0);
        let attendance =
            Attendance { started: 3, recorded: 3, complete: true, ..Default::default() };
        job.job.attendance = Some(attendance);
        assert!(job.facts().trust.is_complete());
        let caveats = vec!["1 of 3 processes is not recorded: statically linked (/x)".to_owned()];
        job.job.attendance =
            Some(Attendance { started: 3, recorded: 2, caveats, ..Default::default() });
        let trust = job.facts().trust;
        assert!(!trust.is_complete());
        assert_eq!(trust.caveats(), ["1 of 3 processes is not recorded: statically linked (/x)"]);
    }

    #[test]
    fn nothing_wrong_is_complete() {
        let mut job = Sample::new(2, 10.0);
        job.posix("/f", 0);
        assert!(job.facts().trust.is_complete());
    }
}
