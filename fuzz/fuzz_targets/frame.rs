//! See `netra_fuzz::frame`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| netra_fuzz::frame(bytes));
