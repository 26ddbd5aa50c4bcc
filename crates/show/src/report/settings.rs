//! A file of settings for reports: thresholds, silenced rules, new rules and the servers of Lustre
//! targets, of a site or of a user. Whatever is wrong in it is said with its line.
//!
//! ```toml
//! silence = ["call-mix"]
//!
//! [thresholds]
//! small_request = "4MiB"
//! straggler_seconds = "500ms"
//! high_share = 0.2
//!
//! [[rule]]
//! slug = "site-too-many-opens"
//! when = "posix.opens / processes > 1000 and metadata_share > 10%"
//! lost = "metadata_seconds"
//! says = "{posix.opens} opens take {metadata_seconds:seconds}"
//!
//! [servers]
//! oss01 = "0-7, 16"
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use netra_analyse::insight::{Custom, Draft, rule};
use netra_analyse::{LIMITS, Setup, Thresholds, Unit};
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

/// What is in force.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Limits that rules compare with.
    pub limits: Thresholds,
    /// Rules that are not asked.
    pub silenced: BTreeSet<String>,
    /// Rules that were added.
    pub rules: Vec<Custom>,
    /// The server of each Lustre target.
    pub servers: BTreeMap<u64, String>,
}

impl Settings {
    /// Takes in a file; what it does not mention stays as it is.
    ///
    /// # Errors
    /// Everything that is wrong with it, a sentence each, beginning with its line.
    pub fn add(&mut self, text: &str) -> Result<(), Vec<String>> {
        self.take(text, false)
    }

    /// Takes in what is for reports of a file that has more in it.
    ///
    /// # Errors
    /// As for [`Settings::add`].
    pub fn add_part(&mut self, text: &str) -> Result<(), Vec<String>> {
        self.take(text, true)
    }

    fn take(&mut self, text: &str, among_others: bool) -> Result<(), Vec<String>> {
        let table = DeTable::parse(text).map_err(|error| {
            let line = error.span().map_or(1, |span| line_of(text, &span));
            vec![format!("line {line}: {}", error.message())]
        })?;
        let mut reader = Reader { text, wrong: Vec::new() };
        for (key, value) in table.get_ref() {
            match (key.get_ref().as_ref(), value.get_ref()) {
                // Rules may be silenced that the same file adds, so this comes last.
                ("silence", _) => {}
                ("thresholds", DeValue::Table(limits)) => self.limits(limits, &mut reader),
                ("rule", DeValue::Array(rules)) => self.rules(rules, &mut reader),
                ("servers", DeValue::Table(servers)) => self.servers(servers, &mut reader),
                ("thresholds", _) => reader.says(value, "thresholds must be a table"),
                ("rule", _) => reader.says(value, "rules are written as [[rule]]"),
                ("servers", _) => reader.says(value, "servers must be a table"),
                _ if among_others => {}
                (other, _) => {
                    let known = "silence, thresholds, rule and servers are";
                    reader
                        .wrong
                        .push((key.span().start, format!("{other} is not known here; {known}")));
                }
            }
        }
        let silence = if among_others { None } else { table.get_ref().get("silence") };
        match silence.map(|value| (value, value.get_ref())) {
            Some((_, DeValue::Array(slugs))) => self.silence(slugs, &mut reader),
            Some((value, _)) => reader.says(value, "silence must be a list of rules"),
            None => {}
        }
        reader.end()
    }

    /// How a job is looked at.
    #[must_use]
    pub fn setup(&self) -> Setup {
        Setup {
            limits: self.limits.clone(),
            silenced: self.silenced.clone(),
            rules: self.rules.clone(),
        }
    }

    /// Whether there is such a rule, compiled in or added.
    #[must_use]
    pub fn has_rule(&self, slug: &str) -> bool {
        rule(slug).is_some() || self.rules.iter().any(|rule| rule.slug == slug)
    }

    fn silence(&mut self, slugs: &DeArray<'_>, reader: &mut Reader<'_>) {
        for slug in slugs.iter() {
            match slug.get_ref() {
                DeValue::String(name) if self.has_rule(name) => {
                    self.silenced.insert(name.to_string());
                }
                DeValue::String(name) => reader.says(slug, &format!("there is no rule {name:?}")),
                _ => reader.says(slug, "a rule is named by a text"),
            }
        }
    }

    fn limits(&mut self, limits: &DeTable<'_>, reader: &mut Reader<'_>) {
        for (name, value) in limits {
            let name = name.get_ref();
            let known =
                LIMITS.iter().map(|limit| limit()).find(|limit| limit.name == name.as_ref());
            let number = match known {
                Some(limit) => number(name, value.get_ref(), limit.unit),
                None => Err(format!("there is no threshold called {name:?}")),
            };
            if let Err(what) = number.and_then(|number| self.limits.set(name, number)) {
                reader.says(value, &what);
            }
        }
    }

    fn rules(&mut self, rules: &DeArray<'_>, reader: &mut Reader<'_>) {
        for one in rules.iter() {
            let DeValue::Table(table) = one.get_ref() else {
                reader.says(one, "rules are written as [[rule]]");
                continue;
            };
            let Some(draft) = draft(table, reader) else { continue };
            match Custom::new(&draft) {
                Ok(rule) => {
                    // A user's rule takes the place of the site's of the same name.
                    self.rules.retain(|known| known.slug != rule.slug);
                    self.rules.push(rule);
                }
                Err(faults) => {
                    for fault in faults {
                        let at = table.get(fault.member).map_or(one.span(), Spanned::span);
                        let what =
                            format!("rule {:?}: {}: {}", draft.slug, fault.member, fault.why);
                        reader.wrong.push((at.start, what));
                    }
                }
            }
        }
    }

    fn servers(&mut self, servers: &DeTable<'_>, reader: &mut Reader<'_>) {
        for (server, targets) in servers {
            let DeValue::String(list) = targets.get_ref() else {
                reader.says(targets, "targets are written as \"0-7, 16\"");
                continue;
            };
            for word in list.split(',').map(str::trim).filter(|word| !word.is_empty()) {
                let (first, last) = word.split_once('-').unwrap_or((word, word));
                match (first.trim().parse::<u64>(), last.trim().parse::<u64>()) {
                    (Ok(first), Ok(last)) if first <= last && last - first < 1 << 20 => {
                        let name = server.get_ref();
                        self.servers.extend((first..=last).map(|ost| (ost, name.to_string())));
                    }
                    _ => reader
                        .says(targets, &format!("{word:?} is no target and no range of targets")),
                }
            }
        }
    }
}

/// Collects what is wrong, with where.
struct Reader<'a> {
    text: &'a str,
    wrong: Vec<(usize, String)>,
}

impl Reader<'_> {
    fn says(&mut self, value: &Spanned<DeValue<'_>>, what: &str) {
        self.wrong.push((value.span().start, what.to_owned()));
    }

    fn end(mut self) -> Result<(), Vec<String>> {
        if self.wrong.is_empty() {
            return Ok(());
        }
        self.wrong.sort();
        let line = |at: usize| line_of(self.text, &(at..at));
        Err(self.wrong.iter().map(|(at, what)| format!("line {}: {what}", line(*at))).collect())
    }
}

fn line_of(text: &str, span: &Range<usize>) -> usize {
    text.get(..span.start).unwrap_or(text).matches('\n').count() + 1
}

/// The members of a rule; nothing if one of them is not what it must be.
fn draft(table: &DeTable<'_>, reader: &mut Reader<'_>) -> Option<Draft> {
    let mut draft = Draft::default();
    let before = reader.wrong.len();
    for (key, value) in table {
        let one = match key.get_ref().as_ref() {
            "slug" => Some(&mut draft.slug),
            "title" => Some(&mut draft.title),
            "each" => Some(&mut draft.each),
            "applies" => Some(&mut draft.applies),
            "when" => Some(&mut draft.when),
            "lost" => Some(&mut draft.lost),
            "says" => Some(&mut draft.says),
            "code" => Some(&mut draft.code),
            "confidence" => Some(&mut draft.confidence),
            "level" => Some(&mut draft.level),
            _ => None,
        };
        let many = match key.get_ref().as_ref() {
            "advice" => Some(&mut draft.advice),
            "audience" => Some(&mut draft.audience),
            _ => None,
        };
        match (one, many, value.get_ref()) {
            (Some(member), _, DeValue::String(text)) => *member = text.to_string(),
            (_, Some(members), DeValue::Array(words)) => {
                for word in words.iter() {
                    match word.get_ref() {
                        DeValue::String(text) => members.push(text.to_string()),
                        _ => reader.says(word, &format!("{} is a list of texts", key.get_ref())),
                    }
                }
            }
            (None, None, _) => {
                let what = format!("{} is not a member of a rule", key.get_ref());
                reader.wrong.push((key.span().start, what));
            }
            (_, Some(_), _) => reader.says(value, &format!("{} is a list of texts", key.get_ref())),
            _ => reader.says(value, &format!("{} is a text", key.get_ref())),
        }
    }
    (reader.wrong.len() == before).then_some(draft)
}

/// Sizes and times are written with their unit, shares and counts without.
fn number(name: &str, value: &DeValue<'_>, unit: Unit) -> Result<f64, String> {
    let bare = match value {
        DeValue::Float(number) => number.as_str().replace('_', "").parse().ok(),
        DeValue::Integer(number) => {
            i64::from_str_radix(&number.as_str().replace('_', ""), number.radix())
                .ok()
                .map(|number| number as f64)
        }
        _ => None,
    };
    let text = match value {
        DeValue::String(text) => Some(text.as_ref()),
        _ => None,
    };
    match (unit, text, bare) {
        (Unit::Bytes, Some(text), _) => measured(text, &BYTES),
        (Unit::Seconds, Some(text), _) => measured(text, &SECONDS),
        (Unit::Ratio | Unit::Count, _, Some(number)) => Some(number),
        _ => None,
    }
    .ok_or_else(|| {
        let want = match unit {
            Unit::Bytes => "a size such as \"4MiB\"",
            Unit::Seconds => "a time such as \"250ms\"",
            Unit::Ratio | Unit::Count => "a number",
        };
        format!("{name} must be {want}")
    })
}

const BYTES: [(&str, f64); 5] = [
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("TiB", 1_099_511_627_776.0),
    ("B", 1.0),
];
const SECONDS: [(&str, f64); 4] = [("ms", 1e-3), ("us", 1e-6), ("min", 60.0), ("s", 1.0)];

/// A number with one of these units behind it; longer units come before those they end with.
fn measured(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let (text, factor) =
        units.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)))?;
    text.trim().parse::<f64>().ok().map(|number| number * factor)
}

#[cfg(test)]
mod tests {
    use super::Settings;
    use netra_event::{Bytes, Seconds};

    #[test]
    fn a_file_changes_what_it_names() {
        let mut settings = Settings::default();
        settings.add("silence = ['call-mix']\n[thresholds]\nsmall_request = '4MiB'\nstraggler_seconds = '500ms'\nsmall_count = 10").unwrap();
        assert_eq!(settings.limits.small_request, Bytes(4 << 20));
        assert_eq!(settings.limits.straggler_seconds, Seconds(0.5));
        assert_eq!(settings.limits.small_count, 10);
        assert_eq!(settings.limits.small_share.0, 0.1);
        assert!(settings.silenced.contains("call-mix"));
    }

    #[test]
    fn everything_wrong_is_said_at_once_with_its_line() {
        let wrong = Settings::default()
            .add("silence = ['smal-reads']\nrules = 1\n[thresholds]\nsmall_request = 1048576\nhigh_share = '10%'\nsmal = 1")
            .unwrap_err();
        assert_eq!(
            wrong,
            [
                "line 1: there is no rule \"smal-reads\"",
                "line 2: rules is not known here; silence, thresholds, rule and servers are",
                "line 4: small_request must be a size such as \"4MiB\"",
                "line 5: high_share must be a number",
                "line 6: there is no threshold called \"smal\"",
            ]
        );
        let wrong = Settings::default().add("silence = [\n'call-mix'").unwrap_err();
        assert!(wrong[0].starts_with("line "), "{wrong:?}");
    }

    #[test]
    fn rules_are_added_and_may_be_silenced_at_once() {
        let mut settings = Settings::default();
        let text = "silence = ['site-a']\n[[rule]]\nslug = 'site-a'\nwhen = 'posix.opens > 1'\nsays = 'a'\n[[rule]]\nslug = 'site-b'\nwhen = 'files > 1'\nsays = 'b'\nadvice = ['do it']\n";
        settings.add(text).unwrap();
        assert_eq!(settings.rules.len(), 2);
        assert!(settings.silenced.contains("site-a"));
        // The user's rule of the same name takes the site's place.
        settings.add("[[rule]]\nslug = 'site-b'\nwhen = 'files > 2'\nsays = 'c'").unwrap();
        assert_eq!(settings.rules.len(), 2);
    }

    #[test]
    fn a_bad_rule_is_named_with_the_line_of_its_member() {
        let text = "[[rule]]\nslug = 'site-a'\nwhen = 'posix.open > 1'\nsays = 'a'\n\n[[rule]]\nslug = 'site-b'\nwhen = 'files > 1'\nsays = 3\nwhat = 1\n";
        let wrong = Settings::default().add(text).unwrap_err();
        assert_eq!(wrong.len(), 3, "{wrong:?}");
        assert!(
            wrong[0].starts_with("line 3: rule \"site-a\": when: there is no fact \"posix.open\""),
            "{wrong:?}"
        );
        assert_eq!(wrong[1], "line 9: says is a text");
        assert_eq!(wrong[2], "line 10: what is not a member of a rule");
    }

    #[test]
    fn servers_have_ranges_of_targets() {
        let mut settings = Settings::default();
        settings.add("[servers]\noss1 = '0-2, 8'\noss2 = '3'").unwrap();
        let servers: Vec<(u64, &str)> =
            settings.servers.iter().map(|(ost, server)| (*ost, server.as_str())).collect();
        assert_eq!(servers, [(0, "oss1"), (1, "oss1"), (2, "oss1"), (3, "oss2"), (8, "oss1")]);
        let wrong = Settings::default().add("[servers]\noss1 = '7-3'").unwrap_err();
        assert_eq!(wrong, ["line 2: \"7-3\" is no target and no range of targets"]);
    }
}
