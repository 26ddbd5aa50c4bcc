//! What `strace` saw of one rank: calls on files of the run's folder, by file.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use netra_workloads::expected::{Counts, add};

/// System call → the name under which programs know it.
const CALLS: &[(&str, &str)] = &[
    ("open", "open"),
    ("openat", "open"),
    ("creat", "open"),
    ("close", "close"),
    ("read", "read"),
    ("write", "write"),
    ("pread64", "pread"),
    ("pwrite64", "pwrite"),
    ("readv", "readv"),
    ("writev", "writev"),
    ("preadv", "preadv"),
    ("pwritev", "pwritev"),
    ("lseek", "lseek"),
    ("fsync", "fsync"),
    ("fdatasync", "fdatasync"),
    ("ftruncate", "ftruncate"),
    ("fallocate", "fallocate"),
    ("unlink", "unlink"),
    ("unlinkat", "unlink"),
    ("rename", "rename"),
    ("newfstatat", "stat"),
    ("statx", "stat"),
];

/// The words that put `strace` in front of a rank: one file a thread, so lines are never torn.
pub(crate) fn words(folder: &Path, preload: &str) -> Vec<String> {
    let calls: Vec<&str> = CALLS.iter().map(|(name, _)| *name).collect();
    let words = ["strace", "-ff", "--seccomp-bpf", "-q", "-y", "-s", "0", "-e", "signal=none"];
    let mut words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    words.extend(["-e".into(), format!("trace={}", calls.join(","))]);
    words.extend(["-E".into(), format!("LD_PRELOAD={preload}")]);
    words.extend(["-E".into(), format!("WORKLOAD_COUNT={}/count.{{rank}}", folder.display())]);
    words.extend(["-o".into(), format!("{}/trace.{{rank}}", folder.display()), "--".into()]);
    words
}

/// File → calls of one rank on it, for files in `inside`; traces are in `folder`.
pub(crate) fn traced(folder: &Path, inside: &Path, rank: usize) -> BTreeMap<String, Counts> {
    let mut files = BTreeMap::new();
    let prefix = format!("trace.{rank}.");
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            let text = fs::read(entry.path()).unwrap();
            for line in String::from_utf8_lossy(&text).lines() {
                note(line, inside, &mut files);
            }
        }
    }
    files
}

fn note(line: &str, inside: &Path, files: &mut BTreeMap<String, Counts>) {
    let Some((call, rest)) = line.split_once('(') else { return };
    let Some((_, name)) = CALLS.iter().find(|(system, _)| *system == call) else { return };
    let Some((arguments, result)) = rest.rsplit_once(" = ") else { return };
    let place = match *name {
        "open" => described(result),
        // fstat: libc and MPI make it on descriptors that they were given, the programs never do
        "stat" => quoted(arguments),
        _ => described(arguments).or_else(|| quoted(arguments)),
    };
    let Some(file) = place.and_then(|path| path.strip_prefix(inside.to_str()?)?.strip_prefix('/'))
    else {
        return;
    };
    let moves = matches!(
        *name,
        "read" | "write" | "pread" | "pwrite" | "readv" | "writev" | "preadv" | "pwritev"
    );
    let result = result.split([' ', '<']).next().and_then(|word| word.parse::<i64>().ok());
    let bytes = result.and_then(|result| u64::try_from(result).ok()).filter(|_| moves);
    add(files.entry(file.to_owned()).or_default(), name, 1, bytes.unwrap_or(0));
}

/// `3</folder/file>` → `/folder/file`.
fn described(text: &str) -> Option<&str> {
    let (number, path) = text.split_once('<')?;
    number.parse::<i64>().ok()?;
    path.split_once('>').map(|(path, _)| path)
}

/// The path that a call's arguments name.
fn quoted(arguments: &str) -> Option<&str> {
    arguments.split('"').nth(1).filter(|path| !path.is_empty())
}

#[cfg(test)]
mod tests {
    use super::note;
    use netra_workloads::expected::Count;
    use std::collections::BTreeMap;
    use std::path::Path;

    #[test]
    fn lines_become_calls_on_files_of_the_folder_alone() {
        let mut files = BTreeMap::new();
        for line in [
            "openat(AT_FDCWD</run>, \"out\", O_RDWR|O_CREAT, 0644) = 27</run/out>",
            "openat(AT_FDCWD</run>, \"gone\", O_RDONLY) = -1 ENOENT (No such file or directory)",
            "pwrite64(27</run/out>, \"\"..., 65536, 0) = 65536",
            "pwrite64(27</run/out>, \"\"..., 65536, 65536) = 100",
            "write(1</dev/null>, \"\"..., 5)     = 5",
            "lseek(27</run/out>, 0, SEEK_END)  = 65636",
            "write(9</running/out>, \"\"..., 5) = 5",
            "+++ exited with 0 +++",
        ] {
            note(line, Path::new("/run"), &mut files);
        }
        let out = files.remove("out").unwrap();
        assert_eq!(out["open"], Count { calls: 1, bytes: 0 });
        assert_eq!(out["pwrite"], Count { calls: 2, bytes: 65636 });
        assert_eq!(out["lseek"], Count { calls: 1, bytes: 0 });
        assert_eq!((out.len(), files.len()), (3, 0));
    }
}
