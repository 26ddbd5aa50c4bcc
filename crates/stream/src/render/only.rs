//! Some of the calls, when not all are wanted.

use std::collections::BTreeSet;
use std::io::{self, Write};

use netra_event::{Kind, Layer, Nanos};

use super::{Call, Render};

/// Which calls are wanted; a list that is empty leaves nothing out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Only {
    /// Layers.
    pub layers: Vec<Layer>,
    /// Kinds of calls.
    pub kinds: Vec<Kind>,
    /// Names of files; one that ends in `*` stands for all that begin so.
    pub files: Vec<String>,
    /// Ranks.
    pub ranks: Vec<i64>,
    /// Calls that end no earlier: nanoseconds since 1970, UTC.
    pub from: Option<Nanos>,
    /// Calls that begin no later: nanoseconds since 1970, UTC.
    pub to: Option<Nanos>,
    /// Calls that failed, and no others.
    pub failed: bool,
}

impl Only {
    /// Whether a call is wanted.
    #[must_use]
    pub fn has(&self, call: &Call<'_>) -> bool {
        let function = call.function();
        holds(&self.layers, |layer| function.is_some_and(|one| one.layer() == *layer))
            && holds(&self.kinds, |kind| function.is_some_and(|one| one.kind() == *kind))
            && holds(&self.ranks, |rank| call.about.rank.is_some_and(|own| own.0 == *rank))
            && holds(&self.files, |name| is_on(call, name))
            && self.from.is_none_or(|from| call.end() >= from)
            && self.to.is_none_or(|to| call.start <= to)
            && (!self.failed || call.event.failed)
    }
}

/// Whether a list is empty or has something.
fn holds<T>(list: &[T], is: impl Fn(&T) -> bool) -> bool {
    list.is_empty() || list.iter().any(is)
}

/// Whether a call is on a file, or on an object inside it.
fn is_on(call: &Call<'_>, name: &str) -> bool {
    let is = |path: &[u8]| match name.strip_suffix('*') {
        Some(beginning) => path.starts_with(beginning.as_bytes()),
        None => path == name.as_bytes(),
    };
    call.file.is_some_and(|file| is(file.name) || file.within.is_some_and(|within| is(within.1)))
}

/// A rendering of the wanted calls.
pub struct Chosen<'a> {
    /// Which.
    pub only: &'a Only,
    /// How.
    pub render: &'a mut dyn Render,
    /// Calls that were wanted.
    pub kept: u64,
    /// The ranks of all calls, wanted or not.
    pub ranks: BTreeSet<i64>,
}

impl<'a> Chosen<'a> {
    /// Renders the wanted calls so.
    pub fn new(only: &'a Only, render: &'a mut dyn Render) -> Chosen<'a> {
        Chosen { only, render, kept: 0, ranks: BTreeSet::new() }
    }
}

impl Render for Chosen<'_> {
    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.render.begin(out)
    }

    fn call(&mut self, out: &mut dyn Write, call: &Call<'_>) -> io::Result<bool> {
        if !self.only.ranks.is_empty()
            && let Some(rank) = call.about.rank
        {
            self.ranks.insert(rank.0);
        }
        if !self.only.has(call) {
            return Ok(false);
        }
        self.kept += 1;
        self.render.call(out, call)
    }

    fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.render.end(out)
    }
}
