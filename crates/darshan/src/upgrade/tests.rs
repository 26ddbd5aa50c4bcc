//! Every old version against the names: a counter that both versions know keeps its value, one that
//! only the new one knows is −1.

use super::counters;
use crate::counter::{self, Table};
use netra_event::Module;

/// What has to stand in a counter, said by its name alone.
fn expected(module: Module, old: &Table, name: &str) -> f64 {
    let bare = |name: &str| name.split_once('_').map(|(_, bare)| bare.to_owned());
    let wanted = bare(name.trim_start_matches("PNETCDF_"));
    let place = |names: &[&str], from: f64, wanted: &Option<String>| {
        let at = names.iter().position(|name| bare(name) == *wanted)?;
        Some(from + at as f64)
    };
    let renamed = wanted.clone().map(|name| {
        name.replace("OPEN_START_TIMESTAMP", "OPEN_TIMESTAMP")
            .replace("CLOSE_END_TIMESTAMP", "CLOSE_TIMESTAMP")
    });
    match (module, name) {
        (Module::PnetcdfFile, "PNETCDF_FILE_OPENS") => 1000.0 + 1001.0,
        (Module::Posix, "POSIX_RENAMED_FROM") => 0.0,
        _ => place(old.int, 1000.0, &wanted)
            .or_else(|| place(old.float, 5000.0, &wanted))
            .or_else(|| place(old.float, 5000.0, &renamed))
            .unwrap_or(-1.0),
    }
}

#[test]
fn counters_keep_their_names_and_new_ones_are_not_monitored() {
    let modules = [
        Module::Posix,
        Module::Mpiio,
        Module::Stdio,
        Module::H5f,
        Module::H5d,
        Module::PnetcdfFile,
        Module::Bgq,
    ];
    for module in modules {
        let new = counter::current(module).expect("has counters");
        for version in 1..counter::version(module) {
            let old = counter::table(module, version).expect("a known version");
            let mut ints: Vec<i64> = (1000..).take(old.int.len()).collect();
            let mut floats: Vec<f64> = (5000..).take(old.float.len()).map(f64::from).collect();
            if module == Module::Posix && version == 1 {
                ints[6] = 0;
            }
            assert!(counters(module, version, &mut ints, &mut floats));
            assert_eq!((ints.len(), floats.len()), (new.int.len(), new.float.len()));
            let all = ints.iter().map(|&value| value as f64).chain(floats.iter().copied());
            for (name, value) in new.int.iter().chain(new.float).zip(all) {
                assert_eq!(value, expected(module, old, name), "{name} from version {version}");
            }
        }
    }
}

#[test]
fn streams_leave_the_posix_module() {
    let old = counter::table(Module::Posix, 1).expect("a known version");
    let mut ints = vec![0; old.int.len()];
    ints[6] = 1;
    let mut floats = vec![0.0; old.float.len()];
    assert!(!counters(Module::Posix, 1, &mut ints, &mut floats));
}
