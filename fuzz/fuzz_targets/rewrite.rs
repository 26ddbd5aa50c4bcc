//! See `netra_fuzz::rewrite`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| netra_fuzz::rewrite(bytes));
