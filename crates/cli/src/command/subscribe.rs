//! `netra subscribe`: what is published under a tag, or the events of all jobs, as it comes.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use clap::ValueEnum;
use netra_stream::batch::{Batch, Message, Payload};
use netra_stream::render::{self, Call, Form, Live, Render};
use netra_stream::sample::Sample;
use netra_stream::topic::{self, Received, Subscriber, Wish};

use super::calling::Calling;
use crate::outcome::Outcome;
use crate::output::{self, Output};
use crate::word;

const EXAMPLES: &str = "\
The tag io gives the events of recorded processes, metrics what nodes sample and servers publish, and
any other tag what was published under it; TAG* gives all that begin so. Whoever reads too slowly
misses something, is told how much, and holds nobody back.

Examples:
  netra subscribe io --format connector-json
  netra subscribe 'site.*'
  netra subscribe metrics --limit 100 -o metrics.jsonl
  netra subscribe io --for 30s";

/// How what comes is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum As {
    /// One JSON object a line, whatever it is
    #[value(alias = "jsonl")]
    JsonLines,
    /// For io: the Darshan-LDMS connector's JSON message
    ConnectorJson,
    /// For io: the connector's table
    ConnectorCsv,
    /// For messages: their bytes, each with a line end
    Plain,
}

/// What, how, and where to.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// What to get
    #[arg(value_parser = wish)]
    tag: String,
    /// How to write it
    #[arg(
        long = "format",
        alias = "as",
        value_enum,
        value_name = "FORMAT",
        default_value = "json-lines"
    )]
    form: As,
    /// End after so many events, messages or samples
    #[arg(short = 'n', long, alias = "count", value_name = "N", allow_negative_numbers = true)]
    limit: Option<u64>,
    /// End after this time, such as 30s
    #[arg(long = "for", alias = "seconds", value_name = "TIME", value_parser = word::duration, allow_negative_numbers = true)]
    time: Option<Duration>,
    /// Where to write; - is standard output
    #[arg(short, long, default_value = "-", value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    calling: Calling,
}

fn wish(text: &str) -> Result<String, String> {
    Wish::parse(text)?;
    Ok(text.to_owned())
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let form = match (args.form, args.tag == topic::IO) {
        (As::JsonLines, _) | (As::Plain, true) => Form::JsonLines,
        (As::ConnectorJson, true) => Form::ConnectorJson,
        (As::ConnectorCsv, true) => Form::ConnectorCsv,
        (As::Plain, false) => Form::JsonLines,
        (_, false) => bail!("only the tag io has the connector's messages"),
    };
    let deadline = args.time.map(|time| Instant::now() + time);
    let address = args.calling.address()?;
    let caller = args.calling.caller()?;
    let subscriber = Subscriber::connect(&address, &caller, "netra subscribe", &args.tag);
    let mut subscriber = subscriber.with_context(|| format!("calling {address}"))?;
    let mut face = Face {
        out: output::open_at_once(&args.output)?,
        render: form.render(),
        live: Live::default(),
        plain: args.form == As::Plain,
        lines: args.form == As::JsonLines,
        limit: args.limit.unwrap_or(u64::MAX),
        written: 0,
        missed: 0,
    };
    face.render.begin(&mut face.out)?;
    face.out.flush()?;
    let enough = |face: &Face| args.limit.is_some_and(|limit| face.written >= limit);
    while !enough(&face) && deadline.is_none_or(|deadline| Instant::now() < deadline) {
        match subscriber.receive().context("receiving")? {
            Received::Batch(batch) => {
                face.batch(&mut subscriber, &batch)?;
                // Whoever watches wants it now; while more is at hand, together.
                if !subscriber.has_more() {
                    face.out.flush()?;
                }
            }
            Received::Missed(loss) => {
                face.live.missed();
                face.missing(loss.events)?;
                eprintln!("netra: {} missed here: this end was too slow", loss.events);
            }
            Received::Nothing => face.out.flush()?,
            Received::End(reason) => {
                eprintln!("netra: {reason}");
                break;
            }
        }
    }
    face.render.end(&mut face.out)?;
    face.out.finish()?;
    let mut outcome = Outcome::default();
    outcome.read(face.missed == 0);
    Ok(outcome)
}

/// The first calls of those that come, and no more.
struct First<'a> {
    render: &'a mut dyn Render,
    left: u64,
}

impl Render for First<'_> {
    fn begin(&mut self, out: &mut dyn io::Write) -> io::Result<()> {
        self.render.begin(out)
    }

    fn call(&mut self, out: &mut dyn io::Write, call: &Call<'_>) -> io::Result<bool> {
        if self.left == 0 {
            return Ok(false);
        }
        let written = self.render.call(out, call)?;
        self.left -= u64::from(written);
        Ok(written)
    }

    fn end(&mut self, out: &mut dyn io::Write) -> io::Result<()> {
        self.render.end(out)
    }
}

/// Writes what comes.
struct Face {
    out: Output,
    render: Box<dyn Render>,
    live: Live,
    plain: bool,
    /// Whether gaps are told among what comes.
    lines: bool,
    /// No more than these are written, though a frame brings more.
    limit: u64,
    written: u64,
    missed: u64,
}

impl Face {
    fn batch(&mut self, subscriber: &mut Subscriber, batch: &Batch) -> Result<()> {
        match batch.payload() {
            Ok(Some(Payload::Message(message))) => {
                self.written += 1;
                self.message(&message)?;
            }
            Ok(Some(Payload::Metrics(body))) => {
                self.written += 1;
                let sample = Sample::unpack(body).context("reading a sample")?;
                render::sample(&mut self.out, &batch.head, &sample)?;
            }
            Ok(Some(_)) => {
                let image = subscriber.image(&batch.head.producer);
                let left = self.limit.saturating_sub(self.written);
                let render = &mut First { render: &mut *self.render, left };
                let told = self.live.batch(batch, image, render, &mut self.out)?;
                self.written += told.written;
                self.missing(told.missing)?;
                if let Ok(Some(Payload::Ledger(account))) = batch.payload()
                    && account.is_final
                {
                    subscriber.forget(&batch.head.producer);
                }
            }
            Ok(None) | Err(_) => {}
        }
        Ok(())
    }

    /// So many are not here. In lines of JSON, whoever reads is told where.
    fn missing(&mut self, events: u64) -> io::Result<()> {
        self.missed = self.missed.saturating_add(events);
        if self.lines && events > 0 {
            writeln!(self.out, "{{\"missed\":{events}}}")?;
        }
        Ok(())
    }

    fn message(&mut self, message: &Message<'_>) -> io::Result<()> {
        if self.plain {
            self.out.write_all(message.bytes)?;
            return self.out.write_all(b"\n");
        }
        render::message(&mut self.out, message)
    }
}
