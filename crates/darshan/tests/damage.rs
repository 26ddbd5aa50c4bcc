//! Logs that are cut, bent or lying: what can be read is delivered, what is missing is said.

mod generate;

use generate::{Bytes, IDS, NAMES, ORDERS, Order, Spec};
use netra_darshan::{Damage, Error, Log, Part, Reason, Record, counter, text};
use netra_event::Module;
use std::io::Write;

/// Everything a log says, and what is wrong with it.
fn read(log: &Log) -> (Vec<String>, Vec<Damage>) {
    let mut said = Vec::new();
    let mut damage = log.damage().to_vec();
    for module in log.modules() {
        let mut records = log.records(module);
        while let Some(record) = records.next_record() {
            match record {
                Record::Dxt(mut dxt) => {
                    said.push(format!("{module} {:?}", dxt.head));
                    while let Some((direction, piece)) = dxt.segments.next_piece() {
                        said.extend(piece.iter().map(|s| format!("{direction:?} {s:?}")));
                    }
                }
                record => said.push(format!("{module} {record:?}")),
            }
        }
        damage.extend(records.damage().iter().cloned());
    }
    (said, damage)
}

fn everything(order: Order, compression: u8) -> Vec<u8> {
    let mut spec = Spec::new(order, compression);
    for &module in Module::ALL {
        spec = spec.with(module, counter::version(module));
    }
    spec.build()
}

#[test]
fn what_is_no_log_is_refused_with_a_reason() {
    let whole = everything(Order::Little, 0);
    assert!(matches!(Log::from_bytes(Vec::new()), Err(Error::Empty)));
    let cut = Log::from_bytes(&whole[..1327]);
    assert!(matches!(cut, Err(Error::HeaderCut { length: 1327, needed: 1328 })));
    assert!(matches!(Log::from_bytes(&whole[..3]), Err(Error::HeaderCut { length: 3, .. })));
    let noise = [b"3.41\0\0\0\0".as_slice(), &[0xaa; 1400]].concat();
    assert!(matches!(Log::from_bytes(noise), Err(Error::NotALog { found: 0xaaaa_aaaa_aaaa_aaaa })));
    let mut newer = whole.clone();
    newer[..5].copy_from_slice(b"4.00\0");
    let refused = Log::from_bytes(newer).expect_err("an unknown version");
    assert_eq!(
        refused.to_string(),
        "log version \"4.00\" is not one of 3.00, 3.10, 3.20, 3.21 and 3.41"
    );
    let mut packed = whole;
    packed[16] = 9;
    assert!(matches!(Log::from_bytes(packed), Err(Error::Compression { code: 9 })));
    assert!(matches!(Log::open("/nowhere/at.all"), Err(Error::Open { .. })));
}

/// However much is missing at the end, what comes is the beginning of the whole, and a log that is not
/// whole says so.
#[test]
fn a_log_that_is_cut_delivers_its_beginning() {
    let logs = [(Order::Little, 0, 197), (Order::Big, 1, 4999), (Order::Little, 2, 997)];
    for (order, compression, step) in logs {
        let whole = everything(order, compression);
        let want = read(&Log::from_bytes(whole.clone()).expect("a log")).0;
        // The end byte by byte, samples before it.
        let near = |at: usize| at + 40 > whole.len() || at.is_multiple_of(step);
        for length in (1328..whole.len()).filter(|&at| near(at)) {
            let log = Log::from_bytes(&whole[..length]).expect("the header is whole");
            let (said, damage) = read(&log);
            assert!(!damage.is_empty(), "{length} of {} bytes", whole.len());
            assert!(want.starts_with(&said), "{length} of {} bytes", whole.len());
            assert!(damage.iter().all(|d| d.at <= whole.len() as u64), "{damage:?}");
        }
    }
}

/// Modules do not depend on each other: a broken one leaves the others whole.
#[test]
fn a_broken_module_leaves_the_others() {
    let spec = |order| Spec::new(order, 0).with(Module::Posix, 4).with(Module::Stdio, 2);
    for order in ORDERS {
        let mut bytes = spec(order).build();
        let log = Log::from_bytes(bytes.clone()).expect("a log");
        let place = log.header().region(Module::Posix).extent;
        bytes[place.offset as usize..][..8].fill(0xff);
        let log = Log::from_bytes(bytes).expect("a log");
        let mut posix = log.records(Module::Posix);
        assert!(posix.next_record().is_none());
        let broken =
            Damage { part: Part::Module(Module::Posix), at: place.offset, reason: Reason::Corrupt };
        assert_eq!(posix.damage(), [broken]);
        let mut stdio = log.records(Module::Stdio);
        let count = std::iter::from_fn(|| stdio.next_record().map(|record| record.id().0));
        assert_eq!(count.collect::<Vec<_>>(), IDS);
        assert_eq!(stdio.damage(), []);
    }
}

#[test]
fn modules_of_the_future_are_listed() {
    let mut spec = Spec::new(Order::Little, 0).with(Module::Stdio, 2);
    spec.modules.push((40, 3, vec![1; 100]));
    spec.modules.push((1, 5, vec![1; 704]));
    spec.partial = 1 << 41;
    let log = Log::from_bytes(spec.build()).expect("a log");
    let codes: Vec<u8> = log.header().regions().map(|region| region.code).collect();
    assert_eq!(codes, [1, 9, 40, 41]);
    let (said, damage) = read(&log);
    assert_eq!(said.len(), 4);
    let reasons: Vec<_> = damage.iter().map(|damage| (damage.part, &damage.reason)).collect();
    let want = [
        (Part::Unknown(40), &Reason::UnknownModule),
        (Part::Unknown(41), &Reason::Incomplete),
        (Part::Unknown(41), &Reason::UnknownModule),
        (Part::Module(Module::Posix), &Reason::Version { found: 5, known: 4 }),
    ];
    assert_eq!(reasons, want);
    let mut out = Vec::new();
    text::header(&log, &|_| 0, &mut out).expect("memory");
    let out = String::from_utf8(out).expect("text");
    assert!(out.contains("\n# <UNKNOWN> module (id 40): "), "{out}");
    assert!(out.contains("\n# <UNKNOWN> module (id 41): 0 bytes (compressed), ver=0\n"), "{out}");
}

#[test]
fn regions_outside_the_file_are_said() {
    let mut bytes = Spec::new(Order::Little, 0).with(Module::Stdio, 2).build();
    let at = 48 + 16 * 9;
    bytes[at..at + 8].copy_from_slice(&u64::MAX.to_le_bytes());
    let log = Log::from_bytes(bytes).expect("a log");
    let (said, damage) = read(&log);
    assert_eq!(said, [""; 0]);
    // Its bytes are nobody's now.
    let unclaimed = |damage: &&Damage| matches!(damage.reason, Reason::Unclaimed { .. });
    assert_eq!(damage.iter().filter(unclaimed).count(), 1, "{damage:?}");
    let others: Vec<_> = damage.iter().filter(|one| !unclaimed(one)).collect();
    assert!(matches!(others[..], [Damage { reason: Reason::OutsideFile { .. }, .. }]));
}

/// Numbers in records that no record has: reading stops there, and nothing is allocated for them.
#[test]
fn impossible_lengths_are_refused() {
    let check = |module: Module, at: usize, value: i64| {
        let version = counter::version(module);
        let mut bytes = generate::records(module, version, Order::Little);
        bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        let slot = usize::from(module.code());
        let spec = Spec { modules: vec![(slot, version, bytes)], ..Spec::new(Order::Little, 2) };
        let (_, damage) = read(&Log::from_bytes(spec.build()).expect("a log"));
        assert_eq!(damage.len(), 1, "{module} {value}: {damage:?}");
        damage[0].reason.clone()
    };
    for value in [-1, i64::MIN, i64::MAX] {
        let claimed = Reason::RecordLength { claimed: value };
        assert_eq!(check(Module::Heatmap, 24, value), claimed);
        assert_eq!(check(Module::Lustre, 16, value), claimed);
        assert_eq!(check(Module::Lustre, 24, value), claimed);
        assert_eq!(check(Module::Mdhim, 16 + 4 * 8, value), claimed);
    }
    assert_eq!(check(Module::DxtPosix, 88, -5), Reason::RecordLength { claimed: -5 });
    // A trace may be long, so this one is only found out when its segments are not there.
    assert!(matches!(check(Module::DxtPosix, 96, i64::MAX), Reason::RecordCut { .. }));
    assert_eq!(check(Module::Apmpi, 16, 1), Reason::RecordMagic);
    assert_eq!(check(Module::Apxc, 16, 1), Reason::RecordMagic);
}

/// A little file that would become a large one.
#[test]
fn bombs_are_refused() {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(&vec![0; 1 << 20]).expect("memory");
    let mebibyte = encoder.finish().expect("memory");
    let mut bytes = Spec::new(Order::Little, 0).with(Module::Posix, 4).build();
    let posix = bytes.len() as u64;
    let bomb = mebibyte.repeat(600);
    bytes.extend_from_slice(&bomb);
    // The same bytes as records, which are looked at one by one, and as names, which are kept.
    for (at, limit) in [(48 + 16, 500 * bomb.len() as u64), (32, 100 * bomb.len() as u64)] {
        let mut bytes = bytes.clone();
        bytes[at..at + 8].copy_from_slice(&posix.to_le_bytes());
        bytes[at + 8..at + 16].copy_from_slice(&(bomb.len() as u64).to_le_bytes());
        let log = Log::from_bytes(bytes).expect("a log");
        let mut records = log.records(Module::Posix);
        while records.next_record().is_some() {}
        // The region that the bomb stands for instead is nobody's now.
        let said = log.damage().iter().chain(records.damage());
        let damage: Vec<_> =
            said.filter(|damage| !matches!(damage.reason, Reason::Unclaimed { .. })).collect();
        let limit = if at == 32 { limit.max(16 << 20) } else { limit.max(256 << 20) };
        assert_eq!(damage.len(), 1, "{damage:?}");
        assert_eq!(damage[0].reason, Reason::Bomb { produced: limit });
        assert!(damage[0].to_string().contains("refused"), "{}", damage[0]);
    }
}

/// Ids that repeat keep their first name, unless it is empty.
#[test]
fn names_may_come_twice() {
    let mut names = Bytes::new(Order::Little);
    for (id, name) in [(1, "/a"), (2, ""), (1, "/b"), (2, "/c"), (3, "")] {
        names.u64(id).text(name.as_bytes(), name.len() + 1);
    }
    let spec = Spec::new(Order::Little, 2);
    let mut bytes = spec.build();
    let at = bytes.len() as u64;
    bytes.extend_from_slice(&names.bytes);
    // An unfinished last name is said, the others stay.
    bytes.extend_from_slice(&[9, 0, 0, 0, 0, 0, 0, 0, b'/']);
    let length = bytes.len() as u64 - at;
    bytes[32..40].copy_from_slice(&at.to_le_bytes());
    bytes[40..48].copy_from_slice(&length.to_le_bytes());
    let log = Log::from_bytes(bytes).expect("a log");
    let said: Vec<_> = log.names().iter().map(|(id, name)| (id.0, name)).collect();
    assert_eq!(said, [(1, &b"/a"[..]), (2, b"/c"), (3, b"")].map(|(id, name)| (id, name)));
    assert!(matches!(
        log.damage(),
        [Damage { part: Part::Names, reason: Reason::RecordCut { .. }, .. }]
    ));
    assert_eq!(NAMES.len(), 3);
}
