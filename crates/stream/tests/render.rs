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
    assert_eq!(told, Told { events: 6, written: 4, missing: 0 });
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
    assert_eq!(told, Told { events: 6, written: 4, missing: 7 });
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
