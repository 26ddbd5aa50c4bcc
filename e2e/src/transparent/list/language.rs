//! Compilers, what builds with them, interpreters and shells.

use super::text;
use crate::transparent::guest::{Aspect, Guest, Line, PLAIN};

const CODE: Guest = Guest { input: text, ..PLAIN };

const fn shell(name: &'static str, package: &'static str, line: &'static str) -> Guest {
    Guest { name, package, command: Line::Shell(line), ..CODE }
}

const fn script(
    name: &'static str,
    package: &'static str,
    words: &'static [&'static str],
) -> Guest {
    Guest { name, package, command: Line::Words(words), ..CODE }
}

/// What a shell of any kind understands: files, pipes, traps, jobs, here-documents, a child that is killed.
const SHELL: &str = "trap 'echo bye' EXIT; n=0; while read -r a b c; do n=$((n + 1)); done < few; echo $n; \
    sed -n 1,3p text | cat > three; (exit 3); echo $?; sh -c 'kill -TERM $$'; echo $?; (exit 6) & wait $!; echo $?; \
    cat <<END > here\nline $n\nEND\nulimit -n; umask 027; echo x > rights; exec 5> five; echo five >&5; exit 4";

pub(super) static ALL: &[Guest] = &[
    shell("gcc", "gcc", "gcc -O1 -o app app.c && ./app"),
    shell("gcc_lto", "gcc", "gcc -O2 -flto=2 -g -o app app.c && ./app").long(),
    shell(
        "gxx",
        "g++",
        "g++ --version >/dev/null; printf '#include <fstream>\\nint main() { std::ofstream(\"o\") << 42; try { throw 1; } catch (int) { return 5; } }' > a.cc; g++ -o a a.cc && ./a",
    ).long(),
    shell(
        "gfortran",
        "gfortran",
        "gfortran --version >/dev/null; printf \"program a\\nopen(10,file='o')\\nwrite(10,*) 42\\nclose(10)\\nstop 3\\nend\" > a.f90; gfortran -o a a.f90 && ./a",
    ).long(),
    shell("tcc", "tcc", "tcc -o app app.c && ./app; tcc -run app.c one"),
    shell(
        "make",
        "make",
        "printf 'all: a b\\na b: app.c\\n\\tcc -c -o $@ $<\\n' > Makefile; make -j2 >/dev/null && ls a b; make absent",
    ),
    shell(
        "cmake_and_ninja",
        "cmake",
        "cmake --version >/dev/null; printf 'cmake_minimum_required(VERSION 3.10)\\nproject(a C)\\nadd_executable(app app.c)\\n' > CMakeLists.txt; cmake -G Ninja -S . -B build >/dev/null && ninja -C build >/dev/null && build/app",
    ).long(),
    script(
        "python",
        "python3",
        &[
            "python3",
            "-c",
            "import os, subprocess, tempfile, threading\nprint(len(open('text').read()))\nt=[threading.Thread(target=lambda i=i: open(f'o{i}','w').write('x'*i)) for i in range(8)]\n[a.start() for a in t]; [a.join() for a in t]\nprint(subprocess.run(['wc','-l','text'],capture_output=True).stdout)\nwith tempfile.TemporaryFile() as f: f.write(b'1')\nos._exit(6)",
        ],
    ),
    Guest {
        apart: &[
            (Aspect::Calls, "who of its pool takes a piece of work is chance"),
            (Aspect::Ends, "who of its pool takes a piece of work is chance"),
        ],
        ..script(
            "python_processes",
            "python3",
            &[
                "python3",
                "-c",
                "import multiprocessing as m\ndef f(i):\n    open(f'o{i}','w').write(str(i)); return i*i\nif __name__ == '__main__':\n    p = m.get_context('fork').Pool(3); print(p.map(f, range(20))); p.close(); p.join()",
            ],
        )
    },
    script(
        "perl",
        "perl",
        &[
            "perl",
            "-e",
            "open F,'<','text'; my @l=<F>; open O,'>','out'; print O reverse @l; close O; print scalar(@l), `wc -l < out`; if (my $p = fork) { waitpid $p, 0; print $? >> 8, \"\\n\" } else { exit 9 } kill 'TERM', $$",
        ],
    ),
    script(
        "ruby",
        "ruby",
        &[
            "ruby",
            "-e",
            "puts File.readlines('text').size; 4.times.map { |i| Thread.new { File.write(\"o#{i}\", 'x'*i) } }.each(&:join); puts `wc -l < text`; pid = fork { exit 3 }; Process.wait pid; puts $?.exitstatus; abort 'done'",
        ],
    ),
    script(
        "lua",
        "lua5.4",
        &[
            "lua5.4",
            "-e",
            "local n=0 for l in io.lines('text') do n=n+1 end print(n) local o=io.open('out','w') o:write(n) o:close() print(io.popen('wc -l < text'):read('a')) os.exit(2)",
        ],
    ),
    script(
        "node",
        "nodejs",
        &[
            "node",
            "-e",
            "const fs=require('fs'), c=require('child_process'); console.log(fs.readFileSync('text').length); fs.copyFileSync('text','copy'); fs.promises.writeFile('out','x').then(() => { console.log(c.spawnSync('wc',['-l','text']).stdout.toString()); process.exit(3) })",
        ],
    ),
    Guest {
        name: "php",
        package: "php-cli",
        command: Line::Words(&[
            "php",
            "-r",
            "echo strlen(file_get_contents('text')), \"\\n\"; file_put_contents('out', 'x'); echo shell_exec('wc -l < text'); exit(3);",
        ]),
        ..CODE
    },
    script(
        "guile",
        "guile-3.0",
        &[
            "guile",
            "--no-auto-compile",
            "-c",
            "(call-with-output-file \"out\" (lambda (p) (display 42 p))) (display (system \"wc -l < text\")) (exit 4)",
        ],
    ),
    Guest {
        name: "tcl",
        package: "tcl",
        command: Line::Shell(
            "tclsh <<'END'\nset f [open text]; puts [string length [read $f]]; close $f\nset o [open out w]; puts $o 1; close $o\nputs [exec wc -l < text]; exit 3\nEND",
        ),
        ..CODE
    },
    script("dash", "dash", &["dash", "-c", SHELL]),
    script("bash", "bash", &["bash", "-c", SHELL]),
    script("zsh", "zsh", &["zsh", "-fc", SHELL]).long(),
    script("mksh", "mksh", &["mksh", "-c", SHELL]).long(),
    script("busybox", "busybox-static", &["busybox", "sh", "-c", SHELL]).long(),
    Guest {
        name: "java", long: true,
        package: "default-jdk-headless",
        command: Line::Script("java.sh", "javac"),
        apart: JVM,
        ..CODE
    },
    Guest {
        name: "gdb",
        package: "gdb",
        command: Line::Shell("gdb -q -batch -nx -ex run -ex 'info inferiors' --args cat text"),
        apart: TRACER,
        ..CODE
    },
    Guest {
        name: "strace",
        package: "strace",
        command: Line::Shell(
            "strace -q -f -e trace=execve -e signal=none -o calls sh -c 'wc -l < text; true'; rm calls",
        ),
        apart: TRACER,
        ..CODE
    },
    Guest {
        name: "ltrace",
        package: "ltrace",
        command: Line::Shell(
            "ltrace -e read+write -o calls sh -c 'read a < text; echo $a'; rm calls",
        ),
        apart: TRACER,
        ..CODE
    },
    Guest {
        name: "valgrind", long: true,
        package: "valgrind",
        command: Line::Shell("valgrind -q --tool=none sh -c 'wc -l < text'"),
        apart: JUST_IN_TIME,
        ..CODE
    },
];

const JVM: &[(Aspect, &str)] = &[
    (Aspect::Calls, "its own threads compile and collect when it suits them"),
    (Aspect::Ends, "its own threads compile and collect when it suits them"),
];

const JUST_IN_TIME: &[(Aspect, &str)] = &[
    (Aspect::Calls, "it makes all system calls itself, wherever they stand in the program"),
    (Aspect::Resources, "it takes memory for what it translates, of netra too"),
];

const TRACER: &[(Aspect, &str)] = &[
    (Aspect::Calls, "only one program at a time can trace another"),
    (Aspect::State, "only one program at a time can trace another"),
];
