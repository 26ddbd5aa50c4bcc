//! Expressions over the columns of a table: `read_seconds + write_seconds`, `layer = "POSIX" and
//! bytes > 0`, `median(seconds)`.

use std::io::{Result, Write};

use super::table::Table;
use crate::Json;

/// An expression, with its types checked.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Expression {
    Number(f64),
    Text(String),
    Column(&'static str),
    /// A function of all rows of a group.
    Of(&'static str, Box<Expression>),
    Two(&'static str, Box<Expression>, Box<Expression>),
}

/// What an expression is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Want {
    /// True or false, of a row.
    Condition,
    /// A value of a row.
    Row,
    /// A value of a group of rows.
    Group,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Number,
    Text,
    Truth,
}

impl Type {
    fn name(self) -> &'static str {
        match self {
            Type::Number => "a number",
            Type::Text => "text",
            Type::Truth => "a condition",
        }
    }
}

const OVER_ROWS: [&str; 6] = ["sum", "min", "max", "mean", "median", "count"];
/// By how tightly they bind, loosest first.
const LEVELS: [&[&str]; 5] =
    [&["or"], &["and"], &["=", "!=", "<=", ">=", "<", ">"], &["+", "-"], &["*", "/"]];

/// Reads an expression over a table's columns.
pub(super) fn parse(
    text: &str,
    table: &'static Table,
    want: Want,
) -> std::result::Result<Expression, String> {
    let mut parser = Parser { words: words(text)?, at: 0, text, table, want, inside: false };
    let (expression, kind) = parser.level(0)?;
    if let Some(word) = parser.words.get(parser.at) {
        return Err(format!("`{word}` is not expected in `{text}`"));
    }
    match (want, kind) {
        (Want::Condition, Type::Number | Type::Text) => {
            Err(format!("`{text}` is {}, not a condition", kind.name()))
        }
        (Want::Row | Want::Group, Type::Truth) => {
            Err(format!("`{text}` is a condition, not a value"))
        }
        _ => Ok(expression),
    }
}

/// Cuts an expression into words: names, numbers, quoted text, signs.
fn words(text: &str) -> std::result::Result<Vec<String>, String> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let long = match first {
            '"' | '\'' => match rest[1..].find(first) {
                Some(end) => end + 2,
                None => return Err(format!("text in `{text}` does not end")),
            },
            'a'..='z' | 'A'..='Z' | '_' => span(rest, |c| c.is_ascii_alphanumeric() || c == '_'),
            '0'..='9' | '.' => span(rest, |c| c.is_ascii_alphanumeric() || c == '.'),
            '<' | '>' | '!' if rest[1..].starts_with('=') => 2,
            '<' | '>' | '=' | '+' | '-' | '*' | '/' | '(' | ')' => 1,
            _ => return Err(format!("`{first}` is not known in `{text}`")),
        };
        found.push(rest[..long].to_owned());
        rest = rest[long..].trim_start();
    }
    Ok(found)
}

fn span(text: &str, is: impl Fn(char) -> bool) -> usize {
    text.find(|c| !is(c)).unwrap_or(text.len())
}

struct Parser<'a> {
    words: Vec<String>,
    at: usize,
    text: &'a str,
    table: &'static Table,
    want: Want,
    /// Within a function over rows.
    inside: bool,
}

type Typed = std::result::Result<(Expression, Type), String>;

impl Parser<'_> {
    /// Operators of a level and everything that binds tighter.
    fn level(&mut self, level: usize) -> Typed {
        let Some(operators) = LEVELS.get(level) else { return self.value() };
        let (mut left, mut kind) = self.level(level + 1)?;
        while let Some(operator) = self.operator(operators) {
            let (right, other) = self.level(level + 1)?;
            kind = self.result(operator, (&left, kind), (&right, other))?;
            left = Expression::Two(operator, Box::new(left), Box::new(right));
        }
        Ok((left, kind))
    }

    fn operator(&mut self, among: &[&'static str]) -> Option<&'static str> {
        let word = self.words.get(self.at)?;
        let found = among.iter().find(|operator| *operator == word).copied()?;
        self.at += 1;
        Some(found)
    }

    /// The type that an operator makes of two others.
    fn result(
        &self,
        operator: &str,
        left: (&Expression, Type),
        right: (&Expression, Type),
    ) -> std::result::Result<Type, String> {
        let takes = match operator {
            "and" | "or" => Type::Truth,
            "=" | "!=" | "<" | ">" | "<=" | ">=" => left.1,
            _ => Type::Number,
        };
        for (expression, kind) in [left, right] {
            if kind != takes {
                let what = if takes == Type::Truth { "conditions" } else { "numbers" };
                let what = if takes == Type::Text { "the same on both sides" } else { what };
                let name = named(expression);
                return Err(format!("`{operator}` takes {what}, and {name} is {}", kind.name()));
            }
        }
        Ok(match operator {
            "+" | "-" | "*" | "/" => Type::Number,
            _ => Type::Truth,
        })
    }

    fn value(&mut self) -> Typed {
        let Some(word) = self.words.get(self.at).cloned() else {
            return Err(format!("something is missing at the end of `{}`", self.text));
        };
        self.at += 1;
        let first = word.chars().next().unwrap_or(' ');
        match first {
            '(' => {
                let inner = self.level(0)?;
                self.close()?;
                Ok(inner)
            }
            '-' => {
                let (inner, kind) = self.value()?;
                self.result("-", (&inner, kind), (&inner, kind))?;
                let zero = Box::new(Expression::Number(0.0));
                Ok((Expression::Two("-", zero, Box::new(inner)), Type::Number))
            }
            '"' | '\'' => Ok((Expression::Text(word[1..word.len() - 1].to_owned()), Type::Text)),
            '0'..='9' | '.' => number(&word).map(|n| (Expression::Number(n), Type::Number)),
            _ if self.words.get(self.at).is_some_and(|next| next == "(") => self.over_rows(&word),
            _ => self.column(&word),
        }
    }

    fn over_rows(&mut self, word: &str) -> Typed {
        let Some(name) = OVER_ROWS.iter().find(|name| **name == word).copied() else {
            return Err(format!(
                "there is no function `{word}`; there are {}",
                OVER_ROWS.join(", ")
            ));
        };
        if self.want != Want::Group {
            return Err(format!("`{name}` needs a view with `group`"));
        }
        if self.inside {
            return Err(format!("`{name}` cannot stand inside another function"));
        }
        self.at += 1;
        if name == "count" && self.words.get(self.at).is_some_and(|word| word == ")") {
            self.at += 1;
            let one = Box::new(Expression::Number(1.0));
            return Ok((Expression::Of("count", one), Type::Number));
        }
        self.inside = true;
        let (inner, kind) = self.level(3)?;
        self.inside = false;
        self.close()?;
        if kind != Type::Number && name != "count" {
            return Err(format!(
                "`{name}` takes numbers, and {} is {}",
                named(&inner),
                kind.name()
            ));
        }
        Ok((Expression::Of(name, Box::new(inner)), Type::Number))
    }

    fn column(&self, word: &str) -> Typed {
        let Some(column) = self.table.column(word) else {
            return Err(format!(
                "there is no column `{word}` in {}; columns are {}",
                self.table.name,
                self.table.column_names()
            ));
        };
        let kind = if column.text { Type::Text } else { Type::Number };
        Ok((Expression::Column(column.name), kind))
    }

    fn close(&mut self) -> std::result::Result<(), String> {
        if self.words.get(self.at).is_some_and(|word| word == ")") {
            self.at += 1;
            return Ok(());
        }
        Err(format!("a `)` is missing in `{}`", self.text))
    }
}

fn named(expression: &Expression) -> String {
    match expression {
        Expression::Column(name) => (*name).to_owned(),
        Expression::Text(text) => format!("\"{text}\""),
        _ => "the other side".into(),
    }
}

/// A number, perhaps with a unit of bytes: `4MiB`.
fn number(word: &str) -> std::result::Result<f64, String> {
    let digits = span(word, |c| c.is_ascii_digit() || c == '.' || c == 'e');
    let factor = match &word[digits..] {
        "" => 1.0,
        "KiB" => 1024.0,
        "MiB" => 1024.0 * 1024.0,
        "GiB" => 1024.0 * 1024.0 * 1024.0,
        "ms" => 1e-3,
        "us" => 1e-6,
        _ => return Err(format!("`{word}` is not a number; units are KiB, MiB, GiB, ms, us")),
    };
    let value: f64 = word[..digits].parse().map_err(|_| format!("`{word}` is not a number"))?;
    Ok(value * factor)
}

impl Expression {
    pub(super) fn json<W: Write>(&self, json: &mut Json<'_, W>) -> Result<()> {
        json.open('[')?;
        match self {
            Expression::Number(value) => {
                json.text("number")?;
                json.float(*value)?;
            }
            Expression::Text(text) => {
                json.text("text")?;
                json.text(text)?;
            }
            Expression::Column(name) => {
                json.text("column")?;
                json.text(name)?;
            }
            Expression::Of(name, inner) => {
                json.text(name)?;
                inner.json(json)?;
            }
            Expression::Two(operator, left, right) => {
                json.text(operator)?;
                left.json(json)?;
                right.json(json)?;
            }
        }
        json.close(']')
    }

    pub(super) fn json_or_null<W: Write>(
        one: Option<&Expression>,
        json: &mut Json<'_, W>,
    ) -> Result<()> {
        match one {
            Some(expression) => expression.json(json),
            None => json.null(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::Table;
    use super::{Want, parse};
    use crate::Json;

    #[track_caller]
    fn check(text: &str, want: Want, expected: &str) {
        let said = match parse(text, Table::named("files").unwrap(), want) {
            Ok(expression) => {
                let mut out = Vec::new();
                expression.json(&mut Json::new(&mut out)).unwrap();
                String::from_utf8(out).unwrap().replace('"', "")
            }
            Err(wrong) => wrong,
        };
        assert_eq!(said, expected);
    }

    #[test]
    fn operators_bind_as_in_school() {
        check(
            "reads + writes * 2",
            Want::Row,
            "[+,[column,reads],[*,[column,writes],[number,2.0]]]",
        );
        check(
            "(reads + writes) * 2",
            Want::Row,
            "[*,[+,[column,reads],[column,writes]],[number,2.0]]",
        );
        check("reads - 1 - 2", Want::Row, "[-,[-,[column,reads],[number,1.0]],[number,2.0]]");
        check("-reads", Want::Row, "[-,[number,0.0],[column,reads]]");
    }

    #[test]
    fn conditions_join() {
        check(
            "layer = 'POSIX' and bytes_read >= 4MiB or ranks != 1",
            Want::Condition,
            "[or,[and,[=,[column,layer],[text,POSIX]],[>=,[column,bytes_read],[number,4194304.0]]],[!=,[column,ranks],[number,1.0]]]",
        );
    }

    #[test]
    fn groups_have_functions_of_their_rows() {
        check("sum(reads) / count()", Want::Group, "[/,[sum,[column,reads]],[count,[number,1.0]]]");
        check("sum(max(reads))", Want::Group, "`max` cannot stand inside another function");
        check("sum(path)", Want::Group, "`sum` takes numbers, and path is text");
        check(
            "total(reads)",
            Want::Group,
            "there is no function `total`; there are sum, min, max, mean, median, count",
        );
    }

    #[test]
    fn what_is_wrong_is_said() {
        check("reads", Want::Condition, "`reads` is a number, not a condition");
        check("reads > 1", Want::Row, "`reads > 1` is a condition, not a value");
        check(
            "path > 1",
            Want::Condition,
            "`>` takes the same on both sides, and the other side is a number",
        );
        check("(reads", Want::Row, "a `)` is missing in `(reads`");
        check("reads writes", Want::Row, "`writes` is not expected in `reads writes`");
        check("reads & 1", Want::Row, "`&` is not known in `reads & 1`");
        check("'a", Want::Row, "text in `'a` does not end");
        check("4XiB", Want::Row, "`4XiB` is not a number; units are KiB, MiB, GiB, ms, us");
        check("", Want::Row, "something is missing at the end of ``");
    }
}
