//! What people type, read in one way by every command: layers, kinds of calls, modules, counters, ranks, points in
//! time, sizes and durations. What is not known is refused with what is, and with what was probably meant.

use std::time::Duration;

use netra_darshan::counter;
use netra_event::{Bytes, Kind, Layer, Module};
use netra_show::moment::Moment;
use netra_stream::daemon;
use netra_stream::guess::nearest;

/// What a trace may take.
const TRACE: std::ops::RangeInclusive<u64> = 64 << 10..=16 << 30;
/// Ranks that may be listed: no job has more.
const MOST_RANKS: i64 = 1 << 24;

/// The one of these names that a word is, whatever its case and without the dash of MPI-IO.
fn known<T: Copy>(
    what: &str,
    word: &str,
    all: &[T],
    name: impl Fn(T) -> &'static str,
) -> Result<T, String> {
    let plain = |text: &str| text.replace(['-', '_'], "").to_lowercase();
    if let Some(found) = all.iter().copied().find(|one| plain(name(*one)) == plain(word)) {
        return Ok(found);
    }
    let names: Vec<&str> = all.iter().map(|one| name(*one)).collect();
    Err(unknown(what, word, &names))
}

/// Says that a word is not among some, which was probably meant, and which there are.
pub(crate) fn unknown(what: &str, word: &str, names: &[&str]) -> String {
    let meant = meant(word, names);
    format!("there is no {what} {word:?}; {meant}{what}s are {}", names.join(", "))
}

/// A question whether one of the names was meant, where one is near.
fn meant(word: &str, names: &[&str]) -> String {
    let meant = nearest(word, names.iter().copied());
    meant.map(|meant| format!("did you mean {meant}? ")).unwrap_or_default()
}

/// A layer of calls.
pub(crate) fn layer(word: &str) -> Result<Layer, String> {
    // The documented example of a module records nothing of anybody's.
    let all: Vec<Layer> = Layer::ALL.into_iter().filter(|one| *one != Layer::Example).collect();
    known("layer", word, &all, Layer::name)
}

/// A kind of calls.
pub(crate) fn kind(word: &str) -> Result<Kind, String> {
    known("kind", word, &Kind::ALL, Kind::name)
}

/// The modules of a log that a layer or a module stands for: that of HDF5 has two.
fn modules(word: &str) -> Result<Vec<Module>, String> {
    match word.to_lowercase().as_str() {
        "hdf5" => return Ok(vec![Module::H5f, Module::H5d]),
        "pnetcdf" => return Ok(vec![Module::PnetcdfFile, Module::PnetcdfVar]),
        _ => {}
    }
    let all: Vec<Module> = Module::ALL.iter().copied().filter(|one| *one != Module::Null).collect();
    known("module", word, &all, Module::name).map(|module| vec![module])
}

/// Names of the modules of a log that are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Modules(pub(crate) Vec<String>);

/// A module or a layer by its name. A log may have modules of its own, which describe themselves: whether it
/// has one of another name is seen, and said, when it is read.
#[expect(clippy::unnecessary_wraps, reason = "clap's parsers may fail")]
pub(crate) fn in_a_log(word: &str) -> Result<Modules, String> {
    Ok(Modules(match modules(word) {
        Ok(found) => found.into_iter().map(|module| module.name().to_owned()).collect(),
        Err(_) => vec![word.to_uppercase()],
    }))
}

/// The modules that the library records, or all but some: `POSIX,STDIO` or `-STDIO`.
pub(crate) fn recorded(text: &str) -> Result<String, String> {
    const ALL: [Module; 8] = [
        Module::Posix,
        Module::Stdio,
        Module::Mpiio,
        Module::H5f,
        Module::H5d,
        Module::PnetcdfFile,
        Module::PnetcdfVar,
        Module::Lustre,
    ];
    let mut names = Vec::new();
    for word in text.split(',').map(str::trim) {
        let (sign, name) = match word.strip_prefix('-') {
            Some(name) => ("-", name),
            None => ("", word),
        };
        let found = match modules(name) {
            Ok(found) if found.iter().all(|module| ALL.contains(module)) => found,
            _ => return Err(unknown("module", name, &ALL.map(Module::name))),
        };
        names.extend(found.into_iter().map(|module| format!("{sign}{}", module.name())));
    }
    Ok(names.join(","))
}

/// A counter of any module.
pub(crate) fn counter(word: &str) -> Result<String, String> {
    let tables = Module::ALL.iter().filter_map(|module| counter::current(*module));
    let names: Vec<&str> =
        tables.flat_map(|table| table.int.iter().chain(table.float).copied()).collect();
    if names.iter().any(|name| name.eq_ignore_ascii_case(word)) {
        return Ok(word.to_uppercase());
    }
    let meant = meant(word, &names);
    Err(format!("there is no counter {word:?}; {meant}netra parse LOG shows those of a log"))
}

/// Some ranks: `3`, `0-7`, and `-1`, which is that of records of all ranks together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ranks(pub(crate) Vec<i64>);

/// One word of a list such as `0,1-3`.
pub(crate) fn ranks(word: &str) -> Result<Ranks, String> {
    let wrong = || format!("{word:?} is no rank: ranks are given as 3, 0,2 or 0-7");
    let number = |text: &str| text.trim().parse::<i64>().map_err(|_| wrong());
    let (first, last) = match word.trim().get(1..).and_then(|rest| rest.find('-')) {
        Some(at) => {
            let (first, last) = word.trim().split_at(at + 1);
            (number(first)?, number(last.trim_start_matches('-'))?)
        }
        None => (number(word)?, number(word)?),
    };
    if first < -1 || last < first || last > MOST_RANKS {
        return Err(wrong());
    }
    Ok(Ranks((first..=last).collect()))
}

/// All ranks of a list.
pub(crate) fn all_ranks(list: &[Ranks]) -> Vec<i64> {
    list.iter().flat_map(|ranks| ranks.0.iter().copied()).collect()
}

/// A point in time of a job.
pub(crate) fn moment(word: &str) -> Result<Moment, String> {
    word.parse()
}

/// What a process's trace may take.
pub(crate) fn trace_budget(word: &str) -> Result<Bytes, String> {
    match daemon::size(word) {
        Ok(size) if TRACE.contains(&size) => Ok(Bytes(size)),
        Ok(_) => Err("64KiB to 16GiB; --no-trace is for none".to_owned()),
        Err(_) => Err("a size with its unit such as 64MiB, from 64KiB to 16GiB".to_owned()),
    }
}

/// A size with its unit; bare numbers are MiB, as this option once had it.
#[cfg(feature = "store")]
pub(crate) fn memory(word: &str) -> Result<Bytes, String> {
    const LEAST: u64 = 1 << 20;
    const MOST: u64 = 64 << 40;
    let size = match word.parse::<u64>() {
        Ok(number) => number.checked_mul(1 << 20),
        Err(_) => daemon::size(word).ok(),
    };
    size.filter(|size| (LEAST..=MOST).contains(size))
        .map(Bytes)
        .ok_or_else(|| "a size such as 1GiB, from 1MiB on".to_owned())
}

/// A duration with its unit, or a number of seconds; at least a little.
pub(crate) fn duration(word: &str) -> Result<Duration, String> {
    let wrong = || "a time above 0 such as 30s, 5min or 250ms".to_owned();
    length(word).filter(|length| !length.is_zero()).ok_or_else(wrong)
}

/// A duration that may be nothing at all.
pub(crate) fn patience(word: &str) -> Result<Duration, String> {
    length(word).ok_or_else(|| "a time such as 30s, 5min, 250ms or 0s".to_owned())
}

fn length(word: &str) -> Option<Duration> {
    match word.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        Err(_) => daemon::duration(word).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_are_known_however_they_are_written() {
        for word in ["MPI-IO", "mpiio", "mpi_io", "Mpi-Io"] {
            assert_eq!(layer(word), Ok(Layer::Mpiio));
        }
        let error = layer("posx").unwrap_err();
        assert_eq!(
            error,
            "there is no layer \"posx\"; did you mean POSIX? layers are POSIX, STDIO, PROCESS, MPI-IO, HDF5, PNETCDF"
        );
        assert!(kind("wirte").unwrap_err().contains("did you mean write?"));
        assert_eq!(kind("READ"), Ok(Kind::Read));
    }

    #[test]
    fn a_layer_stands_for_its_modules() {
        assert_eq!(modules("hdf5"), Ok(vec![Module::H5f, Module::H5d]));
        assert_eq!(modules("mpiio"), Ok(vec![Module::Mpiio]));
        assert!(modules("NOPE").is_err());
        assert_eq!(recorded("-stdio, -hdf5").as_deref(), Ok("-STDIO,-H5F,-H5D"));
        assert_eq!(recorded("posix,MPIIO").as_deref(), Ok("POSIX,MPI-IO"));
        assert!(recorded("DXT_POSIX").is_err() && recorded("posx").is_err());
    }

    #[test]
    fn counters_are_those_of_some_module() {
        assert_eq!(counter("posix_bytes_written").as_deref(), Ok("POSIX_BYTES_WRITTEN"));
        let error = counter("POSIX_BYTES_WRITEN").unwrap_err();
        assert!(error.contains("did you mean POSIX_BYTES_WRITTEN?"), "{error}");
    }

    #[test]
    fn ranks_are_numbers_and_spans() {
        assert_eq!(ranks("3"), Ok(Ranks(vec![3])));
        assert_eq!(ranks("1-3"), Ok(Ranks(vec![1, 2, 3])));
        assert_eq!(ranks("-1"), Ok(Ranks(vec![-1])));
        for wrong in ["", "-", "x", "3-1", "-2", "1-", "0-999999999999", "1.5"] {
            assert!(ranks(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes_and_durations_say_their_bounds() {
        assert_eq!(trace_budget("64MiB"), Ok(Bytes(64 << 20)));
        assert_eq!(trace_budget("1 GB"), Ok(Bytes(1_000_000_000)));
        for wrong in ["64", "MiB", "-1MiB", "64MB2", "", "1KiB", "99999TiB"] {
            assert!(trace_budget(wrong).unwrap_err().contains("64KiB to 16GiB"), "{wrong}");
        }
        assert_eq!(duration("2min"), Ok(Duration::from_secs(120)));
        assert_eq!(duration("0.5"), Ok(Duration::from_millis(500)));
        for wrong in ["-3", "0", "inf", "soon", "NaN"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
        assert_eq!(patience("0ms"), Ok(Duration::ZERO));
        assert!(patience("-3").is_err() && patience("soon").is_err());
    }
}
