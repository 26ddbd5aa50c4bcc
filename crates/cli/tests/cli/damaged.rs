//! Logs that are not what was written: whatever the bytes, the program ends by itself, says what
//! is missing, and shows the rest.

use crate::netra::{Place, example};
use crate::usage::SHOWING;

#[test]
fn an_empty_file_is_2() {
    for command in SHOWING {
        let place = Place::new();
        place.file("empty.darshan", b"");
        let done = place.netra(&[command, "empty.darshan"]);
        assert_eq!(done.code, 2);
        assert!(done.err.starts_with("netra: empty.darshan: the file is empty"), "{}", done.err);
    }
}

#[test]
fn random_bytes_are_2() {
    let place = Place::new();
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let noise: Vec<u8> = (0..100_000)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        })
        .collect();
    place.file("noise.darshan", &noise);
    for command in SHOWING {
        let done = place.netra(&[command, "noise.darshan"]);
        assert_eq!(done.code, 2);
        assert!(done.err.contains("not a Darshan 3.x log"), "{}", done.err);
    }
}

/// Inside the header nothing can be read; behind it, what came before the cut is shown, what did
/// not is said on standard error and in JSON alike.
#[test]
fn a_log_cut_off_anywhere_says_what_is_missing() {
    let whole = example();
    let place = Place::new();
    for length in (1..whole.len()).step_by(97) {
        place.file("cut.darshan", &whole[..length]);
        for command in SHOWING {
            let done = place.netra(&[command, "--format", "json", "cut.darshan"]);
            let expected = match length {
                ..1328 => 2,
                _ => 1,
            };
            assert_eq!(done.code, expected, "{command} at {length}: {}", done.err);
            if expected < 2 {
                let missing = done.json()["missing"].as_array().unwrap().len();
                assert_eq!(missing > 0, expected == 1, "{command} at {length}");
                assert_eq!(done.err.lines().count(), missing, "{command} at {length}");
            }
            let named = |line: &str| line.starts_with("netra: cut.darshan: ");
            assert!(done.err.lines().all(named), "{}", done.err);
        }
    }
}

/// One wrong byte at many places: an exit code that means something, and JSON that is JSON.
#[test]
fn a_wrong_byte_anywhere_does_no_harm() {
    let whole = example();
    let place = Place::new();
    for at in (0..whole.len()).step_by(61) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x55;
        place.file("wrong.darshan", &bytes);
        for command in SHOWING {
            let done = place.netra(&[command, "--format", "json", "wrong.darshan"]);
            assert!((0..=2).contains(&done.code), "{command} at {at}: {}", done.code);
            assert_eq!(done.code == 0, done.err.is_empty(), "{command} at {at}: {}", done.err);
            if done.code < 2 {
                done.json();
            }
        }
    }
}

/// The module, the byte and the reason are all there.
#[test]
fn what_is_missing_is_said_exactly() {
    let place = Place::new();
    let whole = example();
    place.file("cut.darshan", &whole[..whole.len() - 100]);
    let done = place.netra(&["info", "--format", "json", "cut.darshan"]);
    assert_eq!(done.code, 1);
    let json = done.json();
    let missing = &json["missing"][0];
    assert_eq!(missing["module"], "HEATMAP");
    assert_eq!(missing["byte"], whole.len() - 100);
    assert_eq!(missing["reason"], "the file ends 100 bytes too early");
    let expected = format!(
        "netra: cut.darshan: missing from module HEATMAP at byte {}: the file ends 100 bytes too early\n",
        whole.len() - 100
    );
    assert_eq!(done.err, expected);
}
