//! Settings of a connection: what clients set and look at, though little of it changes anything here.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, RwLock};
use std::time::Duration;

use datafusion_postgres::pgwire::error::PgWireResult;

use super::{VERSION, refuse};

/// What a fresh connection has. Names are small, as `SHOW` finds them.
const DEFAULTS: &[(&str, &str)] = &[
    ("application_name", ""),
    ("bytea_output", "hex"),
    ("client_encoding", "UTF8"),
    ("client_min_messages", "notice"),
    ("datestyle", "ISO, MDY"),
    ("default_transaction_isolation", "read committed"),
    ("default_transaction_read_only", "on"),
    ("extra_float_digits", "1"),
    ("in_hot_standby", "off"),
    ("integer_datetimes", "on"),
    ("intervalstyle", "postgres"),
    ("is_superuser", "off"),
    ("max_identifier_length", "63"),
    ("search_path", "public"),
    ("server_encoding", "UTF8"),
    ("server_version", VERSION),
    ("server_version_num", "150000"),
    ("standard_conforming_strings", "on"),
    ("statement_timeout", "0"),
    ("timezone", "UTC"),
    ("transaction_isolation", "read committed"),
    ("transaction_read_only", "on"),
];

/// Those that a client is told without asking, as it expects them written.
const TOLD: &[&str] = &[
    "application_name",
    "client_encoding",
    "DateStyle",
    "default_transaction_read_only",
    "in_hot_standby",
    "integer_datetimes",
    "IntervalStyle",
    "is_superuser",
    "server_encoding",
    "server_version",
    "standard_conforming_strings",
    "TimeZone",
];

/// Those that say what the server is, or what it promises: nobody sets them.
const FIXED: &[&str] = &[
    "default_transaction_read_only",
    "in_hot_standby",
    "integer_datetimes",
    "is_superuser",
    "max_identifier_length",
    "server_encoding",
    "server_version",
    "server_version_num",
    "transaction_read_only",
];

/// The settings of one connection.
#[derive(Debug, Clone, Default)]
pub(super) struct Values(Arc<RwLock<BTreeMap<String, String>>>);

impl Values {
    /// The defaults, and what the client said when it came.
    pub(super) fn new(said: &HashMap<String, String>) -> Values {
        let mut all: BTreeMap<String, String> =
            DEFAULTS.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        for name in ["application_name", "extra_float_digits"] {
            if let Some(value) = said.get(name) {
                all.insert(name.to_owned(), value.clone());
            }
        }
        let user = said.get("user").cloned().unwrap_or_default();
        all.insert("session_authorization".to_owned(), user);
        Values(Arc::new(RwLock::new(all)))
    }

    /// What a client is told when it is in.
    pub(super) fn told(said: &HashMap<String, String>) -> HashMap<String, String> {
        let values = Values::new(said);
        let told = TOLD.iter().chain(&["session_authorization"]);
        told.map(|name| ((*name).to_owned(), values.get(name).unwrap_or_default())).collect()
    }

    pub(super) fn get(&self, name: &str) -> Option<String> {
        self.0.read().ok()?.get(&name.to_lowercase()).cloned()
    }

    /// Sets one; `None` sets it back. What we do not know is kept and changes nothing, as other servers' extensions do.
    pub(super) fn set(&self, name: &str, value: Option<String>) -> PgWireResult<()> {
        let name = name.to_lowercase();
        let default = DEFAULTS.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        // Switching read-only on is no change; everything else would be a lie.
        if FIXED.contains(&name.as_str()) && value.as_deref().is_some_and(|to| Some(to) != default)
        {
            return Err(refuse::error("55P02", format!("{name} cannot be changed")));
        }
        if name.starts_with("datafusion.") {
            return Err(refuse::error(
                "42501",
                format!("{name} cannot be changed through a connection"),
            ));
        }
        if name == "statement_timeout" && value.as_deref().is_some_and(|to| time(to).is_none()) {
            let to = value.unwrap_or_default();
            return Err(refuse::error("22023", format!("\"{to}\" is no time: write 30s or 30000")));
        }
        if let Ok(mut all) = self.0.write() {
            match value.or_else(|| default.map(str::to_owned)) {
                Some(value) => all.insert(name, value),
                None => all.remove(&name),
            };
        }
        Ok(())
    }

    /// Everything as it was in the beginning.
    pub(super) fn reset(&self) {
        if let Ok(mut all) = self.0.write() {
            for (name, value) in DEFAULTS {
                all.insert((*name).to_owned(), (*value).to_owned());
            }
        }
    }

    /// How long a question may take; `None` if the client sets no limit.
    pub(super) fn timeout(&self) -> Option<Duration> {
        self.get("statement_timeout").and_then(|text| time(&text)).filter(|time| !time.is_zero())
    }
}

/// `250ms`, `30s`, `5min`, `1h`; a bare number is milliseconds.
fn time(text: &str) -> Option<Duration> {
    let text = text.trim();
    let split = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let number: u64 = number.parse().ok()?;
    let factor = match unit.trim() {
        "" | "ms" => 1,
        "s" => 1_000,
        "min" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    Some(Duration::from_millis(number.checked_mul(factor)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        assert_eq!(time("250ms"), Some(Duration::from_millis(250)));
        assert_eq!(time("30 s"), Some(Duration::from_secs(30)));
        assert_eq!(time("5min"), Some(Duration::from_mins(5)));
        assert_eq!(time("1500"), Some(Duration::from_millis(1500)));
        assert_eq!(time("soon"), None);
        assert_eq!(time(""), None);
    }

    #[test]
    fn what_the_server_promises_stays() {
        let values = Values::new(&HashMap::new());
        assert!(values.set("transaction_read_only", Some("off".to_owned())).is_err());
        assert!(values.set("transaction_read_only", Some("on".to_owned())).is_ok());
        assert!(values.set("datafusion.runtime.memory_limit", Some("1T".to_owned())).is_err());
        values.set("Application_Name", Some("x".to_owned())).unwrap();
        assert_eq!(values.get("application_name").as_deref(), Some("x"));
        values.set("application_name", None).unwrap();
        assert_eq!(values.get("application_name").as_deref(), Some(""));
    }

    #[test]
    fn no_limit_is_no_timeout() {
        let values = Values::new(&HashMap::new());
        assert_eq!(values.timeout(), None);
        values.set("statement_timeout", Some("2s".to_owned())).unwrap();
        assert_eq!(values.timeout(), Some(Duration::from_secs(2)));
        assert!(values.set("statement_timeout", Some("soon".to_owned())).is_err());
        values.reset();
        assert_eq!(values.timeout(), None);
    }
}
