//! Rules as data: a site or a user writes an expression over facts, and netra asks it like any
//! other rule. `docs/reference/rules.md` is the page.
//!
//! Everything that can be wrong with a rule is found when it is read ([`Custom::new`]), never when
//! a job is looked at.

mod expression;
mod fact;
mod template;

use netra_event::RecordId;

use super::{Advice, Audience, Confidence, Finding, Level, Outcome, RULES, Source, query};
use crate::metric::FileFacts;
use crate::{Facts, Thresholds};
use expression::Expression;
pub use fact::NAMES;
use fact::Scope;
use template::Template;

/// A rule as it was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Draft {
    /// Its name.
    pub slug: String,
    /// What it looks for, in a few words.
    pub title: String,
    /// `job` (the default) or `file`: asked once, or for every file.
    pub each: String,
    /// Where it applies; everywhere if empty.
    pub applies: String,
    /// When it fires.
    pub when: String,
    /// Seconds it costs on the critical path; nothing if empty.
    pub lost: String,
    /// Its sentence, with expressions in braces.
    pub says: String,
    /// What to do, a sentence each.
    pub advice: Vec<String>,
    /// A command or code for the first advice.
    pub code: String,
    /// `user`, `developer`, `administrator`.
    pub audience: Vec<String>,
    /// `low`, `medium` (the default) or `high`.
    pub confidence: String,
    /// The level of a rule without a cost: `INFO` (the default), `WARN` or `HIGH`.
    pub level: String,
}

/// What is wrong with a draft: which of its members, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The member.
    pub member: &'static str,
    /// The reason.
    pub why: String,
}

/// A rule that a site or a user has added.
#[derive(Debug, Clone)]
pub struct Custom {
    /// Its name.
    pub slug: String,
    /// What it looks for.
    pub title: String,
    files: bool,
    applies: Option<Expression>,
    when: Expression,
    lost: Option<Expression>,
    says: Template,
    advice: Vec<Advice>,
    audience: Vec<Audience>,
    confidence: Confidence,
    level: Level,
}

impl Custom {
    /// An expression may be over any fact; what all layers moved is shown.
    pub(crate) const SOURCES: &[Source] = &[query::POSIX, query::STDIO, query::MPIIO];

    /// Reads a rule.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn new(draft: &Draft) -> Result<Custom, Vec<Fault>> {
        let mut faults = Vec::new();
        slug(&draft.slug, &mut faults);
        let files = choose(
            "each",
            &draft.each,
            &[("", false), ("job", false), ("file", true)],
            &mut faults,
        );
        let files = files.unwrap_or(false);
        let mut read = |member: &'static str, text: &str| match Expression::parse(text, files) {
            Ok(expression) => Some(expression),
            Err(why) => {
                faults.push(Fault { member, why });
                None
            }
        };
        let given = |text: &str| !text.trim().is_empty();
        let when = read("when", &draft.when);
        let applies = if given(&draft.applies) { read("applies", &draft.applies) } else { None };
        let lost = if given(&draft.lost) { read("lost", &draft.lost) } else { None };
        let says = Template::parse(&draft.says, files);
        let says = says.map_err(|why| faults.push(Fault { member: "says", why })).ok();
        let confidence = choose(
            "confidence",
            &draft.confidence,
            &[
                ("", Confidence::Medium),
                ("low", Confidence::Low),
                ("medium", Confidence::Medium),
                ("high", Confidence::High),
            ],
            &mut faults,
        );
        let levels = [
            ("", Level::Info),
            ("INFO", Level::Info),
            ("WARN", Level::Warn),
            ("HIGH", Level::High),
        ];
        let level = choose("level", &draft.level, &levels, &mut faults);
        let audience = audience(&draft.audience, &mut faults);
        match (when, says, confidence, level) {
            (Some(when), Some(says), Some(confidence), Some(level)) if faults.is_empty() => {
                Ok(Custom {
                    slug: draft.slug.clone(),
                    title: if given(&draft.title) {
                        draft.title.clone()
                    } else {
                        draft.slug.clone()
                    },
                    files,
                    applies,
                    when,
                    lost,
                    says,
                    advice: advice(draft),
                    audience,
                    confidence,
                    level,
                })
            }
            _ => Err(faults),
        }
    }

    /// Looks at the facts.
    #[must_use]
    pub fn check(&self, facts: &Facts, limit: &Thresholds) -> Outcome {
        let whole = Scope::job(facts, limit);
        if !self.files {
            return self.one(&whole, None, facts, limit);
        }
        let mut applied = 0;
        let mut found: Vec<Finding> = Vec::new();
        let critical: std::collections::BTreeMap<RecordId, f64> =
            facts.critical.by_file().into_iter().collect();
        for file in &facts.files {
            let scope = whole.file(file, critical.get(&file.id).copied().unwrap_or(0.0), facts);
            match self.one(&scope, Some(file), facts, limit) {
                Outcome::Silent => {}
                Outcome::Passed(_) => applied += 1,
                Outcome::Found(more) => found.extend(more),
            }
        }
        found.sort_by(|a, b| b.lost.total_cmp(&a.lost));
        // One sentence for the costliest file; the others are its kin.
        match found.first().cloned() {
            Some(first) => {
                let files = found.into_iter().flat_map(|one| one.files).collect();
                Outcome::Found(vec![Finding { files, ..first }])
            }
            None if applied > 0 => Outcome::Passed(format!("{applied} files are below it")),
            None => Outcome::Silent,
        }
    }

    fn one(
        &self,
        scope: &Scope<'_>,
        file: Option<&FileFacts>,
        facts: &Facts,
        limit: &Thresholds,
    ) -> Outcome {
        if facts.layers.is_empty()
            || self.applies.as_ref().is_some_and(|one| one.value(scope) == 0.0)
        {
            return Outcome::Silent;
        }
        if self.when.value(scope) == 0.0 {
            return Outcome::Passed(format!("not: {}", self.when));
        }
        let says = self.says.fill(scope);
        let slug = self.slug.clone();
        let mut finding = match &self.lost {
            Some(lost) => Finding::costing(slug, lost.value(scope), says, facts, limit),
            None => Finding { level: self.level, ..Finding::note(slug, says) },
        }
        .sure(self.confidence)
        .to(&self.audience);
        for (name, value) in self.when.facts(scope) {
            finding = finding.with(name, value);
        }
        finding.files = file.map(|file| (file.id, file.path.clone())).into_iter().collect();
        finding.advice = self.advice.clone();
        Outcome::Found(vec![finding])
    }
}

fn slug(slug: &str, faults: &mut Vec<Fault>) {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let why = if slug.is_empty() || !slug.chars().all(plain) {
        format!("{slug:?} is not made of lower-case letters, digits and dashes")
    } else if RULES.iter().any(|rule| rule.slug == slug) {
        format!("there is a rule {slug} already")
    } else {
        return;
    };
    faults.push(Fault { member: "slug", why });
}

fn choose<T: Copy>(
    member: &'static str,
    word: &str,
    words: &[(&str, T)],
    faults: &mut Vec<Fault>,
) -> Option<T> {
    let found = words.iter().find(|known| known.0 == word).map(|known| known.1);
    if found.is_none() {
        let known: Vec<&str> =
            words.iter().map(|known| known.0).filter(|w| !w.is_empty()).collect();
        faults.push(Fault { member, why: format!("{word:?} is none of {}", known.join(", ")) });
    }
    found
}

fn audience(words: &[String], faults: &mut Vec<Fault>) -> Vec<Audience> {
    let known = [Audience::User, Audience::Developer, Audience::Administrator];
    if words.is_empty() {
        return vec![Audience::User, Audience::Developer];
    }
    let rows = known.map(|one| (one.name(), one));
    words.iter().filter_map(|word| choose("audience", word, &rows, faults)).collect()
}

fn advice(draft: &Draft) -> Vec<Advice> {
    let code = Some(draft.code.clone()).filter(|code| !code.is_empty());
    let sentences = draft.advice.iter().enumerate();
    sentences
        .map(|(place, says)| Advice {
            says: says.clone(),
            code: if place == 0 { code.clone() } else { None },
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Custom, Draft};
    use crate::Thresholds;
    use crate::insight::{Finding, Level, Outcome};
    use crate::sample::Sample;

    fn draft(when: &str, says: &str) -> Draft {
        Draft {
            slug: "site-opens".into(),
            when: when.into(),
            says: says.into(),
            ..Draft::default()
        }
    }

    fn found(rule: &Draft, job: &Sample) -> Vec<Finding> {
        match Custom::new(rule).unwrap().check(&job.facts(), &Thresholds::default()) {
            Outcome::Found(found) => found,
            _ => Vec::new(),
        }
    }

    fn job() -> Sample {
        let mut job = Sample::new(4, 100.0);
        let usage = job.posix("/lus/a", 0);
        (usage.opens, usage.meta) = (5000, 20.0);
        job.posix("/lus/b", 1).opens = 3;
        job
    }

    #[test]
    fn a_rule_about_the_job_fires_with_its_numbers() {
        let mut rule = draft(
            "posix.opens / processes > 1000 and metadata_seconds > 10s",
            "{posix.opens} opens take {metadata_seconds:seconds}",
        );
        rule.lost = "metadata_seconds * 50%".into();
        let found = found(&rule, &job());
        assert_eq!(found[0].says, "5,003 opens take 20.0 s");
        assert_eq!((found[0].lost, found[0].level), (10.0, Level::High));
        let evidence: Vec<&str> = found[0].evidence.iter().map(|one| &*one.name).collect();
        assert_eq!(evidence, ["posix.opens", "processes", "metadata_seconds"]);
    }

    #[test]
    fn it_is_silent_just_below_and_without_io() {
        let rule = draft("posix.opens > 5003", "many");
        assert!(found(&rule, &job()).is_empty());
        let always = draft("1 > 0", "always");
        assert!(found(&always, &Sample::new(1, 1.0)).is_empty());
    }

    #[test]
    fn a_rule_about_files_names_them() {
        let mut rule = draft("file.opens > 2", "{file.opens} opens");
        rule.each = "file".into();
        rule.level = "WARN".into();
        let found = found(&rule, &job());
        assert_eq!((found.len(), found[0].files.len(), found[0].level), (1, 2, Level::Warn));
        assert_eq!(found[0].says, "5,000 opens");
    }

    #[test]
    fn everything_wrong_is_found_when_it_is_read() {
        let rule = Draft {
            slug: "Small Reads".into(),
            each: "rank".into(),
            when: "posix.open > 3".into(),
            lost: "1 +".into(),
            says: "{io_seconds".into(),
            confidence: "sure".into(),
            ..Draft::default()
        };
        let faults = Custom::new(&rule).unwrap_err();
        let members: Vec<&str> = faults.iter().map(|fault| fault.member).collect();
        assert_eq!(members, ["slug", "each", "when", "lost", "says", "confidence"]);
        assert!(faults[2].why.contains("posix.opens"), "{faults:?}");
        let taken =
            Custom::new(&Draft { slug: "small-reads".into(), ..draft("1", "a") }).unwrap_err();
        assert!(taken[0].why.contains("already"));
    }
}
