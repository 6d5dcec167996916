#![no_main]

use perhop_fuzz::frames::Between;
use std::cell::RefCell;

thread_local! {
    static BETWEEN: RefCell<Between> = RefCell::default();
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| BETWEEN.with_borrow_mut(|between| between.pass(data)));
