//! `netra subscribe`: what is published under a tag, or the events of all jobs, as it comes.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use clap::ValueEnum;
use netra_stream::batch::{Batch, Message, Payload};
use netra_stream::render::{self, Form, Live, Render};
use netra_stream::sample::Sample;
use netra_stream::topic::{self, Received, Subscriber, Wish};

use super::calling::Calling;
use crate::outcome::Outcome;
use crate::output::{self, Output};

const EXAMPLES: &str = "\
The tag io gives the events of recorded processes, metrics what nodes sample and servers publish, and
any other tag what was published under it; TAG* gives all that begin so. Whoever reads too slowly
misses something, is told how much, and holds nobody back.

Examples:
  netra subscribe io --as connector-json
  netra subscribe 'site.*'
  netra subscribe metrics --count 100 -o metrics.jsonl";

/// How what comes is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum As {
    /// One JSON object a line, whatever it is
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
    #[arg(long = "as", value_enum, value_name = "FORM", default_value = "json-lines")]
    form: As,
    /// End after so many events, messages or samples
    #[arg(long, value_name = "NUMBER")]
    count: Option<u64>,
    /// End after so many seconds
    #[arg(long, value_name = "SECONDS")]
    seconds: Option<f64>,
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
    let seconds = args.seconds.map(Duration::try_from_secs_f64).transpose()?;
    let deadline = seconds.map(|seconds| Instant::now() + seconds);
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
        written: 0,
        missed: 0,
    };
    face.render.begin(&mut face.out)?;
    face.out.flush()?;
    let enough = |face: &Face| args.count.is_some_and(|count| face.written >= count);
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

/// Writes what comes.
struct Face {
    out: Output,
    render: Box<dyn Render>,
    live: Live,
    plain: bool,
    /// Whether gaps are told among what comes.
    lines: bool,
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
                let told = self.live.batch(batch, image, &mut *self.render, &mut self.out)?;
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
