//! Values of parameters: read from texts as a dashboard gives them, and written as SQL and JSON want them.

use datafusion::sql::sqlparser::ast::{self, Expr};
use serde_json::{Value as Json, json};

/// What a parameter may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// `str`
    Text,
    /// `int`
    Int,
    /// `float`
    Float,
    /// `bool`
    Bool,
    /// `datetime`
    Time,
    /// `list[int]`
    Ints,
    /// `list[str]`
    Texts,
}

impl Type {
    /// All of them, with their names.
    const ALL: [(Type, &'static str); 7] = [
        (Type::Text, "text"),
        (Type::Int, "int"),
        (Type::Float, "float"),
        (Type::Bool, "bool"),
        (Type::Time, "time"),
        (Type::Ints, "ints"),
        (Type::Texts, "texts"),
    ];

    /// What it is called.
    #[must_use]
    pub fn name(self) -> &'static str {
        Type::ALL.iter().find(|(known, _)| *known == self).map_or("text", |(_, name)| name)
    }

    pub(super) fn of_name(name: &str) -> Option<Type> {
        Type::ALL.iter().find(|(_, known)| *known == name).map(|(known, _)| *known)
    }

    /// Reads a value as people write it; nothing else than the type's values comes through.
    pub(super) fn read(self, text: &str) -> Result<Json, String> {
        let wrong = |what: &str| format!("{text:?} is no {what}");
        Ok(match self {
            Type::Text => json!(text),
            Type::Int => json!(text.parse::<i64>().map_err(|_| wrong("whole number"))?),
            Type::Float => match text.parse::<f64>() {
                Ok(number) if number.is_finite() => json!(number),
                _ => return Err(wrong("number")),
            },
            Type::Bool => match text {
                "true" | "yes" | "1" => json!(true),
                "false" | "no" | "0" => json!(false),
                _ => return Err(wrong("truth: true or false")),
            },
            Type::Time => {
                let time = text.strip_suffix('Z').map(|time| format!("{time}+00:00"));
                let time = time.as_deref().unwrap_or(text);
                let known = chrono::DateTime::parse_from_rfc3339(time);
                known.map_err(|_| wrong("point in time such as 2026-11-16T10:00:00Z"))?;
                json!(time)
            }
            Type::Ints => {
                let all = text.split(',').filter(|part| !part.trim().is_empty());
                let all: Result<Vec<i64>, _> = all.map(|part| part.trim().parse()).collect();
                json!(all.map_err(|_| wrong("list of whole numbers such as 0,1,2"))?)
            }
            Type::Texts => {
                let all = text.split(',').map(str::trim).filter(|part| !part.is_empty());
                json!(all.collect::<Vec<&str>>())
            }
        })
    }
}

/// A value as it stands in a statement. It never passes through a text of SQL, so nothing in it can become SQL.
pub(super) fn expression(of: Type, value: &Json) -> Expr {
    let text = |text: &str| Expr::value(ast::Value::SingleQuotedString(text.to_owned()));
    match value {
        Json::Null => Expr::value(ast::Value::Null),
        Json::Bool(value) => Expr::value(ast::Value::Boolean(*value)),
        Json::Number(number) => Expr::value(ast::Value::Number(number.to_string(), false)),
        Json::String(value) if of == Type::Time => Expr::Cast {
            kind: ast::CastKind::Cast,
            expr: Box::new(text(value)),
            data_type: ast::DataType::Timestamp(None, ast::TimezoneInfo::Tz),
            array: false,
            format: None,
        },
        Json::String(value) => text(value),
        Json::Array(all) => Expr::Array(ast::Array {
            elem: all.iter().map(|one| expression(Type::Text, one)).collect(),
            named: true,
        }),
        Json::Object(_) => Expr::value(ast::Value::Null),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_what_their_type_says() {
        assert_eq!(Type::Int.read("-3").unwrap(), json!(-3));
        assert_eq!(Type::Ints.read("0, 2").unwrap(), json!([0, 2]));
        assert_eq!(
            Type::Time.read("2026-11-16T10:00:00Z").unwrap(),
            json!("2026-11-16T10:00:00+00:00")
        );
        for (of, bad) in [
            (Type::Int, "1 OR 1=1"),
            (Type::Float, "inf"),
            (Type::Bool, "maybe"),
            (Type::Time, "' OR ''='"),
            (Type::Ints, "1,x"),
        ] {
            assert!(of.read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_quote_stays_in_its_text() {
        let hostile = "x' OR ''='";
        let Expr::Value(held) = expression(Type::Text, &json!(hostile)) else { panic!("no value") };
        assert_eq!(held.value, ast::Value::SingleQuotedString(hostile.to_owned()));
        assert_eq!(expression(Type::Ints, &json!([1, 2])).to_string(), "ARRAY[1, 2]");
        assert_eq!(expression(Type::Float, &json!(-2.5)).to_string(), "-2.5");
    }
}
