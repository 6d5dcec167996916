#![no_main]

use perhop_fuzz::lengths::Charging;
use std::cell::RefCell;

thread_local! {
    static CHARGING: RefCell<Charging> = RefCell::default();
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| CHARGING.with_borrow_mut(|charging| charging.input(data)));
