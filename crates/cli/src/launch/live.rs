//! `netra run --live`: a node of its own beside the command. It reads behind the processes while they
//! run, so their memory is used again and no event is dropped for want of it; what it has read goes
//! into the log at the end, and a page shows it meanwhile.

use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use netra_stream::clock::Clock;
use netra_stream::daemon::{Daemon, Sampling, Settings, SinkKind, SinkSettings, no_store};
use netra_stream::ledger::Certificate;
use netra_stream::node::{self, Root};
use netra_stream::spool::Limits;
use netra_stream::told::Told;

#[cfg(feature = "serve")]
use super::page::{self, Page};
use crate::collect::Pieces;

/// The sink's name, which the certificate tells.
const SINK: &str = "trace";

/// The node beside a command.
pub(crate) struct Live {
    daemon: Daemon,
    folder: PathBuf,
    job: String,
    #[cfg(feature = "serve")]
    page: Page,
}

/// What it has kept.
pub(crate) struct Ended {
    /// Where events lie.
    pub(crate) kept: PathBuf,
    /// Whether anything is missing.
    pub(crate) certificate: Option<Certificate>,
    folder: PathBuf,
}

impl Live {
    /// Begins to watch for the processes of a run.
    pub(crate) fn start(
        pieces: &Pieces,
        #[cfg(feature = "serve")] page: page::Wish,
        #[cfg(feature = "store")] store: Option<std::sync::Arc<netra_store::Store>>,
    ) -> Result<Live> {
        let folder = pieces.folder.join("live");
        // The library makes it when it is first needed; here it must be there to be watched.
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&pieces.segments);
        made.with_context(|| format!("creating {}", pieces.segments.display()))?;
        let settings = Settings {
            name: "netra run".to_owned(),
            state: folder.join("state"),
            // It need not outlive the machine: the command does not either.
            durable: false,
            limits: Limits::default(),
            node: Some(node::Settings {
                roots: vec![Root::Own(pieces.segments.clone())],
                job: Some(pieces.key.clone()),
                ..node::Settings::default()
            }),
            sinks: vec![SinkSettings {
                name: SINK.to_owned(),
                kind: SinkKind::Trace(folder.join("trace")),
                optional: false,
            }],
            sampling: Some(Sampling::default()),
            drain: Duration::from_secs(60),
            ..Settings::nothing()
        };
        let clock = Arc::new(Clock::default());
        #[cfg(feature = "serve")]
        #[cfg_attr(not(feature = "store"), expect(unused_mut, reason = "the store is one more"))]
        let (page, mut sinks) = Page::start(page, &pieces.key, &folder, &clock)?;
        #[cfg(not(feature = "serve"))]
        let sinks = Vec::new();
        let told = Arc::new(Told::quiet());
        #[cfg(feature = "store")]
        if let Some(store) = store {
            let favour = crate::keeping::Favour::start(store, &told).context("starting threads")?;
            sinks.push(("store".to_owned(), Box::new(favour)));
        }
        let daemon = Daemon::start_beside(settings, told, clock, &no_store, sinks)
            .context("starting a daemon for the command")?;
        Ok(Live {
            daemon,
            folder,
            job: pieces.key.clone(),
            #[cfg(feature = "serve")]
            page,
        })
    }

    /// The command has ended: reads the rest.
    pub(crate) fn finish(self) -> Ended {
        let intake = Arc::clone(&self.daemon.intake);
        if !self.daemon.finish() {
            eprintln!("netra: not all events could be kept; the log has what is there");
        }
        let certificates = Certificate::of(&intake.state(), &self.job);
        let certificate = certificates.into_iter().find(|one| one.sink == SINK);
        #[cfg(feature = "serve")]
        self.page.finish(&self.job);
        Ended { kept: self.folder.join("trace"), certificate, folder: self.folder }
    }
}

impl Ended {
    /// The log is written: nothing here is needed any more.
    pub(crate) fn clear(&self) {
        // What stays lies in the folder of the run, which is then left too, and said.
        fs::remove_dir_all(&self.folder).ok();
    }
}
