//! Which records every rank has: lists of ids, one a module, each in ascending order; and taking those
//! records out of a rank's own.

use netra_darshan::encode::{self, heap_sort};
use netra_darshan::record::header::Header;
use netra_darshan::record::lustre::{COMPONENT, HEAD};
use netra_darshan::record::{layout, put};
use netra_darshan::reduce::Pair;
use netra_event::{Module, Rank};

/// The modules whose records can become one.
pub(super) const MODULES: [Module; 8] = [
    Module::Posix,
    Module::Mpiio,
    Module::H5f,
    Module::H5d,
    Module::PnetcdfFile,
    Module::PnetcdfVar,
    Module::Lustre,
    Module::Stdio,
];

/// Lists: how many ids each module has, then the ids.
pub(super) struct Lists<'w>(pub(super) &'w mut [u64]);

impl Lists<'_> {
    /// Words that lists of this many ids take.
    pub(super) fn words(ids: usize) -> usize {
        ids.saturating_add(MODULES.len())
    }

    /// Fills the lists with the ids of a rank's records.
    pub(super) fn fill(&mut self, header: &Header, parts: &[u8]) {
        let mut end = MODULES.len();
        for (number, &module) in MODULES.iter().enumerate() {
            let begin = end;
            for record in records(module, region(header, module, parts)) {
                if let Some(place) = self.0.get_mut(end) {
                    *place = word(record, 0);
                    end = end.saturating_add(1);
                }
            }
            heap_sort(self.0.get_mut(begin..end).unwrap_or_default(), |id| id);
            self.set(number, end.saturating_sub(begin));
        }
    }

    /// Words in use.
    pub(super) fn used(&self) -> &[u64] {
        let counts = self.0.iter().take(MODULES.len());
        let ids = counts.fold(0_u64, |sum, &count| sum.saturating_add(count));
        let words = Lists::words(usize::try_from(ids).unwrap_or(usize::MAX));
        self.0.get(..words.min(self.0.len())).unwrap_or_default()
    }

    /// The ids of a module.
    pub(super) fn of(&self, number: usize) -> &[u64] {
        let range = self.range(number);
        self.0.get(range).unwrap_or_default()
    }

    fn range(&self, number: usize) -> core::ops::Range<usize> {
        // While two lists are joined the upper half of a count is what it becomes.
        let count = |word: &u64| (*word & u64::from(u32::MAX)) as usize;
        let before = self.0.iter().take(number).map(count);
        let begin = before.fold(MODULES.len(), usize::saturating_add);
        begin..begin.saturating_add(self.0.get(number).map_or(0, count))
    }

    fn set(&mut self, number: usize, count: usize) {
        if let Some(place) = self.0.get_mut(number) {
            *place = count as u64;
        }
    }

    /// Keeps what is in both.
    pub(super) fn intersect(&mut self, other: &Lists<'_>) {
        let mut end = MODULES.len();
        for number in 0..MODULES.len() {
            // What is kept moves to the front, never past what is still to be read.
            let (begin, mine, theirs) = (end, self.range(number), other.of(number));
            let mut theirs = theirs.iter().copied().peekable();
            for at in mine {
                let Some(&id) = self.0.get(at) else { break };
                while theirs.next_if(|&their| their < id).is_some() {}
                if theirs.peek() == Some(&id)
                    && let Some(place) = self.0.get_mut(end)
                {
                    *place = id;
                    end = end.saturating_add(1);
                }
            }
            // The counts behind this one still tell where the next list begins: it is not moved yet.
            self.later(number, end.saturating_sub(begin));
        }
        self.settle();
    }

    /// Remembers a new count in the upper half of the word, so that the old one can still be read.
    fn later(&mut self, number: usize, count: usize) {
        if let Some(place) = self.0.get_mut(number) {
            *place |= (count as u64) << 32;
        }
    }

    fn settle(&mut self) {
        for place in self.0.iter_mut().take(MODULES.len()) {
            *place >>= 32;
        }
    }

    /// Whether any module has this id.
    fn any(&self, id: u64) -> bool {
        (0..MODULES.len()).any(|number| self.of(number).binary_search(&id).is_ok())
    }
}

/// Bytes of a shared record; none of a layout of Lustre, which is not joined.
fn size(number: usize) -> usize {
    let module = MODULES.get(number).copied();
    module
        .and_then(|module| layout(module, encode::version(module)))
        .map_or(0, |layout| layout.size())
}

/// Bytes of all records that every rank has.
pub(super) fn shared_bytes(lists: &Lists<'_>) -> usize {
    let bytes = |number: usize| lists.of(number).len().saturating_mul(size(number));
    (0..MODULES.len()).map(bytes).fold(0, usize::saturating_add)
}

/// Moves the records that every rank has out of a rank's own into `shared`, in the order of the lists, ready
/// to be joined. Layouts of Lustre are the same for everybody: rank 0's stay and stand for all.
pub(super) fn take_out(
    lists: &Lists<'_>,
    header: &mut Header,
    parts: &mut [u8],
    shared: &mut [u8],
    rank: Rank,
) {
    let mut begin = 0_usize;
    for (number, &module) in MODULES.iter().enumerate() {
        let ids = lists.of(number);
        if ids.is_empty() {
            continue;
        }
        let (pair, size) = (Pair::of(module), size(number));
        let end = begin.saturating_add(ids.len().saturating_mul(size));
        let to = shared.get_mut(begin..end).unwrap_or_default();
        begin = end;
        keep(header, module, parts, |record| {
            let Ok(at) = ids.binary_search(&word(record, 0)) else { return true };
            let Some(pair) = &pair else {
                put(record, 8, Rank::SHARED.0.cast_unsigned());
                return rank.0 == 0;
            };
            let at = at.saturating_mul(size);
            if let Some(to) = to.get_mut(at..at.saturating_add(size)) {
                for (to, from) in to.iter_mut().zip(&*record) {
                    *to = *from;
                }
                pair.begin(to, rank);
            }
            false
        });
    }
    if rank.0 != 0 {
        keep_names(header, parts, |id| !lists.any(id));
    }
}

/// Joins the shared records of this rank's tree with those of a tree of higher ranks.
pub(super) fn join(lists: &Lists<'_>, mine: &mut [u8], ranks: u64, other: &[u8], others: u64) {
    let mut begin = 0_usize;
    for (number, &module) in MODULES.iter().enumerate() {
        let (count, size) = (lists.of(number).len(), size(number));
        let Some(pair) = Pair::of(module).filter(|_| count != 0 && size != 0) else { continue };
        let end = begin.saturating_add(count.saturating_mul(size));
        let (Some(own), Some(theirs)) = (mine.get_mut(begin..end), other.get(begin..end)) else {
            return;
        };
        for (own, their) in own.chunks_exact_mut(size).zip(theirs.chunks_exact(size)) {
            pair.join(own, ranks, their, others);
        }
        begin = end;
    }
}

/// A module's bytes among the shared records.
pub(super) fn shared_of<'s>(lists: &Lists<'_>, shared: &'s [u8], wanted: Module) -> &'s [u8] {
    let mut begin = 0_usize;
    for (number, &module) in MODULES.iter().enumerate() {
        let end = begin.saturating_add(lists.of(number).len().saturating_mul(size(number)));
        if module == wanted {
            return shared.get(begin..end).unwrap_or_default();
        }
        begin = end;
    }
    &[]
}

/// The bytes of a module in a rank's parts.
pub(super) fn region<'p>(header: &Header, module: Module, parts: &'p [u8]) -> &'p [u8] {
    let extent = header.modules.get(usize::from(module.code())).copied().unwrap_or_default();
    let begin = usize::try_from(extent.offset).unwrap_or(usize::MAX);
    let end = begin.saturating_add(usize::try_from(extent.length).unwrap_or(usize::MAX));
    parts.get(begin..end).unwrap_or_default()
}

/// Keeps the records of a module that `stays` says, which may change a record that it keeps.
fn keep(
    header: &mut Header,
    module: Module,
    parts: &mut [u8],
    mut stays: impl FnMut(&mut [u8]) -> bool,
) {
    let Some(extent) = header.modules.get_mut(usize::from(module.code())) else { return };
    let begin = usize::try_from(extent.offset).unwrap_or(usize::MAX);
    let end = begin.saturating_add(usize::try_from(extent.length).unwrap_or(0));
    let Some(bytes) = parts.get_mut(begin..end) else { return };
    let (mut from, mut to) = (0_usize, 0_usize);
    while let Some(length) = bytes.get(from..).and_then(|rest| record_length(module, rest)) {
        let next = from.saturating_add(length);
        if bytes.get_mut(from..next).is_some_and(&mut stays) {
            shift(bytes, from..next, to);
            to = to.saturating_add(length);
        }
        from = next;
    }
    extent.length = to as u64;
}

/// Keeps names by their ids.
fn keep_names(header: &mut Header, parts: &mut [u8], stays: impl Fn(u64) -> bool) {
    let begin = usize::try_from(header.names.offset).unwrap_or(usize::MAX);
    let end = begin.saturating_add(usize::try_from(header.names.length).unwrap_or(0));
    let Some(bytes) = parts.get_mut(begin..end) else { return };
    let (mut from, mut to) = (0_usize, 0_usize);
    while let Some(name) = bytes.get(from.saturating_add(8)..) {
        let Some(length) = name.iter().position(|&byte| byte == 0) else { break };
        let next = from.saturating_add(length).saturating_add(9);
        if stays(word(bytes.get(from..).unwrap_or_default(), 0)) {
            shift(bytes, from..next, to);
            to = to.saturating_add(next.saturating_sub(from));
        }
        from = next;
    }
    header.names.length = to as u64;
}

/// Moves bytes towards the front.
fn shift(bytes: &mut [u8], from: core::ops::Range<usize>, to: usize) {
    let length = from.len();
    if from.start == to {
        return;
    }
    // Where they do not lie over each other this becomes a plain copy.
    if to.saturating_add(length) <= from.start
        && let Some((front, back)) = bytes.split_at_mut_checked(from.start)
    {
        for (to, from) in front.iter_mut().skip(to).zip(back.iter()).take(length) {
            *to = *from;
        }
        return;
    }
    for step in 0..length {
        let byte = bytes.get(from.start.saturating_add(step)).copied().unwrap_or(0);
        if let Some(place) = bytes.get_mut(to.saturating_add(step)) {
            *place = byte;
        }
    }
}

/// The records of a module, one after another.
fn records(module: Module, bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    core::iter::from_fn(move || {
        let (record, after) = rest.split_at_checked(record_length(module, rest)?)?;
        rest = after;
        Some(record)
    })
}

/// Bytes of the record that begins here; none if it is not whole.
fn record_length(module: Module, bytes: &[u8]) -> Option<usize> {
    let length = if module == Module::Lustre {
        let part = |at: usize| usize::try_from(word(bytes, at)).ok();
        let components = part(16)?.checked_mul(COMPONENT)?;
        HEAD.checked_add(components)?.checked_add(part(24)?.checked_mul(8)?)?
    } else {
        layout(module, encode::version(module))?.size()
    };
    (length != 0 && length <= bytes.len()).then_some(length)
}

fn word(bytes: &[u8], at: usize) -> u64 {
    let word = bytes.get(at..).and_then(|rest| rest.first_chunk());
    word.map_or(0, |word| u64::from_le_bytes(*word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use netra_darshan::record::header::{Compression, Extent};
    use netra_darshan::record::{base, lustre};
    use netra_event::RecordId;

    fn lists(ids: [&[u64]; 8]) -> Vec<u64> {
        let mut words: Vec<u64> = ids.iter().map(|ids| ids.len() as u64).collect();
        words.extend(ids.iter().copied().flatten());
        words
    }

    #[test]
    fn lists_keep_what_both_have() {
        let none: &[u64] = &[];
        let mut mine = lists([&[1, 3, 5], &[2], none, &[4, 9], none, none, none, &[7, 8]]);
        let mut other = lists([&[3, 4, 5, 6], none, &[1], &[4], none, none, none, &[7, 8]]);
        let mut all = Lists(&mut mine);
        all.intersect(&Lists(&mut other));
        let want = lists([&[3, 5], none, none, &[4], none, none, none, &[7, 8]]);
        assert_eq!(all.used(), want);
        assert_eq!((all.of(3), all.of(7)), (&[4][..], &[7, 8][..]));
        assert!(all.any(8) && !all.any(2));
    }

    /// Parts with records of STDIO, layouts of Lustre, and their names.
    fn parts(rank: i64) -> (Header, Vec<u8>) {
        let mut header = Header::new(Compression::Zlib);
        let (mut bytes, rank) = (vec![7; 3], Rank(rank));
        header.names.offset = 3;
        for id in [5_u64, 3, 4] {
            bytes.extend(id.to_le_bytes());
            bytes.extend(format!("/file/{id}\0").bytes());
        }
        header.names.length = bytes.len() as u64 - 3;
        let mut enter = |module: Module, from: usize, to: usize| {
            header.modules[usize::from(module.code())] =
                Extent { offset: from as u64, length: (to - from) as u64 };
        };
        let begin = bytes.len();
        for id in [5_u64, 3] {
            bytes.extend(lustre::head(RecordId(id), rank, 1, 2));
            bytes.extend([id as u8; COMPONENT + 16]);
        }
        enter(Module::Lustre, begin, bytes.len());
        let begin = bytes.len();
        for id in [5_u64, 3, 4] {
            bytes.extend(base(RecordId(id), rank));
            let counters = 248 - 16;
            bytes.extend((0..counters / 8).flat_map(|_| id.to_le_bytes()));
        }
        enter(Module::Stdio, begin, bytes.len());
        (header, bytes)
    }

    #[test]
    fn shared_records_are_taken_out_in_order() {
        let (mut header, mut bytes) = parts(2);
        let mut words = vec![0; Lists::words(5)];
        let mut own = Lists(&mut words);
        own.fill(&header, &bytes);
        assert_eq!((own.of(6), own.of(7)), (&[3, 5][..], &[3, 4, 5][..]));
        let none: &[u64] = &[];
        let mut everybody = lists([none, none, none, none, none, none, &[5], &[3, 5]]);
        own.intersect(&Lists(&mut everybody));
        let mut shared = vec![0; shared_bytes(&own)];
        assert_eq!(shared.len(), 2 * 248);
        take_out(&own, &mut header, &mut bytes, &mut shared, Rank(2));
        assert_eq!([0, 248].map(|at| word(&shared, at)), [3, 5]);
        assert_eq!(word(&shared, 8), u64::MAX);
        // Of the rank itself are left: the file of its own, and the layout that is not everybody's.
        let left = |module| records(module, region(&header, module, &bytes)).map(|r| word(r, 0));
        assert_eq!(left(Module::Stdio).collect::<Vec<_>>(), [4]);
        assert_eq!(left(Module::Lustre).collect::<Vec<_>>(), [3]);
        let names = &bytes[3..][..header.names.length as usize];
        assert_eq!(names, [&4_u64.to_le_bytes()[..], b"/file/4\0"].concat());
    }

    #[test]
    fn rank_0_keeps_names_and_layouts_for_all() {
        let (mut header, mut bytes) = parts(0);
        let none: &[u64] = &[];
        let mut everybody = lists([none, none, none, none, none, none, &[5], &[3, 5]]);
        let (before, mut shared) = (header.names, vec![0; 2 * 248]);
        take_out(&Lists(&mut everybody), &mut header, &mut bytes, &mut shared, Rank(0));
        assert_eq!(header.names, before);
        let layouts = region(&header, Module::Lustre, &bytes);
        let ranks: Vec<u64> = records(Module::Lustre, layouts).map(|r| word(r, 8)).collect();
        assert_eq!(ranks, [u64::MAX, 0]);
    }
}
