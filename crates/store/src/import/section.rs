//! netra's own part of a log: every call of every process, call sites, and the account of what is
//! missing.

use std::collections::HashMap;
use std::path::Path;

use netra_darshan::missing::lost;
use netra_darshan::section::layout::KIND_SEGMENT;
use netra_event::frame::Producer;
use netra_event::segment::View;
use netra_event::segment::extension::{Extension, Selection};
use netra_event::{Event, Function, Loss, NO_FILE, NO_SITE, RecordId};
use netra_stream::batch::Phase;
use netra_stream::job::Job;
use netra_stream::source::{Kind, Piece, Segment};

use super::log::Taking;
use super::row::{AccountRow, EventRow, Name, ProcessRow};
use crate::Result;
use crate::ingest::errno;
use crate::ingest::who::name_for_ever;
use crate::meaning::{self, Meaning};
use crate::stack;

/// Takes what the section holds; says whether there was a call in it.
pub(super) fn take(taking: &mut Taking<'_>) -> Result<bool> {
    let section = taking.log.section();
    let mut damage = Vec::new();
    let path = Path::new(&taking.job.path).to_owned();
    let mut segments = HashMap::new();
    for (block, held) in section.blocks().iter().enumerate() {
        if held.head.kind != KIND_SEGMENT {
            damage.extend(held.check().err());
            continue;
        }
        match held.bytes() {
            Ok(bytes) => {
                damage.extend(lost(held, &bytes));
                if let Ok(segment) = Segment::from_bytes(&path, bytes) {
                    segments.insert(block, segment);
                }
            }
            Err(broken) => damage.push(broken),
        }
    }
    taking.missing.read_blocks(damage);
    let pieces = segments
        .iter()
        .map(|(&block, segment)| Piece::new(&path, Kind::Log { block }, &segment.view()));
    let whole = Job::new(pieces.collect());
    let mut calls = 0;
    for (piece, number) in whole.numbered() {
        let Kind::Log { block } = piece.kind else { continue };
        let Some(segment) = segments.remove(&block) else { continue };
        let process = Process::new(piece, segment.view(), number.map(|rank| rank.0));
        calls += process.calls(taking)?;
        process.sites(taking)?;
        process.row(taking, &piece.notes)?;
    }
    Ok(calls > 0)
}

/// The path of the program that the job is about; none where the log does not say more than a command line.
pub(super) fn program(log: &netra_darshan::Log) -> Option<String> {
    let section = log.section();
    let blocks = section.blocks().iter().enumerate();
    let mut paths = HashMap::new();
    let mut pieces = Vec::new();
    for (block, held) in blocks.filter(|(_, held)| held.head.kind == KIND_SEGMENT) {
        let Ok(bytes) = held.bytes() else { continue };
        let Ok(view) = View::new(&bytes) else { continue };
        paths.insert(block, String::from_utf8_lossy(view.exe()).into_owned());
        pieces.push(Piece::new(Path::new(""), Kind::Log { block }, &view));
    }
    let whole = Job::new(pieces);
    let Kind::Log { block } = whole.speaker()?.kind else { return None };
    paths.remove(&block).filter(|path| !path.is_empty())
}

/// The processes that a log's section names.
pub(super) fn producers(log: &netra_darshan::Log) -> (Vec<Producer>, Option<String>) {
    let mut found = Vec::new();
    let mut key = None;
    for block in log.section().blocks().iter().filter(|block| block.head.kind == KIND_SEGMENT) {
        let Ok(bytes) = block.bytes() else { continue };
        let Ok(view) = View::new(&bytes) else { continue };
        found.push(producer(&view));
        key.get_or_insert_with(|| String::from_utf8_lossy(view.job()).into_owned());
    }
    (found, key.filter(|key| !key.is_empty()))
}

/// The job's key and the process that a log of netra's own was begun by, as its metadata says.
pub(super) fn cut_off(log: &netra_darshan::Log) -> Option<(String, i64)> {
    let of = |wanted: &[u8]| log.job().metadata().find(|(key, _)| *key == wanted);
    let key = String::from_utf8_lossy(of(b"netra_job")?.1).into_owned();
    let pid = std::str::from_utf8(of(b"netra_pid")?.1).ok()?.parse().ok()?;
    (!key.is_empty()).then_some((key, pid))
}

fn producer(view: &View<'_>) -> Producer {
    let host = netra_event::jenkins64(view.host(), 0);
    Producer { host, start: view.start().1, pid: view.pid() }
}

/// A process while its rows are made.
struct Process<'a> {
    view: View<'a>,
    rank: Option<i64>,
    node: String,
    exe: String,
    pid: i64,
    name: i64,
    /// Call sites in words.
    sites: HashMap<u16, String>,
    /// Files by their record: calls that failed are on files of which nothing was counted, and which the
    /// log's own names leave out.
    files: HashMap<RecordId, Touched>,
}

/// A file as its process saw it.
struct Touched {
    name: String,
    mount: Option<(String, String)>,
}

impl Touched {
    fn all(view: &View<'_>) -> HashMap<RecordId, Touched> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mounts: HashMap<u32, (String, String)> = view
            .mounts()
            .map(|mount| (mount.index, (text(mount.point), text(mount.kind))))
            .collect();
        let each = view.files().map(|file| {
            let mount = file.mount.and_then(|index| mounts.get(&index).cloned());
            (RecordId(file.id), Touched { name: text(file.name), mount })
        });
        each.collect()
    }

    fn name(&self, id: RecordId) -> Name<'_> {
        let (mount, kind) = self.mount.as_ref().map(|(point, kind)| (&**point, &**kind)).unzip();
        Name { file: Some(&self.name), mount, kind, ..Name::only(id) }
    }
}

impl<'a> Process<'a> {
    fn new(piece: &Piece, view: View<'a>, rank: Option<i64>) -> Process<'a> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let sites = (1..=u16::MAX).take_while(|&number| view.site(number).is_some());
        let sites = sites.filter_map(|number| Some((number, stack::name(&view, number)?)));
        Process {
            view,
            rank,
            node: text(&piece.host),
            exe: text(view.exe()),
            pid: i64::from(piece.pid),
            name: name_for_ever(&producer(&view)),
            sites: sites.collect(),
            files: Touched::all(&view),
        }
    }

    /// Every call, lane by lane, and each lane's account; says how many calls there were.
    fn calls(&self, taking: &mut Taking<'_>) -> Result<u64> {
        let view = &self.view;
        let mut all = 0;
        for lane in view.lanes() {
            let dropped = Loss::ALL.iter().map(|&loss| (loss, whole(lane.dropped(loss).0)));
            let by_function: Vec<(u16, i64)> =
                lane.calls().map(|(code, count)| (code, whole(count))).collect();
            let mut account = AccountRow {
                rank: self.rank,
                node: self.node.clone(),
                exe: self.exe.clone(),
                process: self.name,
                lane: i64::from(lane.number),
                time: view.end().unwrap_or(view.start().1).cast_signed(),
                produced: whole(lane.produced()),
                dropped: dropped.filter(|loss| loss.1 > 0).collect(),
                calls: by_function.iter().map(|call| call.1).fold(0, i64::saturating_add),
                by_function,
                ..AccountRow::default()
            };
            let (mut thread, mut more) = (lane.tid(), 0);
            for (index, event) in lane.events() {
                if event.code == Function::Thread.code() {
                    // Whoever takes over a lane says its number.
                    thread = u32::try_from(event.offset).unwrap_or(thread);
                }
                account.delivered += 1;
                if taking.streamed.has(self.name, account.lane, index) {
                    continue;
                }
                more += 1;
                self.call(taking, account.lane, whole(index), thread, &event)?;
            }
            all += account.delivered.cast_unsigned();
            // What came over the stream may go on where the log, which ranks write when MPI ends, stops.
            let here = taking.streamed.count(self.name, account.lane) + more;
            let behind = (here - account.delivered).max(0);
            account.delivered = here;
            account.produced = account.produced.max(here);
            account.calls = account.calls.saturating_add(behind);
            taking.tables.account(&account)?;
        }
        Ok(all)
    }

    fn call(
        &self,
        taking: &mut Taking<'_>,
        lane: i64,
        index: i64,
        thread: u32,
        event: &Event,
    ) -> Result<()> {
        let view = &self.view;
        let began = view.time(event.start);
        let ended = view.time(event.start.saturating_add(event.duration));
        let file = view.file(event.file).filter(|_| event.file != NO_FILE);
        let file: Option<Name<'_>> = file.map(|file| {
            let id = RecordId(file.id);
            let known = taking.files.get(id);
            let own = || self.files.get(&id).map(|touched| touched.name(id));
            if known.file.is_some() { known } else { own().unwrap_or(known) }
        });
        let means = Meaning::of(event, event.function().map(Function::kind));
        let (layer, op, function) = meaning::names(event.code);
        let error = event.failed.then(|| errno::name_of(event.code, event.result));
        let selected = selection(view.extension(event.extension));
        taking.tables.event(&EventRow {
            rank: self.rank,
            node: &self.node,
            exe: &self.exe,
            pid: self.pid,
            process: self.name,
            thread: Some(i64::from(thread)),
            lane,
            index,
            start: began.cast_signed(),
            took: whole(ended.saturating_sub(began)),
            layer,
            function: &function,
            op,
            file,
            offset: means.offset,
            length: means.length,
            bytes: means.bytes,
            result: means.result,
            argument: means.argument,
            error: error.as_deref(),
            number: Some(i64::from(event.number)).filter(|number| *number != 0),
            parent: Some(i64::from(event.parent)).filter(|parent| *parent != 0),
            site: if event.site == NO_SITE { None } else { self.site(event.site) },
            selection: selected.map(|found| {
                (found.shape.slug(), i64::from(found.dimensions), whole(found.points))
            }),
            source: "segment",
        })
    }

    fn site(&self, number: u16) -> Option<&str> {
        self.sites.get(&number).map(String::as_str)
    }

    /// Call sites with their stacks: object and address in it, innermost first.
    fn sites(&self, taking: &mut Taking<'_>) -> Result<()> {
        stack::frames(&self.view, |frame| taking.tables.site(self.rank, self.name, frame))
    }

    /// The process itself.
    fn row(&self, taking: &mut Taking<'_>, notes: &[String]) -> Result<()> {
        let view = &self.view;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let phase = Phase::of_gone(view);
        let platform: String = view
            .platform()
            .map(|(key, value)| format!("{}={}\n", text(key), text(value)))
            .collect();
        let row = ProcessRow {
            rank: self.rank,
            process: self.name,
            node: self.node.clone(),
            pid: self.pid,
            exe: self.exe.clone(),
            command: text(view.command()),
            mpi: Some(text(view.mpi())).filter(|name| !name.is_empty()),
            platform: Some(platform).filter(|lines| !lines.is_empty()),
            start: view.start().1.cast_signed(),
            end: view.end().map(u64::cast_signed),
            state: state(phase),
            notes: notes.to_vec(),
        };
        taking.job.processes += 1;
        taking.job.killed += i64::from(phase == Phase::Killed);
        taking.tables.process(&row)
    }
}

/// What became of a process.
const fn state(phase: Phase) -> &'static str {
    match phase {
        Phase::Began => "running",
        Phase::Ended => "ended",
        Phase::Replaced => "replaced",
        Phase::Killed => "killed",
    }
}

/// What a call on data sets selected: of several the first, with the elements of all.
fn selection(extension: Option<(u32, &[u8])>) -> Option<Selection<'_>> {
    let (kind, bytes) = extension?;
    let Extension::Selections(mut all) = Extension::read(kind, bytes)? else { return None };
    let mut first = all.next()?;
    first.points = all.fold(first.points, |sum, more| sum.saturating_add(more.points));
    Some(first)
}

fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
