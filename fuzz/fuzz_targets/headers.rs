#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| perhop_fuzz::captures::headers(data));
