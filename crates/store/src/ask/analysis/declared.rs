//! What a module declares: its inputs, its parameters with types and defaults, and what it is about.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::super::error::{Error, Kind};
use super::value::Type;
use netra_stream::guess::nearest;

/// What a module declares.
#[derive(Debug)]
pub struct Declared {
    /// Its own words.
    pub about: String,
    /// What may be said.
    pub parameters: Vec<Parameter>,
    /// What it asks, by the name under which the function takes it.
    pub(super) inputs: Vec<(String, Asks)>,
}

/// A parameter of a module.
#[derive(Debug, Clone)]
pub struct Parameter {
    /// What it is called.
    pub name: String,
    /// What it may hold.
    pub of: Type,
    /// Its value if nobody gives one; none where somebody must.
    pub default: Option<Json>,
    /// Whether the function takes it, and not only the inputs.
    taken: bool,
}

/// What is asked for an input.
#[derive(Debug)]
pub(super) enum Asks {
    /// A question in SQL with `$name` for parameters.
    Query(String),
    /// Columns of a table.
    Table(Part),
}

/// A part of a table.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) table: String,
    /// All without any.
    pub(super) columns: Vec<String>,
    /// Which of `job`, `rank`, `time` and `file` may choose rows.
    pub(super) filters: Vec<String>,
    /// A condition in SQL beside them.
    pub(super) condition: Option<String>,
}

/// A parameter that a filter asks for, and whether it must be given.
type Asked = (&'static str, Type, bool);

/// The filters of a table, and what each asks for.
pub(super) const FILTERS: [(&str, &[Asked]); 4] = [
    ("job", &[("job", Type::Text, true)]),
    ("rank", &[("ranks", Type::Ints, false)]),
    ("time", &[("since", Type::Time, false), ("until", Type::Time, false)]),
    ("file", &[("file", Type::Text, false)]),
];

/// Values by parameter.
pub(super) type Values = BTreeMap<String, (Type, Json)>;

impl Declared {
    /// Reads what `harness.py` found.
    pub(super) fn read(answer: &[u8]) -> Result<Declared, String> {
        let found: Json = serde_json::from_slice(answer).map_err(|error| error.to_string())?;
        let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
        let mut parameters = Vec::new();
        for one in found["parameters"].as_array().into_iter().flatten() {
            let of = one["type"].as_str().and_then(Type::of_name);
            let required = one["required"].as_bool().unwrap_or(true);
            parameters.push(Parameter {
                name: text(&one["name"]),
                of: of.ok_or("a parameter has an unknown type")?,
                default: (!required).then(|| one["default"].clone()),
                taken: true,
            });
        }
        let mut inputs = Vec::new();
        for (name, asks) in found["inputs"].as_object().into_iter().flatten() {
            let asks = read_asks(asks).map_err(|says| format!("input {name}: {says}"))?;
            if let Asks::Table(part) = &asks {
                add_filters(part, &mut parameters);
            }
            inputs.push((name.clone(), asks));
        }
        Ok(Declared { about: text(&found["about"]), parameters, inputs })
    }

    /// Values for all parameters, from texts such as `job=4711`.
    pub(super) fn values(&self, name: &str, texts: &[String]) -> Result<Values, Error> {
        let wrong = |says: String| Error::new(Kind::Value, format!("analysis {name}: {says}"));
        let names = || self.parameters.iter().map(|parameter| parameter.name.as_str());
        let mut values = Values::new();
        for text in texts {
            let (key, value) = text
                .split_once('=')
                .ok_or_else(|| wrong(format!("{text:?} is no parameter: name=value")))?;
            let known = self.parameters.iter().find(|parameter| parameter.name == key);
            let Some(known) = known else {
                let error = wrong(format!("there is no parameter \"{key}\""));
                let all = names().collect::<Vec<_>>().join(", ");
                return Err(match nearest(key, names()) {
                    Some(meant) => error.hint(format!("did you mean \"{meant}\"?")),
                    None => error.hint(format!("there are {all}")),
                });
            };
            let value = known.of.read(value).map_err(|says| wrong(format!("{key}: {says}")))?;
            values.insert(key.to_owned(), (known.of, value));
        }
        for parameter in
            self.parameters.iter().filter(|one| !values.contains_key(&one.name)).collect::<Vec<_>>()
        {
            let default = parameter.default.clone();
            let default =
                default.ok_or_else(|| wrong(format!("{0} is needed: {0}=…", parameter.name)))?;
            values.insert(parameter.name.clone(), (parameter.of, default));
        }
        Ok(values)
    }

    /// What the function takes besides its inputs: name, type and value of each.
    pub(super) fn arguments(&self, values: &Values) -> Json {
        let taken = self.parameters.iter().filter(|parameter| parameter.taken);
        let all = taken.map(|parameter| {
            let value = values.get(&parameter.name).map_or(&Json::Null, |(_, value)| value);
            json!([parameter.name, parameter.of.name(), value])
        });
        Json::Array(all.collect())
    }
}

fn read_asks(asks: &Json) -> Result<Asks, String> {
    if let Some(sql) = asks.as_str() {
        return Ok(Asks::Query(sql.to_owned()));
    }
    let known = ["table", "columns", "filters", "where"];
    let form = r#"a text of SQL, or {"table": …, "columns": […], "filters": […], "where": …}"#;
    let asks = asks.as_object().ok_or_else(|| format!("it is {form}"))?;
    if let Some(key) = asks.keys().find(|key| !known.contains(&key.as_str())) {
        return Err(format!("there is no key {key:?}: it is {form}"));
    }
    let words = |key: &str| -> Result<Vec<String>, String> {
        let list = match asks.get(key) {
            None => return Ok(Vec::new()),
            Some(list) => list.as_array().ok_or_else(|| format!("{key} is a list"))?,
        };
        let word = |word: &Json| word.as_str().map(str::to_owned);
        list.iter()
            .map(word)
            .collect::<Option<_>>()
            .ok_or_else(|| format!("{key} is a list of texts"))
    };
    let filters = words("filters")?;
    let names = FILTERS.map(|(name, _)| name);
    if let Some(filter) = filters.iter().find(|filter| !names.contains(&filter.as_str())) {
        return Err(format!("there is no filter {filter:?}; filters are {}", names.join(", ")));
    }
    let table = asks.get("table").and_then(Json::as_str).ok_or_else(|| format!("it is {form}"))?;
    Ok(Asks::Table(Part {
        table: table.to_owned(),
        columns: words("columns")?,
        filters,
        condition: asks.get("where").and_then(Json::as_str).map(str::to_owned),
    }))
}

/// Parameters that choose rows, unless the function has them by itself.
fn add_filters(part: &Part, parameters: &mut Vec<Parameter>) {
    let wanted = FILTERS.iter().filter(|(name, _)| part.filters.iter().any(|one| one == name));
    for &(name, of, required) in wanted.flat_map(|(_, parameters)| *parameters) {
        if parameters.iter().all(|parameter| parameter.name != name) {
            let default = (!required).then_some(Json::Null);
            parameters.push(Parameter { name: name.to_owned(), of, default, taken: false });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared() -> Declared {
        let found = json!({
            "about": "x",
            "inputs": { "calls": { "table": "events", "filters": ["job", "rank", "time"] } },
            "parameters": [{ "name": "times", "type": "float", "required": false, "default": 3.0 }],
        });
        Declared::read(found.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn filters_are_parameters() {
        let declared = declared();
        let names: Vec<&str> = declared.parameters.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["times", "job", "ranks", "since", "until"]);
        let values = declared.values("x", &["job=4711".into(), "times=2".into()]).unwrap();
        assert_eq!(values["job"], (Type::Text, json!("4711")));
        assert_eq!(values["ranks"], (Type::Ints, Json::Null));
        assert_eq!(declared.arguments(&values), json!([["times", "float", 2.0]]));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let says = |texts: &[&str]| {
            let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
            declared().values("x", &texts).unwrap_err().to_string()
        };
        assert_eq!(says(&[]), "analysis x: job is needed: job=…");
        assert_eq!(
            says(&["jobb=1"]),
            "analysis x: there is no parameter \"jobb\" (did you mean \"job\"?)"
        );
        assert_eq!(says(&["job=1", "times=x"]), "analysis x: times: \"x\" is no number");
        assert_eq!(says(&["job"]), "analysis x: \"job\" is no parameter: name=value");
        let asks = json!({ "table": "events", "filter": ["job"] });
        assert!(read_asks(&asks).unwrap_err().contains("there is no key \"filter\""));
    }
}
