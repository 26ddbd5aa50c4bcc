//! The stack of a call site, beside what the compiler's own unwinder says at the same place, in code
//! that keeps no frame pointers.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fs;

use netra_e2e::{Case, Program, Scene, Tool};
use netra_event::Function;
use netra_event::segment::View;

/// Frames that are kept of a stack.
const MOST: usize = 16;

/// By name of the file that was written: the stack of the write.
fn stacks(bytes: &[u8]) -> BTreeMap<String, Vec<u64>> {
    let view = View::new(bytes).expect("a segment");
    let events = view.lanes().flat_map(|lane| lane.events());
    let writes = events.filter(|(_, event)| event.code == Function::Write.code());
    let named = writes.map(|(_, event)| {
        let name = view.file(event.file).expect("a file").name;
        let name = String::from_utf8_lossy(name).rsplit('/').next().unwrap_or("").to_owned();
        let site = view.site(event.site).expect("a call site");
        let stack: Vec<u64> = site.stack().collect();
        assert_eq!(stack.first(), Some(&site.address), "{name}: it begins at the call");
        (name, stack)
    });
    named.collect()
}

/// By the same name: frames from the caller of the function that wrote.
fn judged(text: &str) -> BTreeMap<String, Vec<u64>> {
    let line = |line: &str| {
        let mut words = line.split(' ').map(str::to_owned);
        let name = words.next().expect("a name");
        (name, words.map(|word| word.parse().expect("an address")).collect())
    };
    text.lines().map(line).collect()
}

#[test]
fn a_stack_is_what_the_compilers_unwinder_says() {
    let netra = Tool::netra().expect("the library");
    let program = Program::c("stack").flag("-O2").flag("-fomit-frame-pointer");
    let library = program.clone().library().expect("it compiles").display().to_string();
    for first in ["deep", "aligned", "callback", "thread", "library", "handler"] {
        let scene = Scene::new(&format!("stack_{first}")).expect("a fresh directory");
        let case = Case::of(program.clone()).arg(first).arg(&library);
        let outcome = case.run_with(&netra, &scene).expect("it runs");
        let judged = judged(&String::from_utf8_lossy(&outcome.stdout));
        let want = &judged[&format!("{first}.dat")];
        let segments = fs::read_dir(scene.segments()).expect("segments").flatten();
        let folder = segments.map(|entry| entry.path()).find(|path| path.is_dir());
        let file = fs::read_dir(folder.expect("a folder")).expect("it").flatten().next();
        let bytes = fs::read(file.expect("a segment").path()).expect("read");
        let stack = &stacks(&bytes)[&format!("{first}.dat")];
        let outer = &stack[1..];
        // A signal handler's stack ends at the frame the kernel made.
        let ends = if first == "handler" { outer.len() } else { want.len().min(MOST - 1) };
        assert_eq!(outer, &want[..ends], "{first}");
        assert!(!outer.is_empty(), "{first}: {stack:x?}");
        println!("{first:24} {} frames", stack.len());
    }
}
