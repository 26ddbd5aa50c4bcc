//! A rank among the others, step by step.

use core::sync::atomic::Ordering;

use netra_darshan::encode::{self, Options, Sink};
use netra_darshan::record::header::{Compression, Header};
use netra_event::Rank;
use netra_event::segment::{JOINED, View};

use super::area::Area;
use super::plan::{Plan, Present, WORDS};
use super::post::{Post, SECOND};
use super::share::{self, Lists};
use super::tree::{CHILDREN, Tree};
use crate::arena::ARENA;
use crate::jail;
use crate::life;
use crate::log::place::Target;
use crate::settings::SETTINGS;
use crate::time;

/// How long an answer may take when everybody is here, and each has work to do and files to write.
pub(super) const LATER: u64 = 30 * SECOND;

/// How long the first answer may take: who came too late finds nobody.
fn soon() -> u64 {
    SETTINGS.patience().clamp(2 * SECOND, 10 * SECOND)
}

/// A rank.
pub(super) struct Member {
    pub(super) post: Post,
    pub(super) tree: Tree,
    pub(super) view: Option<View<'static>>,
    /// When this rank ended MPI.
    ended: u64,
    /// Whether it cannot do its part. It goes on telling the others, or they would wait for it.
    pub(super) failed: bool,
    /// Records of each rank below, at most.
    records: [u64; CHILDREN],
}

/// What a rank has made of its segment.
pub(super) struct Made {
    pub(super) options: Options,
    /// Where things lie in `parts`.
    pub(super) header: Header,
    pub(super) parts: Area,
    /// The records that all ranks have.
    pub(super) lists: Area,
    /// Those records, of this rank and all below.
    pub(super) shared: Area,
    pub(super) shared_bytes: usize,
}

impl Member {
    pub(super) fn new(post: Post, tree: Tree) -> Member {
        if let Some(header) = ARENA.header() {
            life::calibrate(header);
        }
        let view = ARENA.whole().and_then(|bytes| View::new(bytes).ok());
        let failed = view.is_none() || jail::entered();
        Member { post, tree, view, ended: time::realtime(), failed, records: [0; CHILDREN] }
    }

    /// Makes the log together with the others. None if there is none, else whether the events are in it.
    pub(super) fn join(mut self) -> Option<bool> {
        let patience = SETTINGS.patience();
        // No patience at all is a wish for a log of each rank: then not even a barrier is begun.
        if patience == 0 || !self.post.arrive(patience) {
            return None;
        }
        let mut target = match &self.view {
            Some(view) if self.tree.parent().is_none() && !self.failed => Target::create(view).ok(),
            _ => None,
        };
        let done = self.together(target.as_mut());
        if done.is_none()
            && let Some(target) = &mut target
        {
            target.discard();
        }
        done
    }

    fn together(&mut self, target: Option<&mut Target>) -> Option<bool> {
        let mut plan = self.plan(target.as_deref())?;
        let mut made = self.make(&plan)?;
        self.write(&mut plan, &mut made, target)?;
        if let Some(header) = ARENA.header() {
            header.log.store(ARENA.text(plan.complete()), Ordering::Relaxed);
            header.flags.fetch_or(JOINED, Ordering::Release);
        }
        Some(!plan.untraced)
    }

    /// Step 1: the job's time and the file.
    fn plan(&mut self, target: Option<&Target>) -> Option<Plan> {
        let mut all = Present::of(self.view.as_ref(), self.ended, self.failed);
        for (child, records) in self.tree.children().zip(&mut self.records) {
            let mut theirs = [0; 7];
            self.post.receive_words(child, &mut theirs, soon())?;
            let theirs = Present::read(theirs)?;
            *records = theirs.records;
            all.add(&theirs);
        }
        let mut words = [0; WORDS];
        match self.tree.parent() {
            Some(parent) => {
                self.post.send_words(parent, &all.words(), soon())?;
                self.post.receive_words(parent, &mut words, soon())?;
            }
            None => words = Plan::words(Plan::decide(&all, target).as_ref()),
        }
        for child in self.tree.children().rev() {
            self.post.send_words(child, &words, soon())?;
        }
        Plan::read(&words)
    }

    /// Step 2 and the first half of step 3.
    fn make(&mut self, plan: &Plan) -> Option<Made> {
        let rank = Rank(i64::from(self.tree.rank));
        let options = Options {
            rank: Some(rank),
            nprocs: Some(self.tree.size),
            job: Some(plan.frame),
            ended: Some(self.ended),
            untraced: plan.untraced,
            ..Options::default()
        };
        // A rank that cannot has nothing in common with the others; they hear of it in the next step.
        let (mut header, mut parts) = match self.parts(options) {
            Some(made) => made,
            None => {
                self.failed = true;
                (Header::new(Compression::Zlib), Area::words(0)?)
            }
        };
        let mut lists = self.agree(&header, &mut parts)?;
        let common = Lists(lists.as_words());
        let shared_bytes = share::shared_bytes(&common);
        let mut shared = Area::bytes(shared_bytes)?;
        share::take_out(&common, &mut header, parts.as_bytes(), shared.as_bytes(), rank);
        self.reduce(&common, &mut shared, shared_bytes)?;
        Some(Made { options, header, parts, lists, shared, shared_bytes })
    }

    /// What this rank has to say, in memory.
    fn parts(&self, options: Options) -> Option<(Header, Area)> {
        let view = self.view.filter(|_| !self.failed)?;
        let mut area = Area::bytes(encode::room(&view))?;
        let mut words = Area::words(encode::needed(&view))?;
        let mut sink = Slice { bytes: area.as_bytes(), used: 0 };
        let made = encode::parts(view, options, &mut sink, words.as_words(), &mut []);
        Some((made.ok()?, area))
    }

    /// Finds out which records all ranks have.
    fn agree(&self, header: &Header, parts: &mut Area) -> Option<Area> {
        let own = self.view.map_or(0, |view| view.records().count());
        let mut lists = Area::words(Lists::words(own))?;
        Lists(lists.as_words()).fill(header, parts.as_bytes());
        for (child, &records) in self.tree.children().zip(&self.records) {
            let mut theirs = Area::words(Lists::words(usize::try_from(records).ok()?))?;
            self.post.receive_words(child, theirs.as_words(), LATER)?;
            Lists(lists.as_words()).intersect(&Lists(theirs.as_words()));
        }
        if let Some(parent) = self.tree.parent() {
            self.post.send_words(parent, Lists(lists.as_words()).used(), LATER)?;
            // What all have is no more than what this rank has.
            self.post.receive_words(parent, lists.as_words(), LATER)?;
        }
        for child in self.tree.children().rev() {
            self.post.send_words(child, Lists(lists.as_words()).used(), LATER)?;
        }
        Some(lists)
    }

    /// Joins the records that all ranks have with those of the ranks below, and hands them up.
    fn reduce(&self, lists: &Lists<'_>, shared: &mut Area, bytes: usize) -> Option<()> {
        if bytes == 0 {
            return Some(());
        }
        let mut theirs = Area::bytes(bytes)?;
        let mut ranks = 1_u64;
        for child in self.tree.children() {
            let others = self.tree.at(child).ranks();
            let theirs = theirs.as_bytes().get_mut(..bytes)?;
            self.post.receive(child, theirs, LATER)?;
            share::join(lists, shared.as_bytes(), ranks, theirs, others);
            ranks = ranks.saturating_add(others);
        }
        match self.tree.parent() {
            Some(parent) => self.post.send(parent, shared.as_bytes().get(..bytes)?, LATER),
            None => Some(()),
        }
    }
}

/// Takes bytes into memory.
struct Slice<'a> {
    bytes: &'a mut [u8],
    used: usize,
}

impl Sink for Slice<'_> {
    fn write(&mut self, bytes: &[u8]) -> bool {
        let end = self.used.saturating_add(bytes.len());
        let Some(place) = self.bytes.get_mut(self.used..end) else { return false };
        for (to, from) in place.iter_mut().zip(bytes) {
            *to = *from;
        }
        self.used = end;
        true
    }

    fn overwrite(&mut self, _: u64, _: &[u8]) -> bool {
        // Parts are written from front to back.
        false
    }
}
