//! Turns records of older versions into the current shape: what an older Darshan did not count
//! is −1, "not monitored".

use crate::counter::posix;
use netra_event::Module;

/// Not monitored.
const NO: i64 = -1;
const NO_TIME: f64 = -1.0;

/// Fopens in a POSIX record of version 1, before streams had a module of their own.
const V1_FOPENS: usize = 6;

/// Brings counters up to the current version, in place. False if the record has no place there:
/// version 1 of POSIX also counted streams, and such records are left out.
pub(crate) fn counters(
    module: Module,
    version: u32,
    ints: &mut Vec<i64>,
    floats: &mut Vec<f64>,
) -> bool {
    match (module, version) {
        (Module::Posix, 1..4) => return posix(version, ints, floats),
        (Module::Mpiio, 1 | 2) => open_and_close(floats),
        (Module::Stdio, 1) => insert(ints, 1, &[NO]),
        (Module::H5f, 1 | 2) => {
            if version == 1 {
                span(floats);
            }
            ints.extend([NO, NO]);
            floats.push(NO_TIME);
        }
        (Module::PnetcdfFile, 1 | 2) => {
            if version == 1 {
                span(floats);
            }
            pnetcdf_file(ints, floats);
        }
        _ => {}
    }
    true
}

fn posix(version: u32, ints: &mut Vec<i64>, floats: &mut Vec<f64>) -> bool {
    if version == 1 {
        if ints.get(V1_FOPENS).is_some_and(|&fopens| fopens > 0) {
            return false;
        }
        // Fopens, freads, fwrites and fseeks.
        ints.drain(V1_FOPENS..V1_FOPENS + 4);
    }
    if version <= 2 {
        open_and_close(floats);
    }
    insert(ints, posix::FILENOS, &[NO, NO]);
    insert(ints, posix::RENAME_SOURCES, &[NO, NO, 0]);
    true
}

/// Opening and closing used to have one time each: the start of the one, the end of the other.
fn open_and_close(floats: &mut Vec<f64>) {
    let close_start_and_open_end = [NO_TIME; 2];
    floats.splice(3..3, close_start_and_open_end);
}

/// The same for modules that time nothing else.
fn span(floats: &mut Vec<f64>) {
    floats.splice(1..1, [NO_TIME; 2]);
}

fn pnetcdf_file(ints: &mut Vec<i64>, floats: &mut Vec<f64>) {
    let opens = ints.iter().fold(0i64, |sum, &count| sum.wrapping_add(count));
    ints.clear();
    ints.extend([NO, opens, NO, NO, NO, NO, NO, NO, NO]);
    // Waiting: start, end, and the times spent on metadata and on waiting.
    insert_time(floats, 2);
    insert_time(floats, 5);
    floats.extend([NO_TIME; 2]);
}

fn insert(ints: &mut Vec<i64>, at: usize, new: &[i64]) {
    ints.splice(at..at, new.iter().copied());
}

fn insert_time(floats: &mut Vec<f64>, at: usize) {
    floats.insert(at, NO_TIME);
}

#[cfg(test)]
mod tests;
