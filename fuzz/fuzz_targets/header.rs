//! See `netra_fuzz::header`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| netra_fuzz::header(bytes));
