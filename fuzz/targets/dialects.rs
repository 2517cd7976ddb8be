//! Calls that models write into text, in every dialect, whole and split.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rein_fuzz::dialects(data));
