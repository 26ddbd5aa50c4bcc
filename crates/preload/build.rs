//! Link arguments of the shared object, and its few lines of C.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

fn main() {
    // A symbol that nobody provides is an error here, not when an application starts.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,defs");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/variadic.c");
    println!("cargo::rerun-if-env-changed=CC");
    println!("cargo::rerun-if-env-changed=CROSS_CC");
    println!("cargo::rerun-if-changed=src/lib.rs");
    compile_variadic();
    alias();
}

/// Rows of the same hook are names of one function, as they are in the C library: the linker gives all of
/// them the address of the first. (A linker that does not leaves each its own few bytes, which do the same.)
fn alias() {
    let rows = fs::read_to_string("src/lib.rs").unwrap_or_default();
    let mut first = BTreeMap::new();
    for row in rows.lines().filter_map(|line| line.trim().strip_suffix(';')) {
        let (Some((name, rest)), Some((_, hook))) = (row.split_once(" / "), row.split_once(" = "))
        else {
            continue;
        };
        let jump = rest.starts_with("variadic") || hook.starts_with("arch::");
        let one = *first.entry(hook).or_insert(name);
        if one != name && !jump {
            println!("cargo::rustc-cdylib-link-arg=-Wl,--defsym={name}={one}");
        }
    }
}

/// Compiles `variadic.c` with the system's C compiler. Unwind tables let `pthread_cancel` and
/// exceptions pass through; nothing that would add an import is switched on.
fn compile_variadic() {
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let object = out.join("variadic.o");
    let mut compile = Command::new(compiler());
    compile.args(["-c", "-O2", "-fPIC", "-fvisibility=hidden", "-fasynchronous-unwind-tables"]);
    if env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "x86_64") {
        compile.arg("-fcf-protection=none");
    }
    compile.args(["-fno-stack-protector", "-fno-builtin", "-o"]);
    run(compile.arg(&object).arg("src/variadic.c"));
    let archive = out.join("libnetra_variadic.a");
    run(Command::new("ar").arg("crs").arg(&archive).arg(&object));
    println!("cargo::rustc-link-search=native={}", out.display());
    println!("cargo::rustc-link-lib=static=netra_variadic");
}

/// The compiler: for another architecture it is named as distributions name it.
fn compiler() -> OsString {
    let (host, wanted) = (env::var("HOST"), env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_default());
    if host.is_ok_and(|host| host.starts_with(&wanted)) {
        return env::var_os("CC").unwrap_or_else(|| "cc".into());
    }
    env::var_os("CROSS_CC").unwrap_or_else(|| format!("{wanted}-linux-gnu-gcc").into())
}

fn run(command: &mut Command) {
    match command.status() {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("{command:?} ended with {status}"),
        Err(error) => panic!("{command:?}: {error}; a C compiler is needed for src/variadic.c"),
    }
}
