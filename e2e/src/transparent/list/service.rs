//! Servers, with a client each: started, asked and ended by a script.

use super::text;
use crate::transparent::guest::{Aspect, Guest, Line, PLAIN};

pub(super) static ALL: &[Guest] = &[
    Guest {
        name: "postgresql",
        package: "postgresql",
        command: Line::Script("postgresql.sh", "psql"),
        input: text,
        long: true,
        ..PLAIN
    },
    Guest {
        name: "redis",
        package: "redis-server",
        command: Line::Script("redis.sh", "redis-server"),
        apart: &[(Aspect::Calls, "it looks for clients, and at the clock, when it is time")],
        ..PLAIN
    },
    Guest {
        name: "sshd",
        long: true,
        package: "openssh-server",
        command: Line::Script("sshd.sh", "sshd"),
        input: text,
        ..PLAIN
    },
    Guest {
        name: "chromium",
        package: "chromium",
        command: Line::Script("chromium.sh", "chromium"),
        apart: BROWSER,
        long: true,
        ..PLAIN
    },
    Guest {
        name: "chromium_sandbox",
        long: true,
        package: "chromium",
        command: Line::Script("chromium-sandbox.sh", "chromium"),
        apart: BROWSER,
        ..PLAIN
    },
];

const BROWSER: &[(Aspect, &str)] = &[
    (Aspect::Calls, "forty processes and threads that never do the same twice"),
    (Aspect::State, "forty processes and threads that never do the same twice"),
    (Aspect::Errors, "it complains of a missing desktop, in another order each time"),
];
