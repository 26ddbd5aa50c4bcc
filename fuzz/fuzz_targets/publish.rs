//! See `netra_fuzz::publish`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| netra_fuzz::publish(bytes));
