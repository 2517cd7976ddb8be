//! The framing of server-sent events, whole and split.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rein_fuzz::server_sent_events(data));
