//! The programs, a row each, in groups. A new one is a row here, and its package a row in `xtask/src/install.rs`.

mod confined;
mod file;
mod language;
mod own;
mod parallel;
mod science;
mod service;

use std::fs;
use std::io;
use std::path::Path;

use super::guest::Guest;

/// Every program. Those that take long are run with `--long`.
pub fn all() -> impl Iterator<Item = &'static Guest> {
    let groups: [&[Guest]; 7] = [
        file::ALL,
        language::ALL,
        science::ALL,
        service::ALL,
        confined::ALL,
        parallel::ALL,
        own::ALL,
    ];
    groups.into_iter().flatten()
}

/// A text, a tree of small files, and a program in C.
fn text(work: &Path) -> io::Result<()> {
    let lines: String = (0..2_000).map(|number| format!("line {number} of the text\n")).collect();
    fs::write(work.join("text"), lines)?;
    fs::write(work.join("few"), "one line\n".repeat(40))?;
    fs::create_dir_all(work.join("tree/below"))?;
    for number in 0..10_u8 {
        let bytes = vec![number; 1000 * usize::from(number)];
        fs::write(work.join(format!("tree/below/{number}.dat")), bytes)?;
    }
    fs::write(work.join("app.c"), APPLICATION)
}

/// It writes a file, starts a child and speaks in both streams.
const APPLICATION: &str = r#"#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int count, char **words) {
    FILE *file = fopen("app.out", "w");
    for (int line = 0; file && line < 1000; line++) fprintf(file, "%d\n", line);
    if (!file || fclose(file)) return 1;
    char *room = malloc(50 << 20);
    if (!room) return puts("no memory"), 2;
    memset(room, 1, 50 << 20);
    fputs("to the other stream\n", stderr);
    return printf("hello %d\n", count) < 0 || system("wc -l < app.out");
}
"#;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_row_has_its_own_name() {
        let names: Vec<&str> = all().map(|guest| guest.name).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        let packaged = all().filter(|guest| !guest.package.is_empty()).count();
        assert!(packaged >= 40, "{packaged} real programs");
    }

    /// A program of `e2e/programs` is in the list, or one of the few that need more than to be run.
    #[test]
    fn every_program_of_ours_is_in_the_list() {
        let mine: BTreeSet<&str> = all().map(|guest| guest.name).collect();
        let files = fs::read_dir(crate::program::sources()).unwrap();
        let names = files.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let programs = names.filter_map(|name| Some(name.strip_suffix(".c")?.to_owned()));
        let missing = |name: &String| {
            !mine.contains(name.as_str()) && !own::APART.iter().any(|(own, _)| own == name)
        };
        let missing: Vec<String> = programs.filter(missing).collect();
        assert!(missing.is_empty(), "no row for {missing:?}");
    }
}
