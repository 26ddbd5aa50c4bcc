//! Takes the built page into the crate where `cargo xtask web` has left it. Nothing is fetched or
//! bundled here: without it the crate builds too, and pages say what is missing.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// What a built page consists of, and the constant that holds each.
const PARTS: [(&str, &str); 3] =
    [("page.js", "SCRIPT"), ("page.css", "STYLE"), ("page.csp", "POLICY")];
/// The same for the live page.
const LIVE: [(&str, &str); 3] =
    [("live.js", "SCRIPT"), ("page.css", "STYLE"), ("live.css", "LIVE_STYLE")];

fn main() {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let web = here.join("../../web");
    let built = web.join("dist");
    let complete = take(&built, "asset.rs", &PARTS);
    let complete = take(&built, "live.rs", &LIVE) && complete;
    watch(&web, &built, complete);
}

/// Writes constants with these parts; false where some are not there.
fn take(built: &Path, name: &str, parts: &[(&str, &str)]) -> bool {
    let mut source = String::new();
    let mut complete = true;
    for (file, constant) in parts {
        let text = fs::read_to_string(built.join(file));
        complete &= text.is_ok();
        let text = text.as_deref().unwrap_or_default();
        source.push_str(&format!("pub(super) const {constant}: &str = {text:?};\n"));
    }
    source.push_str(&format!("pub(super) const BUILT: bool = {complete};\n"));
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join(name);
    if let Err(error) = fs::write(&out, source) {
        println!("cargo::error=writing {}: {error}", out.display());
    }
    complete
}

/// A watched file that does not exist would make cargo run this again and again.
fn watch(web: &Path, built: &Path, complete: bool) {
    println!("cargo::rerun-if-changed=build.rs");
    if complete {
        for (file, _) in PARTS.iter().chain(&LIVE) {
            println!("cargo::rerun-if-changed={}", built.join(file).display());
        }
    } else if web.is_dir() {
        println!("cargo::rerun-if-changed={}", web.display());
    }
}
