//! Who there was in a job and who of them is not recorded: a block of the section, lines of text.
//! Every face that says how complete a job is asks here.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use netra_event::roll::Absence;

use super::Section;
use super::layout::KIND_ATTENDANCE;

/// Processes of a job, host by host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attendance {
    /// Hosts by name. Ranks that nobody saw are on none, whose name is empty.
    pub hosts: BTreeMap<String, Host>,
}

/// Processes of one host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Host {
    /// Processes that there were.
    pub started: u64,
    /// Those among them that are not recorded, or not to their end.
    pub absent: BTreeMap<Absence, Absent>,
}

/// Processes that are not recorded for one reason.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Absent {
    /// How many.
    pub count: u64,
    /// The program of the first one; empty if it is not known.
    pub program: String,
}

impl Host {
    /// Counts a process that is not recorded.
    pub fn miss(&mut self, why: Absence, program: &str) {
        let absent = self.absent.entry(why).or_default();
        absent.count = absent.count.saturating_add(1);
        if absent.program.is_empty() {
            program.clone_into(&mut absent.program);
        }
    }
}

impl Attendance {
    /// Processes that there were.
    #[must_use]
    pub fn started(&self) -> u64 {
        self.hosts.values().map(|host| host.started).fold(0, u64::saturating_add)
    }

    /// Processes whose part is there, or who did nothing that is recorded.
    #[must_use]
    pub fn recorded(&self) -> u64 {
        let absent = self.absent().into_values().map(|absent| absent.count);
        self.started().saturating_sub(absent.fold(0, u64::saturating_add))
    }

    /// Those who are not recorded, by reason, over all hosts.
    #[must_use]
    pub fn absent(&self) -> BTreeMap<Absence, Absent> {
        let mut sums: BTreeMap<Absence, Absent> = BTreeMap::new();
        for (&why, absent) in self.hosts.values().flat_map(|host| &host.absent) {
            let sum = sums.entry(why).or_default();
            sum.count = sum.count.saturating_add(absent.count);
            if sum.program.is_empty() {
                sum.program.clone_from(&absent.program);
            }
        }
        sums
    }

    /// Whether everybody is accounted for: recorded, or left out because somebody wished it.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.hosts.values().all(|host| host.absent.keys().all(|why| why.is_wished()))
    }

    /// Who is missing, a sentence for each reason that nobody wished.
    #[must_use]
    pub fn caveats(&self) -> Vec<String> {
        self.sentences(|why| !why.is_wished())
    }

    /// Who was left out as somebody wished, a sentence for each reason.
    #[must_use]
    pub fn wished(&self) -> Vec<String> {
        self.sentences(Absence::is_wished)
    }

    fn sentences(&self, which: impl Fn(Absence) -> bool) -> Vec<String> {
        let all = self.started();
        let absent = self.absent().into_iter().filter(|(why, _)| which(*why));
        absent.map(|(why, absent)| sentence(all, why, &absent)).collect()
    }

    /// Adds what another part of the job knows.
    pub fn add(&mut self, other: &Attendance) {
        for (name, host) in &other.hosts {
            let own = self.hosts.entry(name.clone()).or_default();
            own.started = own.started.saturating_add(host.started);
            for (&why, absent) in &host.absent {
                let sum = own.absent.entry(why).or_default();
                sum.count = sum.count.saturating_add(absent.count);
                if sum.program.is_empty() {
                    sum.program.clone_from(&absent.program);
                }
            }
        }
    }

    /// The block's bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        // A name or a path may hold anything; what would end a field does not.
        let plain = |text: &str| text.replace(['\t', '\n'], " ");
        let mut text = String::new();
        for (name, host) in &self.hosts {
            // Writing to a string cannot fail.
            writeln!(text, "host\t{}\t{}", plain(name), host.started).ok();
            for (why, absent) in &host.absent {
                let (slug, program) = (why.slug(), plain(&absent.program));
                writeln!(text, "absent\t{slug}\t{}\t{program}", absent.count).ok();
            }
        }
        text.into_bytes()
    }

    /// Reads a block; lines that this build does not understand say nothing.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Attendance {
        let text = String::from_utf8_lossy(bytes);
        let mut found = Attendance::default();
        let mut name = None;
        for line in text.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            match fields[..] {
                ["host", host, started] => {
                    let entry = found.hosts.entry(host.to_owned()).or_default();
                    entry.started = entry.started.saturating_add(started.parse().unwrap_or(0));
                    name = Some(host.to_owned());
                }
                ["absent", slug, count, program] => {
                    let Some(host) = name.as_ref().and_then(|name| found.hosts.get_mut(name))
                    else {
                        continue;
                    };
                    let why = Absence::from_slug(slug).unwrap_or(Absence::Unknown);
                    let absent = host.absent.entry(why).or_default();
                    absent.count = absent.count.saturating_add(count.parse().unwrap_or(0));
                    if absent.program.is_empty() {
                        program.clone_into(&mut absent.program);
                    }
                }
                _ => {}
            }
        }
        found
    }
}

fn sentence(all: u64, why: Absence, Absent { count, program }: &Absent) -> String {
    let whose = match (program.as_str(), count) {
        ("", _) => String::new(),
        (program, 1) => format!(" ({program})"),
        (program, _) => format!(" ({program}, …)"),
    };
    let (noun, verb) = match (all, count) {
        (1, _) => ("process", "is"),
        (_, 1) => ("processes", "is"),
        _ => ("processes", "are"),
    };
    if why == Absence::Running {
        return format!("{count} of {all} {noun} {verb} still running{whose}");
    }
    format!("{count} of {all} {noun} {verb} not recorded: {why}{whose}")
}

impl Section {
    /// Who there was in the job, over all parts of a merged log; none if nobody called a roll.
    #[must_use]
    pub fn attendance(&self) -> Option<Attendance> {
        let mut sum = None;
        for block in self.blocks().iter().filter(|block| block.head.kind == KIND_ATTENDANCE) {
            let Ok(bytes) = block.bytes() else { continue };
            sum.get_or_insert_with(Attendance::default).add(&Attendance::decode(&bytes));
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attendance() -> Attendance {
        let mut found = Attendance::default();
        let host = found.hosts.entry("a".to_owned()).or_default();
        host.started = 5;
        host.miss(Absence::Static, "/bin/one");
        host.miss(Absence::Static, "/bin/two");
        host.miss(Absence::Chosen, "/bin/three");
        found
    }

    #[test]
    fn bytes_lead_back_and_strange_ones_say_nothing() {
        let found = attendance();
        assert_eq!(Attendance::decode(&found.encode()), found);
        assert_eq!(
            Attendance::decode(b"absent\tstatic\t1\t/x\nnoise\n\xff"),
            Attendance::default()
        );
        let strange = Attendance::decode(b"host\ta\t2\nabsent\tlater\t1\t/x\n");
        assert_eq!(strange.absent()[&Absence::Unknown].count, 1);
    }

    #[test]
    fn numbers_add_up_and_are_said() {
        let mut found = attendance();
        assert_eq!((found.started(), found.recorded(), found.is_complete()), (5, 2, false));
        assert_eq!(
            found.caveats(),
            ["2 of 5 processes are not recorded: statically linked (/bin/one, …)"]
        );
        assert_eq!(
            found.wished(),
            ["1 of 5 processes is not recorded: left out by --only or --except (/bin/three)"]
        );
        found.add(&attendance());
        assert_eq!((found.started(), found.recorded()), (10, 4));
    }

    #[test]
    fn who_was_left_out_by_wish_is_accounted_for() {
        let mut found = Attendance::default();
        let host = found.hosts.entry("a".to_owned()).or_default();
        host.started = 2;
        assert!(found.is_complete());
        found.hosts.entry("a".to_owned()).or_default().miss(Absence::Default, "/usr/sbin/sshd");
        assert!(found.is_complete());
        found.hosts.entry(String::new()).or_default().miss(Absence::Unseen, "");
        assert!(!found.is_complete());
    }
}
