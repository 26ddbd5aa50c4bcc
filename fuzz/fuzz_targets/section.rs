//! See `netra_fuzz::section`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| netra_fuzz::section(bytes));
