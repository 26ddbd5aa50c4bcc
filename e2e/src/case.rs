//! A program with its surroundings, run bare and under a tool.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::expectation::Expectation;
use crate::log::{Log, Origin};
use crate::outcome::{DEADLINE, Outcome};
use crate::program::Program;
use crate::scene::Scene;
use crate::tool::Tool;

/// One thing to check.
#[derive(Debug, Clone)]
pub struct Case {
    program: Program,
    arguments: Vec<String>,
    environment: BTreeMap<&'static str, OsString>,
    evidence: Evidence,
    patience: Duration,
}

/// Where the counters of a run are found afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Evidence {
    /// A log per process image, or the segment of one that was killed or replaced itself.
    Logs,
    /// None: only the outcome counts.
    Nowhere,
}

/// What came out of a check.
#[derive(Debug)]
pub struct Verdict {
    /// The program's name.
    pub name: String,
    /// Values compared with a log.
    pub compared: usize,
    /// All that is not as it should be.
    pub differences: Vec<String>,
}

impl Case {
    /// A program as it is.
    #[must_use]
    pub fn of(program: Program) -> Case {
        Case {
            program,
            arguments: Vec::new(),
            environment: BTreeMap::new(),
            evidence: Evidence::Logs,
            patience: DEADLINE,
        }
    }

    /// One more argument.
    #[must_use]
    pub fn arg(mut self, argument: impl Into<String>) -> Case {
        self.arguments.push(argument.into());
        self
    }

    /// A variable of the instrumented run, such as another log directory.
    #[must_use]
    pub fn env(mut self, name: &'static str, value: impl Into<OsString>) -> Case {
        self.environment.insert(name, value.into());
        self
    }

    /// Only the outcome is looked at: the tool cannot write, or is not even loaded.
    #[must_use]
    pub fn without_evidence(mut self) -> Case {
        self.evidence = Evidence::Nowhere;
        self
    }

    /// How long a run may take before it counts as stuck.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Case {
        self.patience = patience;
        self
    }

    /// Runs it without any tool.
    pub fn run_bare(&self, scene: &Scene) -> Result<Outcome> {
        self.run(scene, &[])
    }

    /// Runs it under a tool.
    pub fn run_with(&self, tool: &Tool, scene: &Scene) -> Result<Outcome> {
        let mut environment: BTreeMap<_, _> = tool.environment(scene).into_iter().collect();
        environment.extend(self.environment.clone());
        self.run(scene, &environment.into_iter().collect::<Vec<_>>())
    }

    fn run(&self, scene: &Scene, environment: &[(&str, OsString)]) -> Result<Outcome> {
        let words = self.program.words()?;
        let (program, rest) = words.split_first().context("a program without a name")?;
        let mut command = Command::new(program);
        command.args(rest).args(&self.arguments).current_dir(scene.work()).stdin(Stdio::null());
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy();
            if ["NETRA_", "DARSHAN_", "LD_PRELOAD", "E2E_"].iter().any(|own| name.starts_with(own))
            {
                command.env_remove(name.as_ref());
            }
        }
        command.env("E2E_EXPECT_DIR", scene.expect()).env("LC_ALL", "C").env("TZ", "UTC");
        command.envs(environment.iter().cloned());
        Outcome::of(&mut command, scene, self.patience).with_context(|| format!("run {program}"))
    }

    /// Both runs and all comparisons, in a fresh scene.
    pub fn check(&self, tool: &Tool) -> Result<Verdict> {
        self.check_in(&Scene::new(self.program.name())?, tool)
    }

    /// The same in a scene that was prepared.
    pub fn check_in(&self, scene: &Scene, tool: &Tool) -> Result<Verdict> {
        let bare = self.run_bare(scene)?;
        scene.clear()?;
        let instrumented = self.run_with(tool, scene)?;
        let mut differences = bare.differences(&instrumented);
        let mut compared = 0;
        let logs = match self.evidence {
            Evidence::Nowhere => None,
            Evidence::Logs => Some(both(scene)?),
        };
        if let Some(logs) = logs {
            let said = Expectation::read_all(&scene.expect())?;
            compared = said.values().map(Expectation::count).sum();
            differences.extend(against_logs(&said, &logs, scene));
        }
        Ok(Verdict { name: self.program.name().into(), compared, differences })
    }
}

/// What logs say, and for images without a log their segments.
fn both(scene: &Scene) -> Result<BTreeMap<Origin, Log>> {
    let mut logs = Log::recover_all(&scene.segments())?;
    logs.extend(Log::read_all(&scene.logs())?);
    Ok(logs)
}

/// Every image has its log and is as it said; a log of one of our programs that said nothing is
/// compared with nothing done. Other executables (a shell, `true`) are not ours to count.
fn against_logs(
    said: &BTreeMap<Origin, Expectation>,
    logs: &BTreeMap<Origin, Log>,
    scene: &Scene,
) -> Vec<String> {
    let ours: BTreeSet<&str> = said.keys().map(|origin| origin.executable.as_str()).collect();
    let mut differences = Vec::new();
    for origin in said.keys().filter(|origin| !logs.contains_key(*origin)) {
        differences.push(format!("{origin} left no log"));
    }
    for (origin, log) in logs.iter().filter(|(origin, _)| ours.contains(&*origin.executable)) {
        let nothing = Expectation::default();
        let expectation = said.get(origin).unwrap_or(&nothing);
        let found = expectation.differences(log, &scene.work());
        differences.extend(found.into_iter().map(|line| format!("{origin}: {line}")));
    }
    differences
}

impl Verdict {
    /// Prints the program's line; fails with every difference if there is one.
    ///
    /// # Panics
    /// When anything differs.
    #[track_caller]
    #[expect(clippy::print_stdout, reason = "one line per program is what a test run shows")]
    pub fn assert(&self) {
        let all = self.differences.join("\n  ");
        assert!(self.differences.is_empty(), "{}:\n  {all}", self.name);
        println!("{:24} same outcome, {} counters exact", self.name, self.compared);
    }
}
