//! Events of a segment in every form, field by field.

#[expect(dead_code, reason = "tests of other crates use the rest of it")]
#[path = "../../darshan/tests/maker/mod.rs"]
mod maker;

use maker::{Lane, Segment as Made, event, tick};
use netra_event::lane::Lane as LaneRow;
use netra_event::segment::{Region, View};
use netra_event::{Event, Function, Loss, Rank};
use netra_stream::render::{self, Form, Told};
use serde_json::{Value, json};
use std::mem::offset_of;

/// Microseconds as ticks after the start, so that every time can be read off.
const fn at(micros: u64) -> u64 {
    tick(micros * 1000)
}

fn made() -> Made {
    let mut made = Made { rank: Some(3), nprocs: 4, ..Made::default() };
    let file = made.file("/scratch/a \"b\".dat");
    let failed = Event { failed: true, result: -9, ..event(Function::Pwrite, file, at(25), 0, 8) };
    let short = Event { result: 60, ..event(Function::Pread, file, at(40), 50, 100) };
    made.lanes = vec![Lane {
        tid: 500,
        events: vec![
            event(Function::Open, file, at(10), 2, 5),
            event(Function::Pwrite, file, at(20), 4096, 100),
            failed,
            event(Function::Lseek, file, at(30), 0, 0),
            short,
            event(Function::Close, file, at(50), -1, 5),
        ],
        dropped: Vec::new(),
    }];
    made
}

fn rendered(made: &Made, form: Form) -> (String, Told) {
    let bytes = made.bytes();
    let mut out = Vec::new();
    let mut render = form.render();
    render.begin(&mut out).expect("memory");
    let view = View::new(&bytes).expect("a segment");
    let told = render::segment(view, Some(Rank(3)), &mut *render, &mut out).expect("memory");
    render.end(&mut out).expect("memory");
    (String::from_utf8(out).expect("text"), told)
}

fn lines(made: &Made, form: Form) -> Vec<Value> {
    let text = rendered(made, form).0;
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn the_message_of_an_open_is_the_published_one() {
    let (text, told) = rendered(&made(), Form::ConnectorJson);
    // The start is 1700000000.25 s; events take 1 µs.
    assert_eq!(
        text.lines().next().unwrap(),
        concat!(
            r#"{"schema":"darshan_data","uid":1000,"exe":"/bin/app","job_id":77,"rank":3,"#,
            r#""ProducerName":"node17","file":"/scratch/a \"b\".dat","#,
            r#""record_id":7919278319430921947,"module":"POSIX","type":"MET","#,
            r#""max_byte":-1,"switches":-1,"flushes":-1,"cnt":1,"op":"open","#,
            r#""seg":[{"data_set":"N/A","pt_sel":-1,"irreg_hslab":-1,"reg_hslab":-1,"ndims":-1,"#,
            r#""npoints":-1,"off":-1,"len":-1,"start":0.000010,"dur":0.000001,"total":0.000001,"#,
            r#""timestamp":1700000000.250011}]}"#,
        )
    );
    assert_eq!(told, Told { events: 6, written: 4, missing: 0, unknown: 0 });
}

#[test]
fn later_messages_leave_out_names_and_carry_running_fields() {
    let all = lines(&made(), Form::ConnectorJson);
    let fields = |message: &Value| {
        let keys = ["op", "type", "exe", "file", "max_byte", "switches", "flushes", "cnt"];
        let seg = ["off", "len", "total"].map(|key| message["seg"][0][key].clone());
        [keys.map(|key| message[key].clone()).to_vec(), seg.to_vec()].concat()
    };
    let rows = all[1..].iter().map(|message| Value::Array(fields(message))).collect::<Vec<_>>();
    assert_eq!(
        rows,
        [
            json!(["write", "MOD", "N/A", "N/A", 4195, 0, -1, 1, 4096, 100, 0.000001]),
            json!(["read", "MOD", "N/A", "N/A", 109, 1, -1, 1, 50, 60, 0.000001]),
            // The seek is metadata too.
            json!(["close", "MOD", "N/A", "N/A", -1, -1, -1, 1, -1, -1, 0.000003]),
        ]
    );
    assert!(all.iter().all(|message| message.get("partial").is_none()));
}

#[test]
fn the_table_has_the_published_columns() {
    let (text, _) = rendered(&made(), Form::ConnectorCsv);
    let rows: Vec<&str> = text.lines().collect();
    assert_eq!(
        rows[..3],
        [
            "#module,uid,ProducerName,switches,file,rank,flushes,record_id,exe,max_byte,type,job_id,op,\
             cnt,seg:off,seg:pt_sel,seg:dur,seg:len,seg:ndims,seg:reg_hslab,seg:irreg_hslab,seg:data_set,\
             seg:npoints,seg:timestamp",
            "POSIX,1000,node17,-1,\"/scratch/a \"\"b\"\".dat\",3,-1,7919278319430921947,/bin/app,-1,MET,\
             77,open,1,-1,-1,0.000001,-1,-1,-1,-1,N/A,-1,1700000000.250011",
            "POSIX,1000,node17,0,N/A,3,-1,7919278319430921947,N/A,4195,MOD,77,write,1,4096,-1,0.000001,\
             100,-1,-1,-1,N/A,-1,1700000000.250021",
        ]
    );
    assert_eq!(rows.len(), 5);
}

#[test]
fn lines_hold_every_call_with_all_its_fields() {
    let all = lines(&made(), Form::JsonLines);
    assert_eq!(all.len(), 6);
    assert_eq!(
        all[0],
        json!({
            "job": "host.1.2", "host": "node17", "pid": 4242, "rank": 3, "thread": 500, "lane": 0,
            "index": 0, "start_ns": 1_700_000_000_250_010_000_u64, "took_ns": 1000,
            "layer": "POSIX", "function": "open", "kind": "open", "file": "/scratch/a \"b\".dat",
            "record_id": "7919278319430921947", "flags": 2, "descriptor": 5,
        })
    );
    let failed = &all[2];
    assert_eq!((&failed["errno"], &failed["asked_bytes"]), (&json!(9), &json!(8)));
    assert_eq!(failed.get("moved_bytes"), None);
    // A wide event takes two places.
    assert_eq!((&all[3]["index"], &all[3]["whence"]), (&json!(4), &json!(0)));
    assert_eq!((&all[4]["asked_bytes"], &all[4]["moved_bytes"]), (&json!(100), &json!(60)));
}

#[test]
fn messages_behind_a_loss_say_so() {
    let mut made = made();
    made.lanes[0].dropped = vec![(Loss::Budget, 7), (Loss::Excluded, 5)];
    let mut bytes = made.bytes();
    // The first event was dropped while the read took place.
    let lanes = View::new(&bytes).unwrap().region(Region::Lanes).1.as_ptr().addr();
    let first = lanes - bytes.as_ptr().addr() + offset_of!(LaneRow, dropped) + 8;
    bytes[first..first + 8].copy_from_slice(&at(41).to_le_bytes());
    let mut out = Vec::new();
    let mut render = Form::ConnectorJson.render();
    let told = render::segment(View::new(&bytes).unwrap(), None, &mut *render, &mut out).unwrap();
    assert_eq!(told, Told { events: 6, written: 4, missing: 7, unknown: 0 });
    let text = String::from_utf8(out).unwrap();
    let marked: Vec<bool> = text.lines().map(|line| line.contains("\"partial\":true")).collect();
    assert_eq!(marked, [false, false, true, true]);
}

#[test]
fn a_loss_by_setting_marks_nothing() {
    let mut made = made();
    made.lanes[0].dropped = vec![(Loss::Excluded, 5)];
    assert_eq!(rendered(&made, Form::ConnectorJson).1.missing, 0);
    assert!(lines(&made, Form::ConnectorJson).iter().all(|all| all.get("partial").is_none()));
}

#[test]
fn streams_count_flushes_and_have_no_switches() {
    let mut made = Made::default();
    let file = made.file("/scratch/log");
    let calls = [
        event(Function::Fopen, file, at(1), 0, 3),
        event(Function::Fwrite, file, at(2), 0, 10),
        event(Function::Fflush, file, at(4), -1, 0),
        event(Function::Fread, file, at(6), 0, 4),
        event(Function::Fprintf, file, at(8), 10, 6),
        event(Function::Fclose, file, at(10), -1, 3),
    ];
    made.lanes = vec![Lane { tid: 1, events: calls.to_vec(), dropped: Vec::new() }];
    let rows: Vec<Value> = lines(&made, Form::ConnectorJson)
        .iter()
        .map(|all| json!([all["module"], all["op"], all["flushes"], all["switches"], all["cnt"]]))
        .collect();
    assert_eq!(
        rows,
        [
            json!(["STDIO", "open", -1, -1, 1]),
            json!(["STDIO", "write", 0, -1, 1]),
            json!(["STDIO", "read", -1, -1, 1]),
            json!(["STDIO", "write", 1, -1, 2]),
            json!(["STDIO", "close", 1, -1, 1]),
        ]
    );
}

#[test]
fn damaged_segments_render_what_they_have() {
    let bytes = made().bytes();
    for cut in (0..bytes.len()).step_by(97) {
        for flip in [0, 0xff] {
            let mut bytes = bytes.clone();
            bytes[cut] ^= flip;
            if flip == 0 {
                bytes.truncate(cut);
            }
            let Ok(view) = View::new(&bytes) else { continue };
            for &form in Form::ALL {
                let mut out = Vec::new();
                render::segment(view, None, &mut *form.render(), &mut out).unwrap();
            }
        }
    }
}

/// The messages of HDF5 calls on two data sets of one file.
mod hdf5 {
    use super::*;
    use netra_event::segment::extension::{Head, SELECTIONS, Shape, Writer};
    use netra_event::{NO_OFFSET, Nanos};
    use netra_stream::render::{About, File, Message, Process, Reference};
    use netra_stream::source::Timed;

    const WITHIN: (u64, &[u8]) = (7, b"/scratch/a.h5");
    const FILE: File<'_> = File { id: 7, name: WITHIN.1, within: None, elements: None };

    fn set(index: u32) -> Option<File<'static>> {
        let name: &[u8] = match index {
            3 => b"/scratch/a.h5:/grid/x",
            4 => b"/scratch/a.h5:/grid/y",
            _ => return None,
        };
        let elements = (index == 3).then_some(1000);
        Some(File { id: u64::from(index) * 100, name, within: Some(WITHIN), elements })
    }

    fn process() -> Process {
        let (job, host, exe) = ("j".to_owned(), "n1".to_owned(), "/bin/app".to_owned());
        let rank = Some(Rank(2));
        let start = Nanos(1_000_000_000);
        Process::new(About { job, job_id: 5, host, pid: 9, uid: 1, rank, exe, start })
    }

    fn selection(data_set: u32, shape: Shape, points: u64) -> Head {
        Head { data_set, shape, collective: true, dimensions: 2, points, element_bytes: 8 }
    }

    /// The messages of one call, as module, op, data set, selection fields, length and duration.
    fn messages(process: &mut Process, function: Function, selections: &[Head]) -> Vec<String> {
        let mut writer = Writer::default();
        for selection in selections {
            writer.selection(selection, |_, _| 1);
        }
        let bytes: u64 = selections.iter().map(|one| one.points * 8).sum();
        let index = selections.first().map_or(3, |one| one.data_set);
        let file = if function.name().starts_with("H5F") { Some(FILE) } else { set(index) };
        let event = event(function, index, 0, NO_OFFSET, bytes);
        let (start, duration) = (Nanos(2_000_000_000), Nanos(8000));
        let timed = Timed { lane: 0, index: 0, thread: 1, start, duration, event };
        let extension = Some((SELECTIONS, writer.bytes())).filter(|found| !found.1.is_empty());
        let to = Reference { file, extension, ..Reference::default() };
        let call = process.call(&timed, to, &mut |index| set(index));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let line = |one: Message<'_>| {
            let (module, op, set) = (one.module, one.op.name(), text(one.data_set));
            let (selection, len, dur) = (one.selection(), one.len, one.dur.0);
            assert_eq!((one.record_id, one.off), (7, -1));
            format!("{module} {op} {set} {selection:?} {len} {dur} {}", one.flushes)
        };
        Message::of(&call).map(line).collect()
    }

    #[test]
    fn selections_of_a_data_set_add_up() {
        let mut process = process();
        let mut says = |function, selections: &[Head]| messages(&mut process, function, selections);
        let none = "[-1, -1, -1, -1, -1]";
        assert_eq!(says(Function::H5Fcreate, &[]), [format!("H5F open N/A {none} -1 8000 0")]);
        assert_eq!(says(Function::H5Dcreate2, &[]), [format!("H5D open /grid/x {none} -1 8000 0")]);
        let regular = selection(3, Shape::Regular, 12);
        assert_eq!(
            says(Function::H5Dwrite, &[regular]),
            ["H5D write /grid/x [0, 0, 1, 2, 1000] 96 8000 0"]
        );
        assert_eq!(says(Function::H5Dflush, &[]), [] as [&str; 0]);
        let points = selection(3, Shape::Points, 5);
        assert_eq!(
            says(Function::H5Dread, &[points]),
            ["H5D read /grid/x [1, 0, 1, 2, 1000] 40 8000 1"]
        );
        assert_eq!(says(Function::H5Acreate2, &[]), [] as [&str; 0]);
    }

    #[test]
    fn a_call_on_several_data_sets_sends_a_message_for_each() {
        let mut process = process();
        let both = [selection(3, Shape::All, 1000), selection(4, Shape::Irregular, 6)];
        assert_eq!(
            messages(&mut process, Function::H5DwriteMulti, &both),
            [
                "H5D write /grid/x [0, 0, 0, 2, 1000] 8000 4000 0",
                // Nobody knows how large this one is.
                "H5D write /grid/y [0, 1, 0, 2, 6] 48 4000 0",
            ]
        );
    }
}

/// Batches as they come from daemons.
mod live {
    use super::*;
    use netra_event::frame::{Kind, Producer};
    use netra_event::{SLOT_BYTES, WIDE};
    use netra_stream::batch::{Batch, HEADER, Image, Part};
    use netra_stream::frame::Subject;
    use netra_stream::render::Live;

    /// The image of a segment without its events, and the slots of its first lane.
    fn parts(made: &Made) -> (Image, Vec<[u8; SLOT_BYTES]>) {
        let bytes = made.bytes();
        let view = View::new(&bytes).expect("a segment");
        let header = &bytes[..size_of::<netra_event::segment::Header>()];
        let mut all = vec![Part { region: HEADER, stride: 0, offset: 0, bytes: header }];
        for region in [Region::Names, Region::Files, Region::Lanes] {
            let (stride, bytes) = view.region(region);
            all.push(Part { region: region as u32, stride, offset: 0, bytes });
        }
        let mut image = Image::default();
        assert!(image.take(all.into_iter()));
        let slots = made.lanes[0].events.iter().flat_map(|event| {
            let words = match event.fits_one_slot() {
                true => vec![event.first(0)],
                false => {
                    let failed = if event.failed { netra_event::FAILED } else { 0 };
                    vec![event.first(WIDE | failed), event.second()]
                }
            };
            words.into_iter().map(|words| {
                let mut slot = [0; SLOT_BYTES];
                for (at, word) in words.iter().enumerate() {
                    slot[at * 8..][..8].copy_from_slice(&word.to_le_bytes());
                }
                slot
            })
        });
        (image, slots.collect())
    }

    fn batch(slots: &[[u8; SLOT_BYTES]], from: usize, until: usize) -> Batch {
        let part = &slots[from..until];
        let subject = Subject {
            kind: Kind::Events,
            producer: Producer { host: 1, start: 2, pid: 3 },
            lane: 0,
            from: from as u64,
            count: part.len() as u32,
            events: netra_stream::batch::count_events(part, |_| {}),
            time: 0,
        };
        Batch::plain(&subject, part.concat())
    }

    #[test]
    fn batches_say_the_same_as_the_segment() {
        let made = made();
        let (image, slots) = parts(&made);
        for form in [Form::ConnectorJson, Form::ConnectorCsv, Form::JsonLines] {
            let (mut live, mut render, mut out) = (Live::default(), form.render(), Vec::new());
            render.begin(&mut out).unwrap();
            let mut written = 0;
            for (from, until) in [(0, 2), (2, 5), (5, slots.len())] {
                let batch = batch(&slots, from, until);
                let told = live.batch(&batch, Some(&image), &mut *render, &mut out).unwrap();
                written += told.written;
            }
            let (want, told) = rendered(&made, form);
            assert_eq!((String::from_utf8(out).unwrap(), written), (want, told.written));
        }
    }

    #[test]
    fn what_follows_a_gap_is_marked() {
        let (image, slots) = parts(&made());
        let (mut live, mut render) = (Live::default(), Form::ConnectorJson.render());
        let mut say = |live: &mut Live, from, until| {
            let mut out = Vec::new();
            let batch = batch(&slots, from, until);
            let told = live.batch(&batch, Some(&image), &mut *render, &mut out).unwrap();
            (told.written, String::from_utf8(out).unwrap().contains("\"partial\":true"))
        };
        assert_eq!(say(&mut live, 0, 1), (1, false));
        assert_eq!(say(&mut live, 5, 7), (1, true));
        let mut late = Live::default();
        assert_eq!(say(&mut late, 1, 2), (1, true));
        let mut told = Live::default();
        assert_eq!(say(&mut told, 0, 1), (1, false));
        told.missed();
        assert_eq!(say(&mut told, 1, 2), (1, true));
    }

    #[test]
    fn events_of_a_process_that_nobody_described_are_missing() {
        let (_, slots) = parts(&made());
        let (mut live, mut render) = (Live::default(), Form::JsonLines.render());
        let batch = batch(&slots, 0, slots.len());
        let told = live.batch(&batch, None, &mut *render, &mut Vec::new()).unwrap();
        assert_eq!(told, Told { events: 0, written: 0, missing: 6, unknown: 0 });
    }
}
