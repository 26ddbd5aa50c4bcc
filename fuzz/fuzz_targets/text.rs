//! See `netra_fuzz::text`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| netra_fuzz::text(bytes));
