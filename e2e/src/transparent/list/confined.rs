//! Programs in surroundings that are made narrower: sandboxes, limits, other users, terminals, other libraries of C.

use super::text;
use crate::transparent::guest::{Aspect, Guest, Line, PLAIN};

const fn shell(name: &'static str, package: &'static str, line: &'static str) -> Guest {
    Guest { name, package, command: Line::Shell(line), input: text, ..PLAIN }
}

pub(super) static ALL: &[Guest] = &[
    shell(
        "bwrap_unshare",
        "bubblewrap",
        "bwrap --unshare-all --ro-bind / / --dev /dev --proc /proc --bind $PWD $PWD sh -c 'wc -l < text; cp text inside; echo $$; id -u'; echo $?",
    ),
    Guest {
        apart: &[(Aspect::Calls, "what netra keeps in a private /tmp is listed there")],
        ..shell(
            "bwrap_tmp",
            "bubblewrap",
            "bwrap --bind / / --dev /dev --tmpfs /tmp --bind $PWD /mnt --chdir /mnt sh -c 'wc -l < text; cp text inside; ls /tmp | grep -v ^netra-'; echo $?",
        )
    },
    shell(
        "unshare",
        "util-linux",
        "unshare --pid --fork --mount-proc sh -c 'echo $$; cp text inside; kill -9 $$'; echo $?",
    ),
    shell("chroot_program", "coreutils", "chroot / sh -c 'cd $0 && wc -l < text' $PWD; echo $?"),
    shell(
        "setpriv",
        "util-linux",
        "setpriv --reuid=nobody --regid=nogroup --clear-groups --no-new-privs sh -c 'id -un; wc -l < text; echo x > denied'; echo $?",
    ),
    shell(
        "runuser",
        "util-linux",
        "runuser -u nobody -- sh -c 'id -un; wc -l < text; echo x > denied'; echo $?",
    ),
    shell("su", "util-linux", "su -s /bin/sh nobody -c 'id -un; wc -l < text'; echo $?"),
    shell(
        "start_stop_daemon",
        "dpkg",
        "start-stop-daemon --start --background --make-pidfile --pidfile p -C -O log --exec /bin/sleep -- 100; \
        sleep 0.1; start-stop-daemon --stop --pidfile p --exec /bin/sleep --retry 5 >/dev/null; echo $?; rm p",
    ),
    shell(
        "ulimit_v",
        "dash",
        "cc -o app app.c; for mib in 60 80 120 200 300 400 600 1000; do (ulimit -v $((mib << 10)); ./app one 2>&1; echo $mib $?); done",
    ),
    shell(
        "ulimit_d",
        "dash",
        "cc -o app app.c; for mib in 40 60 80 120 200 300 400 600 1000; do (ulimit -d $((mib << 10)); ./app one 2>&1; echo $mib $?); done",
    ),
    shell(
        "ulimit_n",
        "dash",
        "ulimit -n 6; wc -l < text; cat text text | cksum; sort text | tail -1; echo $?",
    ),
    Guest {
        apart: &[(
            Aspect::Errors,
            "what is lost with a killed process that could make no segment is said",
        )],
        ..shell("ulimit_f", "dash", "ulimit -f 1; cat text text > big; echo $?; wc -c < big")
    },
    shell(
        "ulimit_s",
        "dash",
        "ulimit -s 256; sort text | tail -1; python3 -c 'print(len(open(\"text\").read()))'; echo $?",
    ),
    shell(
        "prlimit",
        "util-linux",
        "prlimit --as=200000000 --nofile=64 --cpu=20 sort text | cksum; prlimit --fsize=100 cat text > big; echo $?",
    ),
    shell(
        "timeout",
        "coreutils",
        "timeout -s KILL 0.3 sleep 100; echo $?; timeout 60 cat text | cksum",
    )
    .long(),
    shell(
        "nice",
        "coreutils",
        "nice -n 7 sh -c 'nice; wc -l < text'; ionice -c 3 wc -l < text; chrt -b 0 wc -l < text",
    ),
    shell("setsid", "util-linux", "setsid -w sh -c 'wc -l < text; exit 3'; echo $?"),
    shell("nohup", "coreutils", "nohup sh -c 'kill -HUP $$; wc -l < text' 2>/dev/null; echo $?"),
    shell(
        "env",
        "coreutils",
        "env -i A=b env; env -u PATH /usr/bin/wc -l text; LD_PRELOAD= wc -l text",
    ),
    shell("taskset", "util-linux", "taskset -c 0 sh -c 'nproc; wc -l < text'"),
    shell(
        "script",
        "bsdutils",
        "script -qec 'tty >/dev/null && wc -l < text; exit 5' typescript < /dev/null; echo $?; rm typescript",
    ),
    shell(
        "expect",
        "expect",
        "expect -c 'log_user 0; spawn sh; send \"wc -l < text\\r\"; expect 2000; send \"exit 4\\r\"; expect eof; puts [lindex [wait] 3]'",
    ),
    shell("flock", "util-linux", "flock lock sh -c 'flock -n lock true; echo $?'; echo $?"),
    shell("static", "gcc", "gcc -static -o app app.c && ./app one; echo $?"),
    shell("static_pie", "gcc", "gcc -static-pie -o app app.c && ./app one; echo $?").long(),
    shell("musl", "musl-tools", "musl-gcc -o app app.c && ./app one; echo $?"),
    shell("musl_static", "musl-tools", "musl-gcc -static -o app app.c && ./app one; echo $?")
        .long(),
    Guest {
        apart: &[
            (
                Aspect::Library,
                "its own library must be the first in LD_PRELOAD, which `netra run` sees to",
            ),
            (Aspect::Calls, "the loader looks for that library sooner"),
        ],
        ..shell(
            "address_sanitizer",
            "gcc",
            "gcc -g -fsanitize=address -o app app.c && ASAN_OPTIONS=detect_leaks=0 ./app one; echo $?",
        )
    },
    Guest {
        long: true,
        apart: &[
            (Aspect::Calls, "it keeps a shadow of every library that is loaded"),
            (Aspect::Ends, "it keeps a shadow of every library that is loaded"),
        ],
        ..shell(
            "thread_sanitizer",
            "gcc",
            "gcc -g -fsanitize=thread -o app app.c && ./app one; echo $?",
        )
    },
    shell(
        "undefined_sanitizer",
        "gcc",
        "gcc -g -fsanitize=undefined -o app app.c && ./app one; echo $?",
    )
    .long(),
    shell(
        "qemu",
        "qemu-user-static",
        "aarch64-linux-gnu-gcc -static -o app app.c && qemu-aarch64-static ./app one; echo $?",
    )
    .long(),
];
