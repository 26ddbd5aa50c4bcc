//! The programs, a row each.

use std::fs;
use std::path::Path;

use super::guest::{Guest, Line, PLAIN};

/// Every program. Those that take long stand behind, and are run with `--long`.
pub static ALL: &[Guest] = &[
    Guest {
        name: "cat",
        package: "coreutils",
        command: Line::Words(&["cat", "text"]),
        input: text,
        ..PLAIN
    },
    Guest {
        name: "cp",
        package: "coreutils",
        command: Line::Words(&["cp", "-a", "tree", "copy"]),
        input: text,
        ..PLAIN
    },
    Guest {
        name: "sh",
        package: "dash",
        command: Line::Shell(
            "sed s/1/2/ text | sort -r > sorted; (exit 3) & wait; ls -l /proc/self/fd >/dev/null; exit 7",
        ),
        input: text,
        ..PLAIN
    },
    Guest {
        name: "python",
        package: "python3",
        command: Line::Words(&[
            "python3",
            "-c",
            "import os\nprint(len(open('text').read()))\nopen('out','w').write('x'*10)\nos.system('wc -l text')",
        ]),
        input: text,
        ..PLAIN
    },
    Guest {
        name: "gcc",
        package: "gcc",
        command: Line::Shell("gcc -O1 -o hello hello.c && ./hello"),
        input: text,
        ..PLAIN
    },
];

/// A text, a tree of small files, and a program in C.
fn text(work: &Path) -> std::io::Result<()> {
    let lines: String = (0..2_000).map(|number| format!("line {number} of the text\n")).collect();
    fs::write(work.join("text"), lines)?;
    fs::create_dir_all(work.join("tree/below"))?;
    for number in 0..10_u8 {
        let bytes = vec![number; 1000 * usize::from(number)];
        fs::write(work.join(format!("tree/below/{number}.dat")), bytes)?;
    }
    let hello = "#include <stdio.h>\nint main(void) { puts(\"hello\"); return 0; }\n";
    fs::write(work.join("hello.c"), hello)
}
