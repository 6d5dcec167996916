//! Threads that call hooks, so that a hook which does not end can be ended: Python tells a signal to its main thread alone.

use crate::run::{POLL, calm, identity, wake};
use pyo3::prelude::*;
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

thread_local! {
    static CALLER: OnceCell<Caller> = const { OnceCell::new() };
}

/// The numbers that Python gives threads which have called hooks, as long as they last.
static CALLERS: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());

struct Caller(u64);

impl Drop for Caller {
    fn drop(&mut self) {
        callers().remove(&self.0);
    }
}

fn callers() -> MutexGuard<'static, BTreeSet<u64>> {
    CALLERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// As `Python::attach`, for what calls hooks.
pub(super) fn attach<T>(work: impl FnOnce(Python<'_>) -> T) -> T {
    Python::attach(|py| {
        CALLER.with(|caller| _ = caller.get_or_init(|| Caller::new(py)));
        work(py)
    })
}

impl Caller {
    fn new(py: Python<'_>) -> Self {
        let number = identity(py).unwrap_or(0);
        callers().insert(number);
        Self(number)
    }
}

/// Works, and once this becomes true, ends hooks that are being called by any thread, until the work is done.
pub fn ending<T>(ended: &AtomicBool, work: impl FnOnce() -> T) -> T {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let listener = scope.spawn(|| {
            while !done.load(Relaxed) {
                thread::park_timeout(POLL);
                if ended.load(Relaxed) && !done.load(Relaxed) {
                    Python::attach(wake_all);
                }
            }
        });
        let result = work();
        done.store(true, Relaxed);
        listener.thread().unpark();
        let _ = listener.join();
        if ended.load(Relaxed) {
            Python::attach(|py| calm(py).unwrap_or_default());
        }
        result
    })
}

fn wake_all(py: Python<'_>) {
    let callers: Vec<_> = callers().iter().copied().collect(); // what follows lets other threads go on
    callers.into_iter().for_each(|thread| wake(py, thread).unwrap_or_default());
}
