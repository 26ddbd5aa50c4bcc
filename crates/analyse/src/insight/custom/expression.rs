//! The expressions of rules: numbers with units, facts, arithmetic, comparisons, and, or, not.
//!
//! ```text
//! or      = and { "or" and }
//! and     = not { "and" not }
//! not     = "not" not | compare
//! compare = sum [ ("<" | "<=" | ">" | ">=" | "==" | "!=") sum ]
//! sum     = product { ("+" | "-") product }
//! product = sign { ("*" | "/") sign }
//! sign    = "-" sign | atom
//! atom    = number [unit] | fact | ("min" | "max") "(" or "," or ")" | "(" or ")"
//! ```
//!
//! Truth is 1 and 0. What is divided by zero is zero: a rule must not fire because there is nothing.

use std::fmt;

use super::fact::{self, Scope};
use crate::insight::Value;

/// An expression that has been read.
#[derive(Debug, Clone)]
pub(super) struct Expression {
    text: String,
    root: Node,
}

#[derive(Debug, Clone)]
enum Node {
    Number(f64),
    Fact(String),
    Not(Box<Node>),
    Minus(Box<Node>),
    Two(Sign, Box<Node>, Box<Node>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Or,
    And,
    Less,
    AtMost,
    More,
    AtLeast,
    Equal,
    Unequal,
    Plus,
    Minus,
    Times,
    Over,
    Least,
    Most,
}

/// Units behind a number, longer ones before those they begin with.
const UNITS: [(&str, f64); 12] = [
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("TiB", 1_099_511_627_776.0),
    ("min", 60.0),
    ("ms", 1e-3),
    ("us", 1e-6),
    ("ns", 1e-9),
    ("B", 1.0),
    ("s", 1.0),
    ("h", 3600.0),
    ("%", 0.01),
];

impl Expression {
    /// Reads an expression, about a file where `files` is true.
    pub(super) fn parse(text: &str, files: bool) -> Result<Expression, String> {
        let mut reader = Reader { rest: text.trim(), files, depth: 0 };
        if reader.rest.is_empty() {
            return Err("there is no expression".into());
        }
        let root = reader.or()?;
        match reader.rest {
            "" => Ok(Expression { text: text.trim().to_owned(), root }),
            rest => Err(format!("{rest:?} is one thing too many")),
        }
    }

    pub(super) fn value(&self, scope: &Scope<'_>) -> f64 {
        self.root.value(scope)
    }

    /// The facts that it speaks of, each once, with their values.
    pub(super) fn facts(&self, scope: &Scope<'_>) -> Vec<(String, Value)> {
        let mut names = Vec::new();
        self.root.names(&mut names);
        names.into_iter().map(|name| (name.clone(), fact::value(&name, scope.get(&name)))).collect()
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Node {
    fn value(&self, scope: &Scope<'_>) -> f64 {
        let truth = |is: bool| f64::from(u8::from(is));
        match self {
            Node::Number(number) => *number,
            Node::Fact(name) => scope.get(name),
            Node::Not(of) => truth(of.value(scope) == 0.0),
            Node::Minus(of) => -of.value(scope),
            Node::Two(sign, a, b) => {
                let a = a.value(scope);
                // What does not matter any more is not asked.
                match (sign, a != 0.0) {
                    (Sign::And, false) => return 0.0,
                    (Sign::Or, true) => return 1.0,
                    _ => {}
                }
                let b = b.value(scope);
                match sign {
                    Sign::And | Sign::Or => truth(b != 0.0),
                    Sign::Less => truth(a < b),
                    Sign::AtMost => truth(a <= b),
                    Sign::More => truth(a > b),
                    Sign::AtLeast => truth(a >= b),
                    Sign::Equal => truth(a == b),
                    Sign::Unequal => truth(a != b),
                    Sign::Plus => a + b,
                    Sign::Minus => a - b,
                    Sign::Times => a * b,
                    Sign::Over => {
                        if b == 0.0 {
                            0.0
                        } else {
                            a / b
                        }
                    }
                    Sign::Least => a.min(b),
                    Sign::Most => a.max(b),
                }
            }
        }
    }

    fn names(&self, names: &mut Vec<String>) {
        match self {
            Node::Number(_) => {}
            Node::Fact(name) if names.contains(name) => {}
            Node::Fact(name) => names.push(name.clone()),
            Node::Not(of) | Node::Minus(of) => of.names(names),
            Node::Two(_, a, b) => {
                a.names(names);
                b.names(names);
            }
        }
    }
}

/// Expressions within expressions that are followed.
const DEEPEST: u32 = 64;

struct Reader<'a> {
    rest: &'a str,
    files: bool,
    depth: u32,
}

type Read = Result<Node, String>;

impl Reader<'_> {
    fn or(&mut self) -> Read {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("it is nested too deeply".into());
        }
        let mut node = self.and()?;
        while self.word("or") {
            node = two(Sign::Or, node, self.and()?);
        }
        self.depth -= 1;
        Ok(node)
    }

    fn and(&mut self) -> Read {
        let mut node = self.not()?;
        while self.word("and") {
            node = two(Sign::And, node, self.not()?);
        }
        Ok(node)
    }

    fn not(&mut self) -> Read {
        let mut turned = false;
        while self.word("not") {
            turned = !turned;
        }
        let node = self.compare()?;
        Ok(if turned { Node::Not(Box::new(node)) } else { node })
    }

    fn compare(&mut self) -> Read {
        const SIGNS: [(&str, Sign); 6] = [
            ("<=", Sign::AtMost),
            (">=", Sign::AtLeast),
            ("==", Sign::Equal),
            ("!=", Sign::Unequal),
            ("<", Sign::Less),
            (">", Sign::More),
        ];
        let node = self.sum()?;
        match self.sign(&SIGNS) {
            Some(sign) => Ok(two(sign, node, self.sum()?)),
            None => Ok(node),
        }
    }

    fn sum(&mut self) -> Read {
        let mut node = self.product()?;
        while let Some(sign) = self.sign(&[("+", Sign::Plus), ("-", Sign::Minus)]) {
            node = two(sign, node, self.product()?);
        }
        Ok(node)
    }

    fn product(&mut self) -> Read {
        let mut node = self.minus()?;
        while let Some(sign) = self.sign(&[("*", Sign::Times), ("/", Sign::Over)]) {
            node = two(sign, node, self.minus()?);
        }
        Ok(node)
    }

    fn minus(&mut self) -> Read {
        let mut turned = false;
        while self.sign(&[("-", Sign::Minus)]).is_some() {
            turned = !turned;
        }
        let node = self.atom()?;
        Ok(if turned { Node::Minus(Box::new(node)) } else { node })
    }

    fn atom(&mut self) -> Read {
        if self.sign(&[("(", Sign::Equal)]).is_some() {
            let node = self.or()?;
            self.need(")")?;
            return Ok(node);
        }
        let first = self.rest.chars().next();
        match first {
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_ascii_alphabetic() => self.named(),
            Some(_) => Err(format!("a number or a fact is missing before {:?}", self.rest)),
            None => Err("it ends where a number or a fact is missing".into()),
        }
    }

    fn number(&mut self) -> Read {
        let digits = |c: char| c.is_ascii_digit() || c == '.' || c == '_';
        let text = self.take(digits);
        let number: f64 =
            text.replace('_', "").parse().map_err(|_| format!("{text:?} is not a number"))?;
        let unit = UNITS.iter().find(|(unit, _)| {
            let behind = self.rest.strip_prefix(unit).and_then(|rest| rest.chars().next());
            self.rest.starts_with(unit) && !behind.is_some_and(|c| c.is_ascii_alphanumeric())
        });
        let factor = match unit {
            Some((unit, factor)) => {
                self.skip(unit.len());
                *factor
            }
            None if self.rest.starts_with(|c: char| c.is_ascii_alphabetic()) && !self.at_word() => {
                let unit = self.take(|c: char| c.is_ascii_alphanumeric());
                return Err(format!(
                    "{unit:?} is not a unit; units are B, KiB, MiB, GiB, TiB, ns, us, ms, s, min, h, %"
                ));
            }
            None => 1.0,
        };
        self.skip(0);
        Ok(Node::Number(number * factor))
    }

    fn named(&mut self) -> Read {
        let name = self.take(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.');
        self.skip(0);
        let pick = match name.as_str() {
            "min" => Some(Sign::Least),
            "max" => Some(Sign::Most),
            _ => None,
        };
        if let Some(sign) = pick {
            self.need("(")?;
            let a = self.or()?;
            self.need(",")?;
            let b = self.or()?;
            self.need(")")?;
            return Ok(two(sign, a, b));
        }
        fact::known(&name, self.files)?;
        Ok(Node::Fact(name))
    }

    fn need(&mut self, sign: &str) -> Result<(), String> {
        if !self.rest.starts_with(sign) {
            let found = if self.rest.is_empty() { "its end" } else { self.rest };
            return Err(format!("{sign:?} is missing before {found}"));
        }
        self.skip(sign.len());
        Ok(())
    }

    /// Whether one of the words that join stands here, and not the beginning of a name.
    fn at_word(&self) -> bool {
        ["and", "or", "not"].iter().any(|word| starts_with_word(self.rest, word))
    }

    fn word(&mut self, word: &str) -> bool {
        let is = starts_with_word(self.rest, word);
        if is {
            self.skip(word.len());
        }
        is
    }

    fn sign(&mut self, signs: &[(&str, Sign)]) -> Option<Sign> {
        let &(text, sign) = signs.iter().find(|(text, _)| self.rest.starts_with(text))?;
        self.skip(text.len());
        Some(sign)
    }

    /// Goes on by so many bytes and over spaces.
    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or("").trim_start();
    }

    fn take(&mut self, part: impl Fn(char) -> bool) -> String {
        let end = self.rest.find(|c| !part(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken.to_owned()
    }
}

fn starts_with_word(text: &str, word: &str) -> bool {
    let behind = text.strip_prefix(word).map(|rest| rest.chars().next());
    behind
        .is_some_and(|next| next.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '_' && c != '.'))
}

fn two(sign: Sign, a: Node, b: Node) -> Node {
    Node::Two(sign, Box::new(a), Box::new(b))
}

#[cfg(test)]
mod tests {
    use super::{Expression, Scope};
    use crate::Thresholds;
    use crate::sample::Sample;

    #[track_caller]
    fn gives(text: &str, want: f64) {
        let facts = Sample::new(4, 100.0).facts();
        let limit = Thresholds::default();
        let scope = Scope::job(&facts, &limit);
        let value = Expression::parse(text, false).unwrap().value(&scope);
        assert!((value - want).abs() < 1e-9, "{text} gives {value}, not {want}");
    }

    #[track_caller]
    fn refuses(text: &str, why: &str) {
        let said = Expression::parse(text, false).unwrap_err();
        assert!(said.contains(why), "{text}: {said}");
    }

    #[test]
    fn arithmetic_and_logic_bind_as_everywhere() {
        gives("1 + 2 * 3 - 4 / 2", 5.0);
        gives("(1 + 2) * -3", -9.0);
        gives("1 > 0 and not 2 < 1 or 0 == 1", 1.0);
        gives("not 1 == 1", 0.0);
        gives("max(2, min(7, 5))", 5.0);
        gives("processes / 0", 0.0);
        gives("processes*2>=8", 1.0);
    }

    #[test]
    fn units_scale() {
        gives("1MiB + 1KiB", 1_049_600.0);
        gives("250ms * 4", 1.0);
        gives("2min + 1h", 3720.0);
        gives("run_seconds * 25%", 25.0);
        gives("1_000", 1000.0);
        gives("1s or 0", 1.0);
    }

    #[test]
    fn mistakes_are_named() {
        refuses("", "no expression");
        refuses("1 +", "it ends");
        refuses("processes > 3 3", "one thing too many");
        refuses("proceses > 3", "processes");
        refuses("(1 + 2", "\")\" is missing");
        refuses("5MB > 1", "is not a unit");
        refuses("file.opens > 1", "each = \"file\"");
        refuses("call.pwrit.calls > 1", "no function");
        refuses(&"(".repeat(500), "too deeply");
        refuses("min(1)", "\",\" is missing");
        refuses("1 § 2", "one thing too many");
    }
}
