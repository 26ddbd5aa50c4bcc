//! What the kernel knows of each process when a program was started in it and when it ended, as
//! `witness/witness.c` writes it down: all of it equal, but for what netra adds by name.
//!
//! Netra's are: its variables in the environment; its library, its segment and its tables among the mappings.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use super::family::{Family, Id};
use super::sheet::Sheet;

/// Lines of `/proc/PID/status` that are counted in [`BOUNDS`], or that the moment decides.
const UNSTEADY: &[&str] = &[
    "Name",
    "State",
    "Tgid",
    "Ngid",
    "Pid",
    "PPid",
    "Threads",
    "TracerPid",
    "FDSize",
    "NStgid",
    "NSpid",
    "NSpgid",
    "NSsid",
    "VmPeak",
    "VmSize",
    "VmLck",
    "VmPin",
    "VmHWM",
    "VmRSS",
    "RssAnon",
    "RssFile",
    "RssShmem",
    "VmData",
    "VmStk",
    "VmExe",
    "VmLib",
    "VmPTE",
    "VmSwap",
    "HugetlbPages",
    "SigQ",
    "SigPnd",
    "ShdPnd",
    "Cpus_allowed",
    "Cpus_allowed_list",
    "Mems_allowed",
    "Mems_allowed_list",
    "voluntary_ctxt_switches",
    "nonvoluntary_ctxt_switches",
    "Speculation_Store_Bypass",
    "SpeculationIndirectBranch",
    "x86_Thread_features",
    "x86_Thread_features_locked",
    "untag_mask",
    "CoreDumping",
];

/// What a process may use under netra: so many times what it uses without, and so much more.
struct Bound {
    name: &'static str,
    times: u64,
    plus: u64,
}

const BOUNDS: &[Bound] = &[
    // The tables and the segment are touched page by page as they are needed.
    Bound { name: "minor faults", times: 2, plus: 1_500 },
    // On a disk, the kernel calls it major when a page of the segment is touched first.
    Bound { name: "major faults", times: 1, plus: 300 },
    Bound { name: "largest resident KiB", times: 1, plus: 16 << 10 },
    Bound { name: "voluntary switches", times: 2, plus: 50 },
    // Addresses of the library, its segment and the tables: `--live` has four times the room.
    Bound { name: "mapped for netra KiB", times: 1, plus: 520 << 10 },
    // The library's own data, and a page of thread-local storage.
    Bound { name: "anonymous KiB", times: 1, plus: 128 },
    Bound { name: "stack KiB", times: 1, plus: 64 },
    // Applications copy their environment.
    Bound { name: "heap KiB", times: 1, plus: 1 << 10 },
];

/// What one event says: its fields by name.
type Fields<'a> = BTreeMap<&'a str, &'a [u8]>;

/// A start or an end of a process.
struct Event<'a> {
    name: &'a str,
    id: Id,
    value: u64,
    fields: Fields<'a>,
}

/// Reads the witness's file.
fn events(mut bytes: &[u8]) -> Result<Vec<Event<'_>>> {
    let mut events: Vec<Event<'_>> = Vec::new();
    while let Some(end) = bytes.iter().position(|&byte| byte == b'\n') {
        let line = std::str::from_utf8(&bytes[..end])?;
        bytes = &bytes[end + 1..];
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["field", name, length] => {
                let length: usize = length.parse()?;
                let fields = &mut events.last_mut().context("a field of nothing")?.fields;
                fields.insert(name, bytes.get(..length).context("the file is cut")?);
                bytes = bytes.get(length + 1..).context("the file is cut")?;
            }
            ["end"] => {}
            [name, id, value] => {
                let (id, value) = (id.parse()?, value.parse()?);
                events.push(Event { name, id, value, fields: Fields::new() });
            }
            _ => bail!("not a line of the witness: {line}"),
        }
    }
    Ok(events)
}

/// A sheet of all that the witness saw from the start of the command on.
pub(crate) fn read(bytes: &[u8], program: &str, below_netra: bool) -> Result<Sheet> {
    let events = events(bytes)?;
    let mut family = Family::default();
    for event in &events {
        if ["fork", "vfork", "clone", "thread"].contains(&event.name) {
            family.started(event.id, Id::try_from(event.value)?, event.name == "thread");
        }
    }
    let first = events.first().filter(|event| event.name == "root").context("no root")?.id;
    let is_command = |event: &&Event<'_>| {
        let words = event.fields.get("cmdline").copied().unwrap_or_default();
        let mut words = words.split(|&byte| byte == 0).map(String::from_utf8_lossy);
        event.name == "exec"
            && (!below_netra || event.id != first)
            && words.any(|word| Path::new(word.as_ref()).ends_with(program))
    };
    let command = events.iter().find(is_command).context("the witness did not see the command")?;
    let names = family.names(command.id);
    let mut sheet = Sheet::new();
    let mut starts: BTreeMap<Id, u32> = BTreeMap::new();
    for event in &events {
        let Some(name) = names.get(&event.id) else { continue };
        match event.name {
            "exec" => {
                let number = starts.entry(event.id).or_default();
                add(&mut sheet, &format!("{name} at its start {number}"), event);
                *number += 1;
            }
            "exit" => {
                add(&mut sheet, &format!("{name} at its end"), event);
                let status = format!("{}", event.value);
                sheet.insert(format!("status {name}"), vec![status]);
            }
            _ => {}
        }
    }
    Ok(sheet)
}

/// The topics of one moment.
fn add(sheet: &mut Sheet, moment: &str, event: &Event<'_>) {
    let text = |name: &str| {
        event.fields.get(name).map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    };
    let lines = |name: &str| -> Vec<String> {
        text(name).unwrap_or_default().lines().map(str::to_owned).collect()
    };
    let words = |name: &str| -> Vec<String> {
        let text = text(name).unwrap_or_default();
        text.split_terminator('\0').map(str::to_owned).collect()
    };
    let mut put = |topic: &str, lines| drop(sheet.insert(format!("{topic} {moment}"), lines));
    put("command", words("cmdline"));
    if event.fields.contains_key("environ") {
        let environment = words("environ");
        put("environment", environment.into_iter().filter_map(without_netra).collect());
    }
    put("limits", lines("limits"));
    let steady =
        |line: &String| line.split(':').next().is_some_and(|name| !UNSTEADY.contains(&name));
    put("rights", lines("status").into_iter().filter(steady).collect());
    let settings = ["cwd", "root", "personality", "oom_score_adj", "timerslack_ns"];
    let settings = settings.map(|name| format!("{name} {}", text(name).unwrap_or_default().trim()));
    put("settings", settings.to_vec());
    put("descriptors", descriptors(event));
    if event.name == "exit" {
        let (mappings, totals) = mappings(&text("smaps").unwrap_or_default());
        put("mappings", mappings);
        let mut used = used(&text("stat").unwrap_or_default(), &lines("status"));
        used.extend(totals);
        put("resources", used);
    }
}

/// A variable, if it is not netra's.
fn without_netra(variable: String) -> Option<String> {
    if variable.starts_with("NETRA_") {
        return None;
    }
    let Some(list) = variable.strip_prefix("LD_PRELOAD=") else { return Some(variable) };
    // What netra puts first for a program that insists on it has an empty entry behind it.
    let list = list.split_once("::").map_or(list, |(_, rest)| rest);
    let others = list.split([':', ' ']).filter(|path| !path.ends_with("/libnetra_preload.so"));
    let others = others.collect::<Vec<_>>().join(":");
    (!others.is_empty()).then(|| format!("LD_PRELOAD={others}"))
}

fn descriptors(event: &Event<'_>) -> Vec<String> {
    let mut found: Vec<(u32, String)> = Vec::new();
    for (name, target) in &event.fields {
        let Some(number) = name.strip_prefix("fd/") else { continue };
        let facts = event.fields.get(format!("fdinfo/{number}").as_str());
        let facts = String::from_utf8_lossy(facts.copied().unwrap_or_default()).into_owned();
        let facts: Vec<&str> = facts
            .lines()
            .filter(|line| line.starts_with("pos:") || line.starts_with("flags:"))
            .collect();
        // Pipes and sockets have a number of the kernel's.
        let target = String::from_utf8_lossy(target).into_owned();
        let target = target.split(":[").next().unwrap_or_default();
        // What netra holds for children of another user (`crates/capture/src/hold.rs`).
        let is_held = target.contains("/.netra-run-") || target.contains("/segments/netra-");
        let number: u32 = number.parse().unwrap_or(0);
        if number >= 200 && is_held {
            continue;
        }
        let line = format!("{number} {target} {}", facts.join(" "));
        found.push((number, line));
    }
    found.sort();
    found.into_iter().map(|(_, line)| line).collect()
}

/// Mappings of files by path and rights, with how much of each; and totals of what is compared
/// within bounds.
fn mappings(smaps: &str) -> (Vec<String>, Vec<String>) {
    let mut sizes: BTreeMap<(String, String), u64> = BTreeMap::new();
    let (mut netra, mut anonymous, mut stack, mut heap) = (0, 0, 0, 0);
    let mut current: Option<(String, String, u64)> = None;
    for line in smaps.lines() {
        if let Some(flags) = line.strip_prefix("VmFlags:") {
            let Some((rights, path, kib)) = current.take() else { continue };
            let reserved = flags.split(' ').any(|flag| flag == "nr");
            let ours = path.ends_with("/libnetra_preload.so") || is_segment(&path);
            match path.as_str() {
                _ if ours => netra += kib,
                "" if reserved => netra += kib,
                "" => anonymous += kib,
                "[stack]" => stack += kib,
                "[heap]" => heap += kib,
                _ if path.starts_with('[') => {}
                _ => *sizes.entry((path, rights)).or_default() += kib,
            }
            continue;
        }
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let Some((from, to)) = words.first().and_then(|range| range.split_once('-')) else {
            continue;
        };
        let number = |digits| u64::from_str_radix(digits, 16).ok();
        if let (Some(from), Some(to), true) = (number(from), number(to), words.len() >= 5) {
            let path = words.get(5..).unwrap_or_default().join(" ");
            current = Some((words[1].to_owned(), path, (to - from) >> 10));
        }
    }
    let rows = sizes.into_iter().map(|((path, rights), kib)| format!("{path} {rights} {kib} KiB"));
    let totals = [
        format!("mapped for netra KiB {netra}"),
        format!("anonymous KiB {anonymous}"),
        format!("stack KiB {stack}"),
        format!("heap KiB {heap}"),
    ];
    (rows.collect(), totals.to_vec())
}

/// Whether a mapping is of a file of netra's folder of segments, which may be gone by then.
fn is_segment(path: &str) -> bool {
    path.trim_end_matches(" (deleted)").ends_with(".segment") && path.contains("/netra-")
}

/// What a process used, as lines that end with a number.
fn used(stat: &str, status: &[String]) -> Vec<String> {
    // Behind the name, which may hold anything.
    let fields: Vec<&str> = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split(' ').collect();
    let field = |at: usize| fields.get(at).copied().unwrap_or("0");
    let line = |name: &str| {
        let found = status.iter().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        found.map_or("0", |rest| rest.trim().split(' ').next().unwrap_or("0")).to_owned()
    };
    vec![
        format!("minor faults {}", field(8)),
        format!("major faults {}", field(10)),
        format!("largest resident KiB {}", line("VmHWM")),
        format!("voluntary switches {}", line("voluntary_ctxt_switches")),
    ]
}

/// The first use that is out of its bound.
pub(crate) fn excess(runs: &[&[String]], lines: &[String]) -> Option<String> {
    let value = |lines: &[String], name: &str| {
        let line = lines.iter().find_map(|line| line.strip_prefix(name))?;
        line.trim().parse::<u64>().ok()
    };
    BOUNDS.iter().find_map(|bound| {
        let most = runs.iter().filter_map(|run| value(run, bound.name)).max()?;
        let now = value(lines, bound.name)?;
        let allowed = most.saturating_mul(bound.times).saturating_add(bound.plus);
        (now > allowed)
            .then(|| format!("{now} {}, without it {most}; {allowed} would do", bound.name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_as_long_as_they_say() {
        let text = b"root 7 0\nexec 7 7\nfield cmdline 5\na\0b\n\0\nfield cwd 1\n/\nend\nexit 7 256\nend\n";
        let events = events(text).unwrap();
        assert_eq!(events.len(), 3);
        assert_eq!(events[1].fields["cmdline"], b"a\0b\n\0");
        assert_eq!((events[2].name, events[2].value), ("exit", 256));
    }

    #[test]
    fn what_is_netras_in_the_environment_is_left_out() {
        let keep = |text: &str| without_netra(text.to_owned());
        assert_eq!(keep("A=b").unwrap(), "A=b");
        assert_eq!(keep("NETRA_JOB=x"), None);
        assert_eq!(keep("LD_PRELOAD=/l/libnetra_preload.so"), None);
        let others = keep("LD_PRELOAD=/l/a.so:/l/libnetra_preload.so").unwrap();
        assert_eq!(others, "LD_PRELOAD=/l/a.so");
    }

    #[test]
    fn mappings_are_added_up_by_path() {
        let smaps = "\
00400000-00402000 r--p 00000000 08:01 1 /bin/a
VmFlags: rd mr
00402000-00403000 r--p 00000000 08:01 1 /bin/a
VmFlags: rd mr
7f0000000000-7f0000100000 rw-p 00000000 00:00 0
Size: 1024 kB
VmFlags: rd wr nr wf
7f0000100000-7f0000102000 rw-p 00000000 00:00 0
VmFlags: rd wr
7f0000200000-7f0000300000 r-xp 00000000 08:01 1 /l/libnetra_preload.so
VmFlags: rd ex
";
        let (rows, totals) = mappings(smaps);
        assert_eq!(rows, ["/bin/a r--p 12 KiB"]);
        assert_eq!(
            totals,
            ["mapped for netra KiB 2048", "anonymous KiB 8", "stack KiB 0", "heap KiB 0"]
        );
    }

    #[test]
    fn a_use_out_of_its_bound_is_told() {
        let bare = vec!["minor faults 100".to_owned()];
        let now = |count: u32| vec![format!("minor faults {count}")];
        assert_eq!(excess(&[&bare], &now(1_700)), None);
        let found = excess(&[&bare], &now(1_701)).unwrap();
        assert_eq!(found, "1701 minor faults, without it 100; 1700 would do");
    }
}
