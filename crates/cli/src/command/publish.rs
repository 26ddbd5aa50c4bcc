//! `netra publish`: messages under a tag, for whoever subscribes and for the store.

use std::io::{self, BufRead, Read as _};

use anyhow::{Context as _, Result};
use clap::ValueEnum;
use netra_stream::batch::Form;
use netra_stream::topic::{self, Publisher};

use super::calling::Calling;
use crate::outcome::Outcome;

const EXAMPLES: &str = "\
Without a message, every line of standard input is one; with --whole all of it is one, whatever its
bytes. A message is published when it is durable at the daemon.

Examples:
  netra publish site.jobs '{\"job\":4711,\"state\":\"begins\"}' --format json
  lctl get_param -n obdfilter.*.stats | my-filter | netra publish metrics --format json
  netra publish snapshot --whole --format bytes < picture.png";

/// What the bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// UTF-8
    Text,
    /// One JSON value a message; it is checked
    Json,
    /// Anything
    Bytes,
}

impl From<Kind> for Form {
    fn from(kind: Kind) -> Form {
        match kind {
            Kind::Text => Form::Text,
            Kind::Json => Form::Json,
            Kind::Bytes => Form::Bytes,
        }
    }
}

/// What, and where to.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The tag: letters, digits and . _ - / :
    #[arg(value_parser = tag)]
    tag: String,
    /// Messages
    #[arg(value_name = "MESSAGE")]
    messages: Vec<String>,
    /// What a message is
    #[arg(
        long = "format",
        alias = "form",
        value_enum,
        default_value = "text",
        value_name = "FORMAT"
    )]
    form: Kind,
    /// Take all of standard input as one message
    #[arg(long, conflicts_with = "messages")]
    whole: bool,
    #[command(flatten)]
    calling: Calling,
}

fn tag(text: &str) -> Result<String, String> {
    topic::publishable(text)?;
    Ok(text.to_owned())
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let address = args.calling.address()?;
    let caller = args.calling.caller()?;
    let publisher = Publisher::connect(&address, &caller, "netra publish");
    let mut publisher = publisher.with_context(|| format!("calling {address}"))?;
    let mut publish =
        |bytes: &[u8]| publisher.publish(&args.tag, args.form.into(), bytes).context("publishing");
    if args.whole {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).context("reading standard input")?;
        publish(&bytes)?;
    } else if args.messages.is_empty() {
        let mut line = Vec::new();
        let mut input = io::stdin().lock();
        while input.read_until(b'\n', &mut line).context("reading standard input")? > 0 {
            publish(line.strip_suffix(b"\n").unwrap_or(&line))?;
            line.clear();
        }
    } else {
        for message in &args.messages {
            publish(message.as_bytes())?;
        }
    }
    publisher.finish().context("publishing")?;
    Ok(Outcome::default())
}
