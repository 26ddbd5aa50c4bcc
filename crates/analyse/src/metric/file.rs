//! What happened to one file, layer by layer.

use std::collections::BTreeMap;

use netra_event::{Function, Kind, Rank, RecordId};

use crate::{Extreme, Job, Layer, Layout, Usage};

/// Who used a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sharing {
    /// One process.
    One(Rank),
    /// This many processes of more.
    Some(u64),
    /// Every process of several.
    All,
}

/// One file.
#[derive(Debug, Clone)]
pub struct FileFacts {
    /// Its record.
    pub id: RecordId,
    /// Its path, or its record's number where the name is missing.
    pub path: String,
    /// Type of the file system it lies on.
    pub file_system: Option<String>,
    /// Where that is mounted.
    pub mount: Option<String>,
    /// Who used it.
    pub sharing: Sharing,
    /// All ranks together, by layer.
    pub layers: BTreeMap<Layer, Usage>,
    /// The rank that moved most, by layer; of summed records only the fastest and slowest are known.
    pub heaviest: BTreeMap<Layer, Extreme>,
    /// The rank that took longest, by layer.
    pub slowest: BTreeMap<Layer, Extreme>,
    /// The rank that took least, by layer.
    pub fastest: BTreeMap<Layer, Extreme>,
    /// Ranks that moved at least a tenth of what the heaviest did, by layer, where each rank has
    /// its own record.
    pub movers: BTreeMap<Layer, u64>,
    /// How it lies on Lustre.
    pub layout: Option<Layout>,
    /// The share of its writing in POSIX, in 0 to 1, that is flushing to the device: counters add both up, call sites tell.
    pub flushing: f64,
    /// The share of its reading and writing through MPI-IO, in 0 to 1, that collective calls take; `None` where call sites
    /// do not tell.
    pub gathered: Option<f64>,
}

impl FileFacts {
    /// A layer's sum.
    #[must_use]
    pub fn through(&self, layer: Layer) -> Option<&Usage> {
        self.layers.get(&layer)
    }

    /// Processes that used it, of so many.
    #[must_use]
    pub fn ranks(&self, nprocs: u64) -> u64 {
        match self.sharing {
            Sharing::One(_) => 1,
            Sharing::Some(ranks) => ranks,
            Sharing::All => nprocs,
        }
    }

    /// Whether several processes used it.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        !matches!(self.sharing, Sharing::One(_))
    }

    /// Bytes moved: by the layer that says most, since layers count the same bytes again.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.layers.values().map(Usage::bytes).max().unwrap_or(0)
    }

    /// Bytes up to the last one that was read or written, which is its size as far as the job knew it; `None` where no
    /// layer says.
    #[must_use]
    pub fn reach(&self) -> Option<u64> {
        let last =
            self.layers.values().flat_map(|usage| [usage.read.last_byte, usage.write.last_byte]);
        last.flatten().max().map(|last| last.saturating_add(1))
    }

    /// Whether it is one of the three standard streams.
    #[must_use]
    pub fn is_standard_stream(&self) -> bool {
        self.path.starts_with('<')
    }

    /// The path's last part.
    #[must_use]
    pub fn name(&self) -> &str {
        self.path.rsplit('/').find(|part| !part.is_empty()).unwrap_or(&self.path)
    }
}

pub(super) fn all(job: &Job) -> Vec<FileFacts> {
    of(job, job.usages.iter().collect(), job.nprocs.max(1))
}

/// Files as ranks used them, where other processes are in the job, too.
pub(super) fn of_ranks(job: &Job) -> Vec<FileFacts> {
    let is_rank = |usage: &&Usage| usage.rank.is_shared() || job.who.is_rank(usage.rank);
    of(job, job.usages.iter().filter(is_rank).collect(), job.who.ranks)
}

fn of(job: &Job, mut order: Vec<&Usage>, processes: u64) -> Vec<FileFacts> {
    order.sort_by_key(|usage| (usage.file, usage.layer, usage.rank));
    let layouts: BTreeMap<RecordId, &Layout> =
        job.layouts.iter().map(|layout| (layout.file, layout)).collect();
    let (flushed, gathered) = (flushed(job), gathered(job));
    let mut files: Vec<FileFacts> = order
        .chunk_by(|a, b| a.file == b.file)
        .filter_map(|usages| {
            let layout = layouts.get(&usages.first()?.file).copied();
            Some(one(job, usages, processes, layout))
        })
        .collect();
    for file in &mut files {
        let writing = file.through(Layer::Posix).map_or(0.0, |usage| usage.write.seconds);
        let flushing = flushed.get(&file.id).copied().unwrap_or(0.0);
        file.gathered = gathered.get(&file.id).map(|(together, all)| together / all);
        file.flushing = if writing > 0.0 { (flushing / writing).min(1.0) } else { 0.0 };
    }
    files
}

/// Seconds of all ranks in flushes to the device, by file.
fn flushed(job: &Job) -> BTreeMap<RecordId, f64> {
    let mut sums = BTreeMap::new();
    let flushes = |function: Function| {
        function.kind() == Kind::Sync && function.layer() == netra_event::Layer::Posix
    };
    for site in job.sites.iter().filter(|site| flushes(site.function)) {
        if let Some(file) = site.file {
            *sums.entry(file).or_insert(0.0) += site.seconds;
        }
    }
    sums
}

/// Seconds of all ranks in collective calls of MPI-IO that move data, and in all that do, by file.
fn gathered(job: &Job) -> BTreeMap<RecordId, (f64, f64)> {
    let mut sums = BTreeMap::new();
    let moves = |function: Function| {
        function.layer() == netra_event::Layer::Mpiio
            && matches!(function.kind(), Kind::Read | Kind::Write | Kind::Complete)
    };
    for site in job.sites.iter().filter(|site| moves(site.function) && site.seconds > 0.0) {
        let Some(file) = site.file else { continue };
        let sum: &mut (f64, f64) = sums.entry(file).or_default();
        let name = site.function.name();
        let together =
            ["_all", "_all_begin", "_all_end", "_ordered", "_ordered_begin", "_ordered_end"]
                .iter()
                .any(|end| name.ends_with(end));
        sum.0 += if together { site.seconds } else { 0.0 };
        sum.1 += site.seconds;
    }
    sums
}

fn one(job: &Job, usages: &[&Usage], processes: u64, layout: Option<&Layout>) -> FileFacts {
    let id = usages[0].file;
    // A DFS file can have a record whose name is there and empty.
    let name = job.names.get(&id).filter(|name| !name.is_empty());
    let path = name.cloned().unwrap_or_else(|| format!("record {id}"));
    let mount = job.mount_of(&path);
    let mut file = FileFacts {
        id,
        file_system: mount.map(|mount| mount.kind.clone()),
        mount: mount.map(|mount| mount.path.clone()),
        sharing: sharing(usages, processes, job.who.ranks),
        layers: BTreeMap::new(),
        heaviest: BTreeMap::new(),
        slowest: BTreeMap::new(),
        fastest: BTreeMap::new(),
        movers: BTreeMap::new(),
        layout: layout.cloned(),
        flushing: 0.0,
        gathered: None,
        path,
    };
    for usages in usages.chunk_by(|a, b| a.layer == b.layer) {
        file.add_layer(usages);
    }
    file
}

impl FileFacts {
    fn add_layer(&mut self, usages: &[&Usage]) {
        let Some(sum) = super::reduce(usages.iter().copied()) else { return };
        let layer = sum.layer;
        let known: Vec<Extreme> = usages.iter().flat_map(|usage| extremes(usage)).collect();
        let by = |key: fn(&Extreme) -> f64| {
            known.iter().copied().max_by(|a, b| key(a).total_cmp(&key(b)).then(b.rank.cmp(&a.rank)))
        };
        if let Some(extreme) = by(|known| known.bytes as f64) {
            self.heaviest.insert(layer, extreme);
        }
        if let Some(extreme) = by(|known| known.seconds) {
            self.slowest.insert(layer, extreme);
        }
        if let Some(extreme) = by(|known| -known.seconds) {
            self.fastest.insert(layer, extreme);
        }
        if usages.iter().all(|usage| !usage.rank.is_shared()) {
            let most = known.iter().map(|known| known.bytes).max().unwrap_or(0);
            let movers =
                known.iter().filter(|known| known.bytes > 0 && known.bytes >= most / 10).count();
            self.movers.insert(layer, movers as u64);
        }
        self.layers.insert(layer, sum);
    }
}

/// The ranks that a record tells about by themselves.
fn extremes(usage: &Usage) -> Vec<Extreme> {
    match usage.extremes {
        Some((fastest, slowest)) => vec![fastest, slowest],
        None if usage.rank.is_shared() => Vec::new(),
        None => vec![Extreme { rank: usage.rank, bytes: usage.bytes(), seconds: usage.seconds() }],
    }
}

fn sharing(usages: &[&Usage], nprocs: u64, ranked: u64) -> Sharing {
    let mut ranks: Vec<Rank> = usages.iter().map(|usage| usage.rank).collect();
    ranks.sort_unstable();
    ranks.dedup();
    let shared = ranks.first().is_some_and(|rank| rank.is_shared());
    match ranks.len() as u64 {
        _ if shared && nprocs == 1 => Sharing::One(Rank(0)),
        1 if !shared => Sharing::One(ranks[0]),
        // What was summed over ranks is a record of all of them, and of none of the other processes.
        count if shared && ranked > 0 && ranked + count - 1 < nprocs => {
            Sharing::Some(ranked + count - 1)
        }
        count if shared || count >= nprocs => Sharing::All,
        count => Sharing::Some(count),
    }
}

/// Most seconds first; equal ones by path.
pub(super) fn sort(files: Vec<FileFacts>) -> Vec<FileFacts> {
    let seconds = |file: &FileFacts| {
        file.layers
            .values()
            .filter(|usage| usage.layer.is_io())
            .map(Usage::seconds)
            .fold(0.0, f64::max)
    };
    // Files are large: their places are sorted, and each is moved once.
    let mut order: Vec<(f64, usize)> = files.iter().map(seconds).zip(0..).collect();
    order.sort_by(|&(one, a), &(other, b)| {
        let (a, b) = (&files[a], &files[b]);
        other.total_cmp(&one).then_with(|| a.path.cmp(&b.path)).then(a.id.cmp(&b.id))
    });
    let mut files: Vec<Option<FileFacts>> = files.into_iter().map(Some).collect();
    order.into_iter().filter_map(|(_, at)| files[at].take()).collect()
}

#[cfg(test)]
mod tests {
    use crate::sample::Sample;

    #[test]
    fn a_record_without_a_name_and_one_with_an_empty_name_are_called_by_their_numbers() {
        let mut job = Sample::new(1, 1.0);
        let id = job.id("/f");
        let usage = job.posix("/f", 0);
        (usage.read.last_byte, usage.write.last_byte) = (Some(99), Some(9));
        let numbered = format!("record {id}");
        job.job.names.insert(id, String::new());
        assert_eq!(job.facts().files[0].path, numbered);
        job.job.names.clear();
        assert_eq!(job.facts().files[0].path, numbered);
        assert_eq!(job.facts().files[0].reach(), Some(100));
    }
}
