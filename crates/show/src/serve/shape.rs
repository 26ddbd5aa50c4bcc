//! What answers look like, for whoever writes a program against them: the shapes of the API's description.
//!
//! A shape is a list of members, each with the kind of its value: `string`, `number`, `integer`, `boolean`, `any`, `#Name` for another
//! shape, `[kind]` for a list, `{kind}` for values by name, and `kind|null`. A member whose name ends with `?` is not always there.

use serde_json::{Map, Value, json};

/// A shape's name, what it is, and its members.
type Shape = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

const SHAPES: &[Shape] = &[
    ("Refusal", "No, and why.", &[("error", "string")]),
    ("Health", "The server answers.", &[("netra", "string"), ("ok", "boolean")]),
    (
        "Me",
        "Who asks.",
        &[("name", "string"), ("uid", "integer|null"), ("administrator", "boolean")],
    ),
    (
        "Dropped",
        "Events that are missing for one reason.",
        &[("reason", "string"), ("says", "string"), ("events", "integer")],
    ),
    (
        "Completeness",
        "What became of a job's events.",
        &[
            ("complete", "boolean"),
            ("produced", "integer"),
            ("delivered", "integer"),
            ("in_flight", "integer"),
            ("dropped", "[#Dropped]"),
            ("missed_here", "integer"),
            ("why?", "string|null"),
        ],
    ),
    (
        "Levels",
        "Findings that stand, by how bad they are.",
        &[("high", "integer"), ("warn", "integer"), ("info", "integer")],
    ),
    (
        "Job",
        "A job in the list. Rates are of the last seconds; share is that of its processes' time in calls. Findings are null where nobody has looked yet.",
        JOB,
    ),
    (
        "Jobs",
        "Jobs, newest first. `store` says whether there is a store, `wrong` why it could not be asked.",
        &[("now", "number"), ("jobs", "[#Job]"), ("store?", "boolean"), ("wrong?", "string")],
    ),
    (
        "Step",
        "What happened in one step of time. Cells are layer, way, calls, bytes and nanoseconds; latency has for reads and writes of POSIX and STDIO the calls and the nanoseconds that half, 95 and 99 of 100 do not exceed.",
        &[("at", "integer"), ("cells", "[[integer]]"), ("latency", "[[integer|null]|null]")],
    ),
    (
        "Rank",
        "A process. Nanos are nanoseconds in reads, writes, metadata and syncs.",
        &[
            ("rank", "integer|null"),
            ("pid", "integer"),
            ("host", "string"),
            ("calls", "integer"),
            ("bytes_read", "integer"),
            ("bytes_written", "integer"),
            ("nanos", "[integer]"),
            ("longest", "integer"),
            ("over", "boolean"),
        ],
    ),
    (
        "File",
        "A file and what was done to it.",
        &[
            ("path", "string"),
            ("processes", "integer"),
            ("reads", "integer"),
            ("writes", "integer"),
            ("bytes_read", "integer"),
            ("bytes_written", "integer"),
            ("nanos", "[integer]"),
        ],
    ),
    (
        "Metric",
        "What a node measures of itself: points are second and value, each of so many seconds.",
        &[
            ("host", "string"),
            ("target", "string"),
            ("name", "string"),
            ("group", "string"),
            ("unit", "string"),
            ("width", "integer"),
            ("points", "[[number]]"),
        ],
    ),
    (
        "Standing",
        "A finding and its life: since when it stands, when its words last changed, when it was gone.",
        &[
            ("slug", "string"),
            ("number", "integer"),
            ("title", "string"),
            ("level", "string"),
            ("says", "string"),
            ("lost", "number"),
            ("since", "number"),
            ("changed", "number"),
            ("gone", "number|null"),
        ],
    ),
    (
        "Relation",
        "A metric that goes with slow calls: correlation by rank, seconds by which it leads, and how likely that is chance.",
        &[
            ("host", "string"),
            ("target", "string"),
            ("name", "string"),
            ("value", "number"),
            ("lead", "integer"),
            ("chance", "number"),
            ("steps", "integer"),
        ],
    ),
    (
        "Diagnosis",
        "What the rules say, and since when.",
        &[
            ("number", "integer"),
            ("at", "number"),
            ("took", "number"),
            ("failed", "string|null"),
            ("standings", "[#Standing]"),
            ("related", "[#Relation]"),
        ],
    ),
    (
        "Update",
        "Everything of one job, or what changed since a version: steps and points of metrics are then only those that are new. The members of `Job` are there too.",
        &[
            ("now", "number"),
            ("since", "integer"),
            ("newest", "number"),
            ("layers", "[string]"),
            ("ways", "[string]"),
            ("width", "integer"),
            ("steps", "[#Step]"),
            ("latency", "[[[integer|null]|null]]"),
            ("ranks_list", "[#Rank]"),
            ("files", "[#File]"),
            ("file_count", "integer"),
            ("metrics", "[#Metric]"),
            ("diagnosis", "#Diagnosis"),
        ],
    ),
    (
        "Report",
        "A report as the report page reads it: its number, the report, and columns as base64 of gzip.",
        &[("number", "integer"), ("report", "any"), ("columns", "string")],
    ),
    (
        "Neighbour",
        "A job that shared time and storage with another; what it moved meanwhile is null where that is not known.",
        &[
            ("job", "string"),
            ("user", "string"),
            ("program", "string"),
            ("start", "number"),
            ("end", "number"),
            ("overlap", "number"),
            ("targets", "[integer]"),
            ("servers", "[string]"),
            ("bytes_read", "integer|null"),
            ("bytes_written", "integer|null"),
            ("read_seconds", "number|null"),
            ("write_seconds", "number|null"),
        ],
    ),
    (
        "Neighbours",
        "The storage targets and servers of a job, and who used them meanwhile.",
        &[
            ("job", "string"),
            ("targets", "[integer]"),
            ("servers", "[string]"),
            ("count", "integer"),
            ("neighbours", "[#Neighbour]"),
        ],
    ),
    (
        "Group",
        "Jobs that belong together. Rates are least, median and most in bytes a second, and by which share they vary.",
        &[
            ("name", "string"),
            ("jobs", "integer"),
            ("running", "integer"),
            ("incomplete", "integer"),
            ("bytes_read", "integer"),
            ("bytes_written", "integer"),
            ("reads", "integer"),
            ("writes", "integer"),
            ("read_seconds", "number"),
            ("write_seconds", "number"),
            ("read_rate", "[number]"),
            ("write_rate", "[number]"),
        ],
    ),
    (
        "Across",
        "How much applications differ.",
        &[
            ("read_rate", "[number]"),
            ("readers", "integer"),
            ("write_rate", "[number]"),
            ("writers", "integer"),
        ],
    ),
    (
        "Hour",
        "What was moved in one step of time.",
        &[
            ("at", "integer"),
            ("bytes_read", "integer"),
            ("bytes_written", "integer"),
            ("read_seconds", "number"),
            ("write_seconds", "number"),
        ],
    ),
    (
        "Times",
        "What was moved over time, in steps of so many seconds.",
        &[("width", "integer"), ("from", "integer"), ("to", "integer"), ("steps", "[#Hour]")],
    ),
    (
        "Reason",
        "Why jobs are not covered, and some of them.",
        &[("why", "string"), ("count", "integer"), ("jobs", "[string]")],
    ),
    (
        "Cover",
        "How jobs are covered.",
        &[
            ("jobs", "integer"),
            ("running", "integer"),
            ("whole", "integer"),
            ("partly", "[#Reason]"),
            ("not", "[#Reason]"),
        ],
    ),
    (
        "Unusual",
        "A run that took unusually long.",
        &[("job", "string"), ("io_seconds", "number"), ("factor", "number|null")],
    ),
    (
        "History",
        "Runs of one program on as many ranks.",
        &[
            ("program", "string"),
            ("processes", "integer"),
            ("count", "integer"),
            ("run_seconds", "[number]"),
            ("io_seconds", "[number]"),
            ("read_rate", "[number]"),
            ("write_rate", "[number]"),
            ("trend", "number|null"),
            ("unusual", "[#Unusual]"),
            ("findings", "[any]"),
        ],
    ),
    (
        "Site",
        "All jobs that one sees, added up.",
        &[
            ("now", "number"),
            ("since", "integer"),
            ("store", "boolean"),
            ("wrong", "string|null"),
            ("systems", "[#Group]"),
            ("across", "#Across"),
            ("programs", "[#Group]"),
            ("users", "[#Group]"),
            ("times", "#Times"),
            ("cover", "#Cover"),
            ("histories", "[#History]"),
        ],
    ),
    (
        "Why",
        "What is unusual about a run: a measure with its value and how many times the middle that is, or a finding.",
        &[
            ("measure", "string"),
            ("value?", "number"),
            ("factor?", "number|null"),
            ("finding?", "string"),
        ],
    ),
    (
        "Run",
        "One run of a program. Findings are rule and seconds lost; the hour is that of the server's clock.",
        &[
            ("job", "string"),
            ("user", "string"),
            ("ranks", "integer"),
            ("start", "number"),
            ("end", "number|null"),
            ("hour", "integer|null"),
            ("nodes", "[string]"),
            ("missing", "string|null"),
            ("findings", "[any]"),
            ("unusual", "[#Why]|null"),
            ("run_seconds", "number|null"),
            ("io_seconds", "number|null"),
            ("read_rate", "number|null"),
            ("write_rate", "number|null"),
            ("bytes_read", "number|null"),
            ("bytes_written", "number|null"),
        ],
    ),
    (
        "OnNode",
        "Runs on one node, and the middle of their seconds in calls.",
        &[("node", "string"), ("runs", "integer"), ("io_seconds", "number")],
    ),
    (
        "Runs",
        "The runs of one program. Spreads are by measure: least, median, most, and by which share they vary.",
        &[
            ("now", "number"),
            ("wrong", "string|null"),
            ("program", "string"),
            ("trend", "number|null"),
            ("spreads", "{[number]}"),
            ("nodes", "[#OnNode]"),
            ("runs", "[#Run]"),
        ],
    ),
    (
        "Parameter",
        "What an analysis may be asked.",
        &[("name", "string"), ("type", "string"), ("required", "boolean"), ("default", "any")],
    ),
    (
        "Analysis",
        "An analysis module, or why it can not be used.",
        &[
            ("name", "string"),
            ("about?", "string|null"),
            ("parameters?", "[#Parameter]"),
            ("error?", "string"),
        ],
    ),
    ("Analyses", "The analysis modules that there are.", &[("analyses", "[#Analysis]")]),
];

const JOB: &[(&str, &str)] = &[
    ("job", "string"),
    ("stored?", "boolean"),
    ("uid", "integer|null"),
    ("user", "string|null"),
    ("command", "string|null"),
    ("exe", "string|null"),
    ("state", "string"),
    ("start", "number"),
    ("end", "number|null"),
    ("elapsed", "number"),
    ("ranks", "integer"),
    ("processes", "integer"),
    ("hosts", "[string]"),
    ("bytes_read", "integer"),
    ("bytes_written", "integer"),
    ("reads", "integer"),
    ("writes", "integer"),
    ("read_rate", "number"),
    ("write_rate", "number"),
    ("call_rate", "number"),
    ("share", "number"),
    ("findings", "#Levels|null"),
    ("worst", "string|null"),
    ("lag", "number"),
    ("completeness", "#Completeness"),
];

/// All shapes, as the description names them.
pub(super) fn shapes() -> Value {
    let mut all = Map::new();
    for (name, says, members) in SHAPES {
        let mut shape = object(says, members);
        if *name == "Update" {
            shape = json!({ "description": says, "allOf": [kind("#Job"), object("", members)] });
        }
        all.insert((*name).to_owned(), shape);
    }
    Value::Object(all)
}

fn object(says: &str, members: &[(&str, &str)]) -> Value {
    let properties: Map<String, Value> = members
        .iter()
        .map(|(name, of)| (name.trim_end_matches('?').to_owned(), kind(of)))
        .collect();
    let always = members.iter().map(|(name, _)| name).filter(|name| !name.ends_with('?'));
    let required: Vec<&&str> = always.collect();
    let mut shape = json!({ "type": "object", "properties": properties, "required": required });
    if !says.is_empty() {
        shape["description"] = json!(says);
    }
    shape
}

/// The schema of a kind of value.
pub(super) fn kind(of: &str) -> Value {
    if let Some(of) = of.strip_suffix("|null") {
        return json!({ "anyOf": [kind(of), { "type": "null" }] });
    }
    let within =
        |open: char, close: char| of.strip_prefix(open).and_then(|of| of.strip_suffix(close));
    if let Some(name) = of.strip_prefix('#') {
        return json!({ "$ref": format!("#/components/schemas/{name}") });
    }
    if let Some(of) = within('[', ']') {
        return json!({ "type": "array", "items": kind(of) });
    }
    if let Some(of) = within('{', '}') {
        return json!({ "type": "object", "additionalProperties": kind(of) });
    }
    if of == "any" { json!({}) } else { json!({ "type": of }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_read_from_the_outside_in() {
        let list = json!({ "type": "array", "items": { "anyOf": [{ "type": "integer" }, { "type": "null" }] } });
        assert_eq!(kind("[integer|null]"), list);
        assert_eq!(kind("[integer|null]|null"), json!({ "anyOf": [list, { "type": "null" }] }));
        assert_eq!(kind("#Job"), json!({ "$ref": "#/components/schemas/Job" }));
        assert_eq!(kind("{number}")["additionalProperties"], json!({ "type": "number" }));
        assert_eq!(kind("any"), json!({}));
    }

    #[test]
    fn every_shape_that_is_named_is_there() {
        let shapes = shapes();
        let text = shapes.to_string();
        let named = text.split("#/components/schemas/").skip(1);
        for name in named.filter_map(|rest| rest.split('"').next()) {
            assert!(shapes.get(name).is_some(), "{name}");
        }
        let known = ["string", "number", "integer", "boolean", "null", "array", "object"];
        let kinds = text.split("\"type\":\"").skip(1).filter_map(|rest| rest.split('"').next());
        assert!(kinds.into_iter().all(|kind| known.contains(&kind)));
    }
}
