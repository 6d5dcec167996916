//! SIGINT and SIGTERM are how `forward` normally ends; SIGHUP has it read its policy again.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What signals have asked for.
#[derive(Debug, Default)]
pub(super) struct Signals {
    end: Arc<AtomicBool>,
    reload: Arc<AtomicBool>,
}

impl Signals {
    /// From now on signals ask, and do not end the program.
    pub(super) fn catch() -> Self {
        let signals = Self::default();
        for (signal, flag) in [(SIGINT, &signals.end), (SIGTERM, &signals.end), (SIGHUP, &signals.reload)] {
            // one that cannot be taken over ends the program, as it would have
            let _ = flag::register(signal, Arc::clone(flag));
        }
        signals
    }

    pub(super) fn has_ended(&self) -> bool {
        self.end.load(Ordering::Relaxed)
    }

    /// Whether the policy is to be read again; each request is told once.
    pub(super) fn reloads(&self) -> bool {
        self.reload.load(Ordering::Relaxed) && self.reload.swap(false, Ordering::Relaxed)
    }
}
