//! Words that mean the same in every command: layers, ranks, times, sizes; what is wrong is said with what was meant,
//! and so is that nothing matched.

use crate::netra::Place;

/// What a wrong word is answered with.
#[track_caller]
fn refused(words: &[&str], says: &str) {
    let done = Place::with_example().netra(words);
    assert_eq!(done.code, 64, "{words:?}: {}", done.err);
    assert!(done.err.contains(says), "{words:?}: {}", done.err);
}

/// What nothing matches.
#[track_caller]
fn in_vain(words: &[&str], says: &str) {
    let done = Place::with_example().netra(words);
    assert_eq!(done.code, 1, "{words:?}: {}", done.err);
    assert_eq!(done.err, format!("netra: {says}\n"), "{words:?}");
}

#[test]
fn a_wrong_word_is_64_and_what_was_meant_is_said() {
    refused(&["export", "wave.darshan", "--layer", "posx"], "did you mean POSIX?");
    refused(&["export", "wave.darshan", "--kind", "wirte"], "did you mean write?");
    refused(&["export", "wave.darshan", "--rank", "3-1"], "ranks are given as 3, 0,2 or 0-7");
    refused(&["export", "wave.darshan", "--from", "soon"], "is no point in time: seconds since");
    refused(&["parse", "wave.darshan", "--counter", "POSIX_RAEDS"], "did you mean POSIX_READS?");
    refused(&["report", "wave.darshan", "--silence", "smal-reads"], "did you mean small-reads?");
    refused(&["explain", "smal-reads"], "did you mean small-reads?");
    refused(
        &["diff", "wave.darshan", "wave.darshan", "--limit", "-1"],
        "invalid value '-1' for '--limit",
    );
    refused(&["run", "--layer", "posx", "true"], "did you mean POSIX?");
    refused(&["parse", "wave.darshan", "--file", "--rank", "0"], "are of whole logs");
}

#[test]
fn that_nothing_matches_is_1_and_said() {
    let said = "wave.darshan: nothing of NOPE is in this log; it has POSIX, MPI-IO, STDIO";
    in_vain(&["parse", "wave.darshan", "--layer", "NOPE"], said);
    in_vain(
        &["parse", "wave.darshan", "--rank", "99"],
        "wave.darshan: there is no record of rank 99; records are of ranks -1 to 3",
    );
    in_vain(
        &["parse", "wave.darshan", "--file=/nowhere", "--format", "csv"],
        "wave.darshan: no record matches what was asked for",
    );
    in_vain(&["export", "wave.darshan", "--rank", "99"], "there is no rank 99; ranks are 0 to 3");
    in_vain(&["export", "wave.darshan", "--from", "1h"], "no call matches what was asked for");
}

#[test]
fn old_spellings_mean_what_they_meant() {
    let place = Place::with_example();
    let same = |old: &[&str], new: &[&str]| {
        let (old, new) = (place.netra(old), place.netra(new));
        assert_eq!(old, new);
        assert!(!new.out.is_empty() && new.code == 0, "{}", new.err);
    };
    let log = "wave.darshan";
    same(&["export", log, "--as", "csv"], &["export", log, "--format", "csv"]);
    same(&["export", log, "--csv"], &["export", log, "--format", "csv"]);
    same(&["export", log, "--perfetto"], &["export", log, "--format", "perfetto"]);
    same(&["export", log, "--format", "jsonl"], &["export", log]);
    same(&["export", log, "--path", "/scratch/*"], &["export", log, "--file", "/scratch/*"]);
    same(&["parse", log, "--module", "POSIX"], &["parse", log, "--layer", "posix"]);
    same(&["parse", log, "--path", "/scratch/*"], &["parse", log, "--file=/scratch/*"]);
    same(&["report", "--json", log], &["report", "--format", "json", log]);
    same(&["compare", "--json", log, log], &["compare", "--format", "json", log, log]);
}

#[test]
fn ranks_and_times_are_given_in_one_way() {
    let place = Place::with_example();
    let count = |words: &[&str]| {
        let done = place.netra(&[&["export", "wave.darshan"], words].concat());
        assert_eq!((done.code, done.err.as_str()), (0, ""), "{words:?}");
        done.text().lines().count()
    };
    let all = count(&[]);
    assert_eq!(count(&["--rank", "0-3"]), all);
    assert_eq!(count(&["--rank", "0"]) + count(&["--rank", "1-3"]), all);
    assert_eq!(count(&["--rank", "0,2"]) + count(&["--rank", "1", "--rank", "3"]), all);
    assert_eq!(count(&["--from", "-1h"]), all);
    assert_eq!(count(&["--from", "0", "--to", "1min"]), all);
    assert_eq!(count(&["--from", "2026-11-15T23:35:36"]), all);
    assert_eq!(count(&["--to", "2026-11-16T00:35:37+01:00"]), all);
}

#[test]
fn report_without_a_name_is_the_last_run() {
    let place = Place::new();
    let report = |state: &str| {
        let mut command = place.command(&["report"]);
        command.env("HOME", place.path("home")).env("XDG_STATE_HOME", place.path(state));
        command.output().expect("netra starts")
    };
    let done = report("state");
    assert_eq!(done.status.code(), Some(2));
    let said = String::from_utf8(done.stderr).expect("text");
    assert_eq!(said, "netra: there is no last run; netra run -- COMMAND makes one\n");
    let kept = place.file("kept/elsewhere", &crate::netra::example());
    place.file("state/netra/last_run", kept.to_str().expect("a plain name").as_bytes());
    let done = report("state");
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    let said = String::from_utf8(done.stdout).expect("text");
    assert!(said.contains("kept/elsewhere"), "{said}");
    // What nobody kept in mind lies where logs go.
    place.file("home/.local/share/netra/logs/2026/11/15/a.darshan", &crate::netra::example());
    let done = report("another");
    let said = String::from_utf8(done.stdout).expect("text");
    assert!(said.contains("2026/11/15/a.darshan"), "{said}");
}

#[test]
fn settings_stand_in_files_and_say_where_they_came_from() {
    let place = Place::with_example();
    place.file(
        ".netra.toml",
        b"trace_budget = \"1MiB\"\n[info]\nformat = \"csv\"\n[run]\nquiet = true\n",
    );
    place.file(
        "own/netra/netra.toml",
        b"trace_budget = \"2MiB\"\nlog_dir = \"/data/me\"\n[info]\nformat = \"json\"\n",
    );
    let netra = |words: &[&str], more: &[(&str, &str)]| {
        let mut command = place.command(words);
        command.env("XDG_CONFIG_HOME", place.path("own")).envs(more.iter().copied());
        let done = command.output().expect("netra starts");
        let text = |bytes| String::from_utf8(bytes).expect("text");
        (text(done.stdout), text(done.stderr))
    };
    let (settings, said) = netra(&["settings", "--set"], &[("NETRA_JOB", "mine")]);
    assert_eq!(said, "");
    let own = place.path("own/netra/netra.toml").display().to_string();
    let project = place.path(".netra.toml").canonicalize().expect("a file").display().to_string();
    for line in [
        "NETRA_JOB             mine  (environment; docs/use/record.md)".to_owned(),
        format!("NETRA_LOG_DIR         /data/me  ({own}; docs/use/record.md)"),
        format!("NETRA_TRACE_BUDGET    1MiB  ({project}; docs/use/record.md)"),
        format!("run --quiet  on  ({project})"),
    ] {
        assert!(settings.contains(&line), "{line}\n{settings}");
    }
    // What is typed stands over the project's file, that over the user's.
    assert_eq!(
        netra(&["info", "wave.darshan"], &[]).0,
        netra(&["info", "--format", "csv", "wave.darshan"], &[]).0
    );
    assert!(
        netra(&["info", "--format", "text", "wave.darshan"], &[]).0.contains("command    ./wave")
    );
    place.file(
        ".netra.toml",
        b"trace_buget = \"1MiB\"\nanalysis = \"/a\"\n[inof]\n[info]\nfromat = \"csv\"\n",
    );
    let (_, said) = netra(&["info", "wave.darshan"], &[]);
    for complaint in [
        "there is no setting \"trace_buget\"; did you mean trace_budget?",
        "analysis is read from the environment alone",
        "there is no command \"inof\"; did you mean info?",
        "[info] there is no option \"fromat\"; did you mean format?",
    ] {
        assert!(said.contains(complaint), "{complaint}\n{said}");
    }
}
