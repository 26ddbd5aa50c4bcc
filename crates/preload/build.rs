//! Link arguments of the shared object.

fn main() {
    // A symbol that nobody provides is an error here, not when an application starts.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,defs");
    println!("cargo::rerun-if-changed=build.rs");
}
