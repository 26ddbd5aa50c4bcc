//! Questions for those who do not write SQL: jobs, and the events of one.

use datafusion::arrow::array::AsArray as _;
use datafusion::arrow::datatypes::Int64Type;
use netra_store::ask::{self, Session};

/// Columns of a line that lists a job.
const LINE: usize = 100;
/// Letters of a user's name that are shown there.
const USER: usize = 8;

/// Which jobs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Jobs {
    /// Of this user, by name or number.
    pub user: Option<String>,
    /// Whose executable contains this.
    pub exe: Option<String>,
    /// That began at this time or later, as SQL writes times.
    pub since: Option<String>,
    /// That began before this time.
    pub until: Option<String>,
    /// At most so many, the newest first.
    pub limit: usize,
}

impl Jobs {
    /// The question.
    #[must_use]
    pub fn sql(&self) -> String {
        let mut all = Vec::new();
        if let Some(user) = &self.user {
            let number = user.parse::<u32>().map(|uid| format!(" OR uid = {uid}"));
            all.push(format!("(\"user\" = {}{})", text(user), number.unwrap_or_default()));
        }
        if let Some(exe) = &self.exe {
            all.push(format!("strpos(exe, {}) > 0", text(exe)));
        }
        if let Some(since) = &self.since {
            all.push(format!("t >= {}", time(since)));
        }
        if let Some(until) = &self.until {
            all.push(format!("t < {}", time(until)));
        }
        let columns = "job, t, \"end\", \"user\", nprocs, processes, running, exe";
        format!(
            "SELECT {columns} FROM jobs{} ORDER BY t DESC, job LIMIT {}",
            wherever(&all),
            self.limit
        )
    }

    /// The same for people: whole seconds, and no more than a line of 100 columns has room for.
    #[must_use]
    pub fn short_sql(&self) -> String {
        let began = "arrow_cast(t, 'Timestamp(Second, Some(\"UTC\"))')";
        let took = "round((CAST(\"end\" AS BIGINT) - CAST(t AS BIGINT)) / 1e6, 2)";
        // The time with its zone, seconds, ranks, the user, and what stands between six columns; keys take what they need.
        let others = 26 + 10 + 5 + USER + 17;
        let room = format!("greatest({LINE} - {others} - max(length(job)) OVER (), 7)");
        // The name behind the last slash.
        let program = format!("left(reverse(split_part(reverse(exe), '/', 1)), {room})");
        format!(
            "SELECT job, {began} AS began, {took} AS seconds, nprocs AS ranks, \
             left(\"user\", {USER}) AS \"user\", {program} AS program FROM ({}) ORDER BY t DESC, job",
            self.sql()
        )
    }
}

/// Which events of a job.
#[derive(Debug, Clone, Default)]
pub struct Events {
    /// The job: its key, its number, or the beginning of its key.
    pub job: String,
    /// Of these ranks.
    pub ranks: Vec<i64>,
    /// Of these layers.
    pub layers: Vec<&'static str>,
    /// That do one of these.
    pub kinds: Vec<&'static str>,
    /// On files whose path contains this.
    pub file: Option<String>,
    /// That began at this time or later, as SQL writes times.
    pub from: Option<String>,
    /// That began before this time.
    pub to: Option<String>,
    /// At most so many, in their order.
    pub limit: Option<usize>,
}

impl Events {
    /// The question.
    #[must_use]
    pub fn sql(&self) -> String {
        let mut all = vec![format!("job = job({})", text(&self.job))];
        if !self.ranks.is_empty() {
            let ranks: Vec<String> = self.ranks.iter().map(ToString::to_string).collect();
            all.push(format!("rank IN ({})", ranks.join(", ")));
        }
        for (name, values) in [("layer", &self.layers), ("op", &self.kinds)] {
            if !values.is_empty() {
                let values: Vec<String> =
                    values.iter().map(|value| text(&value.to_lowercase())).collect();
                all.push(format!("lower({name}) IN ({})", values.join(", ")));
            }
        }
        if let Some(file) = &self.file {
            all.push(format!("strpos(file, {}) > 0", text(file)));
        }
        if let Some(from) = &self.from {
            all.push(format!("t >= {}", time(from)));
        }
        if let Some(to) = &self.to {
            all.push(format!("t < {}", time(to)));
        }
        let columns = "t, t_ns, rank, layer, function, file, \"offset\", bytes, duration, error";
        let most = self.limit.map(|limit| format!(" LIMIT {limit}")).unwrap_or_default();
        let all = wherever(&all);
        format!("SELECT {columns} FROM events{all} ORDER BY t, t_ns, rank, sequence{most}")
    }

    /// When a job began and ended, in nanoseconds since 1970.
    pub async fn span(session: &Session, job: &str) -> ask::Result<(i64, i64)> {
        let columns = "CAST(min(t) AS BIGINT), CAST(max(greatest(t, \"end\")) AS BIGINT)";
        let sql = format!("SELECT {columns} FROM jobs WHERE job = job({})", text(job));
        let rows = session.ask(&sql).await?.collect().await?;
        let first = rows.iter().find(|batch| batch.num_rows() > 0);
        // A job that was found has a row, and every row has its time.
        let at = |column: usize| {
            let micros =
                first.map_or(0, |batch| batch.column(column).as_primitive::<Int64Type>().value(0));
            micros.saturating_mul(1_000)
        };
        Ok((at(0), at(1)))
    }
}

/// The table of an analysis module with these parameters, each `name=value`.
#[must_use]
pub fn analyse(name: &str, parameters: &[String]) -> String {
    let mut words = text(name);
    for parameter in parameters {
        words.push_str(", ");
        words.push_str(&text(parameter));
    }
    format!("SELECT * FROM analyse({words})")
}

/// A text as SQL quotes it.
pub(crate) fn text(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}

fn time(value: &str) -> String {
    format!("TIMESTAMPTZ {}", text(value))
}

fn wherever(all: &[String]) -> String {
    if all.is_empty() { String::new() } else { format!(" WHERE {}", all.join(" AND ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_type_stays_a_text() {
        let question = Jobs {
            user: Some("o'hara'; DROP TABLE jobs; --".to_owned()),
            since: Some("2026-11-16T00:00:00Z".to_owned()),
            limit: 5,
            ..Jobs::default()
        };
        let want = "SELECT job, t, \"end\", \"user\", nprocs, processes, running, exe FROM jobs \
            WHERE (\"user\" = 'o''hara''; DROP TABLE jobs; --') \
            AND t >= TIMESTAMPTZ '2026-11-16T00:00:00Z' ORDER BY t DESC, job LIMIT 5";
        assert_eq!(question.sql(), want);
    }

    #[test]
    fn events_are_narrowed_by_everything_that_is_said() {
        let question = Events {
            job: "4711".to_owned(),
            ranks: vec![0, 3],
            kinds: vec!["write"],
            file: Some("ckpt".to_owned()),
            limit: Some(10),
            ..Events::default()
        };
        let want = "SELECT t, t_ns, rank, layer, function, file, \"offset\", bytes, duration, error \
            FROM events WHERE job = job('4711') AND rank IN (0, 3) AND lower(op) IN ('write') \
            AND strpos(file, 'ckpt') > 0 ORDER BY t, t_ns, rank, sequence LIMIT 10";
        assert_eq!(question.sql(), want);
    }
}
