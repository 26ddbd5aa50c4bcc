//! The tables of counters against the reference list, which was taken from Darshan's sources.

use netra_darshan::{counter, record};
use netra_event::Module;
use serde_json::Value;

#[test]
fn tables_equal_the_reference_list() {
    let path =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/reference/darshan-counters.json");
    let Ok(text) = std::fs::read_to_string(path) else {
        eprintln!("skipped: {path} is not here");
        return;
    };
    let modules: Value = serde_json::from_str(&text).expect("the list is JSON");
    let modules = modules.as_object().expect("modules by name");
    for (name, versions) in modules {
        let module = Module::from_name(name).expect(name);
        let versions = versions.as_object().expect("versions by number");
        let mut newest = 0;
        for (version, list) in versions {
            let version: u32 = version.parse().expect("a number");
            newest = newest.max(version);
            let table = counter::table(module, version).expect("a known version");
            assert_eq!(names(&list["int"]), table.int, "{name} {version}");
            assert_eq!(names(&list["float"]), table.float, "{name} {version}");
            if let Some(layout) = record::layout(module, version) {
                assert_eq!(list["record_bytes"], layout.size(), "{name} {version}");
            }
        }
        assert_eq!(newest, counter::version(module), "{name}");
        assert_eq!(counter::table(module, newest + 1), None, "{name}");
    }
    assert_eq!(names(&modules["APMPI"]["1"]["sync"]), counter::apmpi::SYNC);
    assert_eq!(names(&modules["APMPI"]["1"]["global"]), counter::apmpi::GLOBAL);
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().expect("names").iter().map(|name| name.as_str().expect("a name")).collect()
}

#[test]
fn indices_lead_to_their_names() {
    let posix = counter::current(Module::Posix).expect("POSIX has counters");
    assert_eq!(posix.int[counter::posix::BYTES_READ], "POSIX_BYTES_READ");
    assert_eq!(posix.int_index("POSIX_SLOWEST_RANK_BYTES"), Some(68));
    assert_eq!(posix.float[counter::posix::F_META_TIME], "POSIX_F_META_TIME");
    assert_eq!(posix.float_index("POSIX_F_VARIANCE_RANK_BYTES"), Some(16));
    assert_eq!(posix.int_index("POSIX_NOTHING"), None);
    let stdio = counter::current(Module::Stdio).expect("STDIO has counters");
    assert_eq!(stdio.int[counter::stdio::BYTES_READ], "STDIO_BYTES_READ");
}
