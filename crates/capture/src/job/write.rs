//! Where each rank's part goes in the file, and how it gets there.

use netra_darshan::encode::{self, Block};
use netra_darshan::record::header::{Compression, Extent, Header, SIZE};
use netra_darshan::section::layout::{self, Trailer};
use netra_event::Module;

use super::area::Area;
use super::member::{LATER, Made, Member};
use super::plan::{MARK, Plan};
use super::post::Post;
use super::share::{self, Lists};
use super::tree::CHILDREN;
use crate::log::gather::{Gather, Storage};
use crate::log::place::Target;
use crate::sys::{self, Descriptor};

/// The regions of a log in their order, behind the names.
const MODULES: [Module; 11] = [
    Module::Posix,
    Module::Mpiio,
    Module::H5f,
    Module::H5d,
    Module::PnetcdfFile,
    Module::PnetcdfVar,
    Module::Lustre,
    Module::Stdio,
    Module::DxtPosix,
    Module::DxtMpiio,
    Module::Heatmap,
];
/// Parts of a rank: names, modules, block.
const PARTS: usize = MODULES.len() + 2;
const BLOCK: usize = PARTS - 1;
/// One number for each part: how long it is, or where it goes.
type Each = [u64; PARTS];
/// Bytes of each of the buffers: for streams, for gathering, for what another rank hands over.
const BUFFER: usize = 64 << 10;

/// Messages of the last step: here are bytes; done (whether all was written, the marks of the blocks).
const BYTES: u64 = 1;
const DONE: u64 = 2;

fn add(sums: &mut Each, other: &Each) {
    for (sum, other) in sums.iter_mut().zip(other) {
        *sum = sum.saturating_add(*other);
    }
}

impl Member {
    /// The second half of step 3, and step 4.
    pub(super) fn write(
        &mut self,
        plan: &mut Plan,
        made: &mut Made,
        target: Option<&mut Target>,
    ) -> Option<()> {
        let mut words = Area::words(self.view.map_or(0, |view| encode::needed(&view)))?;
        let mut buffers = Area::bytes(3 * BUFFER)?;
        let block =
            self.view.and_then(|view| Block::new(view, &made.options, words.as_words()).ok());
        self.failed |= block.is_none();
        let own = self.lengths(made, block.as_ref().map_or(0, Block::length));
        let (sums, places) = self.places(made, own)?;
        let mut storage = match &target {
            Some(target) => Reach::File(target.file()),
            None => match open(plan) {
                Some(file) => Reach::Own(file),
                None => Reach::Above(&self.post, self.tree.parent()?),
            },
        };
        let (streams, rest) = buffers.as_bytes().split_at_mut_checked(BUFFER)?;
        let (gathered, handed) = rest.split_at_mut_checked(BUFFER)?;
        let buffers = (streams, gathered);
        let put = self.put(made, block.as_ref()?, &places, &mut storage, buffers);
        let below = self.serve(&mut storage, handed)?;
        drop(storage);
        let mut written = Written { done: put.is_some(), heads: put.unwrap_or(0) };
        written.add(below);
        if let Some(target) = target {
            written.done &= finish(target, made, &sums, &places, (self.tree.size, written.heads));
        }
        self.verdict(written)
    }

    /// How long this rank's parts are.
    fn lengths(&self, made: &mut Made, block: u64) -> Each {
        let mut own = [0; PARTS];
        let root = self.tree.rank == 0;
        for (length, part) in own.iter_mut().zip(0..BLOCK) {
            let [first, second] = pieces(made, part, root);
            *length =
                encode::stream_length((first.len() as u64).saturating_add(second.len() as u64));
        }
        own[BLOCK] = block;
        own
    }

    /// How long all ranks' parts are, and where this rank's go.
    fn places(&mut self, made: &mut Made, own: Each) -> Option<(Sums, Each)> {
        let mut all = Sums { failed: self.failed, partial: made.header.partial, each: own };
        let mut below = [[0; PARTS]; CHILDREN];
        for (child, below) in self.tree.children().zip(&mut below) {
            let mut words = [0; PARTS + 3];
            self.post.receive_words(child, &mut words, LATER)?;
            let theirs = Sums::read(&words)?;
            *below = theirs.each;
            all.failed |= theirs.failed;
            all.partial |= theirs.partial;
            add(&mut all.each, &theirs.each);
        }
        let mut words = [0; PARTS + 2];
        match self.tree.parent() {
            Some(parent) => {
                self.post.send_words(parent, &all.words(), LATER)?;
                self.post.receive_words(parent, &mut words, LATER)?;
            }
            None => words = told(!all.failed, &first_places(made, &all.each)),
        }
        let &[MARK, go, ref places @ ..] = &words else { return None };
        let mut next = *places;
        add(&mut next, &own);
        for below in &mut below {
            let length = core::mem::replace(below, next);
            add(&mut next, &length);
        }
        let children = self.tree.children().zip(below);
        for (child, places) in reversed(children) {
            self.post.send_words(child, &told(go != 0, &places), LATER)?;
        }
        (go != 0).then_some((all, *places))
    }

    /// Writes this rank's parts; gives the mark of its block, nothing if that fails.
    fn put(
        &self,
        made: &mut Made,
        block: &Block<'_, '_>,
        places: &Each,
        storage: &mut dyn Storage,
        (streams, gathered): (&mut [u8], &mut [u8]),
    ) -> Option<u32> {
        let root = self.tree.rank == 0;
        for (part, &place) in places.iter().enumerate().take(BLOCK) {
            let pieces = pieces(made, part, root);
            let mut sink = Gather::new(storage, place, gathered);
            if encode::stream(&pieces, &mut sink, streams).is_err() || !sink.flush() {
                return None;
            }
        }
        if root {
            let mut sink = Gather::new(storage, SIZE as u64, gathered);
            let job = job(made);
            if encode::stream(&[job], &mut sink, streams).is_err() || !sink.flush() {
                return None;
            }
        }
        let mut sink = Gather::new(storage, places[BLOCK], gathered);
        let head = block.write(&mut sink, streams).ok()?;
        sink.flush().then(|| head.mark(places[BLOCK]))
    }

    /// Takes over what the ranks below cannot write themselves, and says how that went; none if one of them is
    /// gone.
    fn serve(&self, storage: &mut dyn Storage, buffer: &mut [u8]) -> Option<Written> {
        let mut written = Written { done: true, heads: 0 };
        for child in self.tree.children() {
            loop {
                let mut words = [0; 4];
                self.post.receive_words(child, &mut words, LATER)?;
                let [mark, kind, at, length] = words;
                (mark == MARK).then_some(())?;
                if kind == DONE {
                    let heads = u32::try_from(length).ok()?;
                    written.add(Written { done: at != 0, heads });
                    break;
                }
                let bytes = buffer.get_mut(..usize::try_from(length).ok()?)?;
                self.post.receive(child, bytes, LATER)?;
                written.done &= storage.store(bytes, at);
            }
        }
        Some(written)
    }

    /// Tells the rank above whether this tree has written, and those below whether there is a log.
    fn verdict(&self, Written { done, heads }: Written) -> Option<()> {
        let mut words = [MARK, u64::from(done)];
        if let Some(parent) = self.tree.parent() {
            let message = [MARK, DONE, u64::from(done), u64::from(heads)];
            self.post.send_words(parent, &message, LATER)?;
            self.post.receive_words(parent, &mut words, LATER)?;
        }
        for child in self.tree.children().rev() {
            self.post.send_words(child, &words, LATER)?;
        }
        (words == [MARK, 1]).then_some(())
    }
}

/// How writing went in a tree of ranks.
struct Written {
    done: bool,
    /// The sum of the marks of their blocks, for the seal of the log.
    heads: u32,
}

impl Written {
    fn add(&mut self, other: Written) {
        self.done &= other.done;
        self.heads = self.heads.wrapping_add(other.heads);
    }
}

/// The lengths of many ranks' parts.
struct Sums {
    failed: bool,
    partial: u64,
    each: Each,
}

impl Sums {
    fn words(&self) -> [u64; PARTS + 3] {
        let mut words = [0; PARTS + 3];
        let head = [MARK, u64::from(self.failed), self.partial];
        for (to, from) in words.iter_mut().zip(head.into_iter().chain(self.each)) {
            *to = from;
        }
        words
    }

    fn read(words: &[u64; PARTS + 3]) -> Option<Sums> {
        let &[MARK, failed, partial, ref each @ ..] = words else { return None };
        Some(Sums { failed: failed != 0, partial, each: *each })
    }
}

/// The message that says where parts go.
fn told(go: bool, places: &Each) -> [u64; PARTS + 2] {
    let mut words = [0; PARTS + 2];
    let head = [MARK, u64::from(go)];
    for (to, from) in words.iter_mut().zip(head.into_iter().chain(*places)) {
        *to = from;
    }
    words
}

/// Children and what is theirs, the last one first: it has the most to pass on.
fn reversed(children: impl Iterator<Item = (u32, Each)>) -> impl Iterator<Item = (u32, Each)> {
    let mut all = [None; CHILDREN];
    for (place, child) in all.iter_mut().zip(children) {
        *place = Some(child);
    }
    all.into_iter().rev().flatten()
}

/// The job's bytes: in front of the names.
fn job(made: &mut Made) -> &[u8] {
    let end = usize::try_from(made.header.names.offset).unwrap_or(0);
    made.parts.as_bytes().get(..end).unwrap_or_default()
}

/// The bytes of a part: a rank's own, and in rank 0's the records of all.
fn pieces(made: &mut Made, part: usize, root: bool) -> [&[u8]; 2] {
    let Made { header, parts, lists, shared, shared_bytes, .. } = made;
    let Some(&module) = part.checked_sub(1).and_then(|at| MODULES.get(at)) else {
        let Extent { offset, length } = header.names;
        let begin = usize::try_from(offset).unwrap_or(usize::MAX);
        let end = begin.saturating_add(usize::try_from(length).unwrap_or(usize::MAX));
        return [parts.as_bytes().get(begin..end).unwrap_or_default(), &[]];
    };
    let own = share::region(header, module, parts.as_bytes());
    if !root {
        return [own, &[]];
    }
    let all = shared.as_bytes().get(..*shared_bytes).unwrap_or_default();
    [own, share::shared_of(&Lists(lists.as_words()), all, module)]
}

/// Where rank 0's parts go, behind the header and the job.
fn first_places(made: &mut Made, lengths: &Each) -> Each {
    let mut places = [0; PARTS];
    let mut at = (SIZE as u64).saturating_add(encode::stream_length(job(made).len() as u64));
    for (part, (place, length)) in places.iter_mut().zip(lengths).enumerate() {
        if part == BLOCK {
            at = at.saturating_add(layout::padding(at));
        }
        *place = at;
        at = at.saturating_add(*length);
    }
    places
}

/// Puts the header and the trailer in their places, and gives the log its name.
fn finish(
    target: &mut Target,
    made: &Made,
    sums: &Sums,
    places: &Each,
    (ranks, heads): (u32, u32),
) -> bool {
    let mut header = Header::new(Compression::Zlib);
    header.partial = sums.partial;
    let mut extents =
        places.iter().zip(sums.each).map(|(&offset, length)| Extent { offset, length });
    header.names = extents.next().unwrap_or(made.header.names);
    for (&module, extent) in MODULES.iter().zip(extents).filter(|(_, extent)| extent.length != 0) {
        let slot = usize::from(module.code());
        if let Some(place) = header.modules.get_mut(slot) {
            *place = extent;
        }
        if let Some(place) = header.versions.get_mut(slot) {
            *place = encode::version(module);
        }
    }
    let offset = places[BLOCK];
    let trailer = Trailer { version: layout::VERSION, blocks: ranks, offset, sealed: true };
    let length = sums.each[BLOCK];
    let end = offset.saturating_add(length);
    header.behind = Extent { offset, length: length.saturating_add(layout::TRAILER as u64) };
    header.heads = heads;
    let mut file = target.file();
    let written = file.store(&trailer.encode(), end) && file.store(&header.encode(), 0);
    written && file.set_rights(0o400).is_ok() && target.keep().is_ok()
}

/// How a rank reaches the file.
enum Reach<'a> {
    /// It made it.
    File(&'a Descriptor),
    /// It opened it.
    Own(Descriptor),
    /// Through the rank above.
    Above(&'a Post, u32),
}

impl Storage for Reach<'_> {
    fn store(&mut self, bytes: &[u8], at: u64) -> bool {
        match self {
            Reach::File(file) => file.store(bytes, at),
            Reach::Own(file) => (&*file).store(bytes, at),
            Reach::Above(post, parent) => {
                let words = [MARK, BYTES, at, bytes.len() as u64];
                let told = post.send_words(*parent, &words, LATER);
                told.is_some() && post.send(*parent, bytes, LATER).is_some()
            }
        }
    }
}

/// Opens the file that rank 0 made; none if it is not to be seen from here.
fn open(plan: &mut Plan) -> Option<Descriptor> {
    let token = plan.token;
    let flags = libc::O_RDWR | libc::O_NOFOLLOW;
    let file = sys::open(plan.path.path()?, flags, 0).ok()?;
    let mut first = [0; 8];
    (file.read_full(&mut first) == 8 && u64::from_le_bytes(first) == token).then_some(file)
}
