//! Sentences with expressions in braces: `{posix.opens} opens take {metadata_seconds:seconds}`.

use netra_event::{Bytes, Seconds};

use super::expression::Expression;
use super::fact::Scope;
use crate::insight::{count, percent};

/// A sentence that has been read.
#[derive(Debug, Clone)]
pub(super) struct Template {
    parts: Vec<Part>,
}

#[derive(Debug, Clone)]
enum Part {
    Text(String),
    Value(Expression, Unit),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Plain,
    Bytes,
    Seconds,
    Percent,
}

impl Template {
    pub(super) fn parse(text: &str, files: bool) -> Result<Template, String> {
        if text.trim().is_empty() {
            return Err("there is no sentence".into());
        }
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once('{') {
            let (inside, after) =
                behind.split_once('}').ok_or_else(|| format!("a brace is open: {{{behind}"))?;
            let (expression, unit) = match inside.rsplit_once(':') {
                None => (inside, Unit::Plain),
                Some((expression, "bytes")) => (expression, Unit::Bytes),
                Some((expression, "seconds")) => (expression, Unit::Seconds),
                Some((expression, "percent")) => (expression, Unit::Percent),
                Some((_, unit)) => {
                    return Err(format!("{unit:?} is none of bytes, seconds, percent"));
                }
            };
            parts.push(Part::Text(before.to_owned()));
            parts.push(Part::Value(Expression::parse(expression, files)?, unit));
            rest = after;
        }
        parts.push(Part::Text(rest.to_owned()));
        Ok(Template { parts })
    }

    pub(super) fn fill(&self, scope: &Scope<'_>) -> String {
        let mut says = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => says.push_str(text),
                Part::Value(expression, unit) => says.push_str(&unit.show(expression.value(scope))),
            }
        }
        says
    }
}

impl Unit {
    fn show(self, value: f64) -> String {
        match self {
            // Casts saturate; nothing here comes near.
            Unit::Bytes => Bytes(value as u64).to_string(),
            Unit::Seconds => Seconds(value).to_string(),
            Unit::Percent => percent(value),
            Unit::Plain if value >= 0.0 && value.fract() == 0.0 => count(value as u64),
            Unit::Plain => format!("{value:.2}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Scope, Template};
    use crate::Thresholds;
    use crate::sample::Sample;

    #[test]
    fn values_have_their_units() {
        let facts = Sample::new(2048, 90.0).facts();
        let limit = Thresholds::default();
        let text = "{processes} ranks, {run_seconds:seconds}, {limit.small_request:bytes}, {1/8:percent}, {1/8}";
        let says = Template::parse(text, false).unwrap().fill(&Scope::job(&facts, &limit));
        assert_eq!(says, "2,048 ranks, 90.0 s, 1.00 MiB, 12 %, 0.12");
    }

    #[test]
    fn mistakes_are_named() {
        let why = |text: &str| Template::parse(text, false).unwrap_err();
        assert!(why("{processes").contains("a brace is open"));
        assert!(why("{processes:kilo}").contains("none of bytes"));
        assert!(why(" ").contains("no sentence"));
    }
}
