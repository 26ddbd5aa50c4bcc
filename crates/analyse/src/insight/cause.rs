//! One cause, one finding: what a rule explains about the same files becomes a symptom of it.

use std::collections::BTreeSet;

use netra_event::RecordId;

use super::{Finding, rule};

/// Puts symptoms under their cause and orders what remains by what it costs.
///
/// The costliest cause takes first. A cause that is itself explained by another hands its
/// symptoms on, so that there is one level of them.
#[must_use]
pub fn group(mut findings: Vec<Finding>) -> Vec<Finding> {
    rank(&mut findings);
    let parents: Vec<Option<usize>> = (0..findings.len())
        .map(|at| {
            (0..findings.len())
                .find(|&cause| cause != at && explains(&findings[cause], &findings[at]))
        })
        .collect();
    let root = |mut at: usize| {
        // Rules may explain each other in a circle; nobody is his own ancestor for longer than that.
        for _ in 0..findings.len() {
            match parents[at] {
                Some(parent) => at = parent,
                None => return at,
            }
        }
        at
    };
    let roots: Vec<usize> = (0..findings.len()).map(root).collect();
    let mut symptoms: Vec<Vec<Finding>> = vec![Vec::new(); findings.len()];
    let mut causes: Vec<(usize, Finding)> = Vec::new();
    for (at, finding) in findings.into_iter().enumerate() {
        if roots[at] == at { causes.push((at, finding)) } else { symptoms[roots[at]].push(finding) }
    }
    causes
        .into_iter()
        .map(|(at, finding)| Finding { symptoms: std::mem::take(&mut symptoms[at]), ..finding })
        .collect()
}

/// Most seconds first, then the higher level, then by slug and sentence.
fn rank(findings: &mut [Finding]) {
    findings.sort_by(|a, b| {
        b.lost
            .total_cmp(&a.lost)
            .then(b.level.cmp(&a.level))
            .then_with(|| (&a.slug, &a.says).cmp(&(&b.slug, &b.says)))
    });
}

/// Whether one finding explains another: its rule says so, and most of the other's files are its own.
fn explains(cause: &Finding, other: &Finding) -> bool {
    let listed = rule(&cause.slug).is_some_and(|rule| rule.explains.contains(&&*other.slug));
    if !listed || other.files.is_empty() {
        return false;
    }
    let own: BTreeSet<RecordId> = cause.files.iter().map(|file| file.0).collect();
    let among = other.files.iter().filter(|file| own.contains(&file.0)).count();
    among * 2 >= other.files.len()
}

#[cfg(test)]
mod tests {
    use super::group;
    use crate::insight::Finding;
    use netra_event::RecordId;

    fn finding(slug: &'static str, lost: f64, files: &[u64]) -> Finding {
        let files = files.iter().map(|&id| (RecordId(id), String::new())).collect();
        Finding { lost, files, ..Finding::note(slug, String::new()) }
    }

    fn shape(findings: &[Finding]) -> Vec<(&str, Vec<&str>)> {
        findings
            .iter()
            .map(|one| (&*one.slug, one.symptoms.iter().map(|symptom| &*symptom.slug).collect()))
            .collect()
    }

    #[test]
    fn symptoms_of_the_same_file_go_under_the_cause() {
        let grouped = group(vec![
            finding("small-shared-writes", 9.0, &[1]),
            finding("narrow-stripe", 5.0, &[1, 2]),
            finding("one-rank-heavy", 4.0, &[2]),
        ]);
        assert_eq!(
            shape(&grouped),
            [("narrow-stripe", vec!["small-shared-writes", "one-rank-heavy"])]
        );
    }

    #[test]
    fn other_files_stay_apart_and_the_costliest_comes_first() {
        let grouped = group(vec![
            finding("narrow-stripe", 5.0, &[1]),
            finding("small-shared-writes", 9.0, &[3]),
        ]);
        assert_eq!(shape(&grouped), [("small-shared-writes", vec![]), ("narrow-stripe", vec![])]);
    }

    #[test]
    fn a_chain_of_causes_ends_at_its_root() {
        let grouped = group(vec![
            finding("narrow-stripe", 1.0, &[1]),
            finding("one-rank-heavy", 2.0, &[1]),
            finding("byte-imbalance", 3.0, &[1]),
        ]);
        assert_eq!(shape(&grouped), [("narrow-stripe", vec!["byte-imbalance", "one-rank-heavy"])]);
    }
}
