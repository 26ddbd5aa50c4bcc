//! See `netra_fuzz::regions`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| netra_fuzz::regions(bytes));
